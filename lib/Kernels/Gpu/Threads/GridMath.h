//===- GridMath.h - Elementary functions on a GPU ---------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_THREADS_GRIDMATH_H
#define HEDDLE_LIB_KERNELS_GPU_THREADS_GRIDMATH_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/Threads/BlockCode.h"
#include "lib/Kernels/Math/VectorMath.h"

namespace heddle {

/// The functions of the lowest level of CPUs, which has no instructions of its
/// own for them: f32 have its bits.
class GridMath : public VectorMath {
public:
  GridMath(mlir::OpBuilder &builder, mlir::Location loc)
      : VectorMath(builder, loc) {}
  explicit GridMath(BlockCode &code) : GridMath(code.builder, code.loc) {}

  /// x / divisor of f32, in four instructions; a quotient below 2^-100 may be
  /// an ulp off. The divisor is one that dividesFast allows.
  mlir::Value divideBy(mlir::Value x, float divisor) const;
  static bool dividesFast(float divisor);

protected:
  mlir::Value divideOrdinary(mlir::Value a, mlir::Value b) const override;
};

/// What SinusoidalPositionsOp adds to a row of some width.
struct Sinusoid {
  int64_t timescales;
  PositionLayout layout;
  int64_t width;
};
/// At a column, of a position, both i32.
mlir::Value sinusoidAt(const Sinusoid &sinusoid, mlir::Value position,
                       mlir::Value column, BlockCode &code);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_THREADS_GRIDMATH_H
