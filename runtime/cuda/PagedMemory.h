//===- PagedMemory.h - Addresses that cost what is touched ------*- C++ -*-===//
//
// A block whose addresses are reserved at once, and whose pages get memory of
// the device when somebody is about to write what is read later. All other
// pages are the same one, whose content is nobody's: kernels may read and write
// there what they do not use.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CUDA_PAGEDMEMORY_H
#define HEDDLE_RUNTIME_CUDA_PAGEDMEMORY_H

#include "runtime/Result.h"
#include "runtime/cuda/CudaDriver.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace heddle {

/// Owns addresses and memory. One thread at a time, one of the device's.
class PagedMemory {
public:
  /// Reserves addresses for so many bytes, whose pages are `pageBytes` long.
  static Result<std::unique_ptr<PagedMemory>> reserve(const cuda::Driver &api,
                                                      cuda::Device device,
                                                      int64_t bytes,
                                                      int64_t pageBytes);
  PagedMemory(const PagedMemory &) = delete;
  /// Waits until the device is done with it.
  ~PagedMemory();

  char *begin() const { return reinterpret_cast<char *>(addresses); }
  int64_t pageSize() const { return pageBytes; }
  bool holds(const char *memory) const {
    return memory >= begin() && memory < begin() + size;
  }
  /// These bytes are written from now on; what other bytes of their pages hold
  /// stays. If memory is short some of them have none.
  Status touch(const char *memory, int64_t bytes);
  /// Nobody reads them before they are touched again.
  Status forget(const char *memory, int64_t bytes);

private:
  PagedMemory(const cuda::Driver &api, cuda::Device device, int64_t pageBytes)
      : api(api), device(device), pageBytes(pageBytes) {}

  struct Page {
    /// Null if the page is the common one.
    cuda::Allocation allocation = 0;
    bool isMapped = false;
  };
  Status wait() const;
  Status create(cuda::Allocation *allocation) const;
  Status map(size_t page, cuda::Allocation allocation);
  Status unmap(size_t page);
  Status allow(size_t first, size_t count) const;
  Status addPage(size_t page);
  Status dropPage(size_t page);
  bool isTouched(int64_t begin, int64_t end) const;
  cuda::Pointer addressOf(size_t page) const {
    return addresses + page * cuda::Pointer(pageBytes);
  }

  const cuda::Driver &api;
  const cuda::Device device;
  const int64_t pageBytes;
  cuda::Pointer addresses = 0;
  int64_t size = 0;
  cuda::Allocation common = 0;
  std::vector<Page> pages;
  /// Offsets: where ranges that are touched begin, and end. None meet.
  std::map<int64_t, int64_t> touched;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CUDA_PAGEDMEMORY_H
