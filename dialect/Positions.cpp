//===- Positions.cpp - Ops that say where a vector stands -----------------===//
//
// Verifiers check the numbered constraints of Positions.td.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"

using namespace mlir;
using namespace heddle;

LogicalResult heddle::verifyFormRank(Operation *op, Value input, bool isStep,
                                     StringRef marker) {
  int64_t expected = isStep ? 2 : 3;
  if (shapedType(input).getRank() == expected)
    return success();
  return op->emitOpError("expects an input of rank ")
         << expected << (isStep ? " with '" : " without '") << marker
         << "', found rank " << shapedType(input).getRank();
}

LogicalResult heddle::verifySinusoidal(Operation *op, int64_t width,
                                       int64_t timescales) {
  if (width % 2 == 0 && timescales >= 1)
    return success();
  return op->emitOpError("expects an even width and timescales of at least 1, "
                         "found width ")
         << width << " and timescales " << timescales;
}

LogicalResult heddle::verifyPositionTable(Operation *op, Value value,
                                          int64_t width, IntegerAttr offset) {
  auto table = shapedType(value);
  if (!table.hasStaticShape() || table.getRank() != 2 ||
      table.getDimSize(1) != width)
    return op->emitOpError("expects a table [positions, ")
           << width << "] of static shape, found " << table;
  if (offset.getInt() < 0 || offset.getInt() >= table.getDimSize(0))
    return op->emitOpError("has offset ")
           << offset.getInt() << " outside its table of " << table.getDimSize(0)
           << " positions";
  return success();
}

//===----------------------------------------------------------------------===//
// positions.sinusoidal, positions.learned
//===----------------------------------------------------------------------===//

LogicalResult
SinusoidalPositionsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  return inferLike(adaptor.getInput(), results);
}

LogicalResult SinusoidalPositionsOp::verify() {
  // positions_sinusoidal_c1
  if (failed(verifyFormRank(*this, getInput(), bool(getPositions()), "at")))
    return failure();
  // positions_sinusoidal_c2
  if (failed(verifySinusoidal(*this, width(getInput()),
                              getTimescalesAttr().getInt())))
    return failure();
  return verifyDestination(*this, shapedType(getInput()).getShape());
}

FailureOr<int64_t> SinusoidalPositionsOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

bool SinusoidalPositionsOp::isStep() { return bool(getPositions()); }

SmallVector<Value> SinusoidalPositionsOp::buildStep(OpBuilder &builder,
                                                    StepContext &step) {
  return {SinusoidalPositionsOp::create(
              builder, getLoc(), step.lookup(getInput()), step.positions,
              /*destination=*/Value(), getTimescalesAttr(), getLayoutAttr())
              .getOutput()};
}

FailureOr<SmallVector<Value>>
SinusoidalPositionsOp::buildRagged(OpBuilder &builder, RaggedContext &ragged) {
  return cloneAtPositions(*this, builder, ragged);
}

LogicalResult
LearnedPositionsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &results) {
  return inferLike(adaptor.getInput(), results);
}

LogicalResult LearnedPositionsOp::verify() {
  // positions_learned_c1
  if (failed(verifyFormRank(*this, getInput(), bool(getPositions()), "at")))
    return failure();
  // positions_learned_c2
  if (failed(verifyPositionTable(*this, getTable(), width(getInput()),
                                 getOffsetAttr())))
    return failure();
  return verifyDestination(*this, shapedType(getInput()).getShape());
}

FailureOr<int64_t> LearnedPositionsOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

bool LearnedPositionsOp::isStep() { return bool(getPositions()); }

SmallVector<Value> LearnedPositionsOp::buildStep(OpBuilder &builder,
                                                 StepContext &step) {
  return {LearnedPositionsOp::create(builder, getLoc(), step.lookup(getInput()),
                                     step.lookup(getTable()), step.positions,
                                     /*destination=*/Value(), getOffsetAttr())
              .getOutput()};
}

FailureOr<SmallVector<Value>>
LearnedPositionsOp::buildRagged(OpBuilder &builder, RaggedContext &ragged) {
  return cloneAtPositions(*this, builder, ragged);
}

//===----------------------------------------------------------------------===//
// positions.rotary
//===----------------------------------------------------------------------===//

LogicalResult
RotaryPositionsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &results) {
  return inferLike(adaptor.getInput(), results);
}

LogicalResult RotaryPositionsOp::verify() {
  // positions_rotary_c1
  if (failed(verifyFormRank(*this, getInput(), bool(getPositions()), "at")))
    return failure();
  // positions_rotary_c2
  int64_t width = heddle::width(getInput()), heads = getHeadsAttr().getInt();
  if (width % heads != 0)
    return emitOpError("expects heads that divide the width ")
           << width << ", found " << heads;
  // positions_rotary_c3
  auto frequencies = shapedType(getFrequencies());
  if (frequencies.getRank() != 1 ||
      2 * frequencies.getDimSize(0) > width / heads)
    return emitOpError("expects at most ")
           << width / heads / 2 << " frequencies for heads of width "
           << width / heads << ", found " << frequencies;
  return verifyDestination(*this, shapedType(getInput()).getShape());
}

FailureOr<int64_t> RotaryPositionsOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

bool RotaryPositionsOp::isStep() { return bool(getPositions()); }

SmallVector<Value> RotaryPositionsOp::buildStep(OpBuilder &builder,
                                                StepContext &step) {
  return {RotaryPositionsOp::create(builder, getLoc(), step.lookup(getInput()),
                                    step.lookup(getFrequencies()),
                                    step.positions, /*destination=*/Value(),
                                    getHeadsAttr(), getScaleAttr())
              .getOutput()};
}

FailureOr<SmallVector<Value>>
RotaryPositionsOp::buildRagged(OpBuilder &builder, RaggedContext &ragged) {
  return cloneAtPositions(*this, builder, ragged);
}
