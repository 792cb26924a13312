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
  Value slot = code.add(place.slot, 1);
  Value isEnd = code.equal(slot, code.i32(stages));
  return {
      code.select(isEnd, code.i32(0), slot),
      code.select(isEnd, code.sub(code.i32(1), place.parity), place.parity)};
}

Value StageRing::slotBefore(Value slot, int64_t before,
                            WarpgroupCode &code) const {
  Value isLess = code.uless(slot, code.i32(before));
  return code.select(isLess, code.add(slot, stages - before),
                     code.sub(slot, code.i32(before)));
}

Value StageRing::memoryOf(Value slot, WarpgroupCode &code) const {
  return code.add(code.mul(slot, stageBytes), memory);
}

Value StageRing::barrier(Value slot, int64_t firstBarrier,
                         WarpgroupCode &code) const {
  return code.shared(
      code.add(code.mul(slot, kBarrierBytes),
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
  code.ifThen(code.equal(code.thread(), code.i32(0)), [&] {
    for (int64_t slot = 0; slot < stages; ++slot) {
      code.makeBarrier(full(code.i32(slot), code), ofFull);
      code.makeBarrier(empty(code.i32(slot), code), code.mul(ofEmpty, cluster));
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
    Value arrives = code.uless(code.lane(), code.i32(cluster));
    return code.ifThen(code.logicalAnd(arrives, condition),
                       [&] { code.arriveAt(empty(slot, code), code.lane()); });
  }
  Value isFirst = code.equal(code.lane(), code.i32(0));
  code.ifThen(code.logicalAnd(isFirst, condition),
              [&] { code.arrive(empty(slot, code)); });
}
