//===- Operations.h - The operations' handlers ------------------*- C++ -*-===//
//
// By what they do; Operations.cpp says which names they have.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_OPERATIONS_H
#define HEDDLE_TEST_EMULATOR_OPERATIONS_H

#include "Operation.h"

namespace heddle::emulator {

enum VoteKind { kVoteAll, kVoteAny, kVoteUniform, kVoteBallot };
enum ReductionKind {
  kReduceAdd,
  kReduceAnd,
  kReduceOr,
  kReduceXor,
  kReduceMin,
  kReduceMax,
  kReduceUnsignedMin,
  kReduceUnsignedMax
};
enum BarrierKind {
  kBarrierSync,
  kBarrierArrive,
  kBarrierPopulation,
  kBarrierAnd,
  kBarrierOr
};
/// Of matrices' elements.
enum NumberKind { kF16, kBf16, kTf32, kS8, kU8 };

#define HANDLER(NAME)                                                          \
  void NAME(Context &context, const Operation &operation,                      \
            const uint64_t *operands, uint64_t *results);

// Warps, and barriers of the block.
HANDLER(shuffle)
HANDLER(vote)
HANDLER(match)
HANDLER(reduce)
HANDLER(elect)
HANDLER(synchronizeWarp)
HANDLER(activeMask)
HANDLER(synchronizeBlock)
// Matrices of a warp.
HANDLER(loadMatrix)
HANDLER(storeMatrix)
HANDLER(multiplyMatrices)
// cp.async.
HANDLER(copyAsync)
HANDLER(commitCopies)
HANDLER(waitForCopies)
HANDLER(waitForAllCopies)
HANDLER(arriveAfterCopies)
// mbarriers.
HANDLER(initBarrier)
HANDLER(invalidateBarrier)
HANDLER(arriveAtBarrier)
HANDLER(waitAtBarrier)
// Bulk copies.
HANDLER(copyBulkToShared)
HANDLER(copyTensorToShared)
HANDLER(copyBulkToGlobal)
HANDLER(copyTensorToGlobal)
HANDLER(commitBulkStores)
HANDLER(waitForBulkStores)
HANDLER(fenceAsyncProxy)
HANDLER(fenceBarrierInit)
// wgmma.
HANDLER(multiplyWarpgroup)
HANDLER(fenceProducts)
HANDLER(commitProducts)
HANDLER(waitForProducts)
HANDLER(passRegisters)
// The rest.
HANDLER(doNothing)
HANDLER(endAtTrap)

#undef HANDLER

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_OPERATIONS_H
