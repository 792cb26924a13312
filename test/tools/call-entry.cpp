//===- call-entry.cpp - Calls entry points of an artifact -----------------===//
//
//   call-entry model BODY.mlir
//     Prints BODY, functions and parameters, as a whole model that
//     heddle-compile takes.
//   call-entry full ARTIFACT ENTRY THREADS OUTPUT.npy NAME=FILE.npy...
//     Calls ENTRY once with inputs by name and writes its one output.
//   call-entry step ARTIFACT ENTRY THREADS OUTPUT.npy NAME=FILE.npy...
//     Calls ENTRY.prepare where there is one, and ENTRY.step for each position
//     of the sequences: an input of which a step takes one row a sentence has
//     the position behind the sentence, [batch, n, ...]. States are kept.
//   call-entry beam ARTIFACT ENTRY THREADS OUTPUT.npy NAME=FILE.npy...
//     The same of ENTRY.beam: in each step rows write to other caches.
//   call-entry chunk:COUNT ARTIFACT ENTRY THREADS OUTPUT.npy NAME=FILE.npy...
//     The first COUNT positions by ENTRY.chunk, the others by steps.
//   call-entry extend:COUNT[:PROMPT] ARTIFACT ENTRY THREADS OUTPUT.npy ...
//     All positions by ENTRY.extend, COUNT of each sequence in a call. The
//     first PROMPT of them, or all, are a prompt. Caches hold NaNs before.
//   call-entry mixed:COUNT[:PROMPT] ARTIFACT ENTRY THREADS OUTPUT.npy ...
//     The same of every other sequence, the first one among them. The others
//     have no prompt.
//
// Sizes follow from the shapes of the inputs. Files are little-endian float32,
// int32 or int8 in C order, as numpy writes them; outputs are float32
// [batch, n, width]. Memory around buffers has to stay as it was. Exit code 0,
// or 1 and one sentence.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/EntryRunner.h"
#include "tools/run/vectors/NpyWriter.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <numeric>
#include <regex>
#include <sstream>

using namespace heddle;
using namespace heddle::test;

/// Neighbouring positions of a prompt that a kernel computes together.
static constexpr int64_t kBlock = HEDDLE_QUERY_BLOCK;

[[noreturn]] static void fail(const std::string &sentence) {
  fprintf(stderr, "call-entry: %s\n", sentence.c_str());
  exit(1);
}

