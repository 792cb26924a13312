//===- DeviceMemory.cpp - Memory that the host cannot touch ---------------===//

#include "DeviceMemory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace heddle::emulator;

static constexpr uint64_t kPage = 4096;
/// What one entry of the page table covers, so that few change when memory is
/// opened. Protecting or releasing a part of it would split it for good.
static constexpr uint64_t kHugePage = 2 << 20;

static uint64_t roundUp(uint64_t bytes, uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// Pages of an allocation and of the guard behind it.
static uint64_t extent(uint64_t bytes) { return roundUp(bytes, kPage) + kPage; }

DeviceMemory::DeviceMemory(uint64_t totalBytes) : totalBytes(totalBytes) {
  // Room for guards, and for what is never used again.
  reservedBytes = roundUp(4 * totalBytes + (1ull << 30), kHugePage);
  void *pages = mmap(nullptr, reservedBytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    std::abort();
  madvise(pages, reservedBytes, MADV_HUGEPAGE);
  mapping = reinterpret_cast<uint64_t>(pages);
  base = end = roundUp(mapping, kHugePage);
}

DeviceMemory::~DeviceMemory() {
  munmap(reinterpret_cast<void *>(mapping), reservedBytes);
}

void DeviceMemory::protect(int protection) {
  if (end > base && mprotect(reinterpret_cast<void *>(base),
                             roundUp(end - base, kHugePage), protection))
    std::abort();
}

void DeviceMemory::open() {
  if (numOpen++ == 0)
    protect(PROT_READ | PROT_WRITE);
}

void DeviceMemory::close() {
  if (--numOpen == 0)
    protect(PROT_NONE);
}

uint64_t DeviceMemory::allocate(uint64_t bytes) {
  if (bytes > totalBytes - usedBytes)
    return 0;
  // The first gap that is large enough; a guard before all.
  uint64_t address = base + kPage;
  for (auto [first, size] : allocations) {
    if (first - address >= extent(bytes))
      break;
    address = first + extent(size);
  }
  if (address + extent(bytes) > mapping + reservedBytes - kHugePage)
    return 0;
  end = std::max(end, address + extent(bytes));
  allocations[address] = bytes;
  usedBytes += bytes;
  map.add(address, bytes);
  Open opened(*this);
  std::memset(reinterpret_cast<void *>(address), 0xff, bytes);
  return address;
}

bool DeviceMemory::free(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    return false;
  uint64_t first = roundUp(address, kHugePage),
           last = (address + found->second) / kHugePage * kHugePage;
  if (last > first)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  usedBytes -= found->second;
  map.remove(address);
  allocations.erase(found);
  return true;
}
