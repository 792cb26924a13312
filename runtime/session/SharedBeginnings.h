//===- SharedBeginnings.h - Blocks that several slots read ------*- C++ -*-===//
//
// Slots whose first positions are equal read them from the same memory: kernels
// find every slot where it was, since the pages below its addresses are what
// changes (vAttention; Prabhu et al. 2024, arXiv:2405.04437). Blocks of 256
// positions are moved to a file of memory (memfd_create) when a second slot
// needs them, and mapped in place of what the slots had. A block counts its
// readers. Nobody writes to a block: it is mapped for reading alone.
//
// The file is laid out as the caches are, with as many rows: block k of a slot
// is block k of some row, so that blocks that follow each other are one
// mapping, unless beginnings part between them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_SHAREDBEGINNINGS_H
#define HEDDLE_RUNTIME_SESSION_SHAREDBEGINNINGS_H

#include "runtime/Result.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace heddle {

/// The caches of slots in one state, of each slot the first: all in whole
/// pages.
struct SlotCaches {
  char *first;
  /// From slot to slot, and of a block.
  int64_t stride, blockBytes;
};

/// Borrows the memory of the caches, which is given back as a whole behind it.
/// One thread at a time.
class SharedBeginnings {
public:
  /// Positions of a block.
  static constexpr int64_t kBlock = 256;

  /// Of so many slots with so many whole blocks each; null if the system has no
  /// such files.
  static std::unique_ptr<SharedBeginnings>
  create(std::vector<SlotCaches> caches, int64_t slots, int64_t slotBlocks);
  ~SharedBeginnings();
  SharedBeginnings(const SharedBeginnings &) = delete;

  /// The slot `to` reads the first `count` blocks of the slot `from`, which
  /// writes to them no more. Returns how many of them it reads: the system may
  /// refuse others. Fails if `to` has parted from others and has no memory.
  Result<int64_t> share(int32_t from, int32_t to, int64_t count);
  /// A slot has memory of its own behind the first `shared` positions, in which
  /// those before `kept` are as they were. If it fails nothing of the slot
  /// means anything any more, and nobody may write to it before a call for no
  /// position succeeds.
  Status part(int32_t slot, int64_t shared, int64_t kept);

  /// How many of the first blocks of a slot are shared, or were.
  int64_t blocksOf(int32_t slot) const {
    return int64_t(rows[size_t(slot)].size());
  }
  /// How many of their first blocks two slots both read.
  int64_t commonBlocks(int32_t slot, int32_t other) const;
  /// How many different blocks stand in the first counts[s] ones of each slot
  /// s.
  int64_t differentBlocks(const std::vector<int64_t> &counts) const;
  /// Of a block, in all caches.
  int64_t blockBytes() const;
  /// Whether all slots may share their beginnings, as far as one knows.
  bool mayServeAll() const;

private:
  /// A file and the most mappings that all slots may take.
  SharedBeginnings(std::vector<SlotCaches> caches, int64_t slots,
                   int64_t slotBlocks, int file, int64_t mostMappings);

  int64_t runEnd(int32_t slot, int64_t first) const;
  int64_t mappings() const;
  int64_t freeBlocks(int64_t row, int64_t first, int64_t end) const;
  int64_t rowFor(int32_t slot, int64_t first, int64_t end) const;
  bool publish(int32_t slot, int64_t count);
  void read(int32_t slot, int32_t from, int64_t end);
  void giveBack(int32_t slot, int64_t kept);
  char *at(const SlotCaches &cache, int32_t slot, int64_t block) const {
    return cache.first + slot * cache.stride + block * cache.blockBytes;
  }
  /// Where block `block` of a row stands in the file.
  int64_t offsetOf(size_t cache, int64_t row, int64_t block) const {
    return offsets[cache] +
           (row * slotBlocks + block) * caches[cache].blockBytes;
  }

  const std::vector<SlotCaches> caches;
  const int64_t slotBlocks;
  const int file;
  const int64_t mostMappings;
  /// Of each cache in the file.
  std::vector<int64_t> offsets;
  /// Of each slot the rows of its shared blocks.
  std::vector<std::vector<int32_t>> rows;
  /// Of each block, by row.
  std::vector<int32_t> readers;
  /// Whether the system has refused memory for a block.
  bool isRefused = false;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_SHAREDBEGINNINGS_H
