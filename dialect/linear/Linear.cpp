//===- Linear.cpp - linear, ffn and what stands behind x W + b ------------===//
//
// Verifiers check the numbered constraints of Linear.td. Activation, residual
// and norm have one meaning in both ops.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"
#include "dialect/linear/GatedColumns.h"
#include "mlir/IR/TypeUtilities.h"
#include <numeric>

using namespace mlir;
using namespace heddle;

//===----------------------------------------------------------------------===//
// Checks that layer ops share
//===----------------------------------------------------------------------===//

LogicalResult heddle::inferWithWidth(Value input, int64_t width,
                                     SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(input.getType());
  if (!type)
    return success();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = width;
  results.push_back(
      RankedTensorType::get(shape, Float32Type::get(type.getContext())));
  return success();
}

LogicalResult heddle::verifyPerSentence(Operation *op, Value sequences,
                                        ValueRange values) {
  int64_t batch = shapedType(sequences).getDimSize(0);
  for (Value value : values)
    if (int64_t count = shapedType(value).getDimSize(0);
        !ShapedType::isDynamic(count) && count != batch)
      return op->emitOpError("expects an element for each sentence of ")
             << sequences.getType() << ", found " << value.getType();
  return success();
}

LogicalResult heddle::verifyVector(Operation *op, StringRef name, Value value,
                                   int64_t length) {
  auto type = shapedType(value);
  if (type.getRank() == 1 && type.getDimSize(0) == length)
    return success();
  return op->emitOpError() << name << " has type " << type << ", expected "
                           << length << " values";
}

LogicalResult heddle::verifyResidual(Operation *op, Value residual,
                                     ArrayRef<int64_t> shape) {
  if (!residual ||
      succeeded(verifyCompatibleShape(shapedType(residual).getShape(), shape)))
    return success();
  return op->emitOpError(
             "expects a residual of the shape of its result, found ")
         << residual.getType();
}

FailureOr<int64_t>
heddle::timeAxisOfVectors(Operation *op, TimeAxes axes,
                          ArrayRef<MutableOperandRange> others) {
  SmallVector<unsigned> varying = {0};
  for (MutableOperandRange range : others)
    for (OpOperand &operand : range)
      varying.push_back(operand.getOperandNumber());
  return timeAxisOf(op, axes, varying, /*contracted=*/1);
}

/// What a norm behind x W + b needs.
template <typename Op> static LogicalResult verifyNorm(Op op, int64_t width) {
  bool hasParts = op.getGamma() || op.getBeta() || op.getEpsilon();
  if (!op.getNorm() && hasParts)
    return op.emitOpError("has gamma, beta or epsilon and expects a norm");
  if (!op.getNorm())
    return success();
  if (!op.getGamma() || !op.getEpsilon())
    return op.emitOpError("has a norm and expects gamma and epsilon");
  if (failed(verifyVector(op, "gamma", op.getGamma(), width)) ||
      (op.getBeta() && failed(verifyVector(op, "beta", op.getBeta(), width))))
    return failure();
  if (op.getEpsilon()->isNaN() || op.getEpsilon()->isNegative())
    return op.emitOpError("expects an epsilon of at least 0, found ")
           << op.getEpsilon()->convertToFloat();
  return success();
}

LogicalResult heddle::verifyWeight(Operation *op, Value input, Value weight,
                                   int64_t in, ArrayRef<int64_t> widths) {
  auto type = shapedType(weight);
  bool packed = isPacked(weight);
  if ((type.getRank() != 2 && !packed) || !type.hasStaticShape())
    return op->emitOpError("expects a weight [in, out] of static shape, found ")
           << type;
  PanelLayout layout = panelsOf(input, weight, widths);
  std::optional<int64_t> depth =
      packed ? layout.depthOf(type.getShape()) : type.getDimSize(0);
  if (!depth)
    return op->emitOpError("expects panels ")
           << layout.describe() << ", found " << type;
  if (packed ? layout.rows(in) != layout.rows(*depth) : in != *depth)
    return op->emitOpError("weight size ")
           << *depth << " does not match the last input dimension " << in;
  return success();
}

/// The columns of a weight, of panels those that `destinations` take, f32 or in
/// fewer bits.
static int64_t columnsOf(Value weight, ValueRange destinations) {
  if (!isPacked(weight))
    return width(weight);
  int64_t columns = 0;
  for (Value destination : destinations)
    columns += width(destination);
  return columns;
}

/// The shape of the result of width `out`.
static SmallVector<int64_t> shapeWithWidth(Value input, int64_t out) {
  SmallVector<int64_t> shape(shapedType(input).getShape());
  shape.back() = out;
  return shape;
}

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

void LinearOp::build(OpBuilder &builder, OperationState &state, Value input,
                     Value weight, Value bias) {
  LinearSpec spec;
  spec.input = input;
  spec.weight = weight;
  spec.bias = bias;
  build(builder, state, spec);
}

