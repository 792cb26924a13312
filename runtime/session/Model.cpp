//===- Model.cpp - A loaded model -----------------------------------------===//
//
// Loading, in the order in which each part can trust the one before: file,
// manifest, code, tokenizer, shortlist.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Model.h"

#include "runtime/artifact/EntryContract.h"

#include <algorithm>
#include <dlfcn.h>
#include <utility>

using namespace heddle;

/// Says which file a sentence is about, if it does not name it itself.
static Status inFile(const Artifact &artifact, const Status &status) {
  return Status::error("'", artifact.path(), "': ", status.message());
}

Result<Manifest> heddle::readManifest(const Artifact &artifact) {
  std::optional<std::string_view> text = artifact.section("manifest");
  if (!text)
    return Status::error("'", artifact.path(), "' has no section 'manifest'");
  Result<Manifest> manifest = parseManifest(*text);
  if (!manifest.ok())
    return inFile(artifact, manifest.status());
  if (Status status = checkEntries(*manifest); !status.ok())
    return inFile(artifact, status);
  for (const std::string &isa : manifest->isas)
    if (!artifact.section("code." + isa))
      return Status::error("'", artifact.path(), "' has no section 'code.", isa,
                           "', which its manifest lists");
  for (const std::string &gpu : manifest->gpus)
    if (!artifact.section("code." + gpu) || !artifact.section("kernels." + gpu))
      return Status::error("'", artifact.path(), "' has no sections 'code.",
                           gpu, "' and 'kernels.", gpu,
                           "', which its manifest lists");
  return manifest;
}

/// The GPU that is chosen; null if the CPU is, or if the choice is open
/// and the machine has no GPU.
static Result<std::unique_ptr<CudaModel>>
chooseGpu(const Artifact &artifact, const Manifest &manifest,
          const LoadOptions &options) {
  DeviceChoice choice = options.device;
  if (choice == DeviceChoice::Cpu ||
      (choice == DeviceChoice::Auto && manifest.gpus.empty()))
    return std::unique_ptr<CudaModel>();
  if (manifest.gpus.empty())
    return Status::error("'", artifact.path(),
                         "' has no code for a GPU: it was compiled without "
                         "--target cuda");
  auto gpu = CudaModel::open(artifact, manifest.gpus, options.progress);
  if (!gpu.ok() && choice == DeviceChoice::Auto && cuda::Driver::isMissing())
    return std::unique_ptr<CudaModel>();
  return gpu;
}

Result<Model> Model::load(const std::string &path, const LoadOptions &options) {
  Result<Artifact> artifact = Artifact::open(path);
  if (!artifact.ok())
    return artifact.status();
  return load(std::move(*artifact), options);
}

Result<Model> Model::load(Artifact artifact, const LoadOptions &options) {
  if (options.verify)
    if (Status status = artifact.verify(); !status.ok())
      return status;
  Result<Manifest> manifest = readManifest(artifact);
  if (!manifest.ok())
    return manifest.status();
  // In sight of the code, which is loaded behind them.
  for (const std::string &library : manifest->libraries)
    if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL))
      return Status::error("'", artifact.path(),
                           "' was compiled with --gemm=onednn and "
                           "needs '",
                           library, "': ", dlerror());
  auto chosen = chooseGpu(artifact, *manifest, options);
  if (!chosen.ok() && options.device != DeviceChoice::Auto)
    return chosen.status();
  auto gpu = chosen.ok() ? std::move(*chosen) : nullptr;
  // The CPU may have to go on.
  if (gpu && options.device == DeviceChoice::Auto)
    if (Status status = CodeLibrary::checkForced(artifact, manifest->isas);
        !status.ok())
      return status;
  Result<CodeLibrary> code =
      gpu ? CodeLibrary::loadSection(artifact, gpu->architecture())
          : CodeLibrary::load(artifact, manifest->isas,
                              !manifest->libraries.empty());
  if (!code.ok())
    return code.status();

  Model model(std::move(artifact),
              std::make_unique<Manifest>(std::move(*manifest)),
              std::move(*code), std::move(gpu));
  model.failedGpu = chosen.status();
  if (model.isOnGpu() && options.device == DeviceChoice::Auto)
    model.spare = std::make_unique<Spare>();
  for (const Entry &entry : model.manifest().entries) {
    auto run = model.code.function<HeddleEntry>(entry.symbol);
    auto arenaSize = model.code.function<HeddleArenaSize>(entry.arenaSymbol);
    if (!run.ok())
      return inFile(model.file, run.status());
    if (!arenaSize.ok())
      return inFile(model.file, arenaSize.status());
    model.entryPoints.push_back({&entry, *run, *arenaSize});
  }

  auto scratchSize = model.code.function<HeddleScratchSize>(HEDDLE_SCRATCH);
  if (!scratchSize.ok())
    return inFile(model.file, scratchSize.status());
  model.scratchSize = *scratchSize;

  auto tokenizer = Tokenizer::make(model.file, model.manifest());
  if (!tokenizer.ok())
    return inFile(model.file, tokenizer.status());
  model.textTokenizer = std::move(*tokenizer);

  if (auto bytes = model.file.section("shortlist")) {
    Result<Shortlist> shortlist = Shortlist::parse(*bytes, model.manifest());
    if (!shortlist.ok())
      return inFile(model.file, shortlist.status());
    model.lexicon = std::move(*shortlist);
  }
  return model;
}

