//===- LinearSpecs.h - What linears and their tiles are built of *- C++ -*-===//
//
// An op with many operands is built from structs that name them, filled by
// statements: a member that is null, false or empty is left out. Shapes and
// types are those of the ops, see Linear.td and Tiles.td.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_LINEAR_LINEARSPECS_H
#define HEDDLE_DIALECT_LINEAR_LINEARSPECS_H

#include "dialect/Attributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace heddle {

/// A `linear`; its results follow from its operands.
struct LinearSpec {
  mlir::Value input, inputScales, weight, weightScales, bias, residual, gamma,
      beta, multiplier, alsoMultiplier;
  /// None on tensors.
  llvm::SmallVector<mlir::Value, 3> destinations;
  mlir::IntegerAttr shift;
  ActivationKindAttr activation;
  NormKindAttr norm;
  mlir::FloatAttr epsilon;
  mlir::TypeAttr rounds;
  mlir::DenseI64ArrayAttr split;
  ShorteningAttr also;
  /// Whether the residual is multiplied.
  bool gates = false;
};

/// An `ffn`; its results follow from its operands.
struct FfnSpec {
  mlir::Value input, inputScales, weight1, weight1Scales, bias1, weight2,
      weight2Scales, bias2, multiplier, residual, gamma, beta, alsoMultiplier;
  /// None on tensors.
  llvm::SmallVector<mlir::Value, 3> destinations;
  mlir::IntegerAttr shift;
  ActivationKindAttr activation;
  NormKindAttr norm;
  mlir::FloatAttr epsilon;
  ShorteningAttr also;
  /// Of the hidden vector.
  bool isRotated = false;
};

/// What all tiles of a linear read and write: x W + b with its epilogue, that
/// is, what follows the sums element by element.
struct TileOperands {
  mlir::Value input, inputScales, weight, weightScales, bias, residual,
      multiplier, destination;
  mlir::IntegerAttr shift;
  ActivationKindAttr activation;
  /// Whether the residual is multiplied.
  bool gates = false;

  bool hasEpilogue() const {
    return weightScales || bias || activation || residual || multiplier;
  }
  /// Whether W has the columns of the gate, too (GatedColumns.h).
  bool isGatedByColumns() const { return gates && !residual; }
};

/// The first row and the columns of a tile, which the end of the destination
/// may cut.
struct TilePlace {
  mlir::Value row, column;
  int64_t columns = 0;
  bool isPartial = false;
};

/// What a tile prefetches: rows of W, counted through all panels, null for
/// none; or its own.
struct WeightRows {
  mlir::Value first, count;
  bool isAhead = false;
};

/// Inputs of a piece of the depth: the first, null for the whole depth, and how
/// many.
struct DepthPiece {
  mlir::Value from;
  int64_t inputs = 0;
};

} // namespace heddle

#endif // HEDDLE_DIALECT_LINEAR_LINEARSPECS_H
