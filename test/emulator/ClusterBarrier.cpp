//===- ClusterBarrier.cpp - The barrier of a cluster ----------------------===//

#include "ClusterBarrier.h"
#include "Operations.h"
#include "Worker.h"

using namespace heddle::emulator;

std::string ClusterBarrier::describe() const {
  return format("the barrier of the cluster (%u of %u threads are missing)",
                missing, numAlive);
}

void ClusterBarrier::clear(unsigned threads) {
  numAlive = missing = threads;
  phase = 0;
  waiting.clear();
  clocks.clear();
  completed.clear();
}

void ClusterBarrier::arrive(Thread &thread, bool isRelaxed) {
  if (thread.clusterArrivals > thread.clusterWaits)
    fail(thread, kLaunchFailed,
         "arrives at the barrier of the cluster again, without having waited "
         "there");
  ++thread.clusterArrivals;
  if (thread.home->shared.isChecked && !isRelaxed)
    clocks.add(thread.clock, thread.actor);
  --missing;
  tryComplete();
}

void ClusterBarrier::wait(Thread &thread) {
  if (thread.clusterWaits == thread.clusterArrivals)
    fail(thread, kLaunchFailed,
         "waits at the barrier of the cluster, without having arrived there");
  ++thread.clusterWaits;
  if (phase < thread.clusterWaits) {
    waiting.push_back(&thread);
    thread.worker->wait(thread, *this);
  }
  // The next phase cannot have ended without this thread.
  if (thread.home->shared.isChecked)
    thread.clock.acquireMore(completed);
}

void ClusterBarrier::leave(Thread &thread) {
  --numAlive;
  if (thread.clusterArrivals == phase)
    --missing;
  tryComplete();
}

void ClusterBarrier::tryComplete() {
  if (missing)
    return;
  ++phase;
  missing = numAlive;
  completed = clocks.times;
  clocks.clear();
  for (Thread *thread : waiting)
    thread->worker->wake(*thread);
  waiting.clear();
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

/// detail[0]: relaxed.
void heddle::emulator::arriveAtCluster(Context &context,
                                       const Operation &operation,
                                       const uint64_t *, uint64_t *) {
  context.worker->clusterBarrier.arrive(threadOf(context), operation.detail[0]);
}

void heddle::emulator::waitForCluster(Context &context, const Operation &,
                                      const uint64_t *, uint64_t *) {
  context.worker->clusterBarrier.wait(threadOf(context));
}

/// Operands an address of this block, the rank of another; detail[0]: generic
/// addresses.
void heddle::emulator::mapToBlock(Context &context, const Operation &operation,
                                  const uint64_t *operands, uint64_t *results) {
  auto rank = static_cast<uint32_t>(operands[1]);
  if (rank >= context.clusterSize)
    fail(context, kIllegalInstruction,
         format("%s to block %u of a cluster of %u", operation.name.c_str(),
                rank, context.clusterSize));
  SharedPlace place = context.worker->place(context, operands[0]);
  uint64_t name = (rank + 1) * kSharedDistance + place.address;
  results[0] = operation.detail[0] ? context.clusterWindow + name : name;
}
