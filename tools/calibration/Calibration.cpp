//===- Calibration.cpp - What fewer bits cost, layer by layer -------------===//
//
// A layer's error is measured where it counts, in the logits: the model in f32
// writes targets, and follows them again with the weights and vectors of that
// layer rounded. One program does so for all layers, since what is rounded is a
// matter of the parameters' bytes (FakeQuantizePass), which are exchanged where
// they lie. Logits in f32 are computed once unless they are many. Of all layers
// together it is the artifact itself that is asked. Errors of layers do not add
// up to its error, but they say which one to keep.
//
//===----------------------------------------------------------------------===//

#include "tools/calibration/Calibration.h"
#include "runtime/lines/LineTokens.h"
#include "runtime/search/Generate.h"
#include "runtime/search/TeacherForcing.h"
#include "tools/LineReader.h"
#include "tools/RuntimeErrors.h"
#include "tools/calibration/LogitError.h"
#include "tools/compile/CompileProgress.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <thread>

using namespace mlir;
using namespace heddle;

/// Lines that run together, at most: their logits in f32 are kept meanwhile.
static constexpr size_t kBatch = 32;
/// Bytes of such logits that are kept from model to model.
static constexpr size_t kMostKept = size_t(256) << 20;

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

/// By sentence of a batch and position.
using Rows = std::map<std::pair<int64_t, int64_t>, ExpectedRow>;

/// Bytes of a model and those that stand there while a layer is measured.
struct Exchange {
  struct Part {
    char *place;
    SmallVector<char, 0> bytes;
  };
  std::vector<Part> parts;

  bool changesNothing() const {
    return llvm::all_of(parts, [](const Part &part) {
      return std::equal(part.bytes.begin(), part.bytes.end(), part.place);
    });
  }
  /// To the other of the two, and back.
  void run() {
    for (Part &part : parts)
      std::swap_ranges(part.bytes.begin(), part.bytes.end(), part.place);
  }
};
} // namespace

class heddle::Calibration::Measurement {
public:
  Measurement(const CompileOptions &options, CalibrationSteps steps)
      : options(options), steps(std::move(steps)) {}

  llvm::Error measureLayers(ArrayRef<CalibratedLayer> layers);
  llvm::Expected<std::string> measureArtifact();

private:
  using MappedFile = llvm::sys::fs::mapped_file_region;

  CompileOptions optionsOfTrial(std::optional<bool> fakeQuantize) const;
  llvm::Expected<MappedFile> build(CompileOptions trial);
  llvm::Error prepare();
  llvm::Error readLines();
  llvm::Error answer();
  Exchange exchangeOf(const CalibratedLayer &layer,
                      ArrayRef<PlacedTensor> rounded);
  llvm::Expected<Model> loadArtifact();
  llvm::Error measure(StringRef name, const Model &model, Exchange *layer);
  llvm::Expected<Rows> scoreInF32(size_t first);
  llvm::Error score(const Model &model, size_t first, const LogitsSink &sink);
  std::string print() const;
  /// Of a position.
  size_t bytesOfLogits() const {
    return size_t(f32->manifest().targetVocabulary) * sizeof(float);
  }

  CompileOptions options;
  CalibrationSteps steps;
  /// The file of the model in f32, whose weights are exchanged in memory, and
  /// of one like the artifact.
  MappedFile f32Bytes, artifactBytes;
  std::optional<Model> f32;
  std::unique_ptr<ThreadPool> pool;
  Pairs pairs;
  /// Lines whose logits are computed together.
  size_t batch = 1;
  /// Of the batches that begin with these sentences.
  std::map<size_t, Rows> kept;
  std::vector<std::pair<std::string, LogitError>> results;
};

//===----------------------------------------------------------------------===//
// Models that are measured
//===----------------------------------------------------------------------===//

CompileOptions Calibration::Measurement::optionsOfTrial(
    std::optional<bool> fakeQuantize) const {
  CompileOptions trial = options;
  trial.isTrial = true;
  trial.fakeQuantize = fakeQuantize;
  trial.target = "native";
  return trial;
}

/// Maps a file whose bytes may change in memory alone.
static llvm::Expected<llvm::sys::fs::mapped_file_region>
mapPrivately(const std::string &path) {
  uint64_t size;
  std::error_code error = llvm::sys::fs::file_size(path, size);
  if (error)
    return makeError("cannot read '" + path + "': " + error.message());
  llvm::Expected<llvm::sys::fs::file_t> file =
      llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  llvm::sys::fs::mapped_file_region region(
      *file, llvm::sys::fs::mapped_file_region::priv, size, /*offset=*/0,
      error);
  llvm::sys::fs::closeFile(*file);
  if (error)
    return makeError("cannot map '" + path + "': " + error.message());
  return region;
}

