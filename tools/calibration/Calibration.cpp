//===- Calibration.cpp - What fewer bits cost, layer by layer -------------===//
//
// A layer's error is measured where it counts, in what the model answers
// (ComparedRows.h): the model in f32 computes it again with the weights and
// vectors of that layer rounded. One program does so for all layers, since what
// is rounded is a matter of the parameters' bytes (FakeQuantizePass), which are
// exchanged where they lie. What it computes in f32 is kept unless it is much.
// Of all layers together it is the artifact itself that is asked. Errors of
// layers do not add up to its error, but they say which one to keep.
//
//===----------------------------------------------------------------------===//

#include "tools/calibration/Calibration.h"
#include "tools/RuntimeErrors.h"
#include "tools/calibration/ComparedRows.h"
#include "tools/compile/CompileProgress.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <thread>

using namespace mlir;
using namespace heddle;

/// Lines that run together, at most: their rows in f32 are kept meanwhile.
static constexpr size_t kBatch = 32;
/// Bytes of such rows that are kept from model to model.
static constexpr size_t kMostKept = size_t(256) << 20;

namespace {
/// By line of a batch and row.
using Rows = std::map<std::pair<size_t, size_t>, ExpectedRow>;

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
  Exchange exchangeOf(const CalibratedLayer &layer,
                      ArrayRef<PlacedTensor> rounded);
  llvm::Expected<Model> loadArtifact();
  llvm::Error measure(StringRef name, const Model &model, Exchange *layer);
  llvm::Expected<Rows> scoreInF32(size_t first);
  std::string print() const;

  CompileOptions options;
  CalibrationSteps steps;
  /// The file of the model in f32, whose weights are exchanged in memory, and
  /// of one like the artifact.
  MappedFile f32Bytes, artifactBytes;
  std::optional<Model> f32;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<ComparedRows> compared;
  /// Lines that run together.
  size_t batch = 1;
  /// Of the batches that begin with these lines.
  std::map<size_t, Rows> kept;
  std::vector<std::pair<std::string, RowError>> results;
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
  auto read = ComparedRows::read(*f32, options.calibrate, *pool);
  if (!read)
    return read.takeError();
  compared = std::move(*read);
  // As long as they are on average.
  size_t bytesOfLine =
      std::max<size_t>(compared->countBytes() / compared->countLines(), 1);
  batch = std::clamp<size_t>(kMostKept / bytesOfLine, 1, kBatch);
  return llvm::Error::success();
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

/// The rows of a batch in f32.
llvm::Expected<Rows> Calibration::Measurement::scoreInF32(size_t first) {
  Rows rows;
  llvm::Error error = compared->score(
      *f32, first, batch, [&](size_t line, size_t row, ArrayRef<float> values) {
        rows.try_emplace({line, row}, values, compared->getKind());
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
  bool keeps = compared->countBytes() <= kMostKept;
  RowError &result = results.emplace_back(name.str(), RowError()).second;
  for (size_t first = 0; first < compared->countLines(); first += batch) {
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
    llvm::Error error =
        compared->score(model, first, batch,
                        [&](size_t line, size_t row, ArrayRef<float> values) {
                          result.add(values, expected.at({line, row}));
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
      results.emplace_back(layer.pattern, RowError());
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
  std::string types = "in " + options.dtype;
  if (!options.activationDtype.empty())
    types += " by " + options.activationDtype;
  if (!options.cacheDtype.empty())
    types += ", caches in " + options.cacheDtype;
  size_t width = types.size();
  for (const auto &[name, error] : results)
    width = std::max(width, name.size());
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto count = [](size_t number, StringRef unit) {
    return (Twine(number) + " " + unit + (number == 1 ? "" : "s")).str();
  };
  const RowWords &words = compared->getWords();
  stream << words.rows << " against f32, over "
         << count(compared->countLines(), "line");
  if (!words.unit.empty())
    stream << " and " << count(compared->countRows(), words.unit);
  bool isOfVectors = compared->getKind() == RowKind::Vector;
  std::string last = "other " + words.choice;
  stream << "\n  " << llvm::left_justify(types, width)
         << "  rms error    largest  "
         << (isOfVectors ? "mean cosine  least cosine" : last) << "\n";
  int lastWidth = int(last.size()) - 3;
  for (const auto &[name, error] : results) {
    stream << "  " << llvm::left_justify(name, width)
           << llvm::format("  %8.3f %%  %9.4f  ", 100 * error.relative(),
                           error.largest);
    if (isOfVectors)
      stream << llvm::format("%11.5f  %12.5f\n", error.meanCosine(),
                             error.leastCosine);
    else
      stream << llvm::format("%*.2f %%\n", lastWidth,
                             100 * error.changedShare());
  }
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
