//===- DeviceMemory.h - Memory that the host cannot touch -------*- C++ -*-===//
//
// Allocations stand in one reserved range, each between pages of nobody. The
// host's code faults there; kernels and copies open it while they run.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_DRIVER_DEVICEMEMORY_H
#define HEDDLE_TEST_EMULATOR_DRIVER_DEVICEMEMORY_H

#include "test/emulator/memory/MemoryMap.h"

#include <cstddef>
#include <cstdint>
#include <map>

namespace heddle::emulator {

class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t totalBytes);
  DeviceMemory(const DeviceMemory &) = delete;
  ~DeviceMemory();

  uint64_t total() const { return totalBytes; }
  uint64_t used() const { return usedBytes; }

  /// Filled with 0xFF. Null where so many bytes are not left.
  uint64_t allocate(uint64_t bytes);
  /// False where no allocation starts there.
  bool free(uint64_t address);

  /// All that kernels may touch: allocations, and the host's pinned memory.
  MemoryMap map;

  /// While one of these lives, memory can be touched.
  class Open {
  public:
    explicit Open(DeviceMemory &memory) : memory(memory) { memory.open(); }
    Open(const Open &) = delete;
    ~Open() { memory.close(); }

  private:
    DeviceMemory &memory;
  };

private:
  void open();
  void close();
  void protect(int protection);

  uint64_t totalBytes;
  uint64_t usedBytes = 0;
  uint64_t mapping = 0, reservedBytes = 0, base = 0, end = 0;
  unsigned numOpen = 0;
  /// By address: the bytes asked for.
  std::map<uint64_t, uint64_t> allocations;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_DRIVER_DEVICEMEMORY_H
