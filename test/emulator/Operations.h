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
/// Bits that the name of an operation on an mbarrier says.
enum BarrierForm {
  /// The mbarrier may be one of another block of the cluster.
  kIsOfCluster = 1,
  /// What it orders is seen in all of the cluster, and not in the block alone.
  kHasClusterScope = 2,
  /// It orders nothing.
  kIsRelaxed = 4
};
/// Of a bulk copy, where its name tells where a mask of blocks is.
enum MulticastForm {
  kNoMulticast,
  kHasMask,
  /// Behind the mask stand a hint, and whether there is a mask.
  kMayHaveMask
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
// The cluster.
HANDLER(arriveAtCluster)
HANDLER(waitForCluster)
HANDLER(mapToBlock)
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
