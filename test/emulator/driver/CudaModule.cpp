//===- CudaModule.cpp - Modules, kernels and launches ---------------------===//
//
// An image is LLVM's bitcode of a module for nvptx64 as it is after
// optimisation, behind 16 bytes: "HEDDLEBC" and its length. PTX is refused.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <dlfcn.h>

using namespace heddle::emulator;

static constexpr char kMagic[] = "HEDDLEBC";

/// Writes to the buffer of the JIT's log, where the caller gave one.
static void writeLog(const std::string &problem, unsigned numOptions,
                     const CUjit_option *options, void **values) {
  Driver::log("cuModuleLoadDataEx: " + problem);
  char *buffer = nullptr;
  size_t size = 0;
  size_t *sizeIsAt = nullptr;
  for (unsigned i = 0; i < numOptions; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      buffer = static_cast<char *>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      size = reinterpret_cast<size_t>(values[i]);
      sizeIsAt = reinterpret_cast<size_t *>(&values[i]);
    }
  }
  if (!buffer || !size)
    return;
  std::strncpy(buffer, problem.c_str(), size);
  buffer[size - 1] = 0;
  *sizeIsAt = std::strlen(buffer);
}

namespace {
/// Somebody who loads, which holds nobody else up. As many as the environment
/// says wait for each other, for a while.
class Loader {
public:
  explicit Loader(Driver &driver) {
    std::unique_lock<std::mutex> lock(mutex);
    most = std::max(most, ++count);
    isThere.notify_all();
    isThere.wait_for(lock, std::chrono::seconds(10),
                     [&] { return most >= driver.settings.loadsAtOnce; });
  }
  ~Loader() {
    std::lock_guard<std::mutex> lock(mutex);
    --count;
  }
  /// How many there have been at once.
  static unsigned mostAtOnce() {
    std::lock_guard<std::mutex> lock(mutex);
    return most;
  }

private:
  static std::mutex mutex;
  static std::condition_variable isThere;
  static unsigned count, most;
};
} // namespace

std::mutex Loader::mutex;
std::condition_variable Loader::isThere;
unsigned Loader::count, Loader::most;

/// Null with a sentence where the image is none.
static std::unique_ptr<Program> loadImage(const char *bytes,
                                          std::string &problem) {
  if (std::strncmp(bytes, kMagic, 8)) {
    problem = "the image is no bitcode for the emulator (expected HEDDLEBC, "
              "its length as a u64, and LLVM bitcode)";
    return nullptr;
  }
  uint64_t length;
  std::memcpy(&length, bytes + 8, sizeof(length));
  return Program::load({bytes + 16, length}, problem);
}

