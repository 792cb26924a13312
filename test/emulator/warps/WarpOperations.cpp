//===- WarpOperations.cpp - shfl, vote, match, redux, elect ---------------===//

#include "test/emulator/Operations.h"
#include "test/emulator/Worker.h"

#include <algorithm>

using namespace heddle::emulator;

static constexpr uint32_t kFullMask = 0xffffffff;

//===----------------------------------------------------------------------===//
// shfl.sync: operands mask, value, lane or offset, clamp and segment mask
//===----------------------------------------------------------------------===//

enum ShuffleMode { kUp, kDown, kButterfly, kIndex };

static void shuffleAll(WarpMeeting &meeting) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!meeting.has(lane))
      continue;
    const uint64_t *operands = meeting.operands[lane];
    int b = operands[2] & 31;
    int clamp = operands[3] & 31;
    int segment = operands[3] >> 8 & 31;
    int me = static_cast<int>(lane);
    int last = (me & segment) | (clamp & ~segment);
    int first = me & segment;
    int source = me;
    bool isInside = false;
    switch (meeting.operation->detail[0]) {
    case kUp:
      source = me - b;
      isInside = source >= last;
      break;
    case kDown:
      source = me + b;
      isInside = source <= last;
      break;
    case kButterfly:
      source = me ^ b;
      isInside = source <= last;
      break;
    case kIndex:
      source = first | (b & ~segment);
      isInside = source <= last;
      break;
    }
    if (!isInside)
      source = me;
    if (!meeting.has(source))
      fail(*meeting.threads[lane], kLaunchFailed,
           format("%s reads lane %d, which is not in mask 0x%x",
                  meeting.operation->name.c_str(), source, meeting.mask));
    meeting.results[lane][0] =
        static_cast<uint32_t>(meeting.operands[source][1]);
    meeting.results[lane][1] = isInside;
  }
}

void heddle::emulator::shuffle(Context &context, const Operation &operation,
                               const uint64_t *operands, uint64_t *results) {
  blockOf(context).meetings.meet(
      context, operation, static_cast<uint32_t>(operands[0]),
      /*orders=*/true, operands, results, shuffleAll);
}

//===----------------------------------------------------------------------===//
// vote.sync, match.sync, redux.sync, elect.sync, bar.warp.sync
//===----------------------------------------------------------------------===//

static void voteAll(WarpMeeting &meeting) {
  uint32_t ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (meeting.has(lane) && (meeting.operands[lane][1] & 1))
      ballot |= 1u << lane;
  uint64_t result = 0;
  switch (meeting.operation->detail[0]) {
  case kVoteAll:
    result = ballot == meeting.mask;
    break;
  case kVoteAny:
    result = ballot != 0;
    break;
  case kVoteUniform:
    result = ballot == 0 || ballot == meeting.mask;
    break;
  case kVoteBallot:
    result = ballot;
    break;
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    if (meeting.has(lane))
      meeting.results[lane][0] = result;
}

void heddle::emulator::vote(Context &context, const Operation &operation,
                            const uint64_t *operands, uint64_t *results) {
  blockOf(context).meetings.meet(context, operation,
                                 static_cast<uint32_t>(operands[0]),
                                 /*orders=*/true, operands, results, voteAll);
}

/// detail[0]: match.all, which has a predicate as its second result.
static void matchAll(WarpMeeting &meeting) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!meeting.has(lane))
      continue;
    uint32_t same = 0;
    for (unsigned other = 0; other < 32; ++other)
      if (meeting.has(other) &&
          meeting.operands[other][1] == meeting.operands[lane][1])
        same |= 1u << other;
    bool isAll = same == meeting.mask;
    bool wantsAll = meeting.operation->detail[0];
    meeting.results[lane][0] = wantsAll && !isAll ? 0 : same;
    if (wantsAll)
      meeting.results[lane][1] = isAll;
  }
}

void heddle::emulator::match(Context &context, const Operation &operation,
                             const uint64_t *operands, uint64_t *results) {
  blockOf(context).meetings.meet(context, operation,
                                 static_cast<uint32_t>(operands[0]),
                                 /*orders=*/true, operands, results, matchAll);
}