const Shortlist *Model::shortlist() const {
  return lexicon && entryPoint(Role::Step, /*hasCandidates=*/true) ? &*lexicon
                                                                   : nullptr;
}

const EntryPoint *Model::entryPoint(Role role, bool hasCandidates) const {
  const Entry *entry = manifest().entry(role, hasCandidates);
  for (const EntryPoint &entryPoint : entryPoints)
    if (entryPoint.description == entry)
      return &entryPoint;
  return nullptr;
}

const Model *Model::onCpu() const {
  if (!spare)
    return nullptr;
  std::lock_guard<std::mutex> lock(spare->mutex);
  if (!std::exchange(spare->isTried, true)) {
    LoadOptions options;
    options.device = DeviceChoice::Cpu;
    auto artifact = Artifact::fromMemory(file.path(), file.allBytes());
    if (artifact.ok())
      if (auto loaded = load(std::move(*artifact), options); loaded.ok())
        spare->model = std::make_unique<Model>(std::move(*loaded));
  }
  return spare->model.get();
}

std::unique_ptr<Device> Model::makeDevice() const {
  return gpu ? gpu->makeDevice() : makeHostDevice();
}

const void *Model::weights() const {
  if (gpu)
    return gpu->weights();
  std::optional<std::string_view> bytes = file.section("weights");
  return bytes ? bytes->data() : nullptr;
}

static Status checkIds(const std::vector<int32_t> &ids, int32_t vocabulary,
                       std::optional<int64_t> positions) {
  if (positions && ids.size() > static_cast<uint64_t>(*positions))
    return Status::error("has ", ids.size(),
                         " tokens but the model has positions for ",
                         *positions);
  for (int32_t id : ids)
    if (id < 0 || id >= vocabulary)
      return Status::error("has the id ", id, " but the vocabulary has ",
                           vocabulary);
  return Status::success();
}

Status Model::checkTask(std::string_view task) const {
  if (manifest().hasTask(task))
    return Status::success();
  return Status::error("'", artifact().path(), "' has no task '", task,
                       "': it ", manifest().describeTasks());
}

Status Model::checkSource(const std::vector<int32_t> &ids) const {
  if (ids.empty())
    return Status::error("has no token");
  return checkIds(ids, manifest().sourceVocabulary, manifest().sourcePositions);
}

Status Model::checkTarget(const std::vector<int32_t> &ids) const {
  return checkIds(ids, manifest().targetVocabulary,
                  manifest().generation.maxTarget);
}

Status Model::checkTargetIds(const std::vector<int32_t> &ids) const {
  return checkIds(ids, manifest().targetVocabulary, std::nullopt);
}

Status Model::checkPrefix(const std::vector<int32_t> &ids) const {
  std::optional<int64_t> positions = manifest().generation.maxTarget;
  // Without a start token the last position may be that of the last of them.
  if (!manifest().promptsTarget && positions &&
      ids.size() == static_cast<uint64_t>(*positions))
    return Status::error("has ", ids.size(), " tokens but the model has ",
                         *positions,
                         " positions, the start token's among them, and one "
                         "more has to follow");
  return checkTarget(ids);
}
