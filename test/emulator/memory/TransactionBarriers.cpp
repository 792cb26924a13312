//===- TransactionBarriers.cpp - mbarriers --------------------------------===//
//
// A phase ends when all have arrived and all announced bytes have come. Bytes
// come when somebody waits: a copy that nobody waits for leaves garbage. If the
// next phase begins without anybody having waited, the phase ends, but its
// bytes still come with the next wait.
//
//===----------------------------------------------------------------------===//

#include "test/emulator/Operations.h"
#include "test/emulator/Worker.h"

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
  if (count == 0 || count >= 1u << 20)
    fail(context, kIllegalInstruction,
         format("an mbarrier for %u arrivals, expected 1 to 1048575", count));
  home.shared.beginBarrier(context, address);
  TransactionBarrier &barrier = barriers[address];
  barrier = TransactionBarrier();
  barrier.offset = address - home.shared.base();
  barrier.expected = barrier.pending = count;
  barrier.initThread = context.linearThread;
  barrier.initTime = threadOf(context).clock.now();
  return barrier;
}

void TransactionBarriers::invalidate(Context &context, uint64_t address) {
  TransactionBarrier &barrier = find(context, address);
  if (!barrier.waiting.empty())
    fail(context, kLaunchFailed,
         "invalidates " + barrier.describe() + ", where threads wait");
  barriers.erase(address);
  home.shared.endBarrier(address);
}

TransactionBarrier &TransactionBarriers::find(Context &context,
                                              uint64_t address) {
  auto found = barriers.find(address);
  if (found == barriers.end())
    fail(context, kLaunchFailed,
         "no mbarrier was initialised at " +
             home.shared.describeByte(context, address - home.shared.base()));
  home.shared.useBarrier(context, address);
  return found->second;
}

bool TransactionBarriers::isDone(const TransactionBarrier &barrier) const {
  int64_t bytes = barrier.bytes;
  for (const BulkCopy &copy : barrier.copies)
    bytes -= copy.bytes;
  return barrier.pending == 0 && bytes == 0;
}

void TransactionBarrier::tell(Thread &thread, bool seesCluster) const {
  thread.clock.acquireMore(completed);
  if (seesCluster && !remoteCompleted.empty())
    thread.clock.acquireMore(remoteCompleted);
  if (!remoteReadsCompleted.empty())
    thread.clock.acquireReads(remoteReadsCompleted);
}

void TransactionBarriers::finish(TransactionBarrier &barrier,
                                 std::vector<BulkCopy> &copies) {
  if (copies.empty())
    return;
  ++copyTime;
  for (BulkCopy &copy : copies)
    copy.finish(copyTime);
  copies.clear();
  uint32_t actor = home.shared.bulkActor();
  if (barrier.completed.size() <= actor)
    barrier.completed.resize(actor + 1);
  barrier.completed[actor] = copyTime;
}

void TransactionBarriers::complete(TransactionBarrier &barrier,
                                   bool isClaimed) {
  join(barrier.completed, barrier.clocks.times);
  join(barrier.remoteCompleted, barrier.remoteClocks.times);
  join(barrier.remoteReadsCompleted, barrier.remoteReads.times);
  if (isClaimed) {
    finish(barrier, barrier.unclaimed);
    finish(barrier, barrier.copies);
  } else {
    for (BulkCopy &copy : barrier.copies)
      barrier.unclaimed.push_back(std::move(copy));
    barrier.copies.clear();
  }
  ++barrier.phase;
  home.worker.noteProgress();
  barrier.pending = barrier.expected;
  barrier.bytes = 0;
  // Now, and not when they run: other phases may have ended by then.
  for (auto [thread, seesCluster] : barrier.waiting) {
    if (home.shared.isChecked)
      barrier.tell(*thread, seesCluster);
    home.worker.wake(*thread);
  }
  barrier.waiting.clear();
}

/// A phase without copies ends by itself, one with copies when it is waited
/// for.
void TransactionBarriers::tryComplete(TransactionBarrier &barrier) {
  if (isDone(barrier) && (barrier.copies.empty() || !barrier.waiting.empty()))
    complete(barrier, /*isClaimed=*/true);
}

uint64_t TransactionBarriers::arrive(Context &context, uint64_t address,
                                     const Arrival &arrival) {
  if (&blockOf(context) != &home)
    home.allowRemote(context, "arrives at an mbarrier");
  TransactionBarrier &barrier = find(context, address);
  if (isDone(barrier))
    complete(barrier, /*isClaimed=*/false);
  uint64_t phase = barrier.phase;
  barrier.bytes += arrival.announcedBytes;
  if (!arrival.isExpectation) {
    if (arrival.count > barrier.pending)
      fail(context, kLaunchFailed,
           "arrives too often at " + barrier.describe());
    barrier.pending -= arrival.count;
    Thread &thread = threadOf(context);
    if (home.shared.isChecked && arrival.releases) {
      if (thread.home == &home) {
        barrier.clocks.add(thread.clock, thread.actor);
      } else {
        if (arrival.reachesCluster)
          barrier.remoteClocks.add(thread.clock, thread.actor);
        barrier.remoteReads.add(thread.clock, thread.actor);
      }
    }
  }
  tryComplete(barrier);
  return phase;
}

