//===- VirtualMemory.cpp - Memory apart from its addresses ----------------===//

#include "VirtualMemory.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace heddle::emulator;

VirtualMemory::VirtualMemory(DeviceMemory &memory)
    : memory(memory), file(memfd_create("device memory", MFD_CLOEXEC)) {
  if (file < 0)
    std::abort();
}

VirtualMemory::~VirtualMemory() { close(file); }

CUresult VirtualMemory::create(CUmemGenericAllocationHandle *handle,
                               uint64_t bytes) {
  if (!memory.take(bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  uint64_t offset = fileBytes;
  fileBytes += bytes;
  if (ftruncate(file, off_t(fileBytes)))
    std::abort();
  // Garbage, as all memory of the device.
  void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                     off_t(offset));
  if (pages == MAP_FAILED)
    std::abort();
  std::memset(pages, 0xff, bytes);
  munmap(pages, bytes);
  *handle = ++lastHandle;
  allocations[*handle] = {bytes, offset};
  return CUDA_SUCCESS;
}

void VirtualMemory::dropIfUnused(CUmemGenericAllocationHandle handle) {
  const Allocation &allocation = allocations.at(handle);
  if (!allocation.isReleased || allocation.numMappings)
    return;
  fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            off_t(allocation.offset), off_t(allocation.bytes));
  memory.giveBack(allocation.bytes);
  allocations.erase(handle);
}

CUresult VirtualMemory::release(CUmemGenericAllocationHandle handle) {
  auto found = allocations.find(handle);
  if (found == allocations.end() || found->second.isReleased)
    return CUDA_ERROR_INVALID_VALUE;
  found->second.isReleased = true;
  dropIfUnused(handle);
  return CUDA_SUCCESS;
}

bool VirtualMemory::hasMapping(uint64_t address, uint64_t bytes) const {
  auto next = mappings.lower_bound(address + bytes);
  return next != mappings.begin() &&
         (--next)->first + next->second.bytes > address;
}

CUresult VirtualMemory::map(uint64_t address, uint64_t bytes, uint64_t offset,
                            CUmemGenericAllocationHandle handle) {
  auto found = allocations.find(handle);
  if (found == allocations.end() || found->second.isReleased ||
      !memory.isReserved(address, bytes) || hasMapping(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  Allocation &allocation = found->second;
  if (offset > allocation.bytes || bytes > allocation.bytes - offset)
    return CUDA_ERROR_INVALID_VALUE;
  memory.mapFile(address, bytes, file, allocation.offset + offset);
  ++allocation.numMappings;
  mappings[address] = {bytes, handle};
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::unmap(uint64_t address, uint64_t bytes) {
  auto found = mappings.find(address);
  if (found == mappings.end() || found->second.bytes != bytes)
    return CUDA_ERROR_INVALID_VALUE;
  CUmemGenericAllocationHandle handle = found->second.handle;
  if (found->second.isAllowed)
    memory.map.remove(address);
  memory.unmapFile(address, bytes);
  mappings.erase(found);
  --allocations.at(handle).numMappings;
  dropIfUnused(handle);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::allow(uint64_t address, uint64_t bytes) {
  uint64_t end = address + bytes, next = address;
  auto first = mappings.find(address);
  for (auto i = first; next < end; next += i->second.bytes, ++i)
    if (i == mappings.end() || i->first != next)
      return CUDA_ERROR_INVALID_VALUE;
  if (next != end)
    return CUDA_ERROR_INVALID_VALUE;
  for (auto i = first; i != mappings.end() && i->first < end; ++i) {
    i->second.isAllowed = true;
    memory.map.add(i->first, i->second.bytes);
  }
  return CUDA_SUCCESS;
}
