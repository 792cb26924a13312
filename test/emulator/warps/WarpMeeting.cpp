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

/// Everybody comes behind what any of them did before.
static void orderThreads(const WarpMeeting &meeting) {
  auto forEach = [&](auto function) {
    for (uint32_t left = meeting.mask; left; left &= left - 1) {
      Thread &thread = *meeting.threads[__builtin_ctz(left)];
      function(thread.clock, thread.actor);
    }
  };
  // Those who met last time share a vector, which nobody else may hold.
  const std::shared_ptr<Times> &first =
      meeting.threads[__builtin_ctz(meeting.mask)]->clock.vector();
  bool isCommon =
      first && first.use_count() == __builtin_popcount(meeting.mask);
  forEach([&](Clock &clock, uint32_t) { isCommon &= clock.vector() == first; });
  if (isCommon) {
    forEach(
        [&](Clock &clock, uint32_t actor) { clock.release(*first, actor); });
    return;
  }
  ClockMeeting clocks;
  forEach([&](Clock &clock, uint32_t actor) { clocks.add(clock, actor); });
  std::shared_ptr<Times> all = clocks.all();
  forEach([&](Clock &clock, uint32_t) { clock.acquire(all); });
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
    if (spare.empty())
      spare.emplace_back();
    meeting = spare.begin();
    meetings.splice(meetings.end(), spare, meeting);
    meeting->operation = &operation;
    meeting->mask = mask;
    meeting->arrived = 0;
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
  if (meeting->arrived != mask) {
    worker.wait(thread, *meeting);
    return;
  }
  if (action)
    action(*meeting);
  if (orders && thread.home->shared.isChecked)
    orderThreads(*meeting);
  for (unsigned i = 0; i < 32; ++i)
    if (meeting->has(i) && i != lane)
      worker.wake(*meeting->threads[i]);
  spare.splice(spare.end(), meetings, meeting);
}
