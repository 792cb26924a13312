//===- LayerChecks.h - What the verifiers of layer ops share ----*- C++ -*-===//
//
// Shapes of operands and results, and the axis of time of ops that have a
// residual.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_LAYERCHECKS_H
#define HEDDLE_DIALECT_LAYERCHECKS_H

#include "dialect/Transformer.h"

namespace heddle {

inline mlir::ShapedType shapedType(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType());
}

/// The last dimension.
inline int64_t width(mlir::Value value) {
  return shapedType(value).getShape().back();
}

/// The layout of a packed weight of these columns, which x multiplies.
inline PanelLayout panelsOf(mlir::Value input, mlir::Value weight,
                            llvm::ArrayRef<int64_t> parts) {
  return PanelLayout(weightFormatOf(input, weight), parts);
}

/// Appends the type of `input` with another last dimension; nothing on memrefs,
/// whose ops have no result.
llvm::LogicalResult inferWithWidth(mlir::Value input, int64_t width,
                                   llvm::SmallVectorImpl<mlir::Type> &results);

/// Appends the type of `input`; nothing on memrefs.
inline llvm::LogicalResult
inferLike(mlir::Value input, llvm::SmallVectorImpl<mlir::Type> &results) {
  if (llvm::isa<mlir::RankedTensorType>(input.getType()))
    results.push_back(input.getType());
  return llvm::success();
}

/// `input` has rank 3 in the full form, 2 in a step, which `marker` tells.
llvm::LogicalResult verifyFormRank(mlir::Operation *op, mlir::Value input,
                                   bool isStep, llvm::StringRef marker);

/// Sinusoidal positions of vectors of that width.
llvm::LogicalResult verifySinusoidal(mlir::Operation *op, int64_t width,
                                     int64_t timescales);

/// `value` is a table [positions, width], `offset` one of them.
llvm::LogicalResult verifyPositionTable(mlir::Operation *op, mlir::Value value,
                                        int64_t width,
                                        mlir::IntegerAttr offset);

/// `value` has rank 1 and this length.
llvm::LogicalResult verifyVector(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Value value, int64_t length);

/// `values`, with an element for each sentence in front, have as many as there
/// are `sequences` [batch, ...]: a number only if that is the batch's.
llvm::LogicalResult verifyPerSentence(mlir::Operation *op,
                                      mlir::Value sequences,
                                      mlir::ValueRange values);

/// `weight` is W [in, out] for vectors of width `in`, or panels for results of
/// `widths`; `input` has the element type of the vectors.
llvm::LogicalResult verifyWeight(mlir::Operation *op, mlir::Value input,
                                 mlir::Value weight, int64_t in,
                                 llvm::ArrayRef<int64_t> widths);

/// A residual, if there is one, has the shape of the result.
llvm::LogicalResult verifyResidual(mlir::Operation *op, mlir::Value residual,
                                   llvm::ArrayRef<int64_t> shape);

/// Appends the types of what `also` writes of vectors of the type in front;
/// nothing on memrefs.
void appendShortTypes(std::optional<Shortening> also, mlir::Value multiplier,
                      llvm::SmallVectorImpl<mlir::Type> &results);

/// The destinations of a ShortRowsOpInterface, if there are some, are those
/// of vectors of that shape and type and of what `also` makes of them.
llvm::LogicalResult verifyRowDestinations(mlir::Operation *op,
                                          llvm::ArrayRef<int64_t> shape,
                                          mlir::Type element);

/// The axis of time of an op that works along the width of its first operand;
/// `others`, a residual or scales, depend on the target as it does.
llvm::FailureOr<int64_t>
timeAxisOfVectors(mlir::Operation *op, TimeAxes axes,
                  llvm::ArrayRef<mlir::MutableOperandRange> others);

/// The two sides of a product of vectors, see LinearOp; null if not given.
struct Factors {
  mlir::Value input, inputScales;
  mlir::IntegerAttr shift;
  mlir::Value weight, weightScales;
  /// Whether f32 may multiply integers with scales within a column.
  bool mayScale = false;
};
/// One element type, or f32 and integers, and scales if the weight is i8, but
/// for panels that hold them; the shape of `weightScales` is the caller's to
/// check.
llvm::LogicalResult verifyFactors(mlir::Operation *op, const Factors &factors);

/// Scales of the columns of a weight for results of width `out`: one each, or
/// of x in f32 one for each kScaledInputs of its elements; none are fine, too.
llvm::LogicalResult verifyWeightScales(mlir::Operation *op, mlir::Value input,
                                       mlir::Value scales, int64_t out);

} // namespace heddle

#endif // HEDDLE_DIALECT_LAYERCHECKS_H
