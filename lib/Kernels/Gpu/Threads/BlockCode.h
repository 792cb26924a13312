//===- BlockCode.h - What a thread of a block does --------------*- C++ -*-===//
//
// The vocabulary of emitters for GPUs: loops (CodeGen/Loops.h) with arithmetic
// on i32, which is a GPU's own, and pointers in place of memrefs: sizes and
// alignments of what moves are said where it moves. A grid is a parallel loop
// whose iterations are blocks (CodeGen/DeviceKernel.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_THREADS_BLOCKCODE_H
#define HEDDLE_LIB_KERNELS_GPU_THREADS_BLOCKCODE_H

#include "lib/CodeGen/DeviceKernel.h"
#include "lib/CodeGen/Loops/Loops.h"
#include <array>

namespace heddle {

inline constexpr int64_t kWarpThreads = 32;

/// Four words of 32 bits, what a thread moves at once.
using FourWords = std::array<mlir::Value, 4>;

// Of memrefs: the type, the bytes of an element, and whether all of some, of
// which some may be null, are dense.
mlir::MemRefType typeOf(mlir::Value memref);
int64_t elementBytes(mlir::Value memref);
bool areDense(mlir::ValueRange memrefs);

class BlockCode : public Loops {
public:
  /// `threads` of a block.
  BlockCode(mlir::OpBuilder &builder, mlir::Location loc, int64_t threads)
      : Loops(builder, loc), threads(threads) {}

  const int64_t threads;
  /// Whether products of f32 are one of tf32, of operands rounded to it.
  bool multipliesTf32 = false;

  /// Packs two floats, rounded to nearest even, into a word.
  mlir::Value roundTwo(mlir::Type element, mlir::Value lower,
                       mlir::Value upper);
  /// Those of a word as f32.
  std::array<mlir::Value, 2> widenTwo(mlir::Type element, mlir::Value word);
  /// 2^x within 2^-22 of itself; denormals are zeros.
  mlir::Value exp2(mlir::Value x);
  /// carried = body(i, carried) for i in [0, end).
  llvm::SmallVector<mlir::Value>
  foldAll(mlir::Value end, mlir::ValueRange initial,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                            mlir::ValueRange)>
              body);

  // Where a thread stands; i32.
  mlir::Value thread();
  mlir::Value lane() { return urem(thread(), kWarpThreads); }
  /// The number of its warp.
  mlir::Value warp() { return udiv(thread(), kWarpThreads); }
  /// body(i) for those i < count that are this thread's: every `threads`-th.
  void eachPiece(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  /// This thread's place in the grid, as row and column of rows of `width`
  /// threads: at most 2^32 rows, but any number of threads.
  struct Place {
    mlir::Value row, column;
  };
  Place placeInRows(mlir::Value block, mlir::Value width);
  /// All threads of the block see what was written before.
  void barrier();
  /// The same of so many of them, a multiple of a warp's; others go on.
  void barrierOf(int64_t count);

  // Pointers; offsets are bytes.
  /// To the first element of a memref, in the device's memory.
  mlir::Value global(mlir::Value memref);
  /// To the block's shared memory.
  mlir::Value shared(mlir::Value offset);
  /// A pointer so many bytes further, below 2^31 of a number or an i32; in the
  /// device's memory an i64 may be more.
  mlir::Value at(mlir::Value pointer, mlir::Value offset);
  mlir::Value at(mlir::Value pointer, int64_t offset);
  /// rows * pitch as i64.
  mlir::Value rowOffset(mlir::Value row, mlir::Value pitch);

  mlir::Value loadOne(mlir::Type type, mlir::Value pointer);
  /// Element i, an i32, of a dense memref of words.
  mlir::Value loadWord(mlir::Value memref, mlir::Value i);
  void storeOne(mlir::Value value, mlir::Value pointer);
  /// Four values of a type, aligned as all of them.
  FourWords loadFour(mlir::Type type, mlir::Value pointer);
  void storeFour(const FourWords &values, mlir::Value pointer);
  /// The same of any number of them.
  llvm::SmallVector<mlir::Value> loadMany(mlir::Type type, int64_t count,
                                          mlir::Value pointer);
  void storeMany(mlir::ValueRange values, mlir::Value pointer);

  // Asynchronous copies into shared memory, in groups, of `bytes`: 4 or 16,
  // aligned as much. From `read` bytes on, an i32, zeros are written; null for
  // nowhere.
  void copy(mlir::Value to, mlir::Value from, int64_t bytes,
            mlir::Value read = {});
  void endGroup();
  /// Until at most `groups` of this thread's are under way.
  void waitForGroups(int64_t groups);

  // What threads of a warp tell each other; all of them get here. f32 or i32.
  /// A barrier of the warp: afterwards all lanes see what others wrote.
  void warpBarrier();
  /// The value of the lane whose number differs in these bits.
  mlir::Value exchange(mlir::Value value, int64_t bits);
  mlir::Value fromLane(mlir::Value value, mlir::Value lane);
  /// The value of the lane before; of lane 0 its own.
  mlir::Value fromLaneBefore(mlir::Value value);
  /// A bit of an i32 for each lane whose condition holds.
  mlir::Value vote(mlir::Value condition);
  /// carried = body(carried) while its first value, a vote or what is left of
  /// one, has a bit; the others behind the last time.
  llvm::SmallVector<mlir::Value> whileVoted(
      mlir::ValueRange carried,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>
          body);
  /// Of all lanes; i32 have no signs, and among f32 numbers come before NaN.
  mlir::Value reduceMax(mlir::Value value);
  mlir::Value reduceMin(mlir::Value word);
  mlir::Value reduceAdd(mlir::Value number);
  /// carried = combine(carried, that of the other lanes), in an order that
  /// lanes do not change: the same for all of them if `combine` commutes.
  llvm::SmallVector<mlir::Value> combineLanes(
      mlir::ValueRange values,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange,
                                                        mlir::ValueRange)>
          combine);

  // Products of a warp (PTX ISA, "Matrix Fragments for mma.m16n8kK").
  /// ldmatrix: the fragments of 16 rows of 8 words each, of any element type.
  /// Lane l says where row l % 16 has its words from 4 * (l / 16) on.
  /// Transposed, elements of 16 bits in columns of two rows each.
  FourWords loadFragments(mlir::Value pointer, bool isTransposed = false);
  /// d + a b of 16 rows, 8 words of depth (of any element type) and 8 columns;
  /// f32 or, of i8, i32. Of f32, as words, unless tf32 is enough, three
  /// products of tf32 without the least (arXiv:2203.03341): what is not finite
  /// makes results that are no numbers.
  FourWords multiply(mlir::Type element, const FourWords &a, mlir::Value b0,
                     mlir::Value b1, const FourWords &d);
  /// The same, added to the four values from `sums` on.
  void multiplyInto(mlir::Type element, const FourWords &a, mlir::Value b0,
                    mlir::Value b1, mlir::Value *sums);
};

/// A parallel loop over blocks of `shape.threads`, an index; `body` builds what
/// each of their threads does.
void createGrid(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::Value blocks, const BlockShape &shape,
                llvm::function_ref<void(BlockCode &, mlir::Value)> body);
/// The grids that `then` builds if the condition holds, or those of
/// `otherwise`.
void createIfElse(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value condition, llvm::function_ref<void()> then,
                  llvm::function_ref<void()> otherwise);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_THREADS_BLOCKCODE_H