void TransactionBarriers::add(Context &context, uint64_t address,
                              BulkCopy copy) {
  TransactionBarrier &barrier = find(context, address);
  const Thread &maker = *home.threads[barrier.initThread];
  bool isFenced = std::max(maker.copies.barrierFenceTime,
                           maker.copies.proxyFenceTime) >= barrier.initTime;
  if (home.shared.isChecked && copy.bytes && !isFenced)
    fail(context, kLaunchFailed,
         "a bulk copy counts at " + barrier.describe() + ", behind which " +
             describeThread(maker) +
             " made no fence.mbarrier_init or fence.proxy.async");
  barrier.copies.push_back(std::move(copy));
  tryComplete(barrier);
}

bool TransactionBarriers::wait(Context &context, uint64_t address,
                               const Phase &phase, bool waits) {
  Thread &thread = threadOf(context);
  TransactionBarrier &barrier = find(context, address);
  auto isOver = [&] {
    return phase.isParity ? (barrier.phase & 1) != (phase.number & 1)
                          : barrier.phase > phase.number;
  };
  if (!isOver() && isDone(barrier))
    complete(barrier, /*isClaimed=*/true);
  if (!isOver()) {
    // Whoever ends the phase wakes the thread.
    if (waits) {
      barrier.waiting.push_back({&thread, phase.seesCluster});
      home.worker.wait(thread, barrier);
    }
    return waits;
  }
  finish(barrier, barrier.unclaimed);
  if (home.shared.isChecked)
    barrier.tell(thread, phase.seesCluster);
  return true;
}

void TransactionBarriers::checkEnd(Context &last) const {
  for (const auto &[address, barrier] : barriers)
    for (const auto *copies : {&barrier.copies, &barrier.unclaimed})
      for (const BulkCopy &copy : *copies)
        if (copy.bytes)
          fail(last, kLaunchFailed,
               "its block ends while a bulk copy writes its shared memory: "
               "nobody has waited for " +
                   barrier.describe());
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

/// Operands address, count.
void heddle::emulator::initBarrier(Context &context, const Operation &,
                                   const uint64_t *operands, uint64_t *) {
  RunningBlock &block = blockOf(context);
  block.transactions.init(context, block.shared.address(operands[0]),
                          static_cast<uint32_t>(operands[1]));
}

/// The mbarriers that the thread initialised can be used by bulk copies.
void heddle::emulator::fenceBarrierInit(Context &context, const Operation &,
                                        const uint64_t *, uint64_t *) {
  Thread &thread = threadOf(context);
  thread.copies.barrierFenceTime = thread.clock.now();
  thread.clock.advance();
}

void heddle::emulator::invalidateBarrier(Context &context, const Operation &,
                                         const uint64_t *operands, uint64_t *) {
  RunningBlock &block = blockOf(context);
  block.transactions.invalidate(context, block.shared.address(operands[0]));
}

/// Operands address, and what detail[0] says: nothing, a count of arrivals, or
/// announced bytes. detail[1]: announces without an arrival; detail[2]: the
/// bits of BarrierForm.
void heddle::emulator::arriveAtBarrier(Context &context,
                                       const Operation &operation,
                                       const uint64_t *operands,
                                       uint64_t *results) {
  enum { kPlain, kCount, kBytes };
  auto operand = static_cast<uint32_t>(operands[1]);
  int form = operation.detail[2];
  Arrival arrival;
  if (operation.detail[0] == kCount)
    arrival.count = operand;
  if (operation.detail[0] == kBytes)
    arrival.announcedBytes = operand;
  arrival.isExpectation = operation.detail[1];
  arrival.releases = !(form & kIsRelaxed);
  arrival.reachesCluster = form & kHasClusterScope;
  RunningBlock &own = blockOf(context);
  SharedPlace place = form & kIsOfCluster
                          ? context.worker->place(context, operands[0])
                          : SharedPlace{&own, own.shared.address(operands[0])};
  results[0] =
      place.block->transactions.arrive(context, place.address, arrival);
}

/// Operands address, phase or its parity (detail[0]). test_wait, detail[1],
/// does not wait, but lets others run. detail[2]: the bits of BarrierForm.
void heddle::emulator::waitAtBarrier(Context &context,
                                     const Operation &operation,
                                     const uint64_t *operands,
                                     uint64_t *results) {
  RunningBlock &block = blockOf(context);
  bool isTest = operation.detail[1];
  uint64_t address = block.shared.address(operands[0]);
  bool seesCluster = operation.detail[2] & kHasClusterScope;
  bool isOver = block.transactions.wait(
      context, address, {operands[1], operation.detail[0] != 0, seesCluster},
      /*waits=*/!isTest);
  if (!isOver)
    context.worker->letOthersRun(threadOf(context),
                                 block.transactions.find(context, address));
  results[0] = isOver;
}
