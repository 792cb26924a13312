//===- HeadRow.h - The rows of keys and queries of a head -------*- C++ -*-===//
//
// Views of them, and what the emitters of attention for one query share: how
// vectors cover a row, and where the row of a position stands.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_VECTORS_HEADROW_H
#define HEDDLE_LIB_KERNELS_VECTORS_HEADROW_H

#include "dialect/attention/AttentionSpecs.h"
#include "lib/Kernels/Vectors/VectorLoops.h"

namespace heddle {

/// The size of the last dimension, and the type of elements.
int64_t widthOf(mlir::Value memref);
mlir::Type elementOf(mlir::Value memref);

/// Calls `body` with the begin and the size of each vector of `lanes` that
/// covers `width`; the last one may be cut.
void forEachPart(int64_t lanes, int64_t width,
                 llvm::function_ref<void(int64_t, int64_t)> body);

/// The rows of one head, [n, width], of [n, widths] or [batch, n, widths].
mlir::Value headRows(VectorLoops &loops, mlir::Value memref, mlir::Value batch,
                     mlir::Value head, int64_t width);
/// The same of several caches, one behind the other: [caches n, width] of
/// [caches, n, widths].
mlir::Value headRowsOfAll(VectorLoops &loops, mlir::Value memref,
                          mlir::Value head, int64_t width);
/// `count` rows, from `first` on, of [n, width].
mlir::Value someRows(VectorLoops &loops, mlir::Value rows, mlir::Value first,
                     mlir::OpFoldResult count);
/// One row, [width], of [n, width].
mlir::Value rowView(VectorLoops &loops, mlir::Value rows, mlir::Value row);

/// Every `stride`-th row, from `first` on, of [n, width].
mlir::Value everyRow(VectorLoops &loops, mlir::Value rows, mlir::Value first,
                     int64_t stride);

/// The row of `rows` that key j of an online op stands in.
mlir::Value rowOf(VectorLoops &loops, const KeyPlaces &places, mlir::Value j,
                  mlir::Value rows);

/// The row of key j, and whether those of the next keys, `count` with it, stand
/// behind it one by one: not on both sides of a lap's end.
struct RowRun {
  mlir::Value first, isWhole;
};
/// Keys are neither listed nor found by a history.
RowRun runOf(VectorLoops &loops, const KeyPlaces &places, mlir::Value j,
             int64_t count, mlir::Value rows);

/// A vector as f32, whatever short floats or integers it is of: these are not
/// multiplied by the scale of their row.
mlir::Value asF32(VectorLoops &loops, mlir::Value vector);
/// The scale of a row of integers, in all lanes.
mlir::Value scaleOf(VectorLoops &loops, mlir::Value scales, mlir::Value row,
                    int64_t lanes);

/// Asks for the cache lines of a row that is needed soon, where rows are a page
/// apart: the machine does not foresee them itself. In the second cache, since
/// such rows share few sets of the first.
void prefetchRow(VectorLoops &loops, mlir::Value rows, mlir::Value row);
/// The same for rows of a list, however near, in the first cache.
void prefetchListedRow(VectorLoops &loops, mlir::Value rows, mlir::Value row);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_VECTORS_HEADROW_H
