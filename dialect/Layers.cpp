//===- Layers.cpp - Ops that act on each position alone -------------------===//
//
// Verifiers check the numbered constraints of Layers.td; the leading dimensions
// of an activation are free, so that one op serves a batch of sequences
// [batch, length, d], the rows of a step [rows, d], and later chunks.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"
#include "dialect/Transformer.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;

//===----------------------------------------------------------------------===//
// embedding
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto ids = dyn_cast<RankedTensorType>(adaptor.getIds().getType());
  if (!ids)
    return success();
  auto table = shapedType(adaptor.getTable());
  SmallVector<int64_t> shape(ids.getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  Type element = adaptor.getScales() || adaptor.getWiden()
                     ? Float32Type::get(ids.getContext())
                     : table.getElementType();
  results.push_back(RankedTensorType::get(shape, element));
  appendShortTypes(adaptor.getAlso(), adaptor.getAlsoMultiplier(), results);
  return success();
}

/// What makes f32 of a table of fewer bits.
static LogicalResult verifyTableType(EmbeddingOp op) {
  auto table = shapedType(op.getTable());
  Type element = table.getElementType();
  Value scales = op.getScales();
  if (op.getDivides() && !scales)
    return op.emitOpError("divides and expects scales");
  if (op.getWiden() && (!isShortFloat(element) || table.getRank() != 2))
    return op.emitOpError("widens and expects a table of bf16 or f16, found ")
           << table;
  if (!scales) {
    if (!element.isF32() && !op.getWiden() &&
        (op.hasPositions() || !op.getScale().isExactlyValue(1.0)))
      return op.emitOpError("looks up ")
             << element << " unchanged and expects no scale or positions";
    return success();
  }
  if (!element.isInteger(8) || table.getRank() != 2)
    return op.emitOpError("has scales and expects a table of i8, found ")
           << table;
  if (shapedType(scales).getRank() == 1 && width(scales) == 1)
    return success();
  return verifyVector(op, "scales", scales, table.getDimSize(0));
}

