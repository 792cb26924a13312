//===- Worker.h - One host thread that runs blocks --------------*- C++ -*-===//
//
// A worker runs one cluster of blocks at a time, which is one block where a
// kernel says nothing else. Fibers run one at a time, in the order in which
// they became ready, and go back to the worker whenever they have to wait.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_WORKER_H
#define HEDDLE_TEST_EMULATOR_WORKER_H

#include "ClusterBarrier.h"
#include "Emulator.h"
#include "RunningBlock.h"
#include "RuntimeCalls.h"

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

namespace heddle::emulator {

/// A grid in the works, shared by all workers.
struct Grid {
  const Kernel &kernel;
  const Launch &launch;
  const MemoryMap &memory;
  bool checks = true;
  std::atomic<uint64_t> nextCluster{0};
  std::atomic<bool> hasFailed{false};
};

/// A place in shared memory of a block of the cluster.
struct SharedPlace {
  RunningBlock *block;
  uint64_t address;
};

class Worker {
public:
  Worker() = default;
  Worker(const Worker &) = delete;
  ~Worker();

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

  /// Where an address leads that may be of any block of the cluster.
  SharedPlace place(Context &context, uint64_t address);
  /// Whether a generic address is one of shared memory.
  bool holdsGeneric(uint64_t address) const {
    return address - window < kSharedDistance * numBlocks;
  }

  // Actors of a cluster: of each block its threads, bulk copies that write its
  // shared memory, and the products of its warpgroups.
  unsigned actorsPerBlock() const {
    return numThreads + 1 + (numThreads + 127) / 128;
  }
  /// Null where the actor is no thread.
  const Thread *threadOfActor(uint32_t actor) const {
    return actors[actor].thread;
  }
  /// One number for the threads of a warp.
  uint32_t warpOfActor(uint32_t actor) const { return actors[actor].warp; }
  /// For a sentence of a thread: "thread (5, 0, 0)".
  std::string describeActor(const Context &context, uint32_t actor) const;

  /// The allocation, or variable of the module, that holds these bytes of
  /// global memory; of size zero where there is none.
  MemoryRange find(uint64_t address, uint64_t size);

  Grid *grid = nullptr;
  /// Of a block, and blocks of a cluster.
  unsigned numThreads = 0, numBlocks = 1;
  std::vector<std::unique_ptr<RunningBlock>> blocks;
  ClusterBarrier clusterBarrier;

private:
  void makeBlocks(unsigned count);
  void listActors();
  void runPlainly();
  void runFibers();
  void startBlock(RunningBlock &block, uint64_t index);
  /// The next fiber that is ready, or the worker.
  void letNextRun(Thread &thread);
  void failAtDeadlock();
  std::string describeWaiting(const RunningBlock &block) const;
  static void runThread(void *thread);
  static void runAllThreads(void *worker);

  /// What is asked of an actor with each access to shared memory.
  struct Actor {
    const Thread *thread;
    uint32_t warp;
  };
  std::vector<Actor> actors;
  MemoryRange lastFound;
  std::vector<KnownRange> knownRanges;
  std::deque<Thread *> ready, asking;
  Thread *current = nullptr;
  bool hasProgressed = false;
  /// Where shared memory of the first block is in this process; the others'
  /// follow.
  uint64_t window = 0;
  size_t windowBytes = 0;
};

/// "block (5, 0, 0)" and "thread (5, 0, 0)".
std::string describeBlock(const Context &context);
std::string describeThread(const Context &context);
/// printf to a string.
std::string format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_WORKER_H