/// Compiles for this machine.
llvm::Expected<llvm::sys::fs::mapped_file_region>
Calibration::Measurement::build(CompileOptions trial) {
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
  trial.output = path.str().str();
  llvm::Error error = steps.compile(trial);
  llvm::sys::DontRemoveFileOnSignal(path);
  if (error)
    return std::move(error);
  // It is mapped: its name is not needed any more.
  return mapPrivately(trial.output);
}

/// Loads a model that stays in those bytes.
static llvm::Expected<Model>
loadMapped(const llvm::sys::fs::mapped_file_region &file) {
  auto artifact = toExpected(
      Artifact::fromMemory("the model that is measured",
                           std::string_view(file.const_data(), file.size())));
  if (!artifact)
    return artifact.takeError();
  LoadOptions onCpu;
  onCpu.device = DeviceChoice::Cpu;
  return toExpected(Model::load(std::move(*artifact), onCpu));
}

/// The artifact that was written, or, if it does not run here, one like it.
llvm::Expected<Model> Calibration::Measurement::loadArtifact() {
  LoadOptions onCpu;
  onCpu.device = DeviceChoice::Cpu;
  llvm::sys::fs::file_status status;
  bool isFile = !llvm::sys::fs::status(options.output, status) &&
                llvm::sys::fs::is_regular_file(status);
  if (isFile)
    if (auto written = Model::load(options.output, onCpu); written.ok())
      return std::move(*written);
  auto built = build(optionsOfTrial(std::nullopt));
  if (!built)
    return built.takeError();
  artifactBytes = std::move(*built);
  return loadMapped(artifactBytes);
}

/// Reads text, or ids if there is no tokenizer.
llvm::Error Calibration::Measurement::readLines() {
  if (!f32->manifest().generates)
    return makeError("--calibrate compares logits, but the model " +
                     f32->manifest().describeTasks());
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
                                     size_t first, size_t size) {
  auto begin = all.begin() + ptrdiff_t(first);
  return {begin, begin + ptrdiff_t(std::min(size, all.size() - first))};
}

llvm::Error Calibration::Measurement::answer() {
  Session session(*f32, {pool.get(), nullptr});
  SearchOptions greedy;
  greedy.beams = 1;
  for (size_t first = 0; first < pairs.sources.size(); first += kBatch) {
    auto answers = toExpected(generate(*f32, session,
                                       batchOf(pairs.sources, first, kBatch),
                                       /*prefixes=*/{}, greedy));
    if (!answers)
      return answers.takeError();
    for (std::vector<Hypothesis> &hypotheses : *answers)
      pairs.targets.push_back(std::move(hypotheses.front().tokens));
  }
  size_t longest = 1;
  for (const TokenIds &target : pairs.targets)
    longest = std::max(longest, target.size());
  batch =
      std::clamp<size_t>(kMostKept / (bytesOfLogits() * longest), 1, kBatch);
  return llvm::Error::success();
}

