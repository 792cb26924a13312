//===- Calls.cpp - Entries of artifacts on a GPU --------------------------===//
//
//   bench-gpu-calls replay [--until-wrong] CALL...
//     Makes recorded calls (test/kernels/CallRecord.h) of the artifact beside
//     each on the GPU and compares what comes with the record. A line each:
//     "right" or "wrong", the file, the entry and the largest difference, if
//     there is one with its place. With --until-wrong nothing behind the first
//     wrong one is called.
//   bench-gpu-calls time ARTIFACT RUNS [ENTRY DIM=N,...]...
//     The seconds that a run of each of these calls takes, with numbers in
//     [-1, 1) as inputs: a line each, of the entry, the dims and the seconds,
//     or what failed.
//
// Exit code 0, 1 where a call was wrong or failed, 2 for other arguments.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/EntryRunner.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>

using namespace heddle;
using namespace heddle::test;

/// Hardware adds up what it multiplies in an order of its own, and tensor cores
/// cut sums where the emulator rounds them: by an ulp for each 16 products. The
/// deepest product has 8,448, whose results are 1.04e-4 off on an H200; 2^-12
/// is 528 ulps of a sum that is four times the result. Short floats, as
/// probabilities and results, may be one unit off.
static double toleranceOf(bool isShort) { return isShort ? 0x1p-6 : 0x1p-12; }

static double numberOf(const char *bytes, ElementType type) {
  switch (type) {
  case ElementType::I8:
    return static_cast<int8_t>(*bytes);
  case ElementType::I32: {
    int32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
  }
  case ElementType::BF16: {
    uint16_t half;
    memcpy(&half, bytes, sizeof half);
    uint32_t word = uint32_t(half) << 16;
    float number;
    memcpy(&number, &word, sizeof number);
    return number;
  }
  case ElementType::F16: {
    _Float16 number;
    memcpy(&number, bytes, sizeof number);
    return double(number);
  }
  case ElementType::F32: {
    float number;
    memcpy(&number, bytes, sizeof number);
    return number;
  }
  }
  __builtin_unreachable();
}

/// How far a number is from what is expected; infinite where only one of them
/// is no finite number.
static double differenceOf(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected)))
    return 0;
  if (!std::isfinite(found) || !std::isfinite(expected))
    return INFINITY;
  return std::fabs(found - expected) / (1 + std::fabs(expected));
}

//===----------------------------------------------------------------------===//
// replay
//===----------------------------------------------------------------------===//

static std::string artifactOf(const std::string &path) {
  return path.substr(0, path.rfind('-')) + ".heddle";
}

static std::vector<std::pair<Dim, int64_t>> listOf(const DimValues &dims) {
  std::vector<std::pair<Dim, int64_t>> list;
  for (size_t i = 0; i < kNumDims; ++i)
    list.emplace_back(Dim(i), dims[Dim(i)]);
  return list;
}

namespace {
/// The artifact of the last call, which most calls share with the one before:
/// to open one takes longer than to call it.
class LastArtifact {
public:
  /// The last one is closed when the next is open, so that the driver keeps its
  /// context.
  Result<const EntryRunner *> open(const std::string &artifact) {
    if (!runner || artifact != path) {
      Result<EntryRunner> opened = EntryRunner::open(artifact);
      if (!opened.ok())
        return opened.status();
      runner = std::make_unique<EntryRunner>(std::move(*opened));
      path = artifact;
    }
    return runner.get();
  }
  /// After a failure, in which the device's context may be lost.
  void close() { runner.reset(); }

private:
  std::string path;
  std::unique_ptr<EntryRunner> runner;
};
} // namespace

/// Between what a call makes and its record; and in words, where.
struct Difference {
  double size = 0;
  std::string place;
};

/// The largest difference of a call; an error where it cannot be made.
static Result<Difference> replay(const std::string &path, LastArtifact &last,
                                 RecordedCall &record, bool &isShort) {
  Result<RecordedCall> read = RecordedCall::read(path);
  if (!read.ok())
    return read.status();
  record = std::move(*read);
  Result<const EntryRunner *> opened = last.open(artifactOf(path));
  if (!opened.ok())
    return opened.status();
  const EntryRunner &runner = **opened;
  Result<EntryCall> call = runner.prepare(record.entry, listOf(record.dims));
  if (!call.ok())
    return call.status();
  const std::vector<Argument> &arguments =
      runner.entry(record.entry)->arguments;
  if (arguments.size() != record.before.size())
    return Status::error("the artifact has another entry '", record.entry, "'");
  for (size_t i = 0; i < arguments.size(); ++i)
    memcpy(call->data<char>(arguments[i].name), record.before[i].data(),
           record.before[i].size());
  (*call)();
  if (Status status = call->checkGuards(); !status.ok())
    return status;
  Difference largest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    ElementType type = arguments[i].type;
    isShort |= type == ElementType::BF16 || type == ElementType::F16;
    size_t size = size_t(elementSize(type));
    const char *found = call->data<char>(arguments[i].name);
    for (size_t at = 0; at < record.after[i].size(); at += size) {
      double number = numberOf(found + at, type);
      double expected = numberOf(&record.after[i][at], type);
      double difference = differenceOf(number, expected);
      if (difference <= largest.size)
        continue;
      std::ostringstream place;
      place << arguments[i].name << '[' << at / size << "]: " << number
            << ", expected " << expected;
      largest = {difference, place.str()};
    }
  }
  return largest;
}

