//===- CudaMemory.cpp - Allocations and copies ----------------------------===//
//
// What is copied to the device from memory that is not pinned is staged when it
// is asked for, what is pinned is read when the copy runs; so is what is
// captured.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <cstring>
#include <sys/mman.h>

using namespace heddle::emulator;

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

HEDDLE_CUDA CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  return Driver::call("cuMemGetInfo_v2", [&](Driver &driver) {
    *total = driver.memory->total();
    *free = *total - driver.memory->used();
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  return Driver::call("cuMemAlloc_v2", [&](Driver &driver) {
    if (driver.isCapturing())
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *pointer = driver.memory->allocate(bytes);
    driver.countMost("bytesTaken", driver.memory->mostUsed());
    return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}

HEDDLE_CUDA CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return Driver::call("cuMemFree_v2", [&](Driver &driver) {
    if (driver.isCapturing())
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (CUresult result = driver.drainAll())
      return result;
    return !pointer || driver.memory->free(pointer) ? CUDA_SUCCESS
                                                    : CUDA_ERROR_INVALID_VALUE;
  });
}

HEDDLE_CUDA CUresult cuMemHostAlloc(void **pointer, size_t bytes,
                                    unsigned flags) {
  return Driver::call("cuMemHostAlloc", [&](Driver &driver) {
    if (driver.isCapturing())
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
      return CUDA_ERROR_OUT_OF_MEMORY;
    std::memset(pages, 0xff, bytes);
    driver.hostAllocations[reinterpret_cast<uint64_t>(pages)] = bytes;
    driver.memory->map.add(pages, bytes);
    *pointer = pages;
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device,
                                                  void *host, unsigned flags) {
  return Driver::call("cuMemHostGetDevicePointer_v2", [&](Driver &) {
    *device = reinterpret_cast<CUdeviceptr>(host);
    return CUDA_SUCCESS;
  });
}

HEDDLE_CUDA CUresult cuMemFreeHost(void *pointer) {
  return Driver::call("cuMemFreeHost", [&](Driver &driver) {
    auto found =
        driver.hostAllocations.find(reinterpret_cast<uint64_t>(pointer));
    if (found == driver.hostAllocations.end())
      return CUDA_ERROR_INVALID_VALUE;
    CUresult result = driver.drainAll();
    driver.memory->map.remove(found->first);
    munmap(pointer, found->second);
    driver.hostAllocations.erase(found);
    return result;
  });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Rows that stand `pitch` bytes apart.
struct Rows {
  uint64_t address;
  size_t pitch;
  bool isDevice;
};

static bool isPinned(const Driver &driver, uint64_t address) {
  auto next = driver.hostAllocations.upper_bound(address);
  if (next == driver.hostAllocations.begin())
    return false;
  --next;
  return address - next->first < next->second;
}

static bool isValid(const Driver &driver, const Rows &rows, size_t width,
                    size_t height) {
  if (width > rows.pitch)
    return false;
  return !rows.isDevice ||
         driver.memory->map
                 .find(rows.address, (height - 1) * rows.pitch + width)
                 .size != 0;
}

static void copyRows(const Rows &to, const Rows &from, size_t width,
                     size_t height) {
  for (size_t row = 0; row < height; ++row)
    std::memmove(
        reinterpret_cast<char *>(to.address) + row * to.pitch,
        reinterpret_cast<const char *>(from.address) + row * from.pitch, width);
}

static CUresult copy(const char *name, CUstream handle, Rows to, Rows from,
                     size_t width, size_t height, bool waits = false) {
  return Driver::call(name, [=](Driver &driver) {
    CUstream stream = driver.resolve(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!width || !height)
      return CUDA_SUCCESS;
    if (!isValid(driver, to, width, height) ||
        !isValid(driver, from, width, height))
      return CUDA_ERROR_INVALID_VALUE;
    if (waits && driver.isCapturing())
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    CUresult result;
    if (!from.isDevice && !stream->capture && !isPinned(driver, from.address)) {
      auto staged = std::make_shared<std::vector<char>>(width * height);
      copyRows({reinterpret_cast<uint64_t>(staged->data()), width, false}, from,
               width, height);
      result = driver.enqueue(stream, [=, &driver] {
        DeviceMemory::Open open(*driver.memory);
        copyRows(to, {reinterpret_cast<uint64_t>(staged->data()), width, false},
                 width, height);
        driver.count("bytesToDevice", width * height);
        return CUDA_SUCCESS;
      });
    } else {
      result = driver.enqueue(stream, [=, &driver] {
        DeviceMemory::Open open(*driver.memory);
        copyRows(to, from, width, height);
        if (to.isDevice != from.isDevice)
          driver.count(to.isDevice ? "bytesToDevice" : "bytesToHost",
                       width * height);
        return CUDA_SUCCESS;
      });
    }
    return result || !waits ? result : driver.drain(stream);
  });
}

static Rows onDevice(CUdeviceptr address, size_t bytes) {
  return {address, bytes, true};
}
static Rows onHost(const void *address, size_t bytes) {
  return {reinterpret_cast<uint64_t>(address), bytes, false};
}

HEDDLE_CUDA CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from,
                                          size_t bytes, CUstream stream) {
  return copy("cuMemcpyHtoDAsync_v2", stream, onDevice(to, bytes),
              onHost(from, bytes), bytes, 1);
}

HEDDLE_CUDA CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from,
                                          size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoHAsync_v2", stream, onHost(to, bytes),
              onDevice(from, bytes), bytes, 1);
}

HEDDLE_CUDA CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from,
                                          size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoDAsync_v2", stream, onDevice(to, bytes),
              onDevice(from, bytes), bytes, 1);
}

