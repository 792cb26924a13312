//===- WarpgroupCode.h - What threads of sm_90a do besides ------*- C++ -*-===//
//
// mbarriers, copies that use no registers, and products of a warpgroup (four
// warps). Products and copies are asynchronous: do not touch their operands
// before the wait.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_THREADS_WARPGROUPCODE_H
#define HEDDLE_LIB_KERNELS_GPU_THREADS_WARPGROUPCODE_H

#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

inline constexpr int64_t kWarpgroupThreads = 4 * kWarpThreads;

class WarpgroupCode : public BlockCode {
public:
  using BlockCode::BlockCode;

  /// The number of the thread's warp, which the compiler then knows to be one
  /// for all of its lanes. All of them get here.
  mlir::Value uniformWarp();
  /// Registers of each thread of the warpgroup from here on: more or less than
  /// it had, a multiple of 8.
  void giveUpRegisters(int64_t registers);
  void takeRegisters(int64_t registers);

  // Blocks of a cluster reach into each other's shared memory: not before all
  // have met at its barrier, and not when one of them may have ended.
  /// The number of this block in its cluster.
  mlir::Value rankInCluster();
  /// How many clusters have been started.
  mlir::Value clusters();
  /// Until all threads of the cluster get here, which then see what all did.
  void clusterBarrier();
  /// Arrives at the same mbarrier of the block with that number. Of another
  /// block's threads, those that wait there know that what this one has read
  /// was read, and do not see what it wrote.
  void arriveAt(mlir::Value barrier, mlir::Value rank);

  // Named barriers, i32 from 2 on, of `threads` of the block, which are whole
  // warps. Those that wait go on once all others have got to one of the two.
  void waitAt(mlir::Value barrier, int64_t threads);
  void passAt(mlir::Value barrier, int64_t threads);

  // mbarriers: pointers to 8 bytes of shared memory. A phase ends with the
  // arrivals that it was made for, and the bytes that were announced.
  void makeBarrier(mlir::Value barrier, mlir::Value arrivals);
  /// Copies see the barriers that this thread has made.
  void publishBarriers();
  void arrive(mlir::Value barrier);
  /// Announces bytes of copies, and arrives.
  void arriveBefore(mlir::Value barrier, mlir::Value bytes);
  /// Until the phase of this parity has ended; the first one has parity 0, and
  /// before it one of parity 1 has ended.
  void waitForPhase(mlir::Value barrier, mlir::Value parity);

  /// Copies into shared memory; the barrier gets the bytes. All of them are
  /// multiples of 16. If `blocks` is given, i32, whose bits are blocks of
  /// the cluster, to the same place of each of them, where the same barrier
  /// gets them.
  void copyBulk(mlir::Value to, mlir::Value from, mlir::Value bytes,
                mlir::Value barrier, mlir::Value blocks = mlir::Value());
  /// Products see what this thread has written to shared memory.
  void fenceForProducts();

  // Products of 64 rows, 8 words of depth and n columns, of short floats or i8.
  /// Where n columns, or 64 rows, stand: eight after the other in 1024 bytes,
  /// each in 128, of which pieces of 16 bytes have changed places by
  /// swizzledPiece. The pointer is to words of the first one, a multiple of 8.
  mlir::Value describeColumns(mlir::Value pointer);
  /// Where 16 elements of depth stand, eight after the other as columns above:
  /// in each 128 bytes 64 of the n columns, those behind them `bytes` further.
  mlir::Value describeDepth(mlir::Value pointer, int64_t bytes);
  /// The same, `words` further.
  mlir::Value atWords(mlir::Value description, int64_t words);
  /// Where piece number `piece` of the 128 bytes of a column stands.
  mlir::Value swizzledPiece(mlir::Value piece, mlir::Value column);

  /// In front of products whose rows or sums other instructions have written.
  void beginProducts();
  /// sums + rows columns, asynchronously. Rows are this lane's words t and t +
  /// 4 (t = lane % 4) of rows g and g + 8 (g = lane / 4) of the warp's 16:
  /// {g t, g + 8 t, g t + 4, g + 8 t + 4}. Its sums i of n / 2 are those of row
  /// g + 8 (i / 2 % 2) and column 8 (i / 4) + 2 t + i % 2.
  llvm::SmallVector<mlir::Value> multiplyColumns(mlir::Type element,
                                                 const FourWords &rows,
                                                 mlir::Value columns,
                                                 mlir::ValueRange sums,
                                                 bool isFirst = false);
  // Of short floats alone; sums are those of multiplyColumns.
  /// The same, with columns by their depth.
  llvm::SmallVector<mlir::Value> multiplyDepth(mlir::Type element,
                                               const FourWords &rows,
                                               mlir::Value depth,
                                               mlir::ValueRange sums);
  /// The same, with rows as columns are described. What is first replaces the
  /// sums.
  llvm::SmallVector<mlir::Value>
  multiplyRows(mlir::Type element, mlir::Value rows, mlir::Value columns,
               mlir::ValueRange sums, bool isFirst);
  /// The products since the last of these are a group.
  void endProducts();
  /// Until at most `groups` are under way.
  void waitForProducts(int64_t groups);
  /// The same, and none of them has these sums: they are numbers from here on.
  llvm::SmallVector<mlir::Value> waitForSums(mlir::ValueRange sums,
                                             int64_t groups = 0);
  /// Values of one type as they are: they are computed in front of a wait that
  /// stands behind this, not where they are used.
  llvm::SmallVector<mlir::Value> computeHere(mlir::ValueRange values);
  /// The same for ptxas, which takes a wait before everything that does not
  /// depend on it: no wait passes a branch, and this one depends on `sums`, f32
  /// that are 0 or above or no numbers. It is never taken.
  void computeBeforeWaits(mlir::ValueRange sums);
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_THREADS_WARPGROUPCODE_H
