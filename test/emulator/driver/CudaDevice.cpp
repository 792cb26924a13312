//===- CudaDevice.cpp - Initialisation, the device, its context -----------===//

#include "Driver.h"

#include <cstring>

using namespace heddle::emulator;

/// The one device and its one context.
static constexpr CUdevice kDevice = 0;
static CUcontext theContext() { return reinterpret_cast<CUcontext>(0x10); }

HEDDLE_CUDA CUresult cuInit(unsigned flags) {
  return Driver::call(
      "cuInit",
      [&](Driver &driver) {
        driver.initialize();
        if (!driver.settings.problem.empty()) {
          Driver::log(driver.settings.problem);
          return CUDA_ERROR_INVALID_VALUE;
        }
        // The first call of all may be the one that has to fail.
        auto found = driver.settings.failures.find("cuInit");
        if (found != driver.settings.failures.end() && found->second.count(1))
          return found->second[1];
        return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
      },
      false);
}

HEDDLE_CUDA CUresult cuDriverGetVersion(int *version) {
  return Driver::call(
      "cuDriverGetVersion",
      [&](Driver &driver) {
        *version = driver.isInitialized
                       ? driver.settings.version
                       : DriverSettings::fromEnvironment().version;
        return CUDA_SUCCESS;
      },
      false);
}

/// Calls a function that needs cuInit() but no context.
template <typename Function>
static CUresult initialized(const char *name, Function function) {
  return Driver::call(
      name,
      [&](Driver &driver) {
        return driver.isInitialized ? function(driver)
                                    : CUDA_ERROR_NOT_INITIALIZED;
      },
      false);
}

HEDDLE_CUDA CUresult cuDeviceGetCount(int *count) {
  return initialized("cuDeviceGetCount", [&](Driver &) {
    *count = 1;
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return initialized("cuDeviceGet", [&](Driver &) {
    *device = kDevice;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  });
}

HEDDLE_CUDA CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  return initialized("cuDeviceGetName", [&](Driver &) {
    if (length <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    std::strncpy(name, "Heddle's emulated GPU", length);
    name[length - 1] = 0;
    return device == kDevice ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  });
}

HEDDLE_CUDA CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  return initialized("cuDeviceTotalMem_v2", [&](Driver &driver) {
    *bytes = driver.memory->total();
    return device == kDevice ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  });
}

/// What an attribute is; -1 for those that nobody needed yet.
static int attributeOf(const Driver &driver, CUdevice_attribute attribute) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return 0x7fffffff;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return 65535;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return 48 << 10;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return 1000000;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return driver.multiprocessors();
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    return 1;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 1000000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 5120;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return 50 << 20;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return Driver::kMostThreads;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return driver.settings.major;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return driver.settings.minor;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return driver.sharedBytes();
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return driver.maxSharedBytes();
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return Driver::kMostBlocks;
  case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    return driver.settings.granularity > 0;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return Driver::kReservedBytes;
  case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
    return driver.isHopper();
  }
  return -1;
}

HEDDLE_CUDA CUresult cuDeviceGetAttribute(int *value,
                                          CUdevice_attribute attribute,
                                          CUdevice device) {
  return initialized("cuDeviceGetAttribute", [&](Driver &driver) {
    if (device != kDevice)
      return CUDA_ERROR_INVALID_DEVICE;
    *value = attributeOf(driver, attribute);
    return *value < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuDevicePrimaryCtxRetain(CUcontext *context,
                                              CUdevice device) {
  return initialized("cuDevicePrimaryCtxRetain", [&](Driver &driver) {
    if (device != kDevice)
      return CUDA_ERROR_INVALID_DEVICE;
    ++driver.numRetained;
    *context = theContext();
    return CUDA_SUCCESS;
  });
}

/// With its last user, all of the context goes.
HEDDLE_CUDA CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return initialized("cuDevicePrimaryCtxRelease_v2", [&](Driver &driver) {
    if (!driver.numRetained)
      return CUDA_ERROR_INVALID_CONTEXT;
    if (!--driver.numRetained)
      driver.reset();
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return initialized("cuDevicePrimaryCtxReset_v2", [&](Driver &driver) {
    unsigned numRetained = driver.numRetained;
    driver.reset();
    driver.numRetained = numRetained;
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuCtxSetCurrent(CUcontext context) {
  return initialized("cuCtxSetCurrent", [&](Driver &driver) {
    if (context && (context != theContext() || !driver.numRetained))
      return CUDA_ERROR_INVALID_CONTEXT;
    Driver::currentContext = context;
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuCtxGetCurrent(CUcontext *context) {
  return initialized("cuCtxGetCurrent", [&](Driver &) {
    *context = Driver::currentContext;
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuCtxSynchronize() {
  return Driver::call("cuCtxSynchronize", [&](Driver &driver) {
    return driver.isCapturing() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                : driver.drainAll();
  });
}

//===----------------------------------------------------------------------===//
// Names of errors
//===----------------------------------------------------------------------===//

struct ErrorText {
  CUresult result;
  const char *name;
  const char *text;
};

static const ErrorText kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED",
     "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
     "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
     "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
     "invalid device context"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX",
     "a PTX JIT compilation failed"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
     "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS",
     "misaligned address"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "operation not supported on global/shared address space"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED",
     "unspecified launch failure"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED",
     "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
     "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static const ErrorText *find(CUresult result) {
  for (const ErrorText &error : kErrors)
    if (error.result == result)
      return &error;
  return nullptr;
}

HEDDLE_CUDA CUresult cuGetErrorName(CUresult result, const char **name) {
  const ErrorText *error = find(result);
  *name = error ? error->name : nullptr;
  return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

HEDDLE_CUDA CUresult cuGetErrorString(CUresult result, const char **text) {
  const ErrorText *error = find(result);
  *text = error ? error->text : nullptr;
  return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
