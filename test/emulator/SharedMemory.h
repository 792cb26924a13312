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
// for. A generic address is one of this process.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_SHAREDMEMORY_H
#define HEDDLE_TEST_EMULATOR_SHAREDMEMORY_H

#include "Clock.h"
#include "Context.h"

#include <cstddef>
#include <string>

namespace heddle::emulator {

struct Thread;

class SharedMemory {
public:
  SharedMemory();
  SharedMemory(const SharedMemory &) = delete;
  ~SharedMemory();

  /// For all blocks of a launch.
  void resize(uint32_t bytes, uint32_t dynamicOffset, uint32_t alignment,
              unsigned numThreads);
  /// All bytes are garbage (0xFF) that nobody wrote.
  void clear();

  uint64_t base() const { return first; }
  uint64_t window() const { return mapping; }
  bool holdsGeneric(uint64_t address) const {
    return address - mapping < kMappingBytes;
  }
  /// The shared address of a shared or generic one.
  uint64_t address(uint64_t address) const {
    return holdsGeneric(address) ? address - mapping
                                 : static_cast<uint32_t>(address);
  }
  std::byte *at(uint64_t address) const {
    return reinterpret_cast<std::byte *>(mapping + address);
  }

  /// Actors beside the threads: bulk copies, and each warpgroup's products.
  uint32_t bulkActor() const { return numThreads; }
  uint32_t productActor(unsigned warpgroup) const {
    return numThreads + 1 + warpgroup;
  }

  // Checked accesses of a thread; each fails the grid, and changes no byte.

  void checkBounds(Context &context, uint64_t address, uint64_t size,
                   uint32_t alignment, const char *what) const;
  void read(Context &context, uint64_t address, uint64_t size);
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
  struct Byte {
    uint32_t writeTime;
    uint32_t readTimes[kReaders];
    uint16_t writer;
    uint16_t readers[kReaders];
  };
  /// Times from here on are tickets of reads that have not ended.
  static constexpr uint32_t kUnfinished = 1u << 31;
  static constexpr uint64_t kMappingBytes = 256 << 10;

  /// visit(i) for all offsets i of these bytes that have a past of their own.
  template <typename Visit>
  void eachPast(uint64_t address, uint64_t size, Visit visit);
  /// The words among these bytes, all alike, have one past.
  void joinWords(uint64_t address, uint64_t size);
  bool isFenced(const Thread &reader, const Byte &byte) const;
  void addReader(Byte &byte, const Clock &clock, uint32_t actor,
                 uint32_t time) const;
  uint32_t warpOf(uint32_t actor) const {
    return actor < numThreads ? actor / 32 : actor;
  }
  std::string describeActor(const Context &context, uint32_t actor) const;
  [[noreturn]] void failAtRace(Context &context, uint64_t address,
                               const char *what, const char *other,
                               uint32_t actor) const;
  [[noreturn]] void failAtState(Context &context, uint64_t address,
                                const char *what, State state,
                                uint32_t actor) const;

  uint64_t mapping = 0;
  uint64_t first = 0;
  uint32_t bytes = 0;
  unsigned numThreads = 0;
  uint32_t lastTicket = 0;
  std::vector<State> states;
  std::vector<Byte> past;
  /// Whether the bytes of a word are as its first one.
  std::vector<uint8_t> isWhole;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_SHAREDMEMORY_H
