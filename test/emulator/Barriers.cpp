//===- Barriers.cpp - The sixteen named barriers of a block ---------------===//

#include "Barriers.h"
#include "Worker.h"

using namespace heddle::emulator;

std::string NamedBarrier::describe() const {
  return format("barrier %u (%u of %u threads are there)", number, arrived,
                expected);
}

NamedBarriers::NamedBarriers() {
  for (unsigned i = 0; i < barriers.size(); ++i)
    barriers[i].number = i;
}

void NamedBarriers::clear() {
  for (NamedBarrier &barrier : barriers) {
    barrier.expected = barrier.arrived = barrier.numTrue = 0;
    barrier.waiting.clear();
    barrier.clocks.clear();
  }
}

unsigned NamedBarriers::arrive(Context &context, uint64_t number,
                               uint64_t count, bool isArrival, bool predicate) {
  Worker &worker = *context.worker;
  Thread &thread = threadOf(context);
  if (number >= barriers.size())
    fail(context, kIllegalInstruction,
         format("barrier %llu, there are 16",
                static_cast<unsigned long long>(number)));
  if (!count)
    count = worker.numThreads;
  else if (count % 32 || count > (worker.numThreads + 31) / 32 * 32)
    fail(context, kIllegalInstruction,
         format("barrier %llu for %llu threads, expected a multiple of 32 and "
                "at most the %u of the block",
                static_cast<unsigned long long>(number),
                static_cast<unsigned long long>(count), worker.numThreads));
  NamedBarrier &barrier = barriers[number];
  if (barrier.arrived && barrier.expected != count)
    fail(context, kLaunchFailed,
         format("barrier %llu for %llu threads, others are there for %u",
                static_cast<unsigned long long>(number),
                static_cast<unsigned long long>(count), barrier.expected));
  barrier.expected = static_cast<unsigned>(count);
  ++barrier.arrived;
  barrier.numTrue += predicate;
  if (thread.home->shared.isChecked)
    barrier.clocks.add(thread.clock, thread.actor);
  if (barrier.arrived < barrier.expected) {
    if (isArrival)
      return 0;
    barrier.waiting.push_back(&thread);
    worker.wait(thread, barrier);
    return barrier.numTrueBefore;
  }
  std::shared_ptr<Times> all = barrier.clocks.all();
  for (Thread *other : barrier.waiting) {
    other->clock.acquire(all);
    worker.wake(*other);
  }
  if (!isArrival)
    thread.clock.acquire(all);
  barrier.numTrueBefore = barrier.numTrue;
  barrier.arrived = barrier.numTrue = 0;
  barrier.waiting.clear();
  barrier.clocks.clear();
  return barrier.numTrueBefore;
}