void LinearOp::build(OpBuilder &builder, OperationState &state,
                     const LinearSpec &spec) {
  build(builder, state, spec.input, spec.inputScales, spec.weight,
        spec.weightScales, spec.bias, spec.residual, spec.gamma, spec.beta,
        spec.multiplier, spec.alsoMultiplier, spec.destinations, spec.shift,
        spec.activation, spec.norm, spec.epsilon, spec.rounds, spec.split,
        spec.also, spec.gates);
}

/// What the results of a linear are made of.
static Type elementTypeOf(MLIRContext *context, Value multiplier,
                          std::optional<Type> rounds) {
  if (multiplier)
    return IntegerType::get(context, 8);
  return rounds.value_or(Float32Type::get(context));
}

Type LinearOp::getResultElementType() {
  return elementTypeOf(getContext(), getMultiplier(), getRounds());
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  int64_t out = width(adaptor.getWeight());
  if (isGatedByColumns(adaptor))
    out /= 2;
  for (int64_t each : adaptor.getSplit().value_or(ArrayRef(out)))
    if (failed(inferWithWidth(adaptor.getInput(), each, results)))
      return failure();
  for (Type &type : results)
    type = cast<RankedTensorType>(type).clone(elementTypeOf(
        type.getContext(), adaptor.getMultiplier(), adaptor.getRounds()));
  appendShortTypes(adaptor.getAlso(), adaptor.getAlsoMultiplier(), results);
  return success();
}

/// Those of f32, or of what stands for it.
static OperandRange destinationsOf(LinearOp op) {
  OperandRange all = op.getDestinations();
  return op.getAlso() ? all.take_front(1) : all;
}

/// The columns of W.
static int64_t allColumnsOf(LinearOp op) {
  int64_t columns = columnsOf(op.getWeight(), destinationsOf(op));
  return isGatedByColumns(op) && isPacked(op.getWeight()) ? 2 * columns
                                                          : columns;
}

/// One for each of `widths`, or those of `also`, if there are any.
static LogicalResult verifyDestinations(LinearOp op, ArrayRef<int64_t> widths) {
  Type element = op.getResultElementType();
  if (op.getAlso())
    return verifyRowDestinations(
        op, shapeWithWidth(op.getInput(), widths.front()), element);
  OperandRange destinations = op.getDestinations();
  if (!destinations.empty() && destinations.size() != widths.size())
    return op.emitOpError("expects ")
           << widths.size() << " destinations, found " << destinations.size();
  for (auto [index, each] : llvm::enumerate(widths))
    if (failed(
            verifyDestination(op, shapeWithWidth(op.getInput(), each), index)))
      return failure();
  for (Value destination : destinations)
    if (getElementTypeOrSelf(destination.getType()) != element)
      return op.emitOpError("expects destinations of ")
             << element << ", found " << destination.getType();
  return success();
}

LogicalResult LinearOp::verify() {
  // linear_c1, linear_c2
  SmallVector<int64_t> widths = getWidths(), columns = weightColumnsOf(*this);
  if (failed(verifyWeight(*this, getInput(), getWeight(), width(getInput()),
                          columns)))
    return failure();
  // linear_c3
  int64_t all = allColumnsOf(*this);
  int64_t out = isGatedByColumns(*this) ? all / 2 : all;
  if (getBias() && failed(verifyVector(*this, "bias", getBias(), all)))
    return failure();
  // linear_c9
  if (isGatedByColumns(*this) &&
      (all % kPanelColumns != 0 || getSplit() || getNorm() || getAlso()))
    return emitOpError("is gated and expects a multiple of ")
           << kPanelColumns << " columns, found " << all
           << ", and neither split, norm nor also";
  // linear_c4, linear_c5
  if (failed(verifyResidual(*this, getResidual(),
                            shapeWithWidth(getInput(), out))) ||
      failed(verifyNorm(*this, out)))
    return failure();
  // linear_c6
  for (int64_t each : widths)
    if (each < 1 || each > out)
      return emitOpError("expects widths of 1 to ")
             << out << " to split into, found " << each;
  if (int64_t sum = std::accumulate(widths.begin(), widths.end(), int64_t(0));
      sum != out)
    return emitOpError("expects widths that add up to ")
           << out << " to split into, found " << sum;
  if (getSplit() && (getActivation() || getResidual() || getNorm() ||
                     getMultiplier() || getAlso()))
    return emitOpError("splits its result and expects no activation, residual, "
                       "norm, quantize or also");
  if (failed(verifyDestinations(*this, widths)))
    return failure();
  // linear_c7
  if (failed(verifyFactors(*this, {getInput(), getInputScales(), getShiftAttr(),
                                   getWeight(), getWeightScales(),
                                   /*mayScale=*/true})) ||
      failed(verifyWeightScales(*this, getInput(), getWeightScales(), all)))
    return failure();
  // linear_c8
  if (bool(getNorm()) + bool(getMultiplier()) + bool(getRounds()) > 1)
    return emitOpError("expects at most one of norm, quantize and round");
  if (getAlso() && !getResultElementType().isF32())
    return emitOpError("expects f32 beside 'also', found ")
           << getResultElementType();
  return getMultiplier()
             ? verifyVector(*this, "the multiplier", getMultiplier(), 1)
             : success();
}

