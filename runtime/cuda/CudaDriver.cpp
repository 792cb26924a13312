#include "runtime/cuda/CudaDriver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <optional>
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
    name = "an unknown error";
  if (cuGetErrorString(code, &text) != 0 || !text)
    text = "no more is known";
  return Status::error("the CUDA driver failed in ", function, ": ", name, " (",
                       text, ")");
}

/// "12.4".
static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// Finds the functions.
static Status resolve(Driver &driver, const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::error("there is no CUDA driver: ", dlerror());
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
  HEDDLE_FIND(cuModuleLoadDataEx);
  HEDDLE_FIND(cuModuleUnload);
  HEDDLE_FIND(cuModuleGetFunction);
  HEDDLE_FIND(cuFuncSetAttribute);
  HEDDLE_FIND(cuMemAlloc_v2);
  HEDDLE_FIND(cuMemFree_v2);
  HEDDLE_FIND(cuMemHostAlloc);
  HEDDLE_FIND(cuMemFreeHost);
  HEDDLE_FIND(cuMemcpyHtoDAsync_v2);
  HEDDLE_FIND(cuMemcpyDtoHAsync_v2);
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

static Status start(Driver &driver) {
  const char *other = getenv("HEDDLE_LIBCUDA");
  const char *path = other && *other ? other : "libcuda.so.1";
  if (Status status = resolve(driver, path); !status.ok())
    return status;
  int version = 0;
  if (driver.cuDriverGetVersion(&version) == 0 && version < kOldestVersion)
    return Status::error("the CUDA driver is of version ", versionText(version),
                         ", expected ", versionText(kOldestVersion),
                         " or later");
  return driver.check(driver.cuInit(0), "cuInit");
}

Result<const Driver *> Driver::get() {
  static std::mutex mutex;
  static Driver driver;
  static std::optional<Status> status;
  std::lock_guard<std::mutex> lock(mutex);
  if (!status)
    status = start(driver);
  if (!status->ok())
    return *status;
  return static_cast<const Driver *>(&driver);
}