LogicalResult EmbeddingOp::verify() {
  // embedding_c1
  auto table = shapedType(getTable());
  if (table.getRank() > 2 || !table.hasStaticShape())
    return emitOpError(
               "expects a table of rank 1 or 2 and static shape, found ")
           << table;
  // embedding_c2
  auto ids = shapedType(getIds());
  if (!hasPositions() && getPositions())
    return emitOpError("has no positions to add and expects no 'at'");
  if (hasPositions() && table.getRank() != 2)
    return emitOpError("expects a table of rank 2 with positions, found ")
           << table;
  if (hasPositions() && ids.getRank() != (getPositions() ? 1 : 2))
    return emitOpError("expects ids of rank ")
           << (getPositions() ? "1 with" : "2 without") << " 'at', found rank "
           << ids.getRank();
  // embedding_c3
  if (getTimescales() &&
      failed(verifySinusoidal(*this, table.getDimSize(1), *getTimescales())))
    return failure();
  if (bool(getTimescales()) != bool(getLayout()) ||
      bool(getPositionTable()) != bool(getOffset()) ||
      (getTimescales() && getOffset()))
    return emitOpError(
        "expects positions with timescales and a layout, or with "
        "a table and an offset");
  // embedding_c4
  if (getPositionTable() &&
      failed(verifyPositionTable(*this, getPositionTable(), table.getDimSize(1),
                                 getOffsetAttr())))
    return failure();
  // embedding_c5
  if (failed(verifyTableType(*this)))
    return failure();
  // embedding_c6
  Type element = getResultElementType();
  if (getAlso() && (!element.isF32() || table.getRank() != 2))
    return emitOpError("expects vectors of f32 beside 'also', found a table ")
           << table;
  SmallVector<int64_t> shape(ids.getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  return verifyRowDestinations(*this, shape, element);
}

Type EmbeddingOp::getResultElementType() {
  return getScales() || getWiden() ? Float32Type::get(getContext())
                                   : shapedType(getTable()).getElementType();
}

void EmbeddingOp::build(OpBuilder &builder, OperationState &state, Value ids,
                        Value table, Value destination, FloatAttr scale) {
  build(builder, state, ids, table, /*scales=*/Value(),
        /*position_table=*/Value(), /*positions=*/Value(),
        /*also_multiplier=*/Value(),
        destination ? ValueRange(destination) : ValueRange(), scale,
        /*divides=*/UnitAttr(), /*widen=*/UnitAttr(),
        /*timescales=*/IntegerAttr(),
        /*layout=*/PositionLayoutAttr(), /*offset=*/IntegerAttr(),
        /*also=*/ShorteningAttr());
}

FailureOr<int64_t> EmbeddingOp::timeAxis(TimeAxes axes) {
  FailureOr<int64_t> axis =
      timeAxisOf(*this, axes, getIdsMutable().getOperandNumber(),
                 /*contracted=*/0);
  if (succeeded(axis) && hasPositions() && *axis != 1)
    return emitOpError(
        "cannot be evaluated position by position: its positions "
        "run along axis 1, which is not the axis of time");
  return axis;
}

bool EmbeddingOp::isStep() { return bool(getPositions()); }

SmallVector<Value> EmbeddingOp::buildStep(OpBuilder &builder,
                                          StepContext &step) {
  SmallVector<Value> results = cloneForStep(*this, builder, step);
  if (hasPositions())
    results.front().getDefiningOp<EmbeddingOp>().getPositionsMutable().assign(
        step.positions);
  return results;
}

FailureOr<SmallVector<Value>> EmbeddingOp::buildRagged(OpBuilder &builder,
                                                       RaggedContext &ragged) {
  return cloneAtPositions(*this, builder, ragged);
}

//===----------------------------------------------------------------------===//
// candidate_logits
//===----------------------------------------------------------------------===//

void CandidateLogitsOp::build(OpBuilder &builder, OperationState &state,
                              Value input, Value rows, Value bias,
                              Value counts) {
  build(builder, state, input, /*input_scales=*/Value(), rows,
        /*row_scales=*/Value(), bias, counts, /*candidates=*/Value(),
        /*sentences=*/Value(), /*destination=*/Value(),
        /*shift=*/IntegerAttr());
}

LogicalResult
CandidateLogitsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &results) {
  // Lists of another rank are the verifier's to refuse.
  auto lists = shapedType(adaptor.getCandidates() ? adaptor.getCandidates()
                                                  : adaptor.getRows());
  return inferWithWidth(adaptor.getInput(),
                        lists.getRank() > 1 ? lists.getDimSize(1)
                                            : ShapedType::kDynamic,
                        results);
}

LogicalResult CandidateLogitsOp::verify() {
  // candidate_logits_c1
  if (failed(verifyFormRank(*this, getInput(), bool(getSentences()), "of")))
    return failure();
  // candidate_logits_c2
  auto rows = shapedType(getRows()), bias = shapedType(getBias());
  StringRef leading = getCandidates() ? "vocabulary" : "batch, candidates";
  if (rows.getRank() != (getCandidates() ? 2 : 3) ||
      width(getRows()) != width(getInput()))
    return emitOpError("expects rows [")
           << leading << ", " << width(getInput()) << "], found " << rows;
  if (failed(
          verifyCompatibleShape(bias.getShape(), rows.getShape().drop_back())))
    return emitOpError("expects a bias [")
           << leading << "] for rows " << rows << ", found " << bias;
  // candidate_logits_c3
  if (failed(verifyFactors(*this, {getInput(), getInputScales(), getShiftAttr(),
                                   getRows(), getRowScales()})))
    return failure();
  if (getRowScales() &&
      failed(verifyCompatibleShape(shapedType(getRowScales()).getShape(),
                                   bias.getShape())))
    return emitOpError("expects scales of its rows in the shape of the bias, "
                       "found ")
           << getRowScales().getType();
  auto lists = getCandidates() ? shapedType(getCandidates()) : rows;
  if (lists.getRank() < 2)
    return emitOpError("expects candidates [batch, candidates], found ")
           << lists;
  SmallVector<int64_t> shape(shapedType(getInput()).getShape());
  shape.back() = lists.getDimSize(1);
  return verifyDestination(*this, shape);
}

FailureOr<int64_t> CandidateLogitsOp::timeAxis(TimeAxes axes) {
  return timeAxisOfVectors(*this, axes, getInputScalesMutable());
}

bool CandidateLogitsOp::isStep() { return bool(getSentences()); }

