//===- CudaVirtualMemory.cpp - Addresses and what is mapped there ---------===//
//
// Sizes and addresses are multiples of the granularity. What the device may
// still use must not be mapped elsewhere: unlike cuMemFree, these calls do not
// wait, so with work under way that their thread has asked for they fail.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

using namespace heddle::emulator;

/// Calls a function of a device that maps memory, if all numbers are multiples
/// of its granularity.
template <typename Function>
static CUresult callAligned(const char *name,
                            std::initializer_list<uint64_t> numbers,
                            Function function) {
  std::vector<uint64_t> all(numbers);
  return Driver::call(name, [&](Driver &driver) {
    if (!driver.settings.granularity)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (driver.isCapturing())
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    for (uint64_t number : all)
      if (number % driver.settings.granularity)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = function(driver);
    driver.countMost("bytesTaken", driver.memory->mostUsed());
    return result;
  });
}

static bool isDevice(const CUmemLocation &location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0;
}

static bool isPinned(const CUmemAllocationProp &properties) {
  return properties.type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         properties.requestedHandleTypes == 0 && isDevice(properties.location);
}

HEDDLE_CUDA CUresult cuMemGetAllocationGranularity(
    size_t *granularity, const CUmemAllocationProp *properties,
    CUmemAllocationGranularity_flags) {
  return callAligned("cuMemGetAllocationGranularity", {}, [&](Driver &driver) {
    *granularity = driver.settings.granularity;
    return isPinned(*properties) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

HEDDLE_CUDA CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t bytes,
                                         size_t alignment, CUdeviceptr wished,
                                         unsigned long long flags) {
  return callAligned("cuMemAddressReserve", {bytes}, [&](Driver &driver) {
    if (!bytes || (alignment & (alignment - 1)) || flags)
      return CUDA_ERROR_INVALID_VALUE;
    *pointer = driver.memory->reserve(
        bytes, std::max<uint64_t>(alignment, driver.settings.granularity));
    return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}

HEDDLE_CUDA CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  return callAligned("cuMemAddressFree", {pointer, bytes}, [&](Driver &driver) {
    return !driver.mapped->hasMapping(pointer, bytes) &&
                   driver.memory->unreserve(pointer, bytes)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

HEDDLE_CUDA CUresult cuMemCreate(CUmemGenericAllocationHandle *handle,
                                 size_t bytes,
                                 const CUmemAllocationProp *properties,
                                 unsigned long long flags) {
  return callAligned("cuMemCreate", {bytes}, [&](Driver &driver) {
    if (!bytes || flags || !isPinned(*properties))
      return CUDA_ERROR_INVALID_VALUE;
    return driver.mapped->create(handle, bytes);
  });
}

HEDDLE_CUDA CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return callAligned("cuMemRelease", {}, [&](Driver &driver) {
    return driver.mapped->release(handle);
  });
}

HEDDLE_CUDA CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset,
                              CUmemGenericAllocationHandle handle,
                              unsigned long long flags) {
  return callAligned("cuMemMap", {pointer, bytes, offset}, [&](Driver &driver) {
    return flags ? CUDA_ERROR_INVALID_VALUE
                 : driver.mapped->map(pointer, bytes, offset, handle);
  });
}

HEDDLE_CUDA CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  return callAligned("cuMemUnmap", {pointer, bytes}, [&](Driver &driver) {
    return driver.isBusy() ? CUDA_ERROR_ILLEGAL_ADDRESS
                           : driver.mapped->unmap(pointer, bytes);
  });
}

HEDDLE_CUDA CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes,
                                    const CUmemAccessDesc *access,
                                    size_t count) {
  return callAligned("cuMemSetAccess", {pointer, bytes}, [&](Driver &driver) {
    if (count != 1 || !isDevice(access->location) ||
        access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
    return driver.mapped->allow(pointer, bytes);
  });
}