HEDDLE_CUDA CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                                        unsigned numOptions,
                                        CUjit_option *options, void **values) {
  CUresult begun = Driver::call("cuModuleLoadDataEx", [&](Driver &driver) {
    if (driver.isCapturing())
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return image && module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
  if (begun)
    return begun;
  Loader loader(Driver::instance());
  std::string problem;
  auto loaded = std::make_unique<CUmod_st>();
  loaded->program = loadImage(static_cast<const char *>(image), problem);
  return Driver::locked([&](Driver &driver) {
    if (!loaded->program) {
      writeLog(problem, numOptions, options, values);
      return CUDA_ERROR_INVALID_PTX;
    }
    driver.count("loadedWithoutCall", loaded->program->lacksCall());
    *module = loaded.get();
    driver.modules[*module] = std::move(loaded);
    driver.countMost("loadsAtOnce", Loader::mostAtOnce());
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuModuleUnload(CUmodule module) {
  return Driver::call("cuModuleUnload", [&](Driver &driver) {
    auto found = driver.modules.find(module);
    if (found == driver.modules.end())
      return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = driver.drainAll();
    for (auto &[name, function] : found->second->functions)
      driver.functions.erase(function.get());
    for (uint64_t variable : module->variables)
      driver.memory->map.remove(variable);
    driver.modules.erase(found);
    return result;
  });
}

HEDDLE_CUDA CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                                         const char *name) {
  CUresult begun = Driver::call("cuModuleGetFunction", [&](Driver &driver) {
    return driver.modules.count(module) ? CUDA_SUCCESS
                                        : CUDA_ERROR_INVALID_HANDLE;
  });
  if (begun)
    return begun;
  // Compiling, too, holds up those alone who ask for the same module.
  std::string problem;
  const Kernel *kernel = nullptr;
  {
    std::lock_guard<std::mutex> lock(module->compiling);
    kernel = module->program->kernel(name, problem);
  }
  return Driver::locked([&](Driver &driver) {
    if (!kernel) {
      if (problem.empty())
        return CUDA_ERROR_NOT_FOUND;
      Driver::log(problem);
      return CUDA_ERROR_INVALID_IMAGE;
    }
    std::unique_ptr<CUfunc_st> &known = module->functions[name];
    if (!known) {
      known = std::make_unique<CUfunc_st>();
      known->module = module;
      known->kernel = kernel;
      driver.functions.insert(known.get());
    }
    *function = known.get();
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes,
                                          CUmodule module, const char *name) {
  return Driver::call("cuModuleGetGlobal_v2", [&](Driver &driver) {
    if (!driver.modules.count(module))
      return CUDA_ERROR_INVALID_HANDLE;
    std::string problem;
    MemoryRange range = module->program->variable(name, problem);
    if (!problem.empty()) {
      Driver::log(problem);
      return CUDA_ERROR_INVALID_IMAGE;
    }
    if (!range.first)
      return CUDA_ERROR_NOT_FOUND;
    // Copies to and from it are as those of any allocation.
    driver.memory->map.add(range.first, range.size);
    module->variables.insert(range.first);
    if (pointer)
      *pointer = range.first;
    if (bytes)
      *bytes = range.size;
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

HEDDLE_CUDA CUresult cuFuncSetAttribute(CUfunction function,
                                        CUfunction_attribute attribute,
                                        int value) {
  return Driver::call("cuFuncSetAttribute", [&](Driver &driver) {
    if (!driver.functions.count(function))
      return CUDA_ERROR_INVALID_HANDLE;
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
      return CUDA_SUCCESS;
    int limit =
        driver.maxSharedBytes() - function->kernel->info.staticSharedBytes;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
        value < 0 || value > limit)
      return CUDA_ERROR_INVALID_VALUE;
    function->maxDynamicSharedBytes = value;
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuFuncGetAttribute(int *value,
                                        CUfunction_attribute attribute,
                                        CUfunction function) {
  return Driver::call("cuFuncGetAttribute", [&](Driver &driver) {
    if (!driver.functions.count(function))
      return CUDA_ERROR_INVALID_HANDLE;
    const KernelInfo &info = function->kernel->info;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = info.maxThreads;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = info.staticSharedBytes;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(info.localBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = 32;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 10 * driver.settings.major + driver.settings.minor;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->maxDynamicSharedBytes;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

/// The cluster is the kernel's own; that its blocks have to be near each other
/// is left out of account.
HEDDLE_CUDA CUresult cuOccupancyMaxActiveClusters(
    int *clusters, CUfunction function, const CUlaunchConfig *config) {
  return Driver::call("cuOccupancyMaxActiveClusters", [&](Driver &driver) {
    if (!driver.functions.count(function))
      return CUDA_ERROR_INVALID_HANDLE;
    const KernelInfo &info = function->kernel->info;
    uint64_t threads =
        uint64_t(config->blockDimX) * config->blockDimY * config->blockDimZ;
    if (!driver.isHopper() || config->numAttrs != 0 || threads == 0 ||
        threads > info.maxThreads || config->gridDimX % info.clusterSize != 0 ||
        config->sharedMemBytes > unsigned(function->maxDynamicSharedBytes))
      return CUDA_ERROR_INVALID_VALUE;
    int ofBlock = int(config->sharedMemBytes) + info.staticSharedBytes +
                  Driver::kReservedBytes;
    int blocks =
        std::min({driver.sharedBytes() / ofBlock,
                  Driver::kMostThreads / int(threads), Driver::kMostBlocks});
    *clusters = driver.multiprocessors() * blocks / int(info.clusterSize);
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Parameters as they are when the launch is asked for. By value at multiples
/// of 64 bytes, which a tensor map needs.
struct LaunchedKernel {
  const Kernel *kernel;
  Launch launch;
  std::unique_ptr<CUtensorMap[]> storage;
};

/// Where the caller's parameters are; empty if there are too few bytes.
static std::vector<const void *>
locate(const KernelInfo &info, void *const *parameters, void *const *extra) {
  std::vector<const void *> addresses;
  if (parameters) {
    addresses.assign(parameters, parameters + info.parameters.size());
    return addresses;
  }
  const char *buffer = nullptr;
  size_t size = 0;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<const char *>(extra[1]);
    else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<size_t *>(extra[1]);
  }
  for (const Parameter &parameter : info.parameters) {
    if (parameter.offset + parameter.size > size)
      return {};
    addresses.push_back(buffer + parameter.offset);
  }
  return addresses;
}

static std::shared_ptr<LaunchedKernel>
copyParameters(const Kernel &kernel, const std::vector<const void *> &from) {
  auto launched = std::make_shared<LaunchedKernel>();
  launched->kernel = &kernel;
  const auto &parameters = kernel.info.parameters;
  std::vector<size_t> places;
  size_t count = 0;
  for (const Parameter &parameter : parameters) {
    places.push_back(count);
    count += (parameter.size + sizeof(CUtensorMap) - 1) / sizeof(CUtensorMap);
  }
  launched->storage = std::make_unique<CUtensorMap[]>(count);
  for (size_t i = 0; i < parameters.size(); ++i) {
    void *place = &launched->storage[places[i]];
    std::memcpy(place, from[i], parameters[i].size);
    launched->launch.parameters.push_back(place);
  }
  return launched;
}

static CUresult runKernel(Driver &driver, const LaunchedKernel &launched) {
  if (!driver.machine)
    driver.machine = std::make_unique<Machine>();
  DeviceMemory::Open open(*driver.memory);
  std::optional<Failure> failure = driver.machine->run(
      *launched.kernel, launched.launch, driver.memory->map);
  if (!failure)
    return CUDA_SUCCESS;
  Driver::log(failure->sentence);
  return static_cast<CUresult>(failure->code);
}

static CUresult launch(const char *name, CUfunction function,
                       const CUlaunchConfig &config, void **parameters,
                       void **extra) {
  return Driver::call(name, [&](Driver &driver) {
    CUstream stream = driver.resolve(config.hStream);
    if (!stream || !driver.functions.count(function))
      return CUDA_ERROR_INVALID_HANDLE;
    const KernelInfo &info = function->kernel->info;
    uint64_t threads =
        uint64_t(config.blockDimX) * config.blockDimY * config.blockDimZ;
    if (!threads || !config.gridDimX || !config.gridDimY || !config.gridDimZ ||
        config.gridDimY > 65535 || config.gridDimZ > 65535 ||
        config.blockDimZ > 64 || threads > info.maxThreads ||
        config.sharedMemBytes > unsigned(function->maxDynamicSharedBytes))
      return CUDA_ERROR_INVALID_VALUE;
    std::vector<const void *> from = locate(info, parameters, extra);
    if (from.size() != info.parameters.size())
      return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<LaunchedKernel> launched =
        copyParameters(*function->kernel, from);
    if (info.clusterSize > 1)
      driver.countMost("blocksOfClusters", config.gridDimX);
    launched->launch.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
    launched->launch.block = {config.blockDimX, config.blockDimY,
                              config.blockDimZ};
    launched->launch.dynamicSharedBytes = config.sharedMemBytes;
    return driver.enqueue(
        stream, [&driver, launched] { return runKernel(driver, *launched); });
  });
}

HEDDLE_CUDA CUresult cuLaunchKernel(CUfunction function, unsigned gridX,
                                    unsigned gridY, unsigned gridZ,
                                    unsigned blockX, unsigned blockY,
                                    unsigned blockZ, unsigned sharedBytes,
                                    CUstream stream, void **parameters,
                                    void **extra) {
  CUlaunchConfig config = {gridX,  gridY,       gridZ,  blockX,  blockY,
                           blockZ, sharedBytes, stream, nullptr, 0};
  return launch("cuLaunchKernel", function, config, parameters, extra);
}

HEDDLE_CUDA CUresult cuLaunchKernelEx(const CUlaunchConfig *config,
                                      CUfunction function, void **parameters,
                                      void **extra) {
  return launch("cuLaunchKernelEx", function, *config, parameters, extra);
}

//===----------------------------------------------------------------------===//
// Names of functions
//===----------------------------------------------------------------------===//

/// The newest version of a function has the suffix, which callers leave out.
HEDDLE_CUDA CUresult cuGetProcAddress_v2(const char *name, void **function,
                                         int version, uint64_t flags,
                                         int *status) {
  Dl_info self;
  void *library = nullptr;
  if (dladdr(reinterpret_cast<void *>(&cuGetProcAddress_v2), &self))
    library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = nullptr;
  for (const char *suffix : {"_v2", ""})
    if (library && !*function)
      *function = dlsym(library, (std::string(name) + suffix).c_str());
  if (library)
    dlclose(library);
  // CU_GET_PROC_ADDRESS_SUCCESS or CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND.
  if (status)
    *status = *function ? 0 : 1;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
