//===- Calibrate.cpp - What fewer bits cost, layer by layer ---------------===//
//
// A layer's error is measured where it counts, in the logits: the model is
// compiled once for each layer, with that one in fewer bits and everything else
// in f32, and follows the same targets. Kernels that two of these models, or
// the artifact, share are compiled once, and logits in f32 are computed once
// unless they are many. Errors of layers do not add up to that of all, but they
// say which one to keep.
//
//===----------------------------------------------------------------------===//

#include "tools/Calibrate.h"
#include "dialect/Transformer.h"
#include "lib/Weights/Error.h"
#include "runtime/Generate.h"
#include "runtime/LineTokens.h"
#include "runtime/TeacherForcing.h"
#include "tools/CompileProgress.h"
#include "tools/LineReader.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <cmath>
#include <thread>

using namespace mlir;
using namespace heddle;

/// Lines that run together: their logits in f32 are kept meanwhile.
static constexpr size_t kBatch = 8;
/// Bytes of such logits that are kept from model to model.
static constexpr size_t kMostKept = size_t(256) << 20;

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Whether a part of a name counts layers: "3", or "l3" in Marian's names.
static bool isNumber(StringRef part) {
  part.consume_front("l");
  return !part.empty() && llvm::all_of(part, llvm::isDigit);
}

/// The name itself, or what the weights of its layer have in common.
static std::string layerPattern(StringRef name) {
  size_t end = name.size();
  for (size_t begin = 0; begin < name.size();) {
    size_t next = std::min(name.find_first_of("._", begin), name.size());
    if (next < name.size() && isNumber(name.slice(begin, next))) {
      end = next + 1;
      break;
    }
    begin = next + 1;
  }
  std::string pattern;
  for (char c : name.take_front(end)) {
    if (StringRef("*?[\\").contains(c))
      pattern += '\\';
    pattern += c;
  }
  return end < name.size() ? pattern + "*" : pattern;
}

/// The operand that --dtype may shorten; null of other ops.
static Value findWeight(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op))
    return linear.getWeight();
  if (auto embedding = dyn_cast<EmbeddingOp>(op))
    return embedding.getTable();
  return Value();
}

std::vector<std::string> heddle::listLayers(ModuleOp module) {
  llvm::SetVector<StringRef> names;
  module.walk([&](Operation *op) {
    Value weight = findWeight(op);
    auto read = weight ? weight.getDefiningOp<WeightOp>() : WeightOp();
    if (read && cast<ShapedType>(weight.getType()).getRank() == 2)
      names.insert(read.getParameter());
  });
  std::vector<std::string> layers;
  // In the order of the checkpoint, that of the declarations.
  for (ParameterOp parameter : module.getOps<ParameterOp>())
    if (names.contains(parameter.getSymName())) {
      std::string layer = layerPattern(parameter.getSymName());
      if (!llvm::is_contained(layers, layer))
        layers.push_back(std::move(layer));
    }
  return layers;
}

//===----------------------------------------------------------------------===//
// Models that are measured
//===----------------------------------------------------------------------===//

static llvm::Error toError(const Status &status) {
  return status.ok() ? llvm::Error::success() : makeError(status.message());
}

template <typename T> static llvm::Expected<T> toExpected(Result<T> result) {
  if (!result.ok())
    return makeError(result.message());
  return std::move(*result);
}

namespace {
/// Lines as ids, and what the model answers in f32.
struct Pairs {
  std::vector<TokenIds> sources, targets;

  size_t tokens() const {
    size_t count = 0;
    for (const TokenIds &target : targets)
      count += target.size();
    return count;
  }
};

/// How far logits are from those in f32. What is common to all tokens of a
/// position changes no probability, and is left out.
struct LogitError {
  double squares = 0, squaresOfF32 = 0;
  double largest = 0;
  int64_t positions = 0, changed = 0;

  void add(ArrayRef<float> found, ArrayRef<float> expected);
  /// Root mean square, of that of the logits.
  double relative() const {
    return squaresOfF32 > 0 ? std::sqrt(squares / squaresOfF32) : 0;
  }
  double changedShare() const {
    return positions ? double(changed) / double(positions) : 0;
  }
};

/// Rows of logits, by sentence of a batch and position.
using Rows = std::map<std::pair<int64_t, int64_t>, std::vector<float>>;

class Calibration {
public:
  using Compile = llvm::function_ref<llvm::Error(const CompileOptions &)>;

