//===- TransactionBarriers.cpp - mbarriers --------------------------------===//
//
// A phase ends when all have arrived and all announced bytes have come. Bytes
// come when somebody waits: a copy that nobody waits for leaves garbage. If the
// next phase begins without anybody having waited, the phase ends, but its
// bytes still come with the next wait.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "Worker.h"

using namespace heddle::emulator;

std::string TransactionBarrier::describe() const {
  int64_t underWay = 0;
  for (const BulkCopy &copy : copies)
    underWay += copy.bytes;
  return format("the mbarrier at shared byte %llu (phase %llu: %u of %u "
                "arrivals missing, %lld bytes announced, %lld under way)",
                static_cast<unsigned long long>(offset),
                static_cast<unsigned long long>(phase), pending, expected,
                static_cast<long long>(bytes),
                static_cast<long long>(underWay));
}

void TransactionBarriers::clear() {
  barriers.clear();
  copyTime = 0;
}

TransactionBarrier &
TransactionBarriers::init(Context &context, uint64_t address, uint32_t count) {
  Worker &worker = *context.worker;
  if (count == 0 || count >= 1u << 20)
    fail(context, kIllegalInstruction,
         format("an mbarrier for %u arrivals, expected 1 to 1048575", count));
  worker.shared.beginBarrier(context, address);
  TransactionBarrier &barrier = barriers[address];
  barrier = TransactionBarrier();
  barrier.offset = address - worker.shared.base();
  barrier.expected = barrier.pending = count;
  barrier.initThread = context.linearThread;
  barrier.initTime = Worker::threadOf(context).clock.now();
  return barrier;
}

void TransactionBarriers::invalidate(Context &context, uint64_t address) {
  TransactionBarrier &barrier = find(context, address);
  if (!barrier.waiting.empty())
    fail(context, kLaunchFailed,
         "invalidates " + barrier.describe() + ", where threads wait");
  barriers.erase(address);
  context.worker->shared.endBarrier(address);
}

TransactionBarrier &TransactionBarriers::find(Context &context,
                                              uint64_t address) {
  auto found = barriers.find(address);
  if (found == barriers.end())
    fail(context, kLaunchFailed,
         format(
             "no mbarrier was initialised at shared byte %lld",
             static_cast<long long>(address - context.worker->shared.base())));
  context.worker->shared.useBarrier(context, address);
  return found->second;
}

bool TransactionBarriers::isDone(const TransactionBarrier &barrier) const {
  int64_t bytes = barrier.bytes;
  for (const BulkCopy &copy : barrier.copies)
    bytes -= copy.bytes;
  return barrier.pending == 0 && bytes == 0;
}

void TransactionBarriers::finish(Worker &worker, TransactionBarrier &barrier,
                                 std::vector<BulkCopy> &copies) {
  if (copies.empty())
    return;
  ++copyTime;
  for (BulkCopy &copy : copies)
    copy.finish(copyTime);
  copies.clear();
  uint32_t actor = worker.shared.bulkActor();
  if (barrier.completed.size() <= actor)
    barrier.completed.resize(actor + 1);
  barrier.completed[actor] = copyTime;
}

void TransactionBarriers::complete(Worker &worker, TransactionBarrier &barrier,
                                   bool isClaimed) {
  join(barrier.completed, barrier.clocks.times);
  if (isClaimed) {
    finish(worker, barrier, barrier.unclaimed);
    finish(worker, barrier, barrier.copies);
  } else {
    for (BulkCopy &copy : barrier.copies)
      barrier.unclaimed.push_back(std::move(copy));
    barrier.copies.clear();
  }
  ++barrier.phase;
  worker.noteProgress();
  barrier.pending = barrier.expected;
  barrier.bytes = 0;
  // Now, and not when they run: other phases may have ended by then.
  for (Thread *thread : barrier.waiting) {
    if (worker.shared.isChecked)
      thread->clock.acquireMore(barrier.completed);
    worker.wake(*thread);
  }
  barrier.waiting.clear();
}

/// A phase without copies ends by itself, one with copies when it is waited
/// for.
void TransactionBarriers::tryComplete(Worker &worker,
                                      TransactionBarrier &barrier) {
  if (isDone(barrier) && (barrier.copies.empty() || !barrier.waiting.empty()))
    complete(worker, barrier, /*isClaimed=*/true);
}

