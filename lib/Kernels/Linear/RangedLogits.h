//===- RangedLogits.h - Tiles of logits, range by range ---------*- C++ -*-===//
//
// What largest_logits and best_logits share: a range of the vocabulary is a
// task. Its logits are those of linear, tile by tile, but for a few panels at a
// time, in scratch memory that stays in the caches: as soon as they are there,
// somebody takes what he needs of each row.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_LINEAR_RANGEDLOGITS_H
#define HEDDLE_LIB_KERNELS_LINEAR_RANGEDLOGITS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Linear/LinearBlock.h"

namespace heddle {

/// Builds the loops around what is done with a row.
class RangedLogits {
public:
  /// With `isFetched` weights come from memory.
  RangedLogits(RangedLogitsOpInterface op, TileLoops &loops, bool isFetched);
  virtual ~RangedLogits() = default;

  /// Builds a task a range, at the builder's insertion point.
  void build();

protected:
  /// Logits of neighbouring columns in scratch memory.
  struct Chunk {
    /// The id of the first column.
    mlir::Value first;
    /// The columns that belong to the range: multiples of a panel's.
    mlir::Value begin, end;
    /// The row of x that the first row of scratch memory is.
    mlir::Value row = {};
  };

  /// Builds what happens to row `row` of x in front of its first chunk.
  virtual void startRow(mlir::Value row) = 0;
  /// Builds what is taken of row `r` of scratch memory. Chunks of a range come
  /// in ascending order.
  virtual void takeRow(const Chunk &chunk, mlir::Value r) = 0;

  /// Builds what happens to it behind its last one.
  virtual void finishRow(mlir::Value row) {}

  /// Whether what row `row` of x forbids is to be in no sum: i1.
  mlir::Value sumsLeaveOutForbidden(mlir::Value row);
  /// Overwrites what a row forbids with -inf.
  void forbid(const Chunk &chunk, mlir::Value r);
  /// The largest number of a row of a chunk; -inf if there is none.
  mlir::Value maximum(const Chunk &chunk, mlir::Value r);
  /// As many logits as a vector has lanes.
  mlir::Value logitsAt(mlir::Value r, mlir::Value c) {
    return loops.loadVector(scratch, {r, c}, loops.isa.lanes);
  }

  TileLoops &loops;
  /// The number of the task, [kRows, columns of a chunk] of f32.
  mlir::Value range, scratch;

private:
  void buildRange();
  void wholePanels(mlir::Value begin, mlir::Value end);
  void lastPanel();
  LinearBlock blockOf(mlir::Value firstPanel, int64_t panels,
                      mlir::Value logits);
  void forEachBlock(LinearBlock block, Chunk chunk, mlir::Value firstPanel,
                    mlir::Value endPanel);

  RangedLogitsOpInterface op;
  bool isFetched;
  int64_t panels, chunkPanels;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEAR_RANGEDLOGITS_H