  Calibration(const CompileOptions &options, Compile compile)
      : options(options), compile(compile) {}

  llvm::Expected<std::string> run(ArrayRef<std::string> layers);

private:
  llvm::Expected<Model> build(StringRef dtype, std::vector<std::string> keep);
  llvm::Error prepare();
  llvm::Error readLines();
  llvm::Error answer();
  llvm::Expected<LogitError> measure(const Model &model);
  llvm::Expected<Rows> scoreInF32(size_t first);
  llvm::Error score(const Model &model, size_t first, const LogitsSink &sink);

  CompileOptions options;
  Compile compile;
  std::optional<Model> f32;
  std::unique_ptr<ThreadPool> pool;
  Pairs pairs;
  /// Of the batches that begin with these sentences.
  std::map<size_t, Rows> kept;
};
} // namespace

static double meanOf(ArrayRef<float> values) {
  double sum = 0;
  for (float value : values)
    sum += value;
  return sum / double(values.size());
}

void LogitError::add(ArrayRef<float> found, ArrayRef<float> expected) {
  double mean = meanOf(expected), shift = meanOf(found) - mean;
  for (auto [x, y] : llvm::zip(found, expected)) {
    double difference = double(x) - double(y) - shift;
    squares += difference * difference;
    squaresOfF32 += (double(y) - mean) * (double(y) - mean);
    // Written so that what is no number is the largest.
    if (!(std::abs(difference) <= largest))
      largest = std::abs(difference);
  }
  ++positions;
  changed +=
      std::max_element(found.begin(), found.end()) - found.begin() !=
      std::max_element(expected.begin(), expected.end()) - expected.begin();
}

/// Compiles for this machine and loads what came of it.
llvm::Expected<Model> Calibration::build(StringRef dtype,
                                         std::vector<std::string> keep) {
  // It is a file of its own: the output may be a pipe, or have the longest
  // name.
  SmallString<128> folder(options.output), path;
  llvm::sys::path::remove_filename(folder);
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(options.output, status) &&
      !llvm::sys::fs::is_regular_file(status))
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  llvm::sys::path::append(folder, "heddle-calibrate-%%%%%%%%");
  if (std::error_code error = llvm::sys::fs::createUniqueFile(folder, path))
    return makeError("cannot write beside '" + options.output +
                     "': " + error.message());
  llvm::FileRemover remover(path);
  llvm::sys::RemoveFileOnSignal(path);
  CompileOptions trial = options;
  trial.isTrial = true;
  trial.output = path.str().str();
  trial.dtype = dtype.str();
  trial.keep = std::move(keep);
  trial.target = "native";
  llvm::Error error = compile(trial);
  llvm::sys::DontRemoveFileOnSignal(path);
  if (error)
    return std::move(error);
  // It is mapped: its name is not needed any more.
  return toExpected(Model::load(trial.output));
}

/// Reads text, or ids where there is no tokenizer.
llvm::Error Calibration::readLines() {
  auto file = toExpected(LineReader::open(options.calibrate));
  if (!file)
    return file.takeError();
  LineTokens tokens(*f32, /*ids=*/!f32->tokenizer(),
                    /*maxSource=*/std::nullopt);
  for (;;) {
    auto line = toExpected(file->next());
    if (!line)
      return line.takeError();
    if (!*line)
      break;
    Result<TokenIds> source = tokens.source({**line});
    if (!source.ok())
      return makeError(file->nameOf(file->linesRead() - 1) + " " +
                       source.message());
    if (!source->empty())
      pairs.sources.push_back(std::move(*source));
  }
  if (pairs.sources.empty())
    return makeError("'" + options.calibrate + "' has no line with a token");
  return llvm::Error::success();
}

/// The batch that begins with sentence `first` of all.
static std::vector<TokenIds> batchOf(const std::vector<TokenIds> &all,
                                     size_t first) {
  auto begin = all.begin() + ptrdiff_t(first);
  return {begin, begin + ptrdiff_t(std::min(kBatch, all.size() - first))};
}

llvm::Error Calibration::answer() {
  Session session(*f32, {pool.get(), nullptr});
  SearchOptions greedy;
  greedy.beams = 1;
  for (size_t first = 0; first < pairs.sources.size(); first += kBatch) {
    auto answers =
        toExpected(generate(*f32, session, batchOf(pairs.sources, first),
                            /*prefixes=*/{}, greedy));
    if (!answers)
      return answers.takeError();
    for (std::vector<Hypothesis> &hypotheses : *answers)
      pairs.targets.push_back(std::move(hypotheses.front().tokens));
  }
  return llvm::Error::success();
}

