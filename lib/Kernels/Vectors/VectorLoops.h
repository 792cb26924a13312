//===- VectorLoops.h - A builder of loops over vectors ----------*- C++ -*-===//
//
// Loops (CodeGen/Loops/Loops.h) with vectors of f32, so that the code of an
// emitter reads like the kernel it writes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_VECTORS_VECTORLOOPS_H
#define HEDDLE_LIB_KERNELS_VECTORS_VECTORLOOPS_H

#include "lib/CodeGen/Loops/Loops.h"
#include "lib/CodeGen/Machine/Target.h"

namespace heddle {

class VectorLoops : public Loops {
public:
  VectorLoops(mlir::OpBuilder &builder, mlir::Location loc, const IsaLevel &isa)
      : Loops(builder, loc), isa(isa) {}

  IsaLevel isa;

  // Indices.
  /// value limited to [low, high], low if high < low.
  mlir::Value clamp(mlir::Value value, mlir::Value low, mlir::Value high);
  /// The largest multiple of `step` that is not above a value of at least 0.
  mlir::Value floorTo(mlir::Value value, int64_t step);

  // Vectors. Widths are in elements.
  mlir::VectorType vectorType(int64_t width);
  mlir::Value loadVector(mlir::Value memref, mlir::ValueRange at,
                         int64_t width);
  void storeVector(mlir::Value value, mlir::Value memref, mlir::ValueRange at);
  /// The first `count` elements of a vector of `width`, 0 behind them; nothing
  /// behind them is read. And the store of as many.
  mlir::Value loadFirst(mlir::Value memref, mlir::ValueRange at, int64_t count,
                        int64_t width);
  void storeFirst(mlir::Value value, mlir::Value memref, mlir::ValueRange at,
                  int64_t count);
  /// f32 at row-major offsets, i32, from `origin` on; all are inside.
  mlir::Value gather(mlir::Value memref, mlir::ValueRange origin,
                     mlir::Value offsets);
  /// a if a > b, else b: one instruction; b if either is NaN.
  mlir::Value selectMax(mlir::Value a, mlir::Value b);
  /// Whether any lane of any of these masks is set.
  mlir::Value any(mlir::ValueRange masks);
  mlir::Value shuffle(mlir::Value a, mlir::Value b,
                      llvm::ArrayRef<int64_t> lanes);
  /// The sum of all lanes, in every lane: a tree.
  mlir::Value reduceAdd(mlir::Value vector);
  /// The largest of them, by selectMax.
  mlir::Value reduceMax(mlir::Value vector);
  /// a[0], b[0], a[1], b[1], ... of short floats.
  mlir::Value interleave(mlir::Value a, mlir::Value b);
  /// The same of the lower or the upper halves of groups of eight elements, as
  /// one instruction does it: half of what interleaving all gives.
  mlir::Value interleaveGroups(mlir::Value a, mlir::Value b, bool isUpper);
  /// The same bits as elements of another type.
  mlir::Value bitcast(mlir::Value vector, mlir::Type element);
  /// Short floats as f32.
  mlir::Value widen(mlir::Value vector);
  /// The transpose of as many vectors as each has lanes, a power of two.
  llvm::SmallVector<mlir::Value> transpose(mlir::ValueRange rows);

  /// for i in [begin, end) by step: carried = body(i, carried).
  llvm::SmallVector<mlir::Value>
  carry(mlir::Value begin, mlir::Value end, int64_t step,
        mlir::ValueRange initial,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                          mlir::ValueRange)>
            body);
  /// for i in [begin, end) by step: body(i).
  void each(mlir::Value begin, mlir::Value end, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// while condition(carried): carried = body(carried).
  llvm::SmallVector<mlir::Value>
  repeat(mlir::ValueRange initial,
         llvm::function_ref<mlir::Value(mlir::ValueRange)> condition,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>
             body);
  /// if condition: then() else otherwise().
  llvm::SmallVector<mlir::Value>
  ifYield(mlir::Value condition,
          llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
          llvm::function_ref<llvm::SmallVector<mlir::Value>()> otherwise);
  using Loops::ifYield;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_VECTORS_VECTORLOOPS_H
