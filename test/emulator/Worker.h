//===- Worker.h - One host thread that runs blocks --------------*- C++ -*-===//
//
// A worker has the state of one block at a time: its threads, its shared
// memory, its barriers. Fibers run one at a time, in the order in which they
// became ready, and go back to the worker whenever they have to wait.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_WORKER_H
#define HEDDLE_TEST_EMULATOR_WORKER_H

#include "AsyncCopies.h"
#include "Barriers.h"
#include "Context.h"
#include "Emulator.h"
#include "Fiber.h"
#include "RuntimeCalls.h"
#include "SharedMemory.h"
#include "WarpMeeting.h"
#include "WarpgroupMma.h"

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

namespace heddle::emulator {

/// What threads can wait at; for sentences about a deadlock.
class Waitable;

/// A thread of the block.
struct Thread : Context {
  explicit Thread(size_t stackBytes) : fiber(stackBytes) {}

  Fiber fiber;
  bool hasEnded = false;
  const Waitable *waitsAt = nullptr;
  Clock clock;
  CopyGroups copies;
  PendingProducts products;
};

/// A grid in the works, shared by all workers.
struct Grid {
  const Kernel &kernel;
  const Launch &launch;
  const MemoryMap &memory;
  bool checks = true;
  std::atomic<uint64_t> nextBlock{0};
  std::atomic<bool> hasFailed{false};
};

class Worker {
public:
  /// Runs blocks of the grid until there are no more, or one fails.
  void run(Grid &grid);

  /// The first failure of this worker's blocks.
  std::optional<Failure> failure;

  // What operations use. All but fail() on the fiber of `thread`.

  /// Leaves until somebody wakes it.
  void wait(Thread &thread, const Waitable &at);
  void wake(Thread &thread);
  /// Leaves until others have run: for those who ask again and again.
  void letOthersRun(Thread &thread, const Waitable &at);
  void noteProgress() { hasProgressed = true; }
  [[noreturn]] void fail(const Context &context, FailureCode code,
                         std::string sentence);
  static Thread &threadOf(Context &context) {
    return static_cast<Thread &>(context);
  }

  Grid *grid = nullptr;
  unsigned numThreads = 0;
  std::vector<std::unique_ptr<Thread>> threads;
  SharedMemory shared;
  NamedBarriers barriers;
  TransactionBarriers transactions;
  WarpMeetings meetings;
  WarpgroupMeetings warpgroups;

private:
  void runBlock();
  void runPlainly();
  void runFibers();
  void startBlock(uint64_t index);
  void makeThreads(unsigned count, size_t stackBytes);
  void failAtDeadlock();
  static void runThread(void *thread);
  static void runAllThreads(void *worker);

  std::vector<KnownRange> knownRanges;
  std::deque<Thread *> ready, asking;
  Thread *current = nullptr;
  bool hasProgressed = false;
  unsigned numAlive = 0;
};

/// "thread (5, 0, 0)".
std::string describeThread(const Context &context);
/// printf to a string.
std::string format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_WORKER_H
