//===- PagedMemory.cpp - Addresses that cost what is touched --------------===//
//
// By the driver's calls for virtual memory ("CUDA Driver API", Virtual Memory
// Management): memory is created apart from its addresses and mapped there. A
// mapping goes as a whole, so each page is one of its own.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/PagedMemory.h"

#include <algorithm>
#include <utility>

using namespace heddle;
using namespace heddle::cuda;

Result<std::unique_ptr<PagedMemory>> PagedMemory::reserve(const Driver &api,
                                                          Device device,
                                                          int64_t bytes,
                                                          int64_t pageBytes) {
  std::unique_ptr<PagedMemory> memory(new PagedMemory(api, device, pageBytes));
  size_t count = size_t((bytes + pageBytes - 1) / pageBytes);
  int64_t size = int64_t(count) * pageBytes;
  if (Status status = api.check(
          api.cuMemAddressReserve(&memory->addresses, size_t(size),
                                  /*alignment=*/0, /*wished=*/0, /*flags=*/0),
          "cuMemAddressReserve");
      !status.ok())
    return status;
  memory->size = size;
  memory->pages.resize(count);
  if (Status status = memory->create(&memory->common); !status.ok())
    return status;
  for (size_t page = 0; page < count; ++page)
    if (Status status = memory->map(page, memory->common); !status.ok())
      return status;
  if (Status status = memory->allow(0, count); !status.ok())
    return status;
  return memory;
}

PagedMemory::~PagedMemory() {
  (void)wait();
  for (size_t page = 0; page < pages.size(); ++page) {
    (void)unmap(page);
    if (pages[page].allocation)
      api.cuMemRelease(pages[page].allocation);
  }
  if (common)
    api.cuMemRelease(common);
  if (size > 0)
    api.cuMemAddressFree(addresses, size_t(size));
}

/// Pages change behind all that was asked for: other sessions, too, may have
/// written here.
Status PagedMemory::wait() const {
  return api.check(api.cuCtxSynchronize(), "cuCtxSynchronize");
}

Status PagedMemory::create(Allocation *allocation) const {
  AllocationProperties properties = {};
  properties.location.device = device;
  return api.create(allocation, size_t(pageBytes), properties, "KV caches");
}

Status PagedMemory::map(size_t page, Allocation allocation) {
  Status status = api.check(api.cuMemMap(addressOf(page), size_t(pageBytes),
                                         /*offset=*/0, allocation, /*flags=*/0),
                            "cuMemMap");
  pages[page].isMapped = status.ok();
  return status;
}

Status PagedMemory::unmap(size_t page) {
  if (!pages[page].isMapped)
    return Status::success();
  Status status = api.check(api.cuMemUnmap(addressOf(page), size_t(pageBytes)),
                            "cuMemUnmap");
  pages[page].isMapped = !status.ok();
  return status;
}

Status PagedMemory::allow(size_t first, size_t count) const {
  AccessOf access = {};
  access.location.device = device;
  return api.check(api.cuMemSetAccess(addressOf(first),
                                      count * size_t(pageBytes), &access,
                                      /*count=*/1),
                   "cuMemSetAccess");
}

/// Gives a page memory of its own.
Status PagedMemory::addPage(size_t page) {
  Allocation allocation = 0;
  if (Status status = create(&allocation); !status.ok())
    return status;
  pages[page].allocation = allocation;
  if (Status status = unmap(page); !status.ok())
    return status;
  if (Status status = map(page, allocation); !status.ok())
    return status;
  return allow(page, 1);
}

/// The memory of a page is the device's again, once it is not mapped.
Status PagedMemory::dropPage(size_t page) {
  if (Status status = unmap(page); !status.ok())
    return status;
  if (Status status =
          api.check(api.cuMemRelease(std::exchange(pages[page].allocation, 0)),
                    "cuMemRelease");
      !status.ok())
    return status;
  if (Status status = map(page, common); !status.ok())
    return status;
  return allow(page, 1);
}

/// Whether any of these bytes is.
bool PagedMemory::isTouched(int64_t begin, int64_t end) const {
  auto next = touched.lower_bound(end);
  return next != touched.begin() && (--next)->second > begin;
}

Status PagedMemory::touch(const char *memory, int64_t bytes) {
  int64_t begin = memory - this->begin(), end = begin + bytes;
  if (bytes <= 0)
    return Status::success();
  int64_t first = begin / pageBytes, last = (end - 1) / pageBytes;
  auto next = touched.upper_bound(begin);
  if (next != touched.begin() && std::prev(next)->second >= begin)
    begin = (--next)->first;
  while (next != touched.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = touched.erase(next);
  }
  touched[begin] = end;
  bool waits = true;
  for (int64_t page = first; page <= last; ++page) {
    if (pages[size_t(page)].allocation)
      continue;
    if (std::exchange(waits, false))
      if (Status status = wait(); !status.ok())
        return status;
    if (Status status = addPage(size_t(page)); !status.ok())
      return status;
  }
  return Status::success();
}

Status PagedMemory::forget(const char *memory, int64_t bytes) {
  int64_t begin = memory - this->begin(), end = begin + bytes;
  if (bytes <= 0 || !isTouched(begin, end))
    return Status::success();
  auto next = touched.upper_bound(begin);
  if (next != touched.begin() && std::prev(next)->second > begin)
    --next;
  while (next != touched.end() && next->first < end) {
    auto [first, last] = *next;
    next = touched.erase(next);
    if (first < begin)
      touched[first] = begin;
    if (last > end)
      touched[end] = last;
  }
  bool waits = true;
  for (int64_t page = begin / pageBytes; page * pageBytes < end; ++page) {
    if (!pages[size_t(page)].allocation ||
        isTouched(page * pageBytes, (page + 1) * pageBytes))
      continue;
    if (std::exchange(waits, false))
      if (Status status = wait(); !status.ok())
        return status;
    if (Status status = dropPage(size_t(page)); !status.ok())
      return status;
  }
  return Status::success();
}
