//===- Quantization.cpp - quantize, round, the two sides of a product -----===//
//
// Verifiers check the numbered constraints of Quantization.td, and those of
// products, and of vectors in fewer bits beside f32, that Linear.td states.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

LogicalResult heddle::verifyFactors(Operation *op, const Factors &factors) {
  auto input = shapedType(factors.input), weight = shapedType(factors.weight);
  bool isOfIntegers = input.getElementType().isInteger(8);
  bool isScaled = weightFormatOf(factors.input, factors.weight) ==
                  WeightFormat::ScaledIntegers;
  if (isScaled ? !factors.mayScale
               : input.getElementType() != weight.getElementType())
    return op->emitOpError("multiplies ")
           << input << " by " << weight << ", expected one element type";
  bool hasOwnScales = isScaled && isPacked(factors.weight);
  bool needsScales = isOfIntegers || (isScaled && !hasOwnScales);
  if (!isOfIntegers && (factors.inputScales || factors.shift ||
                        (factors.weightScales && !needsScales)))
    return op->emitOpError("multiplies ")
           << input.getElementType()
           << (hasOwnScales ? " by panels with scales and expects no others"
               : isScaled   ? " and expects scales of its weight alone"
                            : " and expects no scales or shift");
  if (needsScales && !factors.weightScales)
    return op->emitOpError("multiplies integers and expects scales of its "
                           "weight");
  if (IntegerAttr shift = factors.shift;
      shift && !llvm::is_contained({0, 127, 128}, shift.getInt()))
    return op->emitOpError("expects a shift of 0, 127 or 128, found ")
           << shift.getInt();
  if (!factors.inputScales || succeeded(verifyCompatibleShape(
                                  shapedType(factors.inputScales).getShape(),
                                  input.getShape().drop_back())))
    return success();
  return op->emitOpError("expects scales of its input's leading dimensions, "
                         "found ")
         << factors.inputScales.getType() << " for " << input;
}

LogicalResult heddle::verifyWeightScales(Operation *op, Value input,
                                         Value scales, int64_t out) {
  if (!scales)
    return success();
  auto type = shapedType(input);
  if (type.getElementType().isInteger(8))
    return verifyVector(op, "the weight's scale", scales, out);
  int64_t blocks = llvm::divideCeil(type.getShape().back(), kScaledInputs);
  if (shapedType(scales).getShape() == ArrayRef<int64_t>{blocks, out})
    return success();
  return op->emitOpError("expects scales [")
         << blocks << ", " << out << "] of its weight, found "
         << scales.getType();
}

//===----------------------------------------------------------------------===//
// Vectors in fewer bits beside f32
//===----------------------------------------------------------------------===//

Type heddle::roundedType(MLIRContext *context, std::optional<Shortening> also) {
  if (also == Shortening::Round)
    return BFloat16Type::get(context);
  if (also == Shortening::RoundToF16)
    return Float16Type::get(context);
  return Type();
}

int64_t heddle::rotationOf(int64_t width) {
  return std::min(kMostRotated, width & -width);
}

bool heddle::isNegatedByRotation(int64_t element) {
  return llvm::popcount(uint64_t(element & (element >> 1))) % 2 != 0;
}

Shortening heddle::roundingTo(Type type) {
  return type.isF16() ? Shortening::RoundToF16 : Shortening::Round;
}

void heddle::appendShortTypes(std::optional<Shortening> also, Value multiplier,
                              SmallVectorImpl<Type> &results) {
  if (!also || results.empty())
    return;
  auto type = cast<RankedTensorType>(results.front());
  MLIRContext *context = type.getContext();
  Type rounded = roundedType(context, *also);
  results.push_back(
      type.clone(rounded ? rounded : Type(IntegerType::get(context, 8))));
  if (!rounded && !multiplier)
    results.push_back(type.clone(type.getShape().drop_back()));
}

LogicalResult heddle::verifyShortRows(Operation *op) {
  auto rows = cast<ShortRowsOpInterface>(op);
  Value multiplier = rows.getAlsoMultiplier();
  if (!multiplier)
    return success();
  if (rows.getAlso() != Shortening::Quantize)
    return op->emitOpError("has a multiplier and expects 'also quantize'");
  return verifyVector(op, "the multiplier", multiplier, 1);
}