static uint32_t reducePair(int kind, uint32_t a, uint32_t b) {
  auto isLess = [&] {
    return static_cast<int32_t>(a) < static_cast<int32_t>(b);
  };
  switch (kind) {
  case kReduceAdd:
    return a + b;
  case kReduceAnd:
    return a & b;
  case kReduceOr:
    return a | b;
  case kReduceXor:
    return a ^ b;
  case kReduceMin:
    return isLess() ? a : b;
  case kReduceMax:
    return isLess() ? b : a;
  case kReduceUnsignedMin:
    return std::min(a, b);
  default:
    return std::max(a, b);
  }
}

/// Operands value, mask.
static void reduceAll(WarpMeeting &meeting) {
  bool isFirst = true;
  uint32_t result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!meeting.has(lane))
      continue;
    auto value = static_cast<uint32_t>(meeting.operands[lane][0]);
    result = isFirst ? value
                     : reducePair(meeting.operation->detail[0], result, value);
    isFirst = false;
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    if (meeting.has(lane))
      meeting.results[lane][0] = result;
}

void heddle::emulator::reduce(Context &context, const Operation &operation,
                              const uint64_t *operands, uint64_t *results) {
  blockOf(context).meetings.meet(context, operation,
                                 static_cast<uint32_t>(operands[1]),
                                 /*orders=*/true, operands, results, reduceAll);
}

/// The first lane of the mask, as the hardware does.
static void electOne(WarpMeeting &meeting) {
  unsigned leader = __builtin_ctz(meeting.mask);
  for (unsigned lane = 0; lane < 32; ++lane)
    if (meeting.has(lane)) {
      meeting.results[lane][0] = leader;
      meeting.results[lane][1] = lane == leader;
    }
}

void heddle::emulator::elect(Context &context, const Operation &operation,
                             const uint64_t *operands, uint64_t *results) {
  blockOf(context).meetings.meet(context, operation,
                                 static_cast<uint32_t>(operands[0]),
                                 /*orders=*/true, operands, results, electOne);
}

void heddle::emulator::synchronizeWarp(Context &context,
                                       const Operation &operation,
                                       const uint64_t *operands,
                                       uint64_t *results) {
  blockOf(context).meetings.meet(context, operation,
                                 static_cast<uint32_t>(operands[0]),
                                 /*orders=*/true, operands, results, nullptr);
}

/// Threads that have not ended.
void heddle::emulator::activeMask(Context &context, const Operation &,
                                  const uint64_t *, uint64_t *results) {
  unsigned first = context.linearThread / 32 * 32;
  unsigned end = std::min(first + 32, context.worker->numThreads);
  uint32_t mask = 0;
  for (unsigned lane = 0; first + lane < end; ++lane)
    if (!blockOf(context).threads[first + lane]->hasEnded)
      mask |= 1u << lane;
  results[0] = mask & kFullMask;
}

//===----------------------------------------------------------------------===//
// Barriers of the block: operands number, count where detail[1], predicate
//===----------------------------------------------------------------------===//

void heddle::emulator::synchronizeBlock(Context &context,
                                        const Operation &operation,
                                        const uint64_t *operands,
                                        uint64_t *results) {
  int kind = operation.detail[0];
  bool hasCount = operation.detail[1];
  uint64_t count = hasCount ? operands[1] : 0;
  if (hasCount && !count)
    fail(context, kIllegalInstruction, operation.name + " for 0 threads");
  bool isReduction = kind >= kBarrierPopulation;
  bool predicate = isReduction && (operands[hasCount ? 2 : 1] & 1);
  unsigned numTrue = blockOf(context).barriers.arrive(
      context, operands[0], count, kind == kBarrierArrive, predicate);
  if (kind == kBarrierPopulation)
    results[0] = numTrue;
  else if (kind == kBarrierAnd)
    results[0] = numTrue == (count ? count : context.worker->numThreads);
  else if (kind == kBarrierOr)
    results[0] = numTrue != 0;
}