template <typename Value> static Value take(Result<Value> result) {
  if (!result.ok())
    fail(std::string(result.message()));
  return std::move(*result);
}
static void check(const Status &status) {
  if (!status.ok())
    fail(std::string(status.message()));
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

namespace {
struct Array {
  ElementType type;
  std::vector<int64_t> shape;
  std::string bytes;

  int64_t size() const {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return count * elementSize(type);
  }
};
using Arrays = std::map<std::string, Array>;
} // namespace

static Array readArray(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  // Magic, version 1.0, the length of the header.
  constexpr size_t kPrefix = 10;
  char prefix[kPrefix];
  if (!file.read(prefix, kPrefix) || memcmp(prefix, "\x93NUMPY\1\0", 8) != 0)
    fail("'" + path + "' is no .npy file of version 1.0");
  std::string header(static_cast<uint8_t>(prefix[8]) +
                         256 * static_cast<uint8_t>(prefix[9]),
                     0);
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  std::regex form("\\{'descr': '(<f4|<i4|\\|i1)', 'fortran_order': False, "
                  "'shape': \\(([0-9, ]*)\\), \\}\\s*");
  std::smatch match;
  if (!std::regex_match(header, match, form))
    fail("'" + path + "' has the header " + header +
         ", expected '<f4', '<i4' or '|i1' in C order");
  Array array;
  array.type = match[1] == "<f4"   ? ElementType::F32
               : match[1] == "<i4" ? ElementType::I32
                                   : ElementType::I8;
  std::istringstream extents(match[2]);
  for (std::string extent; std::getline(extents, extent, ',');)
    if (extent.find_first_of("0123456789") != std::string::npos)
      array.shape.push_back(std::stoll(extent));
  std::ostringstream rest;
  rest << file.rdbuf();
  array.bytes = rest.str();
  if (static_cast<int64_t>(array.bytes.size()) != array.size())
    fail("'" + path + "' has not as many values as its shape says");
  return array;
}

static Arrays readArrays(int count, char **words) {
  Arrays arrays;
  for (int at = 0; at < count; ++at) {
    std::string word = words[at];
    size_t equals = word.find('=');
    if (equals == std::string::npos)
      fail("expected NAME=FILE.npy, found '" + word + "'");
    arrays[word.substr(0, equals)] = readArray(word.substr(equals + 1));
  }
  return arrays;
}

/// Whether an array has a row for each position where an argument has one for
/// all.
static bool isSequence(const Argument &argument, const Array &array) {
  return !argument.shape.empty() &&
         (argument.shape[0].dim == Dim::Rows ||
          argument.shape[0].dim == Dim::Tokens) &&
         array.shape.size() == argument.shape.size() + 1;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// How sequences are cut: so many positions a call, of which the first ones are
/// a prompt, or are of every other sequence.
struct Pieces {
  int64_t count = 0, prompt = 0;
  bool areMixed = false;
};

class Caller {
public:
  Caller(const EntryRunner &runner, const Arrays &arrays, ThreadPool *pool)
      : runner(runner), arrays(arrays), pool(pool) {}

  void runFull(const std::string &name, const std::string &output);
  void runExtend(const std::string &name, const Pieces &pieces,
                 const std::string &output);
  /// `form` is step, beam or chunk:COUNT.
  void runSteps(const std::string &name, const std::string &form,
                const std::string &output);

private:
  const Entry &find(const std::string &name);
  void findDims(const Entry &entry);
  EntryCall prepare(const Entry &entry);
  void run(EntryCall &call);
  void setPrepared(EntryCall &call, const Entry &entry);
  void setRows(EntryCall &call, const Entry &entry, int64_t position,
               bool movesCaches);
  void setPieces(EntryCall &call, const Entry &entry, int64_t first,
                 const std::vector<int64_t> &order, int64_t prompts);
  int64_t runChunk(const Entry &chunk, int64_t most, const Entry &entry,
                   EntryCall &step, NpyWriter &writer);

  const EntryRunner &runner;
  const Arrays &arrays;
  ThreadPool *pool;
  std::map<Dim, int64_t> dims;
};
} // namespace

const Entry &Caller::find(const std::string &name) {
  const Entry *entry = runner.entry(name);
  if (!entry)
    fail("there is no entry '" + name + "'");
  return *entry;
}

/// Sizes that the shapes of inputs give to dims.
void Caller::findDims(const Entry &entry) {
  for (const Argument &argument : entry.arguments) {
    auto found = arrays.find(argument.name);
    if (found == arrays.end())
      continue;
    const Array &array = found->second;
    bool hasPositions = isSequence(argument, array);
    if (hasPositions)
      dims[Dim::Target] = dims[Dim::Capacity] = array.shape[1];
    if (array.shape.size() != argument.shape.size() + hasPositions)
      fail("'" + argument.name + "' has " + std::to_string(array.shape.size()) +
           " dimensions, expected " + describe(argument));
    for (size_t at = 0; at < argument.shape.size(); ++at)
      if (argument.shape[at].dim)
        dims[*argument.shape[at].dim] =
            array.shape[at == 0 ? 0 : at + hasPositions];
  }
}

/// A call with the inputs that it takes as they are.
EntryCall Caller::prepare(const Entry &entry) {
  EntryCall call = take(runner.prepare(entry.name, {dims.begin(), dims.end()}));
  for (const Argument &argument : entry.arguments) {
    auto found = arrays.find(argument.name);
    if (argument.kind != ArgumentKind::Input || found == arrays.end() ||
        isSequence(argument, found->second))
      continue;
    const Array &array = found->second;
    if (array.type != argument.type ||
        array.size() != call.size(argument.name) * elementSize(argument.type))
      fail("'" + argument.name + "' is not " + describe(argument));
    memcpy(call.data<char>(argument.name), array.bytes.data(),
           array.bytes.size());
  }
  return call;
}

void Caller::run(EntryCall &call) {
  call(pool);
  check(call.checkGuards());
}

static const Argument &outputOf(const Entry &entry) {
  for (const Argument &argument : entry.arguments)
    if (argument.kind == ArgumentKind::Output &&
        argument.type == ElementType::F32)
      return argument;
  fail("'" + entry.name + "' has no output of float32");
}

void Caller::runFull(const std::string &name, const std::string &path) {
  const Entry &entry = find(name);
  findDims(entry);
  EntryCall call = prepare(entry);
  run(call);
  const Argument &output = outputOf(entry);
  int64_t rows = dims[Dim::Batch];
  int64_t columns = dims[*output.shape[1].dim], width = output.shape[2].size;
  NpyWriter writer = take(NpyWriter::create(path, {rows, columns, width}));
  const float *values = call.data<float>(output.name);
  for (int64_t row = 0; row < rows; ++row)
    check(writer.write(row, 0, values + row * columns * width, columns));
  check(writer.commit());
}

/// The outputs of the prepare of `entry`'s decoder.
void Caller::setPrepared(EntryCall &call, const Entry &entry) {
  std::string name = entry.name.substr(0, entry.name.find('.'));
  const Entry *prepare = runner.entry(name + ".prepare");
  if (!prepare)
    return;
  EntryCall once = this->prepare(*prepare);
  run(once);
  for (const Argument &argument : prepare->arguments)
    if (argument.kind == ArgumentKind::Output)
      memcpy(call.data<char>(argument.name), once.data<char>(argument.name),
             call.size(argument.name) * elementSize(argument.type));
}

/// The inputs of a step at `position` that all its rows are at. Where caches
/// move, row r writes that position to cache r + position, round and round.
void Caller::setRows(EntryCall &call, const Entry &entry, int64_t position,
                     bool movesCaches) {
  int64_t rows = dims[Dim::Rows], positions = dims[Dim::Capacity];
  auto cacheOf = [&](int64_t row, int64_t at) {
    return static_cast<int32_t>(movesCaches ? (row + at) % rows : row);
  };
  for (const Argument &argument : entry.arguments) {
    if (argument.name == "positions")
      std::fill_n(call.data<int32_t>("positions"), rows, position);
    for (int64_t row = 0; row < rows; ++row) {
      if (argument.name == "sentences")
        call.data<int32_t>("sentences")[row] = static_cast<int32_t>(row);
      if (argument.name == "caches")
        call.data<int32_t>("caches")[row] = cacheOf(row, position);
      if (argument.name == "history")
        for (int64_t at = 0; at <= position; ++at)
          call.data<int32_t>("history")[row * positions + at] =
              cacheOf(row, at);
    }
    auto found = arrays.find(argument.name);
    if (found == arrays.end() || !isSequence(argument, found->second))
      continue;
    int64_t bytes =
        call.size(argument.name) / rows * elementSize(argument.type);
    for (int64_t row = 0; row < rows; ++row)
      memcpy(call.data<char>(argument.name) + row * bytes,
             found->second.bytes.data() + (row * positions + position) * bytes,
             bytes);
  }
}

/// Copies what stands first along each axis of an array, as much as the shape
/// of an argument has: the first positions of sequences and tables.
static void copyFirst(const Array &array, const std::vector<Extent> &shape,
                      const std::map<Dim, int64_t> &given, char *to) {
  DimValues dims;
  for (auto [dim, value] : given)
    dims[dim] = value;
  std::vector<int64_t> index(shape.size(), 0);
  int64_t bytes = elementSize(array.type), count = 1;
  for (const Extent &extent : shape)
    count *= extent.in(dims);
  for (int64_t number = 0; number < count; ++number) {
    int64_t at = 0, left = number;
    for (size_t axis = shape.size(); axis-- > 0;) {
      index[axis] = left % shape[axis].in(dims);
      left /= shape[axis].in(dims);
    }
    for (size_t axis = 0; axis < shape.size(); ++axis)
      at = at * array.shape[axis] + index[axis];
    memcpy(to + number * bytes, array.bytes.data() + at * bytes, bytes);
  }
}

/// The COUNT of the form PREFIX:COUNT; 0 of others.
static int64_t countOf(const std::string &form, std::string prefix) {
  prefix += ":";
  return form.compare(0, prefix.size(), prefix) == 0
             ? std::strtol(form.c_str() + prefix.size(), nullptr, 10)
             : 0;
}

/// Runs the first positions at once, `most` or all, and gives their states to
/// `step`; returns how many these are.
int64_t Caller::runChunk(const Entry &chunk, int64_t most, const Entry &entry,
                         EntryCall &step, NpyWriter &writer) {
  int64_t rows = dims[Dim::Rows], positions = dims[Dim::Capacity];
  int64_t count = dims[Dim::Target] = dims[Dim::Wanted] =
      std::min(most, positions);
  dims[Dim::Batch] = rows;
  EntryCall call = take(runner.prepare(chunk.name, {dims.begin(), dims.end()}));
  for (const Argument &argument : chunk.arguments) {
    if (argument.name == "target_lengths")
      std::fill_n(call.data<int32_t>("target_lengths"), rows, count);
    if (argument.name == "caches")
      std::iota(call.data<int32_t>("caches"),
                call.data<int32_t>("caches") + rows, 0);
    if (argument.name == "wanted")
      for (int64_t at = 0; at < rows * count; ++at)
        call.data<int32_t>("wanted")[at] = static_cast<int32_t>(at % count);
    if (argument.kind == ArgumentKind::Prepared)
      memcpy(call.data<char>(argument.name), step.data<char>(argument.name),
             call.size(argument.name) * elementSize(argument.type));
    auto found = arrays.find(argument.name);
    if (argument.kind != ArgumentKind::Input || found == arrays.end())
      continue;
    copyFirst(found->second, argument.shape, dims,
              call.data<char>(argument.name));
  }
  run(call);
  for (const Argument &state : entry.arguments)
    if (state.kind == ArgumentKind::State)
      memcpy(step.data<char>(state.name), call.data<char>(state.name),
             step.size(state.name) * elementSize(state.type));
  const Argument &output = outputOf(chunk);
  const float *values = call.data<float>(output.name);
  for (int64_t row = 0; row < rows; ++row)
    check(writer.write(row, 0, values + row * count * output.shape[2].size,
                       count));
  return count;
}

/// The inputs of a call of extend: of each sequence in `order` as many
/// positions from `first` on, those of the first `prompts` sequences as
/// prompts.
void Caller::setPieces(EntryCall &call, const Entry &entry, int64_t first,
                       const std::vector<int64_t> &order, int64_t prompts) {
  int64_t positions = dims[Dim::Capacity], sequences = int64_t(order.size());
  int64_t count = dims[Dim::Tokens] / sequences, row = 0;
  int32_t *blocks = call.data<int32_t>("prefill");
  for (int64_t at = 0; at < sequences; ++at)
    for (int64_t position = first; position < first + count; ++position) {
      if (at < prompts && (position == first || position % kBlock == 0))
        *blocks++ = int32_t(row);
      for (const Argument &argument : entry.arguments) {
        if (argument.name == "positions")
          call.data<int32_t>("positions")[row] = int32_t(position);
        if (argument.name == "sentences" || argument.name == "caches")
          call.data<int32_t>(argument.name)[row] = int32_t(order[at]);
        if (argument.name == "wanted")
          call.data<int32_t>("wanted")[row] = int32_t(row);
        auto found = arrays.find(argument.name);
        if (found == arrays.end() || !isSequence(argument, found->second))
          continue;
        int64_t bytes = call.size(argument.name) / dims[Dim::Tokens] *
                        elementSize(argument.type);
        memcpy(call.data<char>(argument.name) + row * bytes,
               found->second.bytes.data() +
                   (order[at] * positions + position) * bytes,
               bytes);
      }
      ++row;
    }
  *blocks = int32_t(prompts * count);
}

void Caller::runExtend(const std::string &name, const Pieces &pieces,
                       const std::string &path) {
  const Entry &entry = find(name + ".extend");
  if (const Entry *prepare = runner.entry(name + ".prepare"))
    findDims(*prepare);
  findDims(find(name + ".step"));
  int64_t sequences = dims[Dim::Caches] = dims[Dim::Rows],
          positions = dims[Dim::Capacity];
  // Those with prompts stand in front.
  std::vector<int64_t> order;
  for (int64_t at = 0; at < sequences; at += 1 + pieces.areMixed)
    order.push_back(at);
  int64_t prompted = int64_t(order.size());
  for (int64_t at = 1; pieces.areMixed && at < sequences; at += 2)
    order.push_back(at);
  const Argument &output = outputOf(entry);
  int64_t width = output.shape[1].size;
  NpyWriter writer =
      take(NpyWriter::create(path, {sequences, positions, width}));
  std::map<std::string, std::string> states;
  for (int64_t first = 0; first < positions;) {
    bool isPrompt = first < pieces.prompt;
    int64_t prompts = isPrompt ? prompted : 0;
    int64_t count = std::min(
        pieces.count,
        (isPrompt ? std::min(pieces.prompt, positions) : positions) - first);
    dims[Dim::Tokens] = dims[Dim::Wanted] = sequences * count;
    dims[Dim::Blocks] = 1;
    for (int64_t position = first; position < first + count; ++position)
      if (position == first || position % kBlock == 0)
        dims[Dim::Blocks] += prompts;
    EntryCall call = prepare(entry);
    setPrepared(call, entry);
    setPieces(call, entry, first, order, prompts);
    for (const Argument &state : entry.arguments) {
      if (state.kind != ArgumentKind::State)
        continue;
      size_t bytes = call.size(state.name) * elementSize(state.type);
      // NaNs of any float.
      std::string &kept =
          states.try_emplace(state.name, bytes, '\xff').first->second;
      memcpy(call.data<char>(state.name), kept.data(), bytes);
    }
    run(call);
    for (auto &[state, kept] : states)
      memcpy(kept.data(), call.data<char>(state), kept.size());
    const float *values = call.data<float>(output.name);
    for (int64_t at = 0; at < sequences; ++at)
      check(writer.write(order[at], first, values + at * count * width, count));
    first += count;
  }
  check(writer.commit());
}

void Caller::runSteps(const std::string &name, const std::string &form,
                      const std::string &path) {
  bool isBeam = form == "beam";
  const Entry &entry = find(name + (isBeam ? ".beam" : ".step"));
  if (const Entry *prepare = runner.entry(name + ".prepare"))
    findDims(*prepare);
  findDims(entry);
  int64_t rows = dims[Dim::Caches] = dims[Dim::Rows];
  EntryCall step = prepare(entry);
  setPrepared(step, entry);
  const Argument &output = outputOf(entry);
  NpyWriter writer = take(NpyWriter::create(
      path, {rows, dims[Dim::Capacity], output.shape[1].size}));
  int64_t position = 0;
  if (int64_t most = countOf(form, "chunk"))
    position = runChunk(find(name + ".chunk"), most, entry, step, writer);
  for (; position < dims[Dim::Capacity]; ++position) {
    setRows(step, entry, position, isBeam);
    step(pool);
    const float *values = step.data<float>(output.name);
    for (int64_t row = 0; row < rows; ++row)
      check(writer.write(row, position, values + row * output.shape[1].size));
  }
  check(step.checkGuards());
  check(writer.commit());
}

int main(int argc, char **argv) {
  std::string command = argc > 1 ? argv[1] : "";
  if (command == "model" && argc == 3) {
    std::ostringstream body;
    body << std::ifstream(argv[2]).rdbuf();
    std::cout << EntryRunner::wholeModel(body.str());
    return 0;
  }
  const char *forms[] = {"full", "step", "beam"};
  bool isForm =
      std::find(std::begin(forms), std::end(forms), command) != std::end(forms);
  Pieces pieces;
  for (const char *form : {"extend", "mixed"})
    if (int64_t count = countOf(command, form)) {
      size_t colon = command.rfind(':');
      bool hasPrompt = colon != command.find(':');
      pieces = {count,
                hasPrompt ? std::strtol(&command[colon + 1], nullptr, 10)
                          : std::numeric_limits<int64_t>::max(),
                form == std::string("mixed")};
    }
  if (argc < 6 ||
      (!isForm && pieces.count < 1 && countOf(command, "chunk") < 1))
    fail(
        "expected model BODY.mlir, or full, step, beam or, with :COUNT, chunk, "
        "extend or mixed, ARTIFACT ENTRY THREADS OUTPUT.npy "
        "NAME=FILE.npy...");
  EntryRunner runner = take(EntryRunner::open(argv[2]));
  std::unique_ptr<ThreadPool> pool =
      take(ThreadPool::create(std::strtol(argv[4], nullptr, 10)));
  Arrays arrays = readArrays(argc - 6, argv + 6);
  Caller caller(runner, arrays, pool.get());
  if (command == "full")
    caller.runFull(argv[3], argv[5]);
  else if (pieces.count > 0)
    caller.runExtend(argv[3], pieces, argv[5]);
  else
    caller.runSteps(argv[3], command, argv[5]);
  return 0;
}
