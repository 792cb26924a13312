//===- RunningBlock.h - A block in the works --------------------*- C++ -*-===//
//
// Its threads, its shared memory, its barriers. Blocks of a cluster run at the
// same time and reach into each other's shared memory: who does so has to know
// that the other block has begun, and no block may end before it knows that
// nobody will do so any more.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_RUNNINGBLOCK_H
#define HEDDLE_TEST_EMULATOR_RUNNINGBLOCK_H

#include "Barriers.h"
#include "Context.h"
#include "Fiber.h"
#include "test/emulator/memory/AsyncCopies.h"
#include "test/emulator/memory/SharedMemory.h"
#include "test/emulator/warps/WarpMeeting.h"
#include "test/emulator/warps/WarpgroupMma.h"

#include <memory>
#include <string>
#include <vector>

namespace heddle::emulator {

class RunningBlock;
/// What threads can wait at; for sentences about a deadlock.
class Waitable;

/// A thread of a block.
struct Thread : Context {
  explicit Thread(size_t stackBytes) : fiber(stackBytes) {}

  Fiber fiber;
  RunningBlock *home = nullptr;
  /// Its number among the actors of its cluster.
  uint32_t actor = 0;
  bool hasEnded = false;
  const Waitable *waitsAt = nullptr;
  Clock clock;
  CopyGroups copies;
  PendingProducts products;
  /// Of the barrier of the cluster, where each arrival has its wait.
  uint64_t clusterArrivals = 0, clusterWaits = 0;
};

class RunningBlock {
public:
  RunningBlock(Worker &worker, unsigned rank)
      : worker(worker), rank(rank), shared(*this), transactions(*this) {}

  void makeThreads(unsigned count, size_t stackBytes);
  /// Of one block after the other.
  void clear();
  /// Whether all of its threads have ended.
  bool hasEnded() const { return numAlive == 0; }

  /// Fails unless a thread of another block may reach into this one, with
  /// `what` it does, and remembers that it did; of copies mbarriers know more.
  void allowRemote(Context &context, const std::string &what,
                   bool isCopy = false);
  /// Its last thread is about to end.
  void checkEnd(Thread &last) const;

  /// "block (1, 0, 0)".
  std::string describe() const;

  Worker &worker;
  /// In its cluster.
  unsigned rank;
  unsigned numAlive = 0;
  std::vector<std::unique_ptr<Thread>> threads;
  SharedMemory shared;
  NamedBarriers barriers;
  TransactionBarriers transactions;
  WarpMeetings meetings;
  WarpgroupMeetings warpgroups;

private:
  bool isKnownToHaveBegun(const Thread &thread) const;

  /// By actor of another block: when it last reached into this one.
  Times remoteTimes;
};

inline Thread &threadOf(Context &context) {
  return static_cast<Thread &>(context);
}
/// The block of a thread.
inline RunningBlock &blockOf(Context &context) {
  return *threadOf(context).home;
}

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_RUNNINGBLOCK_H