SmallVector<Value> CandidateLogitsOp::buildStep(OpBuilder &builder,
                                                StepContext &step) {
  SmallVector<Value> results = cloneForStep(*this, builder, step);
  results.front()
      .getDefiningOp<CandidateLogitsOp>()
      .getSentencesMutable()
      .assign(step.sentences);
  return results;
}

//===----------------------------------------------------------------------===//
// activation, norm, add, fill
//===----------------------------------------------------------------------===//

LogicalResult ActivationOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  return inferLike(adaptor.getInput(), results);
}

LogicalResult ActivationOp::verify() {
  return verifyDestination(*this, shapedType(getInput()).getShape());
}

FailureOr<int64_t> ActivationOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/0);
}

void NormOp::build(OpBuilder &builder, OperationState &state, NormKind kind,
                   Value input, Value gamma, Value beta, Value destination,
                   const APFloat &epsilon) {
  build(builder, state, kind, input, gamma, beta, /*residual=*/Value(),
        /*also_multiplier=*/Value(),
        destination ? ValueRange(destination) : ValueRange(), epsilon,
        /*also=*/ShorteningAttr());
}

LogicalResult NormOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  if (failed(inferLike(adaptor.getInput(), results)))
    return failure();
  appendShortTypes(adaptor.getAlso(), adaptor.getAlsoMultiplier(), results);
  return success();
}

LogicalResult NormOp::verify() {
  // norm_c1
  if (failed(verifyVector(*this, "gamma", getGamma(), width(getInput()))))
    return failure();
  if (getBeta() &&
      failed(verifyVector(*this, "beta", getBeta(), width(getInput()))))
    return failure();
  // norm_c2
  if (getEpsilon().isNaN() || getEpsilon().isNegative())
    return emitOpError("expects an epsilon of at least 0, found ")
           << getEpsilon().convertToFloat();
  // norm_c3
  if (failed(verifyResidual(*this, getResidual(),
                            shapedType(getInput()).getShape())))
    return failure();
  return verifyRowDestinations(*this, shapedType(getInput()).getShape(),
                               Float32Type::get(getContext()));
}

FailureOr<int64_t> NormOp::timeAxis(TimeAxes axes) {
  return timeAxisOfVectors(*this, axes, getResidualMutable());
}

LogicalResult AddOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  return inferLike(adaptor.getLhs(), results);
}

/// Of two operands, of which layouts of memrefs may differ, shapes may not.
template <typename Op> static LogicalResult verifyPairs(Op op) {
  if (shapedType(op.getLhs()).getShape() != shapedType(op.getRhs()).getShape())
    return op.emitOpError("expects operands of one shape, found ")
           << op.getLhs().getType() << " and " << op.getRhs().getType();
  return verifyDestination(op, shapedType(op.getLhs()).getShape());
}

// add_c1
LogicalResult AddOp::verify() { return verifyPairs(*this); }

FailureOr<int64_t> AddOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, {0, 1}, /*contracted=*/0);
}

LogicalResult MultiplyOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  return inferLike(adaptor.getLhs(), results);
}

// multiply_c1
LogicalResult MultiplyOp::verify() { return verifyPairs(*this); }

FailureOr<int64_t> MultiplyOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, {0, 1}, /*contracted=*/0);
}

LogicalResult FillOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  return inferWithWidth(adaptor.getLike(), adaptor.getWidth(), results);
}

LogicalResult FillOp::verify() {
  SmallVector<int64_t> shape(shapedType(getLike()).getShape());
  shape.back() = getWidth();
  return verifyDestination(*this, shape);
}

FailureOr<int64_t> FillOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getLikeMutable().getOperandNumber(),
                    /*contracted=*/1);
}

//===----------------------------------------------------------------------===//
// LayerOpInterface
//===----------------------------------------------------------------------===//

SmallVector<OpOperand *> EmbeddingOp::getStoredFactors() {
  return {&getTableMutable()};
}

SmallVector<Value> ActivationOp::getRowInputs() { return {getInput()}; }
SmallVector<Value> NormOp::getRowInputs() { return {getInput()}; }
SmallVector<Value> AddOp::getRowInputs() { return {getLhs(), getRhs()}; }
SmallVector<Value> MultiplyOp::getRowInputs() { return {getLhs(), getRhs()}; }
