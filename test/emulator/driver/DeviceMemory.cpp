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
  // Room for guards, for what is never used again, and for what is reserved.
  reservedBytes = roundUp(4 * totalBytes + (16ull << 30), kHugePage);
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

/// The first gap that is large enough, a guard before all; null where there is
/// none.
uint64_t DeviceMemory::findGap(uint64_t bytes, uint64_t alignment) {
  uint64_t address = roundUp(base + kPage, alignment);
  for (auto [first, size] : allocations) {
    if (first >= address && first - address >= extent(bytes))
      break;
    address = std::max(address, roundUp(first + extent(size), alignment));
  }
  if (address + extent(bytes) > mapping + reservedBytes - kHugePage)
    return 0;
  end = std::max(end, address + extent(bytes));
  allocations[address] = bytes;
  return address;
}

bool DeviceMemory::take(uint64_t bytes) {
  if (bytes > totalBytes - usedBytes)
    return false;
  usedBytes += bytes;
  mostBytes = std::max(mostBytes, usedBytes);
  return true;
}

uint64_t DeviceMemory::allocate(uint64_t bytes) {
  if (!take(bytes))
    return 0;
  uint64_t address = findGap(bytes, kPage);
  if (!address) {
    giveBack(bytes);
    return 0;
  }
  map.add(address, bytes);
  Open opened(*this);
  std::memset(reinterpret_cast<void *>(address), 0xff, bytes);
  return address;
}

bool DeviceMemory::free(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end() || reserved.count(address))
    return false;
  uint64_t first = roundUp(address, kHugePage),
           last = (address + found->second) / kHugePage * kHugePage;
  if (last > first)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  giveBack(found->second);
  map.remove(address);
  allocations.erase(found);
  return true;
}

//===----------------------------------------------------------------------===//
// Addresses that get memory later
//===----------------------------------------------------------------------===//

uint64_t DeviceMemory::reserve(uint64_t bytes, uint64_t alignment) {
  uint64_t address = findGap(bytes, std::max(alignment, kPage));
  if (address)
    reserved.insert(address);
  return address;
}

bool DeviceMemory::unreserve(uint64_t address, uint64_t bytes) {
  auto found = allocations.find(address);
  if (!reserved.count(address) || found->second != bytes)
    return false;
  reserved.erase(address);
  allocations.erase(found);
  return true;
}

bool DeviceMemory::isReserved(uint64_t address, uint64_t bytes) const {
  auto next = reserved.upper_bound(address);
  if (next == reserved.begin())
    return false;
  uint64_t first = *--next;
  return MemoryRange{first, allocations.at(first)}.holds(address, bytes);
}

static void mapPages(uint64_t address, uint64_t bytes, int protection,
                     int flags, int file, uint64_t offset) {
  if (mmap(reinterpret_cast<void *>(address), bytes, protection,
           flags | MAP_FIXED, file, off_t(offset)) == MAP_FAILED)
    std::abort();
}

void DeviceMemory::mapFile(uint64_t address, uint64_t bytes, int file,
                           uint64_t offset) {
  mapPages(address, bytes, numOpen ? PROT_READ | PROT_WRITE : PROT_NONE,
           MAP_SHARED, file, offset);
}

void DeviceMemory::unmapFile(uint64_t address, uint64_t bytes) {
  mapPages(address, bytes, numOpen ? PROT_READ | PROT_WRITE : PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
