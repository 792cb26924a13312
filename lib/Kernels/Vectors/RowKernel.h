//===- RowKernel.h - Kernels that work on rows ------------------*- C++ -*-===//
//
// Most layers treat an activation as rows of some width, each like the others.
// Here stand the two loops of such a kernel: over rows, shared among threads,
// and over the vectors of a row, the last of which is masked if the width is
// no multiple of the lanes, so that nothing outside a buffer is touched.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_VECTORS_ROWKERNEL_H
#define HEDDLE_LIB_KERNELS_VECTORS_ROWKERNEL_H

#include "lib/CodeGen/Loops/Loops.h"
#include "lib/CodeGen/Machine/Target.h"
#include "lib/Kernels/Math/VectorMath.h"

namespace heddle {

/// A vector's worth of the columns of a row.
struct Slice {
  mlir::Value column;
  int64_t lanes;
  /// Of the columns that exist; null if all of them do.
  mlir::Value mask;
  /// Counts slices from 0 if they are not in a loop.
  int64_t number = -1;
};

/// Whether a memref of f32, bf16, f16 or i8 is made of rows: its last dimension
/// is contiguous, the others are one dimension as far as their strides go.
bool isRows(mlir::Value memref);

/// Builds at the builder's insertion point.
class RowKernel {
public:
  RowKernel(mlir::OpBuilder &builder, mlir::Location loc, const IsaLevel &isa)
      : loops(builder, loc), math(builder, loc, isa), isa(isa) {}

  Loops loops;
  VectorMath math;
  IsaLevel isa;

  /// A memref of `isRows` as [rows, width].
  mlir::Value rowsOf(mlir::Value memref);
  /// A memref of ids as [rows].
  mlir::Value flatten(mlir::Value ids);

  /// body(row) for the rows [0, count), in parallel if they are many:
  /// `rowWork` is the work of one in elements that are loaded, added and
  /// stored. A body must not depend on how rows are shared.
  void forEachRow(mlir::Value count, int64_t rowWork,
                  llvm::function_ref<void(mlir::Value)> body);

  /// body(slice) for slices of `lanes` columns, by default the level's, that
  /// cover [0, width), in a loop; the width may be dynamic.
  void forEachSlice(mlir::OpFoldResult width,
                    llvm::function_ref<void(const Slice &)> body,
                    int64_t lanes = 0);
  /// The width of a memref, to be covered by slices.
  mlir::OpFoldResult widthOf(mlir::Value memref);

  /// Whether a row of that width can stay in registers beside as many other
  /// values.
  bool fitsRegisters(int64_t width) const;
  /// The slices of a row without a loop.
  llvm::SmallVector<Slice> slicesOf(int64_t width);
  /// A sum over a row: sum = step(sum, slice) for each slice, in four vectors
  /// that take turns, which are added as (0 + 1) + (2 + 3), and then the halves
  /// of what is left until one lane is. The order depends on the width alone.
  /// `step` leaves alone the lanes behind a mask. Slices have numbers if the
  /// row fits registers.
  mlir::Value
  sumOfRow(int64_t width,
           llvm::function_ref<mlir::Value(mlir::Value, const Slice &)> step);

  /// memref[leading..., columns of the slice]; 0 behind a mask.
  mlir::Value load(mlir::Value memref, mlir::ValueRange leading,
                   const Slice &slice);
  void store(mlir::Value value, mlir::Value memref, mlir::ValueRange leading,
             const Slice &slice);
  /// A scalar in all lanes of a slice.
  mlir::Value broadcast(mlir::Value scalar, const Slice &slice);
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_VECTORS_ROWKERNEL_H
