//===- RowDot.h - Products of two rows of integers --------------*- C++ -*-===//
//
// Two rows that both stand in memory as they are, without panels: no sums of
// columns are at hand. If instructions multiply u8 by i8 the side that
// becomes unsigned is the one that needs no correction, or one that all
// products share.
//
//   level    shift    step
//   VNNI     >= 127   vpdpbusd of x + shift as u8 and w
//   VNNI     0        vpdpbusd of w + 128 as u8 and x; the sum of 128 x is
//                     subtracted in the end
//   others   any      both widened to 16 bits, vpmaddwd
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_LINEAR_ROWDOT_H
#define HEDDLE_LIB_KERNELS_LINEAR_ROWDOT_H

#include "lib/Kernels/Vectors/VectorLoops.h"

namespace heddle {

/// Sums of (x + shift) w, exact in i32, for rows x and w of i8: x as
/// MultiplyAdd encodes it, w as it is. `shift` is 0, 127 or 128.
class RowDot {
public:
  /// `loops` has to live as long.
  RowDot(VectorLoops &loops, int64_t shift) : loops(loops), shift(shift) {}

  /// Elements of a row that a step takes.
  int64_t elements() const;
  /// Sums of nothing, i32 of the level's lanes.
  mlir::Value zeros() const;
  /// The x of a step, of `count` elements; those of w behind them are zeros.
  mlir::Value loadX(mlir::Value memref, mlir::ValueRange at,
                    int64_t count) const;
  mlir::Value loadW(mlir::Value memref, mlir::ValueRange at,
                    int64_t count) const;
  /// sums + (x + shift) w, but for what `correctionOf` x adds up to.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value w, mlir::Value sums) const;
  /// What a step adds too much whatever w is, to be subtracted; null if it
  /// is nothing.
  mlir::Value correctionOf(mlir::Value x, mlir::Value sums) const;
  bool hasCorrection() const { return isVnni() && shift == 0; }

private:
  bool isVnni() const { return loops.isa.int8Dot == Int8Dot::Vnni; }
  mlir::Value load(mlir::Value memref, mlir::ValueRange at,
                   int64_t count) const;
  mlir::Value dot(mlir::Value unsignedBytes, mlir::Value bytes,
                  mlir::Value sums) const;

  VectorLoops &loops;
  int64_t shift;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEAR_ROWDOT_H
