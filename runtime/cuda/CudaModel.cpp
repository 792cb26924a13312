//===- CudaModel.cpp - From an artifact to kernels on a device ------------===//
//
// The architecture is the last one in the artifact that the device runs, or the
// one that HEDDLE_GPU_ARCH names. Its table of kernels is untrusted: every
// offset is checked before a pointer is made of it. Weights are copied at once,
// but each kernel is loaded when it is needed, because the driver may have to
// compile its PTX. All kernels that a session needs are loaded together, on as
// many threads as there are cores.
//
// A kernel is read without a lock once it is there; a lock per kernel keeps two
// threads from loading it twice.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaModel.h"

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/threads/AvailableCores.h"
#include "runtime/threads/Thread.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

using namespace heddle;
using namespace heddle::cuda;

/// CUdevice_attribute.
static constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76,
                     kMapsMemory = 102;
/// CUmemAllocationGranularity_flags: the least.
static constexpr int kLeastGranularity = 0;
/// CUfunction_attribute: dynamic shared memory; above this it has to be asked
/// for.
static constexpr int kMostSharedBytes = 8;
static constexpr unsigned kSharedBytesOfAll = 48 * 1024;
/// Blocks of a cluster on any GPU.
static constexpr unsigned kMostOfCluster = 16;
/// CUjit_option.
static constexpr int kErrorLog = 5, kErrorLogBytes = 6;

/// The capability that an architecture's code needs, times ten, and whether it
/// runs on that alone: "sm_90a" is 90 and does.
static std::optional<std::pair<int, bool>>
capabilityOf(const std::string &gpu) {
  if (gpu.compare(0, 3, "sm_") != 0)
    return std::nullopt;
  int capability = atoi(gpu.c_str() + 3);
  if (capability <= 0)
    return std::nullopt;
  return std::pair(capability, gpu.back() == 'a');
}

static std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// The last of `gpus` that a device of capability `major`.`minor` runs, or the
/// one that HEDDLE_GPU_ARCH names.
static Result<std::string>
chooseArchitecture(const Artifact &artifact,
                   const std::vector<std::string> &gpus, int major, int minor) {
  int capability = 10 * major + minor;
  std::vector<std::string> runnable;
  for (const std::string &gpu : gpus)
    if (auto needed = capabilityOf(gpu))
      if (needed->second ? needed->first == capability
                         : needed->first <= capability)
        runnable.push_back(gpu);
  if (runnable.empty())
    return Status::error("'", artifact.path(), "' has code for ", joined(gpus),
                         " but the GPU has compute capability ", major, ".",
                         minor);
  const char *forced = getenv("HEDDLE_GPU_ARCH");
  if (!forced || !*forced)
    return runnable.back();
  if (!std::count(gpus.begin(), gpus.end(), forced))
    return Status::error("HEDDLE_GPU_ARCH is '", forced, "' but '",
                         artifact.path(), "' has code for ", joined(gpus));
  if (!std::count(runnable.begin(), runnable.end(), forced))
    return Status::error("HEDDLE_GPU_ARCH is '", forced,
                         "' but the GPU, of compute capability ", major, ".",
                         minor, ", runs the code in '", artifact.path(),
                         "' only for ", joined(runnable));
  return std::string(forced);
}

Result<std::unique_ptr<CudaModel>>
CudaModel::open(const Artifact &artifact, const std::vector<std::string> &gpus,
                const UploadProgress &progress) {
  Result<const Driver *> driver = Driver::get();
  if (!driver.ok())
    return driver.status();
  const Driver &api = **driver;
  int major = 0, minor = 0;
  cuda::Device device = 0;
  for (auto [code, function] :
       {std::pair(api.cuDeviceGet(&device, 0), "cuDeviceGet"),
        std::pair(api.cuDeviceGetAttribute(&major, kCapabilityMajor, device),
                  "cuDeviceGetAttribute"),
        std::pair(api.cuDeviceGetAttribute(&minor, kCapabilityMinor, device),
                  "cuDeviceGetAttribute")})
    if (Status status = api.check(code, function); !status.ok())
      return status;
  Result<std::string> architecture =
      chooseArchitecture(artifact, gpus, major, minor);
  if (!architecture.ok())
    return architecture.status();
  Context context = nullptr;
  if (Status status = api.check(api.cuDevicePrimaryCtxRetain(&context, device),
                                "cuDevicePrimaryCtxRetain");
      !status.ok())
    return status;
  std::unique_ptr<CudaModel> model(
      new CudaModel(&api, device, context, std::move(*architecture)));
  if (Status status = model->measurePages(); !status.ok())
    return status;
  if (Status status = model->readKernels(artifact); !status.ok())
    return Status::error("'", artifact.path(), "': section 'kernels.",
                         model->name, "' ", status.message());
  if (Status status = model->copyWeights(artifact, progress); !status.ok())
    return status;
  return model;
}

