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
#include <set>

namespace heddle::emulator {

class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t totalBytes);
  DeviceMemory(const DeviceMemory &) = delete;
  ~DeviceMemory();

  uint64_t total() const { return totalBytes; }
  uint64_t used() const { return usedBytes; }
  /// The most that were ever used.
  uint64_t mostUsed() const { return mostBytes; }

  /// Filled with 0xFF. Null where so many bytes are not left.
  uint64_t allocate(uint64_t bytes);
  /// False where no allocation starts there.
  bool free(uint64_t address);

  /// Addresses without memory, at a multiple of `alignment`, a power of two.
  /// Null where there are none.
  uint64_t reserve(uint64_t bytes, uint64_t alignment);
  /// False where no such range begins.
  bool unreserve(uint64_t address, uint64_t bytes);
  /// Whether all of them are of one such range.
  bool isReserved(uint64_t address, uint64_t bytes) const;
  /// Counts memory that stands elsewhere; false where so much is not left.
  bool take(uint64_t bytes);
  void giveBack(uint64_t bytes) { usedBytes -= bytes; }
  /// Puts pages of a file in place of reserved ones, or takes them away.
  void mapFile(uint64_t address, uint64_t bytes, int file, uint64_t offset);
  void unmapFile(uint64_t address, uint64_t bytes);

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
  uint64_t findGap(uint64_t bytes, uint64_t alignment);

  uint64_t totalBytes;
  uint64_t usedBytes = 0, mostBytes = 0;
  uint64_t mapping = 0, reservedBytes = 0, base = 0, end = 0;
  unsigned numOpen = 0;
  /// By address: the bytes asked for, with memory or, of `reserved`, without.
  std::map<uint64_t, uint64_t> allocations;
  std::set<uint64_t> reserved;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_DRIVER_DEVICEMEMORY_H