FailureOr<int64_t> LinearOp::timeAxis(TimeAxes axes) {
  return timeAxisOfVectors(*this, axes,
                           {getInputScalesMutable(), getResidualMutable()});
}

SmallVector<int64_t> heddle::weightColumnsOf(LinearOp op) {
  int64_t columns = allColumnsOf(op);
  return SmallVector<int64_t>(op.getSplit().value_or(ArrayRef(columns)));
}

SmallVector<int64_t> LinearOp::getWidths() {
  SmallVector<int64_t> widths = weightColumnsOf(*this);
  if (isGatedByColumns(*this))
    widths.front() /= 2;
  return widths;
}

//===----------------------------------------------------------------------===//
// ffn
//===----------------------------------------------------------------------===//

void FfnOp::build(OpBuilder &builder, OperationState &state,
                  const FfnSpec &spec) {
  build(builder, state, spec.input, spec.inputScales, spec.weight1,
        spec.weight1Scales, spec.bias1, spec.weight2, spec.weight2Scales,
        spec.bias2, spec.multiplier, spec.residual, spec.gamma, spec.beta,
        spec.alsoMultiplier, spec.destinations, spec.shift, spec.activation,
        spec.norm, spec.epsilon, spec.also, spec.isRotated);
}

LogicalResult FfnOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  if (failed(inferWithWidth(adaptor.getInput(), width(adaptor.getWeight2()),
                            results)))
    return failure();
  appendShortTypes(adaptor.getAlso(), adaptor.getAlsoMultiplier(), results);
  return success();
}

LogicalResult FfnOp::verify() {
  // ffn_c1
  int64_t hidden = getHiddenWidth();
  int64_t out = columnsOf(getWeight2(), getDestinations().take_front(1));
  if (failed(verifyWeight(*this, getInput(), getWeight1(), width(getInput()),
                          hidden)) ||
      failed(verifyWeight(*this, getInput(), getWeight2(), hidden, out)))
    return failure();
  // ffn_c2
  if (bool(getBias1()) != bool(getBias2()))
    return emitOpError("expects both biases or none");
  if (getBias1() &&
      (failed(verifyVector(*this, "the first bias", getBias1(), hidden)) ||
       failed(verifyVector(*this, "the second bias", getBias2(), out))))
    return failure();
  // ffn_c3
  SmallVector<int64_t> shape = shapeWithWidth(getInput(), out);
  if (failed(verifyResidual(*this, getResidual(), shape)) ||
      failed(verifyNorm(*this, out)))
    return failure();
  // ffn_c4
  if (hidden > kMostHiddenWidth)
    return emitOpError("has a hidden width of ")
           << hidden << ", expected at most " << kMostHiddenWidth;
  // ffn_c5
  if (failed(verifyFactors(*this, {getInput(), getInputScales(), getShiftAttr(),
                                   getWeight1(), getWeight1Scales()})) ||
      failed(verifyFactors(*this, {getInput(), getInputScales(), getShiftAttr(),
                                   getWeight2(), getWeight2Scales()})))
    return failure();
  if (getWeight1Scales() &&
      (failed(verifyVector(*this, "the first weight's scale",
                           getWeight1Scales(), hidden)) ||
       failed(verifyVector(*this, "the second weight's scale",
                           getWeight2Scales(), out))))
    return failure();
  if (getMultiplier() && !getWeight1Scales())
    return emitOpError("quantises hidden vectors and expects products of "
                       "integers");
  if (getMultiplier() &&
      failed(verifyVector(*this, "the multiplier", getMultiplier(), 1)))
    return failure();
  if (getRotated() && !scalesHidden())
    return emitOpError("rotates hidden vectors and expects scales of them");
  return verifyRowDestinations(*this, shape, Float32Type::get(getContext()));
}

bool FfnOp::scalesHidden() { return getWeight1Scales() && !getMultiplier(); }

FailureOr<int64_t> FfnOp::timeAxis(TimeAxes axes) {
  return timeAxisOfVectors(*this, axes,
                           {getInputScalesMutable(), getResidualMutable()});
}

int64_t FfnOp::getHiddenWidth() {
  if (!isPacked(getWeight1()))
    return width(getWeight1());
  for (Value each : {getBias1(), getWeight1Scales()})
    if (each)
      return width(each);
  // Panels are filled up to whole groups: hidden values that are 0, times 0.
  ShapedType type = shapedType(getWeight2());
  int64_t out = type.getDimSize(0) * kPanelColumns;
  return panelsOf(getInput(), getWeight2(), out)
      .depthOf(type.getShape())
      .value_or(0);
}

/// Also of what an epilogue adds.
static SmallVector<Value> rowInputsOf(Value input, Value residual) {
  SmallVector<Value> rows = {input};
  if (residual)
    rows.push_back(residual);
  return rows;
}
SmallVector<Value> LinearOp::getRowInputs() {
  return rowInputsOf(getInput(), getResidual());
}
SmallVector<Value> FfnOp::getRowInputs() {
  return rowInputsOf(getInput(), getResidual());
}

SmallVector<OpOperand *> LinearOp::getStoredFactors() {
  return {&getWeightMutable()};
}