CudaModel::~CudaModel() {
  // A device that has failed frees nothing, and need not.
  if (api->cuCtxSetCurrent(context) == 0) {
    for (Kernel &kernel : kernels)
      if (kernel.module)
        api->cuModuleUnload(kernel.module);
    if (weightsAt)
      api->cuMemFree_v2(weightsAt);
  }
  api->cuDevicePrimaryCtxRelease_v2(device);
}

Status CudaModel::enter() const {
  return api->check(api->cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

Status CudaModel::measurePages() {
  int mapsMemory = 0;
  if (Status status = api->check(
          api->cuDeviceGetAttribute(&mapsMemory, kMapsMemory, device),
          "cuDeviceGetAttribute");
      !status.ok() || !mapsMemory)
    return status;
  if (Status status = enter(); !status.ok())
    return status;
  AllocationProperties properties = {};
  properties.location.device = device;
  size_t bytes = 0;
  Status status = api->check(api->cuMemGetAllocationGranularity(
                                 &bytes, &properties, kLeastGranularity),
                             "cuMemGetAllocationGranularity");
  if (status.ok() && bytes > 0)
    mappedBytes = int64_t(bytes);
  return status;
}

/// Checks and reads the table, but no image.
Status CudaModel::readKernels(const Artifact &artifact) {
  std::optional<std::string_view> bytes = artifact.section("kernels." + name);
  format::KernelTableHeader header;
  if (!bytes || bytes->size() < sizeof header)
    return Status::error("is missing or too short");
  std::memcpy(&header, bytes->data(), sizeof header);
  if (header.count >
      (bytes->size() - sizeof header) / sizeof(format::KernelRecord))
    return Status::error("is too short for ", header.count, " kernels");
  const std::pair<const char *, int64_t *> ownNames[] = {
      {HEDDLE_MOVE_ROWS, &own.moveRows},
      {HEDDLE_WRITE_HISTORY, &own.writeHistory},
      {HEDDLE_MERGE_RANGES, &own.mergeRanges}};
  auto endsInside = [&](uint64_t at, uint64_t size) {
    return at < bytes->size() && size < bytes->size() - at &&
           (*bytes)[at + size] == '\0';
  };
  for (uint64_t i = 0; i < header.count; ++i) {
    format::KernelRecord record;
    std::memcpy(&record, bytes->data() + sizeof header + i * sizeof record,
                sizeof record);
    if (record.name >= bytes->size() ||
        bytes->find('\0', record.name) == std::string_view::npos ||
        !endsInside(record.image, record.imageBytes) ||
        (record.binaryBytes > 0 &&
         !endsInside(record.binary, record.binaryBytes)) ||
        record.threads == 0 || record.threads > 1024 ||
        record.stayingCluster > kMostOfCluster)
      return Status::error("has a damaged kernel ", i);
    Kernel &kernel = kernels.emplace_back();
    kernel.name = bytes->data() + record.name;
    kernel.image = bytes->data() + record.image;
    kernel.binary =
        record.binaryBytes ? bytes->data() + record.binary : nullptr;
    kernel.threads = record.threads;
    kernel.sharedBytes = record.sharedBytes;
    kernel.stayingCluster = record.stayingCluster;
    for (auto [name, number] : ownNames)
      if (strcmp(kernel.name, name) == 0)
        *number = int64_t(i);
  }
  for (auto [name, number] : ownNames)
    if (*number < 0)
      return Status::error("has no kernel '", name, "'");
  return Status::success();
}

Status CudaModel::copyWeights(const Artifact &artifact,
                              const UploadProgress &progress) {
  std::optional<std::string_view> bytes = artifact.section("weights");
  if (!bytes || bytes->empty())
    return Status::success();
  if (Status status = enter(); !status.ok())
    return status;
  if (Status status = api->allocate(&weightsAt, bytes->size(), "the weights");
      !status.ok())
    return status;
  return uploadWeights(*api, weightsAt, *bytes, progress);
}

Status CudaModel::loadImage(Kernel &kernel, const char *image) const {
  char log[2048] = "";
  int options[] = {kErrorLog, kErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  Code code =
      api->cuModuleLoadDataEx(&kernel.module, image, 2, options, values);
  Status loaded = api->check(code, "cuModuleLoadDataEx");
  if (loaded.ok())
    return loaded;
  // Of several lines the first says what is wrong.
  log[strcspn(log, "\n")] = '\0';
  Status failure = Status::error(
      "kernel '", kernel.name, "': ", loaded.message(), *log ? ": " : "", log);
  // Memory may be free another time.
  if (image == kernel.image && code != kOutOfMemory)
    kernel.failure = failure;
  return failure;
}

/// Of blocks that stay, how many the device has room for. What it counts may
/// be more than it runs at once, in bad luck: the others come behind.
Status CudaModel::countBlocks(Kernel &kernel, cuda::Function function) const {
  if (kernel.stayingCluster == 0)
    return Status::success();
  LaunchConfig config = {};
  config.gridX = kernel.stayingCluster;
  config.blockX = kernel.threads;
  config.gridY = config.gridZ = config.blockY = config.blockZ = 1;
  config.sharedBytes = kernel.sharedBytes;
  int clusters = 0;
  Status status = api->check(
      api->cuOccupancyMaxActiveClusters(&clusters, function, &config),
      "cuOccupancyMaxActiveClusters");
  // Of none the launch will tell why.
  kernel.mostBlocks =
      std::max<int64_t>(clusters, 1) * int64_t(kernel.stayingCluster);
  return status;
}

/// A cubin is for some of the devices that PTX is for, and need not be one that
/// our assembler made: what it lacks, PTX may have.
Status CudaModel::load(Kernel &kernel) const {
  auto loadFrom = [&](const char *image) -> Status {
    if (Status status = loadImage(kernel, image); !status.ok())
      return status;
    cuda::Function function = nullptr;
    Status status = api->check(
        api->cuModuleGetFunction(&function, kernel.module, kernel.name),
        "cuModuleGetFunction");
    if (status.ok() && kernel.sharedBytes > kSharedBytesOfAll)
      status = api->check(api->cuFuncSetAttribute(function, kMostSharedBytes,
                                                  int(kernel.sharedBytes)),
                          "cuFuncSetAttribute");
    if (status.ok())
      status = countBlocks(kernel, function);
    if (!status.ok()) {
      api->cuModuleUnload(std::exchange(kernel.module, nullptr));
      return Status::error("kernel '", kernel.name, "': ", status.message());
    }
    kernel.function = function;
    return Status::success();
  };
  if (kernel.binary && loadFrom(kernel.binary).ok())
    return Status::success();
  return loadFrom(kernel.image);
}

Result<const CudaModel::Kernel *> CudaModel::kernel(int64_t number) const {
  if (number < 0 || number >= int64_t(kernels.size()))
    return Status::error("the compiled code starts kernel ", number, " of ",
                         kernels.size());
  Kernel &kernel = kernels[size_t(number)];
  if (!kernel.function) {
    std::lock_guard<std::mutex> lock(kernel.loading);
    if (!kernel.failure.ok())
      return kernel.failure;
    if (!kernel.function)
      if (Status status = load(kernel); !status.ok())
        return status;
  }
  return static_cast<const Kernel *>(&kernel);
}

/// Those of `numbers` that are not there, or no kernels.
std::vector<int64_t>
CudaModel::missingOf(const std::set<int64_t> &numbers) const {
  std::vector<int64_t> missing;
  for (int64_t number : numbers)
    if (number < 0 || number >= int64_t(kernels.size()) ||
        !kernels[size_t(number)].function)
      missing.push_back(number);
  return missing;
}

Status CudaModel::loadKernels(const std::set<int64_t> &numbers) const {
  // Who needs none waits for nobody.
  if (missingOf(numbers).empty())
    return Status::success();
  // Sessions that begin at once need the same ones.
  std::lock_guard<std::mutex> lock(loadingAll);
  std::vector<int64_t> missing = missingOf(numbers);
  std::vector<Status> statuses(missing.size(), Status::success());
  std::atomic<size_t> next = 0;
  auto loadNext = [&] {
    Status entered = enter();
    for (size_t i; (i = next++) < missing.size();) {
      statuses[i] = entered.ok() ? kernel(missing[i]).status() : entered;
      if (!statuses[i].ok())
        next = missing.size();
    }
  };
  std::vector<Thread> helpers;
  for (int64_t i = std::min<int64_t>(availableCores(), missing.size());
       --i > 0;)
    if (Result<Thread> thread = Thread::start(loadNext); thread.ok())
      helpers.push_back(std::move(*thread));
  loadNext();
  helpers.clear(); // Waits for each.
  for (const Status &status : statuses)
    if (!status.ok())
      return status;
  return Status::success();
}
