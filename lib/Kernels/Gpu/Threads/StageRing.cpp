//===- StageRing.cpp - From copies to products ----------------------------===//
//
// The barriers stand behind the stages: first those of full stages, then those
// of empty ones. A thread carries the number of its stage and a parity, which
// flips at each round of the ring. Threads that copy begin with parity 1: the
// phase before an mbarrier's first counts as ended, so that all stages are
// empty at first. A warp releases a stage only after all of its lanes have read
// it.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Threads/StageRing.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kBarrierBytes = 8;

StageRing::Place StageRing::firstFull(WarpgroupCode &code) const {
  return {code.i32(0), code.i32(0)};
}
StageRing::Place StageRing::firstEmpty(WarpgroupCode &code) const {
  return {code.i32(0), code.i32(1)};
}

StageRing::Place StageRing::next(const Place &place,
                                 WarpgroupCode &code) const {
  Value slot = code.plus(place.slot, 1);
  Value isEnd = code.isSame(slot, code.i32(stages));
  return {
      code.choose(isEnd, code.i32(0), slot),
      code.choose(isEnd, code.minus(code.i32(1), place.parity), place.parity)};
}

Value StageRing::slotBefore(Value slot, int64_t before,
                            WarpgroupCode &code) const {
  Value isLess = code.isLess(slot, code.i32(before));
  return code.choose(isLess, code.plus(slot, stages - before),
                     code.minus(slot, code.i32(before)));
}

Value StageRing::memoryOf(Value slot, WarpgroupCode &code) const {
  return code.plus(code.times(slot, stageBytes), memory);
}

Value StageRing::barrier(Value slot, int64_t firstBarrier,
                         WarpgroupCode &code) const {
  return code.shared(
      code.plus(code.times(slot, kBarrierBytes),
                memory + stages * stageBytes + firstBarrier * kBarrierBytes));
}
Value StageRing::full(Value slot, WarpgroupCode &code) const {
  return barrier(slot, 0, code);
}
Value StageRing::empty(Value slot, WarpgroupCode &code) const {
  return barrier(slot, stages, code);
}

void StageRing::makeBarriers(Value ofFull, Value ofEmpty,
                             WarpgroupCode &code) const {
  code.when(code.isSame(code.thread(), code.i32(0)), [&] {
    for (int64_t slot = 0; slot < stages; ++slot) {
      code.makeBarrier(full(code.i32(slot), code), ofFull);
      code.makeBarrier(empty(code.i32(slot), code),
                       code.times(ofEmpty, cluster));
    }
    code.publishBarriers();
  });
  if (cluster > 1)
    code.clusterBarrier();
  else
    code.barrier();
}

void StageRing::release(Value slot, Value condition,
                        WarpgroupCode &code) const {
  code.warpBarrier();
  // Each of the blocks has a lane.
  if (cluster > 1) {
    Value arrives = code.isLess(code.lane(), code.i32(cluster));
    return code.when(code.both(arrives, condition),
                     [&] { code.arriveAt(empty(slot, code), code.lane()); });
  }
  Value isFirst = code.isSame(code.lane(), code.i32(0));
  code.when(code.both(isFirst, condition),
            [&] { code.arrive(empty(slot, code)); });
}