llvm::Error Calibration::prepare() {
  int64_t threads =
      options.jobs ? options.jobs : std::thread::hardware_concurrency();
  auto created = toExpected(ThreadPool::create(threads));
  if (!created)
    return created.takeError();
  pool = std::move(*created);
  llvm::Expected<Model> model = build("f32", {});
  if (!model)
    return model.takeError();
  f32.emplace(std::move(*model));
  if (llvm::Error error = readLines())
    return error;
  return answer();
}

llvm::Error Calibration::score(const Model &model, size_t first,
                               const LogitsSink &sink) {
  Session session(model, {pool.get(), nullptr});
  Teaching teaching{DecoderForm::Step, model.manifest().generation.start};
  return toError(scoreTargets(model, session, batchOf(pairs.sources, first),
                              batchOf(pairs.targets, first), teaching, sink));
}

/// The logits of a batch in f32.
llvm::Expected<Rows> Calibration::scoreInF32(size_t first) {
  size_t width = size_t(f32->manifest().targetVocabulary);
  Rows rows;
  llvm::Error error = score(
      *f32, first, [&](int64_t sentence, int64_t position, const float *row) {
        rows[{sentence, position}].assign(row, row + width);
        return Status::success();
      });
  if (error)
    return std::move(error);
  return rows;
}

llvm::Expected<LogitError> Calibration::measure(const Model &model) {
  size_t width = size_t(f32->manifest().targetVocabulary);
  bool keeps = pairs.tokens() <= kMostKept / (width * sizeof(float));
  LogitError result;
  for (size_t first = 0; first < pairs.sources.size(); first += kBatch) {
    auto found = kept.find(first);
    if (found == kept.end()) {
      llvm::Expected<Rows> rows = scoreInF32(first);
      if (!rows)
        return rows.takeError();
      if (!keeps)
        kept.clear();
      found = kept.emplace(first, std::move(*rows)).first;
    }
    const Rows &expected = found->second;
    llvm::Error error = score(
        model, first,
        [&](int64_t sentence, int64_t position, const float *row) {
          result.add(ArrayRef(row, width), expected.at({sentence, position}));
          return Status::success();
        });
    if (error)
      return std::move(error);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void printRow(llvm::raw_ostream &stream, size_t width, StringRef name,
                     const LogitError &error) {
  stream << "  " << llvm::left_justify(name, width)
         << llvm::format("  %8.3f %%  %9.4f  %13.2f %%\n",
                         100 * error.relative(), error.largest,
                         100 * error.changedShare());
}

llvm::Expected<std::string> Calibration::run(ArrayRef<std::string> layers) {
  size_t model = 0;
  auto showNext = [&](const Twine &name) {
    showProgress("calibrating, " + Twine(++model) + " of " +
                 Twine(layers.size() + 2) + " models: " + name);
  };
  showNext("f32");
  if (llvm::Error error = prepare())
    return std::move(error);
  constexpr StringLiteral all = "all layers";
  size_t width = all.size();
  for (const std::string &layer : layers)
    width = std::max(width, layer.size());
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "logits against f32, over " << pairs.sources.size() << " lines and "
         << pairs.tokens() << " tokens\n  "
         << llvm::left_justify("in " + options.dtype, width)
         << "  rms error    largest  other next token\n";
  auto addRow = [&](StringRef name,
                    std::vector<std::string> keep) -> llvm::Error {
    showNext(name);
    llvm::Expected<Model> model = build(options.dtype, std::move(keep));
    if (!model)
      return model.takeError();
    llvm::Expected<LogitError> error = measure(*model);
    if (!error)
      return error.takeError();
    printRow(stream, width, name, *error);
    return llvm::Error::success();
  };
  for (const std::string &layer : layers) {
    // This one as ordered, and all others in f32.
    std::vector<std::string> keep = options.keep;
    keep.push_back("int8:" + layer);
    keep.push_back("f32:*");
    if (llvm::Error error = addRow(layer, std::move(keep)))
      return std::move(error);
  }
  if (llvm::Error error = addRow(all, options.keep))
    return std::move(error);
  return text;
}

llvm::Expected<std::string> heddle::calibrate(
    const CompileOptions &options, ArrayRef<std::string> layers,
    llvm::function_ref<llvm::Error(const CompileOptions &)> compile) {
  return Calibration(options, compile).run(layers);
}