LogicalResult heddle::verifyRowDestinations(Operation *op,
                                            ArrayRef<int64_t> shape,
                                            Type element) {
  OperandRange destinations =
      cast<DestinationOpInterface>(op).getDestinations();
  if (destinations.empty())
    return success();
  auto rows = cast<ShortRowsOpInterface>(op);
  SmallVector<Type> expected = {RankedTensorType::get(shape, element)};
  appendShortTypes(rows.getAlso(), rows.getAlsoMultiplier(), expected);
  if (destinations.size() != expected.size())
    return op->emitOpError("expects ")
           << expected.size() << " destinations, found " << destinations.size();
  for (auto [index, type] : llvm::enumerate(expected)) {
    auto tensor = cast<RankedTensorType>(type);
    if (Type found = destinations[index].getType();
        getElementTypeOrSelf(found) != tensor.getElementType())
      return op->emitOpError("expects destination #")
             << index << " of " << tensor.getElementType() << ", found "
             << found;
    if (failed(verifyDestination(op, tensor.getShape(), index)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// quantize, round
//===----------------------------------------------------------------------===//

LogicalResult QuantizeOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!type)
    return success();
  results.push_back(type.clone(IntegerType::get(context, 8)));
  if (!adaptor.getMultiplier())
    results.push_back(type.clone(type.getShape().drop_back()));
  return success();
}

LogicalResult QuantizeOp::verify() {
  // quantize_c1
  if (getMultiplier() && getRotated())
    return emitOpError("has a multiplier and expects no 'rotated'");
  if (getMultiplier() &&
      failed(verifyVector(*this, "the multiplier", getMultiplier(), 1)))
    return failure();
  // quantize_c2
  auto type = shapedType(getInput());
  if (type.getRank() < 2)
    return emitOpError("expects vectors of rank 2 or more, found ") << type;
  size_t results = getMultiplier() ? 1 : 2;
  if (size_t found = getDestinations().size(); found != 0 && found != results)
    return emitOpError("expects ")
           << results << " destinations, found " << found;
  for (auto [index, destination] : llvm::enumerate(getDestinations())) {
    Type element = getElementTypeOrSelf(destination.getType());
    if (index == 0 ? !element.isInteger(8) : !element.isF32())
      return emitOpError("expects destinations of i8 and, without a "
                         "multiplier, f32, found ")
             << destination.getType();
  }
  if (failed(verifyDestination(*this, type.getShape())))
    return failure();
  return getMultiplier()
             ? success()
             : verifyDestination(*this, type.getShape().drop_back(), 1);
}

FailureOr<int64_t> QuantizeOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

LogicalResult
QuantizeHeadsOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                  Adaptor adaptor,
                                  SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!type)
    return success();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = adaptor.getHeads();
  results.push_back(type.clone(IntegerType::get(context, 8)));
  results.push_back(type.clone(shape));
  return success();
}

LogicalResult QuantizeHeadsOp::verify() {
  // quantize_heads_c1
  auto type = shapedType(getInput());
  int64_t heads = getHeads();
  if (type.getRank() < 2 || type.getShape().back() % heads != 0)
    return emitOpError("expects vectors of rank 2 or more and a width that ")
           << heads << " heads divide, found " << type;
  // quantize_heads_c2
  OperandRange destinations = getDestinations();
  if (destinations.empty())
    return success();
  if (destinations.size() != 2 ||
      !getElementTypeOrSelf(destinations[0].getType()).isInteger(8) ||
      !getElementTypeOrSelf(destinations[1].getType()).isF32())
    return emitOpError("expects two destinations, of i8 and f32");
  SmallVector<int64_t> scales(type.getShape());
  scales.back() = heads;
  if (failed(verifyDestination(*this, type.getShape())))
    return failure();
  return verifyDestination(*this, scales, 1);
}

FailureOr<int64_t> QuantizeHeadsOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

LogicalResult RoundOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  if (auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType()))
    results.push_back(type.clone(adaptor.getTo()));
  return success();
}

LogicalResult RoundOp::verify() {
  // round_c1
  if (Value destination = getDestination();
      destination && getElementTypeOrSelf(destination.getType()) != getTo())
    return emitOpError("expects a destination of ")
           << getTo() << ", found " << destination.getType();
  return verifyDestination(*this, shapedType(getInput()).getShape());
}

FailureOr<int64_t> RoundOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/0);
}

//===----------------------------------------------------------------------===//
// fake_quantize
//===----------------------------------------------------------------------===//

LogicalResult FakeQuantizeOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  if (auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType()))
    results.push_back(type);
  return success();
}

LogicalResult FakeQuantizeOp::verify() {
  // fake_quantize_c1
  if (getMultiplier() && !getAs().isInteger(8))
    return emitOpError("expects no multiplier beside ") << getAs();
  if (getRotated() && (getMultiplier() || !getAs().isInteger(8)))
    return emitOpError("is rotated and expects i8 without a multiplier");
  if (getMultiplier() &&
      failed(verifyVector(*this, "the multiplier", getMultiplier(), 1)))
    return failure();
  if (failed(verifyVector(*this, "the switch", getOn(), 1)))
    return failure();
  // fake_quantize_c2
  auto type = shapedType(getInput());
  if (type.getRank() < 2)
    return emitOpError("expects vectors of rank 2 or more, found ") << type;
  return verifyDestination(*this, type.getShape());
}

FailureOr<int64_t> FakeQuantizeOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

SmallVector<Value> QuantizeOp::getRowInputs() { return {getInput()}; }
SmallVector<Value> QuantizeHeadsOp::getRowInputs() { return {getInput()}; }
SmallVector<Value> RoundOp::getRowInputs() { return {getInput()}; }
SmallVector<Value> FakeQuantizeOp::getRowInputs() { return {getInput()}; }
