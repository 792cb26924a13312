//===- MemoryMap.h - Which global addresses are allocated -------*- C++ -*-===//
//
// Addresses of the device are addresses of this process. A map says which of
// them a kernel may touch. Not to be changed while a grid runs.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_MEMORY_MEMORYMAP_H
#define HEDDLE_TEST_EMULATOR_MEMORY_MEMORYMAP_H

#include <cstdint>
#include <map>
#include <string>

namespace heddle::emulator {

struct MemoryRange {
  uint64_t first = 0;
  uint64_t size = 0;

  bool holds(uint64_t address, uint64_t bytes) const {
    uint64_t offset = address - first;
    return offset <= size && bytes <= size - offset;
  }
};

class MemoryMap {
public:
  void add(uint64_t first, uint64_t size) { ranges[first] = size; }
  void add(const void *first, uint64_t size) {
    add(reinterpret_cast<uint64_t>(first), size);
  }
  void remove(uint64_t first) { ranges.erase(first); }

  /// The range that holds all these bytes; of size zero where there is none.
  MemoryRange find(uint64_t address, uint64_t size) const;

  /// Where an address stands to the range next to it, for a sentence:
  /// "4 bytes behind the allocation of 1024 bytes at 0x...".
  std::string describe(uint64_t address) const;

private:
  std::map<uint64_t, uint64_t> ranges;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_MEMORY_MEMORYMAP_H
