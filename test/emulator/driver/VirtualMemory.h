//===- VirtualMemory.h - Memory apart from its addresses --------*- C++ -*-===//
//
// Allocations that stand in a file of the host's memory, and are mapped to
// reserved addresses, any of them at several. Their bytes count until the last
// mapping and the handle are gone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_DRIVER_VIRTUALMEMORY_H
#define HEDDLE_TEST_EMULATOR_DRIVER_VIRTUALMEMORY_H

#include "CudaAbi.h"
#include "DeviceMemory.h"

#include <cstdint>
#include <map>

namespace heddle::emulator {

class VirtualMemory {
public:
  explicit VirtualMemory(DeviceMemory &memory);
  VirtualMemory(const VirtualMemory &) = delete;
  ~VirtualMemory();

  CUresult create(CUmemGenericAllocationHandle *handle, uint64_t bytes);
  CUresult release(CUmemGenericAllocationHandle handle);
  /// Nobody may access the mapping before allow().
  CUresult map(uint64_t address, uint64_t bytes, uint64_t offset,
               CUmemGenericAllocationHandle handle);
  /// Only one whole mapping.
  CUresult unmap(uint64_t address, uint64_t bytes);
  /// Of whole mappings, without gaps between them.
  CUresult allow(uint64_t address, uint64_t bytes);
  /// Whether some of the addresses are mapped.
  bool hasMapping(uint64_t address, uint64_t bytes) const;

private:
  struct Allocation {
    uint64_t bytes, offset;
    uint64_t numMappings = 0;
    bool isReleased = false;
  };
  struct Mapping {
    uint64_t bytes;
    CUmemGenericAllocationHandle handle;
    bool isAllowed = false;
  };
  void dropIfUnused(CUmemGenericAllocationHandle handle);

  DeviceMemory &memory;
  int file;
  /// Of the file: offsets are not used twice.
  uint64_t fileBytes = 0;
  CUmemGenericAllocationHandle lastHandle = 0;
  std::map<CUmemGenericAllocationHandle, Allocation> allocations;
  std::map<uint64_t, Mapping> mappings;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_DRIVER_VIRTUALMEMORY_H
