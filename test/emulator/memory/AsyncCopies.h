//===- AsyncCopies.h - Copies that end when they are waited for -*- C++ -*-===//
//
// cp.async writes shared memory when its thread waits for its group; a bulk
// copy when somebody waits for the phase of its mbarrier; a bulk store reads
// shared memory when its thread waits for its group. Before that, bytes are as
// if the copy had not begun, and may not be touched.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_MEMORY_ASYNCCOPIES_H
#define HEDDLE_TEST_EMULATOR_MEMORY_ASYNCCOPIES_H

#include "CommitGroups.h"
#include "test/emulator/Clock.h"
#include "test/emulator/Waitable.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace heddle::emulator {

class RunningBlock;
struct Context;
struct Thread;

/// cp.async of 4, 8 or 16 bytes, of which those behind `read` become zeros.
struct SmallCopy {
  uint64_t to = 0, from = 0;
  uint32_t size = 0, read = 0;
};

/// A thread's groups.
struct CopyGroups {
  CommitGroups<SmallCopy> small;
  /// Stores to global memory, as what does them.
  std::vector<std::function<void()>> openStores;
  std::deque<std::vector<std::function<void()>>> committedStores;
  /// When the thread last let asynchronous units see what it wrote, and what it
  /// had seen then.
  uint32_t proxyFenceTime = 0;
  std::shared_ptr<const Times> proxyFenceSeen;
  /// When it last did so with mbarriers that it initialised.
  uint32_t barrierFenceTime = 0;

  void clear();
  /// Fails if stores are under way when their thread ends.
  void checkEnd(Context &context) const;
};

/// A bulk copy under way.
struct BulkCopy {
  uint64_t bytes = 0;
  /// Writes shared memory, as of that time of the copies' actor.
  std::function<void(uint32_t time)> finish;
};

class TransactionBarrier : public Waitable {
public:
  std::string describe() const override;

  uint64_t offset = 0;
  uint32_t expected = 0, pending = 0;
  /// Who initialised it, and when.
  uint32_t initThread = 0, initTime = 0;
  /// Bytes that were announced and have not come.
  int64_t bytes = 0;
  uint64_t phase = 0;
  /// Of this phase; and of phases that ended without anybody waiting.
  std::vector<BulkCopy> copies, unclaimed;
  /// Who waits, and whether for what other blocks of the cluster did, too.
  struct Waiter {
    Thread *thread;
    bool seesCluster;
  };
  std::vector<Waiter> waiting;
  /// Of arrivals from the block, from others of the cluster with its scope, and
  /// from those with any scope.
  ClockMeeting clocks, remoteClocks, remoteReads;
  /// What those know who waited for the phase that ended last.
  Times completed, remoteCompleted, remoteReadsCompleted;

  /// A thread knows what has been done until the phase that ended last.
  void tell(Thread &thread, bool seesCluster) const;
};

/// How a thread arrives at an mbarrier.
struct Arrival {
  uint32_t count = 1;
  uint32_t announcedBytes = 0;
  /// Announces bytes, and does not arrive.
  bool isExpectation = false;
  /// Whether those who wait see what the thread did (.release), and those of
  /// other blocks, too.
  bool releases = true, reachesCluster = false;
};

/// The mbarriers of a block, by their offset in shared memory. Threads of other
/// blocks arrive at them, and let copies count there.
class TransactionBarriers {
public:
  explicit TransactionBarriers(RunningBlock &home) : home(home) {}
  void clear();

  TransactionBarrier &init(Context &context, uint64_t address, uint32_t count);
  void invalidate(Context &context, uint64_t address);
  TransactionBarrier &find(Context &context, uint64_t address);

  /// Announces bytes, then arrives; returns the phase.
  uint64_t arrive(Context &context, uint64_t address, const Arrival &arrival);
  /// A copy that the mbarrier counts.
  void add(Context &context, uint64_t address, BulkCopy copy);
  /// A phase, or its parity, and what a thread sees that waited for it.
  struct Phase {
    uint64_t number = 0;
    bool isParity = false;
    bool seesCluster = false;
  };
  /// Whether a phase is over; waits until it is, if that is wanted.
  bool wait(Context &context, uint64_t address, const Phase &phase, bool waits);
  /// Fails if copies write the block's shared memory when its last thread ends.
  void checkEnd(Context &last) const;

private:
  bool isDone(const TransactionBarrier &barrier) const;
  void complete(TransactionBarrier &barrier, bool isClaimed);
  void finish(TransactionBarrier &barrier, std::vector<BulkCopy> &copies);
  void tryComplete(TransactionBarrier &barrier);

  RunningBlock &home;
  std::map<uint64_t, TransactionBarrier> barriers;
  uint32_t copyTime = 0;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_MEMORY_ASYNCCOPIES_H
