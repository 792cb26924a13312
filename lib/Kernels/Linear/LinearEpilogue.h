//===- LinearEpilogue.h - What follows the sums of a linear -----*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_LINEAR_LINEAREPILOGUE_H
#define HEDDLE_LIB_KERNELS_LINEAR_LINEAREPILOGUE_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/VectorLoops.h"

namespace heddle {

/// y = residual + activation(sum + bias), or the product with a gate, a vector
/// of f32 at a time. The same ops on the same values wherever the sums come
/// from: registers or scratch. Sums of integers become f32 first, and a result
/// may become integers or short floats, as LinearOp says.
struct LinearEpilogue {
  /// Null if there is none.
  mlir::Value inputScales, weightScales, bias, residual, multiplier;
  std::optional<ActivationKind> activation;
  /// [rows, columns].
  mlir::Value destination;
  /// Whether the residual is multiplied.
  bool gates = false;
  /// Whether vectors may reach behind the last column: no memory is touched
  /// there.
  bool isPartial = false;

  bool isGatedByColumns() const { return gates && !residual; }
  /// Vectors of sums that one of y is made of.
  int64_t vectors() const { return isGatedByColumns() ? 2 : 1; }

  /// Stores what becomes of the sums of x W at [row, column] and right of it,
  /// one vector or two.
  void finish(mlir::ValueRange sums, mlir::Value row, mlir::Value column,
              VectorLoops &loops) const;

private:
  mlir::Value withBias(mlir::Value sum, mlir::Value row, mlir::Value column,
                       mlir::Value mask, VectorLoops &loops) const;
};

/// That of a linear.tile or linear.finish.
template <typename Op> LinearEpilogue epilogueOf(Op op) {
  LinearEpilogue epilogue;
  epilogue.inputScales = op.getInputScales();
  epilogue.weightScales = op.getWeightScales();
  epilogue.bias = op.getBias();
  epilogue.residual = op.getResidual();
  epilogue.multiplier = op.getMultiplier();
  epilogue.activation = op.getActivation();
  epilogue.destination = op.getDestination();
  epilogue.gates = op.getGates();
  epilogue.isPartial = op.getPartial();
  return epilogue;
}

/// Builds the loops of a `linear.finish` in front of the op, which stays.
void emitLinearFinish(LinearFinishOp op, const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEAR_LINEAREPILOGUE_H