static int replayAll(int count, char **paths, bool untilWrong) {
  int wrong = 0;
  LastArtifact last;
  for (int i = 0; i < count && !(untilWrong && wrong); ++i) {
    RecordedCall record;
    bool isShort = false;
    Result<Difference> largest = replay(paths[i], last, record, isShort);
    if (!largest.ok())
      last.close();
    bool isRight = largest.ok() && largest->size <= toleranceOf(isShort);
    wrong += !isRight;
    printf("%s %s %s ", isRight ? "right" : "wrong", paths[i],
           record.entry.c_str());
    if (largest.ok())
      printf("%.3g %s\n", largest->size, largest->place.c_str());
    else
      printf("%s\n", largest.message().c_str());
    fflush(stdout);
  }
  return wrong ? 1 : 0;
}

//===----------------------------------------------------------------------===//
// time
//===----------------------------------------------------------------------===//

/// The dims that "batch=2,source=512" names; none where it is of another form.
static std::optional<DimValues> readDims(const std::string &text) {
  DimValues dims;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    size_t equals = word.find('='), number = 0;
    while (number < kNumDims && nameOf(Dim(number)) != word.substr(0, equals))
      ++number;
    if (equals == std::string::npos || number == kNumDims)
      return std::nullopt;
    dims[Dim(number)] = strtoll(word.c_str() + equals + 1, nullptr, 10);
  }
  return dims;
}

/// Numbers for an input: in [-1, 1) or, of integers, what makes a batch whose
/// sentences are as long as they can be.
static void fill(EntryCall &call, const Argument &argument,
                 const DimValues &dims) {
  int64_t count = call.size(argument.name);
  char *at = call.data<char>(argument.name);
  uint32_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    float number = float(int32_t(state)) * 0x1p-31f;
    if (argument.type == ElementType::F32) {
      memcpy(at + 4 * i, &number, 4);
    } else if (argument.type == ElementType::BF16) {
      memcpy(at + 2 * i, reinterpret_cast<char *>(&number) + 2, 2);
    } else if (argument.type == ElementType::F16) {
      _Float16 half = _Float16(number);
      memcpy(at + 2 * i, &half, 2);
    } else if (argument.type == ElementType::I8) {
      at[i] = char(state >> 24);
    } else {
      int32_t whole = argument.name == "lengths" ? int32_t(dims[Dim::Source])
                      : argument.name == "positions"
                          ? int32_t(dims[Dim::Capacity] - 1)
                          : 0;
      memcpy(at + 4 * i, &whole, 4);
    }
  }
}

static Result<double> timeOne(const EntryRunner &runner,
                              const std::string &name, const DimValues &dims,
                              int64_t runs) {
  Result<EntryCall> call = runner.prepare(name, listOf(dims));
  if (!call.ok())
    return call.status();
  for (const Argument &argument : runner.entry(name)->arguments)
    if (argument.kind != ArgumentKind::Output)
      fill(*call, argument, dims);
  return call->timeOnDevice(runs);
}

static int timeAll(const char *artifact, int64_t runs, int count,
                   char **words) {
  Result<EntryRunner> runner = EntryRunner::open(artifact);
  if (!runner.ok()) {
    fprintf(stderr, "bench-gpu-calls: %s\n", runner.message().c_str());
    return 1;
  }
  int failed = 0;
  for (int i = 0; i + 1 < count; i += 2) {
    std::optional<DimValues> dims = readDims(words[i + 1]);
    if (!dims) {
      fprintf(stderr, "bench-gpu-calls: expected DIM=N,..., found '%s'\n",
              words[i + 1]);
      return 2;
    }
    Result<double> seconds = timeOne(*runner, words[i], *dims, runs);
    printf("%s %s ", words[i], words[i + 1]);
    if (seconds.ok())
      printf("%.9f\n", *seconds);
    else
      printf("%s\n", seconds.message().c_str());
    fflush(stdout);
    failed += !seconds.ok();
  }
  return failed ? 1 : 0;
}

int main(int argc, char **argv) {
  std::string command = argc > 1 ? argv[1] : "";
  // Not the emulator, unless it is asked for.
  setenv("HEDDLE_LIBCUDA", "libcuda.so.1", /*replace=*/0);
  bool untilWrong = argc > 2 && argv[2] == std::string("--until-wrong");
  if (command == "replay" && argc > 2 + untilWrong)
    return replayAll(argc - 2 - untilWrong, argv + 2 + untilWrong, untilWrong);
  if (command == "time" && argc > 5 && argc % 2 == 0)
    return timeAll(argv[2], strtoll(argv[3], nullptr, 10), argc - 4, argv + 4);
  fprintf(stderr,
          "bench-gpu-calls: expected replay [--until-wrong] CALL..., or "
          "time ARTIFACT RUNS [ENTRY DIM=N,...]...\n");
  return 2;
}
