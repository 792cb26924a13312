//===- CodeImage.h - What a shared object says of itself --------*- C++ -*-===//
//
// Reads the headers and the dynamic section of compiled code and proves, before
// anything is mapped, that every number in them fits: segments lie in the
// object's bytes, tables in segments, entries in tables. What generated code
// has no use for is refused by name: constructors, thread-local storage,
// libraries that it needs, text that is relocated.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CODE_CODEIMAGE_H
#define HEDDLE_RUNTIME_CODE_CODEIMAGE_H

#include "runtime/Result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle {

/// Of x86-64: what is mapped begins and ends at multiples of it.
inline constexpr uint64_t kPageBytes = 4096;

inline constexpr uint64_t pageFloor(uint64_t address) {
  return address & ~(kPageBytes - 1);
}
inline constexpr uint64_t pageCeiling(uint64_t address) {
  return pageFloor(address + kPageBytes - 1);
}

/// A part of the object that is mapped as one; addresses count from where the
/// object begins in memory.
struct CodeSegment {
  uint64_t address;
  /// Beyond `fileSize`, which is no larger, memory is zero.
  uint64_t memorySize;
  uint64_t fileOffset;
  uint64_t fileSize;
  /// Never both.
  bool isWritable, isExecutable;
};

/// Bytes of the object in memory that come from the file, in one segment.
struct CodeTable {
  uint64_t address = 0;
  uint64_t size = 0;
};

struct CodeImage {
  /// Reads `bytes`, a whole shared object. Errors begin with a verb ("has a
  /// segment ...").
  static Result<CodeImage> parse(std::string_view bytes);

  /// Whether the bytes lie in memory that code may write, or run.
  bool isWritable(uint64_t address, uint64_t size) const;
  bool isExecutable(uint64_t address, uint64_t size) const;

  /// Ascending; no two share a page.
  std::vector<CodeSegment> segments;
  /// Addresses are below this multiple of a page.
  uint64_t span = 0;
  /// Whole pages of a writable segment that are only read once they are
  /// relocated; empty if there are none.
  CodeTable readOnlyOnceRelocated;

  /// Elf64_Sym, as many as `symbolCount`; their names; the buckets and chains
  /// of DT_HASH behind its two counts.
  CodeTable symbols, names, hash;
  uint32_t bucketCount = 0, symbolCount = 0;
  /// Elf64_Rela in the first two, Elf64_Relr in the last.
  CodeTable relocations, callRelocations, packedRelocations;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CODE_CODEIMAGE_H
