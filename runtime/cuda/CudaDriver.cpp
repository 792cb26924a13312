//===- CudaDriver.cpp - The driver, opened once ---------------------------===//
//
// The first question opens the library, finds every function, checks the
// version and counts devices; later ones get the same answer. HEDDLE_LIBCUDA
// names another library. A machine without driver or GPU is told from one whose
// driver fails: on the former a model that may choose runs on the CPU, on the
// latter loading fails. A library that HEDDLE_LIBCUDA names has to be there.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaDriver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>

using namespace heddle;
using namespace heddle::cuda;

/// Of CUDA 12.0, whose driver is 525: the first that reads PTX 8.0.
static constexpr int kOldestVersion = 12000;

Status Driver::check(Code code, const char *function) const {
  if (code == 0)
    return Status::success();
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(code, &name) != 0 || !name)
    return Status::error("the CUDA driver failed in ", function, ": error ",
                         code);
  if (cuGetErrorString(code, &text) != 0 || !text)
    text = "no more is known";
  return Status::error("the CUDA driver failed in ", function, ": ", name, " (",
                       text, ")");
}

/// What became of a call that takes memory.
static Status checkTaken(const Driver &driver, Code code, const char *function,
                         size_t bytes, const char *use) {
  constexpr size_t kMebibyte = size_t(1) << 20;
  size_t free = 0, total = 0;
  // Memory may be in pieces, or a limit somebody's own.
  if (code != kOutOfMemory || driver.cuMemGetInfo_v2(&free, &total) != 0 ||
      free >= bytes)
    return driver.check(code, (std::string(function) + " for " + use).c_str());
  return Status::error("the GPU has ", free / kMebibyte, " of ",
                       total / kMebibyte, " MiB of memory free, expected ",
                       (bytes + kMebibyte - 1) / kMebibyte, " MiB for ", use);
}

Status Driver::allocate(Pointer *memory, size_t bytes, const char *use) const {
  return checkTaken(*this, cuMemAlloc_v2(memory, bytes), "cuMemAlloc", bytes,
                    use);
}

Status Driver::create(Allocation *allocation, size_t bytes,
                      const AllocationProperties &properties,
                      const char *use) const {
  return checkTaken(*this,
                    cuMemCreate(allocation, bytes, &properties, /*flags=*/0),
                    "cuMemCreate", bytes, use);
}

/// "12.4".
static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

static Result<void *> open(const char *path, bool isNamed) {
  if (void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL))
    return library;
  return Status::error("there is no CUDA driver: ",
                       isNamed ? "HEDDLE_LIBCUDA is " : "", dlerror());
}

/// Finds the functions.
static Status resolve(Driver &driver, const char *path, void *library) {
  Status status = Status::success();
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        dlsym(library, name));
    if (!function && status.ok())
      status = Status::error("the CUDA driver '", path, "' has no function '",
                             name, "'");
  };
#define HEDDLE_FIND(NAME) find(driver.NAME, #NAME)
  HEDDLE_FIND(cuInit);
  HEDDLE_FIND(cuDriverGetVersion);
  HEDDLE_FIND(cuGetErrorName);
  HEDDLE_FIND(cuGetErrorString);
  HEDDLE_FIND(cuDeviceGetCount);
  HEDDLE_FIND(cuDeviceGet);
  HEDDLE_FIND(cuDeviceGetAttribute);
  HEDDLE_FIND(cuDevicePrimaryCtxRetain);
  HEDDLE_FIND(cuDevicePrimaryCtxRelease_v2);
  HEDDLE_FIND(cuCtxSetCurrent);
  HEDDLE_FIND(cuCtxSynchronize);
  HEDDLE_FIND(cuModuleLoadDataEx);
  HEDDLE_FIND(cuModuleUnload);
  HEDDLE_FIND(cuModuleGetFunction);
  HEDDLE_FIND(cuFuncSetAttribute);
  HEDDLE_FIND(cuOccupancyMaxActiveClusters);
  HEDDLE_FIND(cuMemGetInfo_v2);
  HEDDLE_FIND(cuMemAlloc_v2);
  HEDDLE_FIND(cuMemFree_v2);
  HEDDLE_FIND(cuMemGetAllocationGranularity);
  HEDDLE_FIND(cuMemAddressReserve);
  HEDDLE_FIND(cuMemAddressFree);
  HEDDLE_FIND(cuMemCreate);
  HEDDLE_FIND(cuMemRelease);
  HEDDLE_FIND(cuMemMap);
  HEDDLE_FIND(cuMemUnmap);
  HEDDLE_FIND(cuMemSetAccess);
  HEDDLE_FIND(cuMemHostAlloc);
  HEDDLE_FIND(cuMemFreeHost);
  HEDDLE_FIND(cuMemcpyHtoDAsync_v2);
  HEDDLE_FIND(cuMemcpyDtoHAsync_v2);
  HEDDLE_FIND(cuMemcpyDtoDAsync_v2);
  HEDDLE_FIND(cuMemsetD8Async);
  HEDDLE_FIND(cuStreamCreate);
  HEDDLE_FIND(cuStreamDestroy_v2);
  HEDDLE_FIND(cuStreamSynchronize);
  HEDDLE_FIND(cuStreamBeginCapture_v2);
  HEDDLE_FIND(cuStreamEndCapture);
  HEDDLE_FIND(cuGraphInstantiateWithFlags);
  HEDDLE_FIND(cuGraphLaunch);
  HEDDLE_FIND(cuGraphExecDestroy);
  HEDDLE_FIND(cuGraphDestroy);
  HEDDLE_FIND(cuLaunchKernel);
#undef HEDDLE_FIND
  return status;
}

namespace {
/// What there is once somebody has asked for it.
struct Started {
  Driver driver;
  Status status = Status::success();
  bool isMissing = false;

  Started() { status = start(); }

private:
  Status start();
};
} // namespace

Status Started::start() {
  const char *other = getenv("HEDDLE_LIBCUDA");
  bool isNamed = other && *other;
  const char *path = isNamed ? other : "libcuda.so.1";
  Result<void *> library = open(path, isNamed);
  isMissing = !library.ok() && !isNamed;
  if (!library.ok())
    return library.status();
  Status resolved = resolve(driver, path, *library);
  int version = 0;
  Code asked =
      driver.cuDriverGetVersion ? driver.cuDriverGetVersion(&version) : 0;
  // What an older one lacks is told by its version.
  if (driver.cuDriverGetVersion && asked == 0 && version < kOldestVersion)
    return Status::error("the CUDA driver is of version ", versionText(version),
                         ", expected ", versionText(kOldestVersion),
                         " or later");
  if (!resolved.ok())
    return resolved;
  if (Status status = driver.check(asked, "cuDriverGetVersion"); !status.ok())
    return status;
  Code code = driver.cuInit(0);
  isMissing = code == kNoDevice;
  if (Status status = driver.check(code, "cuInit"); !status.ok())
    return status;
  int count = 0;
  if (Status status =
          driver.check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
      !status.ok())
    return status;
  isMissing = count == 0;
  return isMissing ? Status::error("the CUDA driver shows no GPU")
                   : Status::success();
}

static const Started &started() {
  static const Started once;
  return once;
}

Result<const Driver *> Driver::get() {
  if (!started().status.ok())
    return started().status;
  return &started().driver;
}

bool Driver::isMissing() { return started().isMissing; }