HEDDLE_CUDA CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from,
                                     size_t bytes) {
  return copy("cuMemcpyHtoD_v2", nullptr, onDevice(to, bytes),
              onHost(from, bytes), bytes, 1, /*waits=*/true);
}

HEDDLE_CUDA CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return copy("cuMemcpyDtoH_v2", nullptr, onHost(to, bytes),
              onDevice(from, bytes), bytes, 1, /*waits=*/true);
}

HEDDLE_CUDA CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copied,
                                        CUstream stream) {
  auto isHost = [](CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; };
  const CUDA_MEMCPY2D &c = *copied;
  Rows from =
      isHost(c.srcMemoryType)
          ? onHost(c.srcHost, c.srcPitch ? c.srcPitch : c.WidthInBytes)
          : onDevice(c.srcDevice, c.srcPitch ? c.srcPitch : c.WidthInBytes);
  Rows to =
      isHost(c.dstMemoryType)
          ? onHost(c.dstHost, c.dstPitch ? c.dstPitch : c.WidthInBytes)
          : onDevice(c.dstDevice, c.dstPitch ? c.dstPitch : c.WidthInBytes);
  from.address += c.srcY * from.pitch + c.srcXInBytes;
  to.address += c.dstY * to.pitch + c.dstXInBytes;
  return copy("cuMemcpy2DAsync_v2", stream, to, from, c.WidthInBytes, c.Height);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

template <typename Number>
static CUresult fill(const char *name, CUdeviceptr to, Number value,
                     size_t count, CUstream handle) {
  return Driver::call(name, [=](Driver &driver) {
    CUstream stream = driver.resolve(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!count)
      return CUDA_SUCCESS;
    if (to % sizeof(Number) ||
        !driver.memory->map.find(to, count * sizeof(Number)).size)
      return CUDA_ERROR_INVALID_VALUE;
    return driver.enqueue(stream, [=, &driver] {
      DeviceMemory::Open open(*driver.memory);
      auto *numbers = reinterpret_cast<Number *>(to);
      std::fill(numbers, numbers + count, value);
      return CUDA_SUCCESS;
    });
  });
}

HEDDLE_CUDA CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value,
                                     size_t count, CUstream stream) {
  return fill<uint8_t>("cuMemsetD8Async", to, value, count, stream);
}

HEDDLE_CUDA CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value,
                                      size_t count, CUstream stream) {
  return fill<uint32_t>("cuMemsetD32Async", to, value, count, stream);
}
