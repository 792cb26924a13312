//===- WarpMeeting.cpp - Threads of a warp do something together ----------===//

#include "WarpMeeting.h"
#include "test/emulator/Worker.h"

using namespace heddle::emulator;

std::string WarpMeeting::describe() const {
  return format("%s (mask 0x%x, 0x%x are there)", operation->name.c_str(), mask,
                arrived);
}

void WarpMeetings::clear(unsigned numWarps) {
  warps.clear();
  warps.resize(numWarps);
}

void WarpMeetings::meet(Context &context, const Operation &operation,
                        uint32_t mask, bool orders, const uint64_t *operands,
                        uint64_t *results,
                        void (*action)(WarpMeeting &meeting)) {
  Worker &worker = *context.worker;
  Thread &thread = threadOf(context);
  unsigned lane = thread.linearThread % 32;
  unsigned first = thread.linearThread - lane;
  if (!(mask >> lane & 1))
    fail(context, kIllegalInstruction,
         format("%s with mask 0x%x, which is without the thread's lane %u",
                operation.name.c_str(), mask, lane));
  if (worker.numThreads - first < 32)
    mask &= (1u << (worker.numThreads - first)) - 1;

  std::list<WarpMeeting> &meetings = warps[thread.linearThread / 32];
  auto meeting = meetings.begin();
  while (meeting != meetings.end() && !(meeting->mask & mask))
    ++meeting;
  if (meeting == meetings.end()) {
    meeting = meetings.emplace(meetings.end());
    meeting->operation = &operation;
    meeting->mask = mask;
  } else if (meeting->mask != mask ||
             (meeting->operation != &operation &&
              meeting->operation->name != operation.name)) {
    fail(context, kLaunchFailed,
         format("%s with mask 0x%x, but others of its warp are at %s",
                operation.name.c_str(), mask, meeting->describe().c_str()));
  }
  meeting->arrived |= 1u << lane;
  meeting->threads[lane] = &thread;
  meeting->operands[lane] = operands;
  meeting->results[lane] = results;
  orders &= thread.home->shared.isChecked;
  if (orders)
    meeting->clocks.add(thread.clock, thread.actor);
  if (meeting->arrived != mask) {
    worker.wait(thread, *meeting);
    return;
  }
  if (action)
    action(*meeting);
  std::shared_ptr<const Times> all;
  if (orders)
    all = meeting->clocks.all();
  for (unsigned i = 0; i < 32; ++i) {
    if (!meeting->has(i))
      continue;
    Thread &other = *meeting->threads[i];
    if (orders)
      other.clock.acquire(all);
    if (&other != &thread)
      worker.wake(other);
  }
  meetings.erase(meeting);
}
