//===- SharedMemory.h - A block's shared memory, and its past ---*- C++ -*-===//
//
// For each byte, or word of four while nobody touches fewer of them: whether it
// was written or a copy to it is under way, who wrote it last, and when; and
// three of its last readers, of different warps where there are such. An access
// that another thread's does not come before or after, in the order that
// barriers make, is a race if one of the two writes.
//
// Its addresses are below 256 KiB, as those of the hardware, which descriptors
// hold in 18 bits; the first is at exactly the alignment that the module asks
// for. One of another block of the cluster has the block's rank, and one, in
// the bits from 24 on. A generic address is one of this process.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_MEMORY_SHAREDMEMORY_H
#define HEDDLE_TEST_EMULATOR_MEMORY_SHAREDMEMORY_H

#include "test/emulator/Clock.h"
#include "test/emulator/Context.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace heddle::emulator {

class RunningBlock;
struct Thread;

/// Between shared memory of two blocks of a cluster, in addresses that name a
/// block and in this process.
inline constexpr uint64_t kSharedDistance = 1 << 24;

class SharedMemory {
public:
  explicit SharedMemory(const RunningBlock &home) : home(home) {}
  SharedMemory(const SharedMemory &) = delete;

  /// For all blocks of a launch; address 0 is at `window`.
  void resize(uint64_t window, uint32_t bytes, uint32_t dynamicOffset,
              uint32_t alignment);
  /// All bytes are garbage (0xFF) that nobody wrote.
  void clear();

  uint64_t base() const { return first; }
  uint64_t window() const { return mapping; }
  bool holdsGeneric(uint64_t address) const {
    return address - mapping < kSharedDistance;
  }
  /// The shared address of a shared or generic one.
  uint64_t address(uint64_t address) const {
    return holdsGeneric(address) ? address - mapping
                                 : static_cast<uint32_t>(address);
  }
  std::byte *at(uint64_t address) const {
    return reinterpret_cast<std::byte *>(mapping + address);
  }

  /// Actors beside the block's threads: bulk copies to it, and each warpgroup's
  /// products.
  uint32_t bulkActor() const;
  uint32_t productActor(unsigned warpgroup) const {
    return bulkActor() + 1 + warpgroup;
  }

  // Checked accesses of a thread; each fails the grid, and changes no byte.

  /// An alignment is a power of two.
  void checkBounds(Context &context, uint64_t address, uint64_t size,
                   uint32_t alignment, const char *what) const {
    uint64_t offset = address - first;
    if (offset > bytes || size > bytes - offset || address & (alignment - 1))
      failAtBounds(context, address, size, alignment, what);
  }
  void read(Context &context, uint64_t address, uint64_t size);
  /// The read of most accesses: of whole words, in bounds and allowed. False
  /// where it is another, which read() looks at again.
  bool readWords(const Thread &thread, uint64_t address, uint64_t size);
  void write(Context &context, uint64_t address, uint64_t size,
             bool isAtomic = false);

  /// A copy to these bytes begins: until finishCopy() they may not be touched.
  void beginCopy(Context &context, uint64_t address, uint64_t size);
  /// They are as `actor` wrote them at `time`.
  void finishCopy(uint64_t address, uint64_t size, uint32_t actor,
                  uint32_t time);
  /// An actor other than the thread reads these bytes from now on, and until
  /// finishRead() with the same ticket.
  uint32_t nextTicket() { return kUnfinished | ++lastTicket; }
  void beginRead(Context &context, uint64_t address, uint64_t size,
                 uint32_t actor, uint32_t ticket, const std::string &what);
  void finishRead(uint64_t address, uint64_t size, uint32_t actor,
                  uint32_t ticket, uint32_t time);

  /// The bytes of an mbarrier, which are nothing else until endBarrier().
  void beginBarrier(Context &context, uint64_t address);
  void endBarrier(uint64_t address);
  /// Whether a thread is allowed to know of the mbarrier: fails otherwise.
  void useBarrier(Context &context, uint64_t address);

  /// "shared byte 5"; with its block, where that is not the thread's.
  std::string describeByte(const Context &context, uint64_t offset) const;

  /// Whether accesses are followed at all.
  bool isChecked = true;

private:
  enum State : uint8_t {
    kUnwritten,
    kWritten,
    kWrittenAtomically,
    kBeingCopied,
    kBarrier
  };
  static constexpr unsigned kReaders = 3;
  /// Of a byte, or of a word while its bytes are alike.
  struct alignas(32) Past {
    uint32_t writeTime;
    uint32_t readTimes[kReaders];
    uint16_t writer;
    uint16_t readers[kReaders];
    State state;
    /// Of a word: whether each of its bytes has a past of its own.
    bool isSplit;
    uint8_t unused[6];

    bool operator==(const Past &other) const {
      return std::memcmp(this, &other, sizeof(Past)) == 0;
    }
  };
  static Past writtenBy(uint32_t actor, uint32_t time, State state) {
    return {time, {}, static_cast<uint16_t>(actor), {}, state, false, {}};
  }
  static constexpr uint64_t kWord = 4;
  /// Times from here on are tickets of reads that have not ended.
  static constexpr uint32_t kUnfinished = 1u << 31;

  /// visit(past, offset) for all pasts of these bytes; what it makes of a past
  /// depends on nothing else.
  template <typename Visit>
  void eachPast(uint64_t address, uint64_t size, Visit visit);
  void splitWord(uint64_t word);
  /// The words among these bytes, all alike, have one past.
  void joinWords(uint64_t address, uint64_t size);
  /// A write that leaves the bytes in a state.
  void overwrite(Context &context, uint64_t address, uint64_t size,
                 bool isAtomic, State state);
  static bool isReadable(const Past &past) {
    return past.state == kWritten || past.state == kWrittenAtomically;
  }
  bool isFenced(const Thread &reader, const Past &past) const;
  void addReader(Past &past, const Clock &clock, uint32_t actor,
                 uint32_t time) const;
  [[noreturn]] void failAtBounds(Context &context, uint64_t address,
                                 uint64_t size, uint32_t alignment,
                                 const char *what) const;
  [[noreturn]] void failAtRace(Context &context, uint64_t address,
                               const char *what, const char *other,
                               uint32_t actor) const;
  [[noreturn]] void failAtState(Context &context, uint64_t address,
                                const char *what, const Past &past) const;

  const RunningBlock &home;
  uint64_t mapping = 0;
  uint64_t first = 0;
  uint32_t bytes = 0;
  uint32_t lastTicket = 0;
  /// By word, and by byte where words are split.
  std::vector<Past> words, splitBytes;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_MEMORY_SHAREDMEMORY_H