llvm::Error Calibration::Measurement::prepare() {
  int64_t threads =
      options.jobs ? options.jobs : std::thread::hardware_concurrency();
  auto created = toExpected(ThreadPool::create(threads));
  if (!created)
    return created.takeError();
  pool = std::move(*created);
  auto built = build(optionsOfTrial(/*fakeQuantize=*/false));
  if (!built)
    return built.takeError();
  f32Bytes = std::move(*built);
  llvm::Expected<Model> model = loadMapped(f32Bytes);
  if (!model)
    return model.takeError();
  f32.emplace(std::move(*model));
  if (llvm::Error error = readLines())
    return error;
  return answer();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// The parameters that are made of weights of the layer, as `rounded` has them.
Exchange Calibration::Measurement::exchangeOf(const CalibratedLayer &layer,
                                              ArrayRef<PlacedTensor> rounded) {
  std::string_view weights = f32->artifact().section("weights").value_or("");
  char *section = f32Bytes.data() + (weights.data() - f32Bytes.const_data());
  Exchange exchange;
  for (const PlacedTensor &tensor : rounded) {
    if (llvm::none_of(tensor.sources, [&](const std::string &source) {
          return llvm::is_contained(layer.weights, source);
        }))
      continue;
    PlacedTensor alone = tensor;
    alone.offset = 0;
    Exchange::Part &part = exchange.parts.emplace_back();
    part.place = section + tensor.offset;
    llvm::raw_svector_ostream stream(part.bytes);
    // What is lost is said of the artifact.
    std::vector<LostWeights> lost;
    writeTensors(alone, stream, lost);
  }
  return exchange;
}

llvm::Error Calibration::Measurement::score(const Model &model, size_t first,
                                            const LogitsSink &sink) {
  Session session(model, {pool.get(), nullptr});
  Teaching teaching{DecoderForm::Step, model.manifest().generation.start};
  return toError(
      scoreTargets(model, session, batchOf(pairs.sources, first, batch),
                   batchOf(pairs.targets, first, batch), teaching, sink));
}

/// The logits of a batch in f32.
llvm::Expected<Rows> Calibration::Measurement::scoreInF32(size_t first) {
  size_t width = size_t(f32->manifest().targetVocabulary);
  Rows rows;
  llvm::Error error = score(
      *f32, first, [&](int64_t sentence, int64_t position, const float *row) {
        rows.try_emplace({sentence, position}, ArrayRef(row, width));
        return Status::success();
      });
  if (error)
    return std::move(error);
  return rows;
}

/// Measures `model` or, if `layer` is not null, the one in f32 with that one
/// exchanged, and adds a row.
llvm::Error Calibration::Measurement::measure(StringRef name,
                                              const Model &model,
                                              Exchange *layer) {
  size_t width = size_t(f32->manifest().targetVocabulary);
  bool keeps = pairs.tokens() <= kMostKept / bytesOfLogits();
  LogitError &result = results.emplace_back(name.str(), LogitError()).second;
  for (size_t first = 0; first < pairs.sources.size(); first += batch) {
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
    if (layer)
      layer->run();
    llvm::Error error = score(
        model, first,
        [&](int64_t sentence, int64_t position, const float *row) {
          result.add(ArrayRef(row, width), expected.at({sentence, position}));
          return Status::success();
        });
    if (layer)
      layer->run();
    if (error)
      return error;
  }
  return llvm::Error::success();
}

llvm::Error
Calibration::Measurement::measureLayers(ArrayRef<CalibratedLayer> layers) {
  showProgress("calibrating: the model in f32");
  if (llvm::Error error = prepare())
    return error;
  auto rounded = steps.placeTensors(optionsOfTrial(/*fakeQuantize=*/true));
  if (!rounded)
    return rounded.takeError();
  for (auto [index, layer] : llvm::enumerate(layers)) {
    showProgress("calibrating, " + Twine(index + 1) + " of " +
                 Twine(layers.size()) + " layers: " + layer.pattern);
    Exchange exchange = exchangeOf(layer, *rounded);
    if (exchange.changesNothing())
      results.emplace_back(layer.pattern, LogitError());
    else if (llvm::Error error = measure(layer.pattern, *f32, &exchange))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> Calibration::Measurement::measureArtifact() {
  showProgress("calibrating: all layers");
  llvm::Expected<Model> model = loadArtifact();
  if (!model)
    return model.takeError();
  if (llvm::Error error = measure("all layers", *model, /*layer=*/nullptr))
    return std::move(error);
  return print();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

std::string Calibration::Measurement::print() const {
  size_t width = 0;
  for (const auto &[name, error] : results)
    width = std::max(width, name.size());
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto count = [](size_t number, StringRef unit) {
    return (Twine(number) + " " + unit + (number == 1 ? "" : "s")).str();
  };
  stream << "logits against f32, over " << count(pairs.sources.size(), "line")
         << " and " << count(pairs.tokens(), "token") << "\n  "
         << llvm::left_justify("in " + options.dtype, width)
         << "  rms error    largest  other next token\n";
  for (const auto &[name, error] : results)
    stream << "  " << llvm::left_justify(name, width)
           << llvm::format("  %8.3f %%  %9.4f  %13.2f %%\n",
                           100 * error.relative(), error.largest,
                           100 * error.changedShare());
  return text;
}

Calibration::Calibration(const CompileOptions &options, CalibrationSteps steps)
    : measurement(std::make_unique<Measurement>(options, std::move(steps))) {}

Calibration::~Calibration() = default;

llvm::Error Calibration::measureLayers(ArrayRef<CalibratedLayer> layers) {
  return measurement->measureLayers(layers);
}

llvm::Expected<std::string> Calibration::measureArtifact() {
  return measurement->measureArtifact();
}
