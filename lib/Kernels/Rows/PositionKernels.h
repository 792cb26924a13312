//===- PositionKernels.h - Kernels of positions -----------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_POSITIONKERNELS_H
#define HEDDLE_LIB_KERNELS_ROWS_POSITIONKERNELS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// Builds body(row, its position) for `count` rows, which are the leading
/// dimensions of `leading`: a position is the index on its axis 1, or what
/// `positions`, which may be null, says.
void forEachPosition(
    RowKernel &kernel, mlir::Value count, mlir::Value leading,
    mlir::Value positions, int64_t rowWork,
    llvm::function_ref<void(mlir::Value row, mlir::Value position)> body);

/// What a sinusoid makes of an element's work.
inline constexpr int64_t kSinusoidWork = 8;

/// The sinusoids of positions.sinusoidal. Angles, sines and cosines are in f64,
/// within 2^-36 of the formula for positions below 2^20, and rounded once.
class Sinusoids {
public:
  /// Adds a constant to the module.
  Sinusoids(RowKernel &kernel, mlir::ModuleOp module, int64_t timescales,
            PositionLayout layout, int64_t width);

  /// Builds output(input(slice) + sinusoids, slice) for slices that cover the
  /// row of a position.
  void addTo(mlir::Value position,
             llvm::function_ref<mlir::Value(const Slice &)> input,
             llvm::function_ref<void(mlir::Value, const Slice &)> output) const;

private:
  std::pair<mlir::Value, mlir::Value> at(mlir::Value number,
                                         mlir::Value first) const;

  RowKernel &kernel;
  PositionLayout layout;
  int64_t width;
  mlir::Value frequencies;
};

/// Build what the op computes, at the kernel's insertion point.
void emitKernel(SinusoidalPositionsOp op, RowKernel &kernel);
void emitKernel(LearnedPositionsOp op, RowKernel &kernel);
void emitKernel(RotaryPositionsOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_POSITIONKERNELS_H
