//===- CudaDriver.h - NVIDIA's driver ---------------------------*- C++ -*-===//
//
// The functions of libcuda.so.1 that the runtime calls, as the CUDA driver API
// documents them; found in the library when a model asks for a GPU, so that
// nothing is needed if none does.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CUDA_CUDADRIVER_H
#define HEDDLE_RUNTIME_CUDA_CUDADRIVER_H

#include "runtime/Result.h"

#include <cstddef>
#include <cstdint>

namespace heddle::cuda {

/// CUresult; 0 is success.
using Code = int;
inline constexpr Code kOutOfMemory = 2, kNoDevice = 100;
/// CUstream_flags: beside the streams of others.
inline constexpr unsigned kNonBlocking = 1;
using Device = int;
/// Addresses in the device's memory.
using Pointer = unsigned long long;
using Context = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Graph = struct CUgraph_st *;
using GraphExec = struct CUgraphExec_st *;

/// CUmemGenericAllocationHandle.
using Allocation = unsigned long long;

/// CUmemLocation, of a device.
struct Location {
  int type = 1;
  Device device;
};
/// CUmemAllocationProp of memory of a device that no other process sees.
struct AllocationProperties {
  int type = 1, handleTypes = 0;
  Location location;
  void *metadata = nullptr;
  unsigned char flags[8] = {};
};
/// CUmemAccessDesc: reads and writes.
struct AccessOf {
  Location location;
  int flags = 3;
};

/// CUlaunchConfig, which says nothing of what a kernel says itself.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  Stream stream;
  void *attributes;
  unsigned attributeCount;
};

/// The driver, one in a process. Its functions may be called by any thread.
struct Driver {
  /// Loads libcuda.so.1, or the file that the environment variable
  /// HEDDLE_LIBCUDA names, and starts it, once. Fails if there is none, one
  /// that is too old, or no GPU that it shows.
  static Result<const Driver *> get();
  /// Whether get() has failed for no other reason than that the machine has no
  /// GPU, or no driver and nobody has named one.
  static bool isMissing();

  /// Success, or a sentence about the function that returned `code`.
  Status check(Code code, const char *function) const;
  /// Takes memory of the device, for what the sentence of an error says: "the
  /// weights".
  Status allocate(Pointer *memory, size_t bytes, const char *use) const;
  /// The same without addresses.
  Status create(Allocation *allocation, size_t bytes,
                const AllocationProperties &properties, const char *use) const;

  Code (*cuInit)(unsigned flags);
  Code (*cuDriverGetVersion)(int *version);
  Code (*cuGetErrorName)(Code code, const char **name);
  Code (*cuGetErrorString)(Code code, const char **text);
  Code (*cuDeviceGetCount)(int *count);
  Code (*cuDeviceGet)(Device *device, int ordinal);
  Code (*cuDeviceGetAttribute)(int *value, int attribute, Device device);
  Code (*cuDevicePrimaryCtxRetain)(Context *context, Device device);
  Code (*cuDevicePrimaryCtxRelease_v2)(Device device);
  Code (*cuCtxSetCurrent)(Context context);
  Code (*cuCtxSynchronize)();
  Code (*cuModuleLoadDataEx)(Module *module, const void *image, unsigned count,
                             int *options, void **values);
  Code (*cuModuleUnload)(Module module);
  Code (*cuModuleGetFunction)(Function *function, Module module,
                              const char *name);
  Code (*cuFuncSetAttribute)(Function function, int attribute, int value);
  Code (*cuOccupancyMaxActiveClusters)(int *clusters, Function function,
                                       const LaunchConfig *config);
  Code (*cuMemGetInfo_v2)(size_t *free, size_t *total);
  Code (*cuMemAlloc_v2)(Pointer *pointer, size_t bytes);
  Code (*cuMemFree_v2)(Pointer pointer);
  Code (*cuMemGetAllocationGranularity)(size_t *bytes,
                                        const AllocationProperties *properties,
                                        int option);
  Code (*cuMemAddressReserve)(Pointer *pointer, size_t bytes, size_t alignment,
                              Pointer wished, unsigned long long flags);
  Code (*cuMemAddressFree)(Pointer pointer, size_t bytes);
  Code (*cuMemCreate)(Allocation *allocation, size_t bytes,
                      const AllocationProperties *properties,
                      unsigned long long flags);
  Code (*cuMemRelease)(Allocation allocation);
  Code (*cuMemMap)(Pointer pointer, size_t bytes, size_t offset,
                   Allocation allocation, unsigned long long flags);
  Code (*cuMemUnmap)(Pointer pointer, size_t bytes);
  Code (*cuMemSetAccess)(Pointer pointer, size_t bytes, const AccessOf *access,
                         size_t count);
  Code (*cuMemHostAlloc)(void **pointer, size_t bytes, unsigned flags);
  Code (*cuMemFreeHost)(void *pointer);
  Code (*cuMemcpyHtoDAsync_v2)(Pointer to, const void *from, size_t bytes,
                               Stream stream);
  Code (*cuMemcpyDtoHAsync_v2)(void *to, Pointer from, size_t bytes,
                               Stream stream);
  Code (*cuMemcpyDtoDAsync_v2)(Pointer to, Pointer from, size_t bytes,
                               Stream stream);
  Code (*cuMemsetD8Async)(Pointer to, unsigned char value, size_t bytes,
                          Stream stream);
  Code (*cuStreamCreate)(Stream *stream, unsigned flags);
  Code (*cuStreamDestroy_v2)(Stream stream);
  Code (*cuStreamSynchronize)(Stream stream);
  Code (*cuStreamBeginCapture_v2)(Stream stream, int mode);
  Code (*cuStreamEndCapture)(Stream stream, Graph *graph);
  Code (*cuGraphInstantiateWithFlags)(GraphExec *exec, Graph graph,
                                      unsigned long long flags);
  Code (*cuGraphLaunch)(GraphExec exec, Stream stream);
  Code (*cuGraphExecDestroy)(GraphExec exec);
  Code (*cuGraphDestroy)(Graph graph);
  Code (*cuLaunchKernel)(Function function, unsigned gridX, unsigned gridY,
                         unsigned gridZ, unsigned blockX, unsigned blockY,
                         unsigned blockZ, unsigned sharedBytes, Stream stream,
                         void **parameters, void **extra);
};

} // namespace heddle::cuda

#endif // HEDDLE_RUNTIME_CUDA_CUDADRIVER_H