uint64_t TransactionBarriers::arrive(Context &context, uint64_t address,
                                     uint32_t count, uint32_t announcedBytes,
                                     bool isExpectation) {
  Worker &worker = *context.worker;
  TransactionBarrier &barrier = find(context, address);
  if (isDone(barrier))
    complete(worker, barrier, /*isClaimed=*/false);
  uint64_t phase = barrier.phase;
  barrier.bytes += announcedBytes;
  if (!isExpectation) {
    if (count > barrier.pending)
      fail(context, kLaunchFailed,
           "arrives too often at " + barrier.describe());
    barrier.pending -= count;
    if (worker.shared.isChecked) {
      Thread &thread = Worker::threadOf(context);
      barrier.clocks.add(thread.clock, thread.linearThread);
    }
  }
  tryComplete(worker, barrier);
  return phase;
}

void TransactionBarriers::add(Context &context, uint64_t address,
                              BulkCopy copy) {
  TransactionBarrier &barrier = find(context, address);
  Worker &worker = *context.worker;
  const CopyGroups &fences = worker.threads[barrier.initThread]->copies;
  bool isFenced = std::max(fences.barrierFenceTime, fences.proxyFenceTime) >=
                  barrier.initTime;
  if (worker.shared.isChecked && copy.bytes && !isFenced)
    fail(context, kLaunchFailed,
         "a bulk copy counts at " + barrier.describe() + ", behind which " +
             describeThread(*worker.threads[barrier.initThread]) +
             " made no fence.mbarrier_init or fence.proxy.async");
  barrier.copies.push_back(std::move(copy));
  tryComplete(worker, barrier);
}

bool TransactionBarriers::wait(Context &context, uint64_t address,
                               bool isParity, uint64_t phase, bool waits) {
  Worker &worker = *context.worker;
  Thread &thread = Worker::threadOf(context);
  TransactionBarrier &barrier = find(context, address);
  auto isOver = [&] {
    return isParity ? (barrier.phase & 1) != (phase & 1)
                    : barrier.phase > phase;
  };
  if (!isOver() && isDone(barrier))
    complete(worker, barrier, /*isClaimed=*/true);
  if (!isOver()) {
    // Whoever ends the phase wakes the thread.
    if (waits) {
      barrier.waiting.push_back(&thread);
      worker.wait(thread, barrier);
    }
    return waits;
  }
  finish(worker, barrier, barrier.unclaimed);
  if (worker.shared.isChecked)
    thread.clock.acquireMore(barrier.completed);
  return true;
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

/// Operands address, count.
void heddle::emulator::initBarrier(Context &context, const Operation &,
                                   const uint64_t *operands, uint64_t *) {
  context.worker->transactions.init(context,
                                    context.worker->shared.address(operands[0]),
                                    static_cast<uint32_t>(operands[1]));
}

/// The mbarriers that the thread initialised can be used by bulk copies.
void heddle::emulator::fenceBarrierInit(Context &context, const Operation &,
                                        const uint64_t *, uint64_t *) {
  Thread &thread = Worker::threadOf(context);
  thread.copies.barrierFenceTime = thread.clock.now();
  thread.clock.advance();
}

void heddle::emulator::invalidateBarrier(Context &context, const Operation &,
                                         const uint64_t *operands, uint64_t *) {
  context.worker->transactions.invalidate(
      context, context.worker->shared.address(operands[0]));
}

/// Operands address, and what detail[0] says: nothing, a count of arrivals, or
/// announced bytes. detail[1]: announces without an arrival.
void heddle::emulator::arriveAtBarrier(Context &context,
                                       const Operation &operation,
                                       const uint64_t *operands,
                                       uint64_t *results) {
  enum { kPlain, kCount, kBytes };
  auto operand = static_cast<uint32_t>(operands[1]);
  uint64_t phase = context.worker->transactions.arrive(
      context, context.worker->shared.address(operands[0]),
      operation.detail[0] == kCount ? operand : 1,
      operation.detail[0] == kBytes ? operand : 0, operation.detail[1]);
  results[0] = phase;
}

/// Operands address, phase or its parity (detail[0]). test_wait, detail[1],
/// does not wait, but lets others run.
void heddle::emulator::waitAtBarrier(Context &context,
                                     const Operation &operation,
                                     const uint64_t *operands,
                                     uint64_t *results) {
  Worker &worker = *context.worker;
  bool isTest = operation.detail[1];
  uint64_t address = worker.shared.address(operands[0]);
  bool isOver = worker.transactions.wait(context, address, operation.detail[0],
                                         operands[1],
                                         /*waits=*/!isTest);
  if (!isOver)
    worker.letOthersRun(Worker::threadOf(context),
                        worker.transactions.find(context, address));
  results[0] = isOver;
}
