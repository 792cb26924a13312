//===- Layers.cpp - Ops that act on each position alone -------------------===//
//
// Verifiers check the numbered constraints of Layers.td; the leading dimensions
// of an activation are free, so that one op serves a batch of sequences
// [batch, length, d], the rows of a step [rows, d], and later chunks.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;

static ShapedType shapedType(Value value) {
  return cast<ShapedType>(value.getType());
}

static int64_t width(Value value) {
  return shapedType(value).getShape().back();
}

/// The type of `input` with another last dimension; none on memrefs, whose ops
/// have no result.
static LogicalResult inferWithWidth(Value input, int64_t width,
                                    SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(input.getType());
  if (!type)
    return success();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = width;
  results.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

static LogicalResult inferLike(Value input, SmallVectorImpl<Type> &results) {
  if (isa<RankedTensorType>(input.getType()))
    results.push_back(input.getType());
  return success();
}

static LogicalResult verifyVector(Operation *op, StringRef name, Value value,
                                  int64_t length) {
  auto type = shapedType(value);
  if (type.getRank() == 1 && type.getDimSize(0) == length)
    return success();
  return op->emitOpError() << name << " has type " << type << ", expected "
                           << length << " values";
}

/// Shared by the ops with positions: rank 3 in the full form, 2 in a step.
static LogicalResult verifyFormRank(Operation *op, Value input, bool isStep,
                                    StringRef marker) {
  int64_t expected = isStep ? 2 : 3;
  if (shapedType(input).getRank() == expected)
    return success();
  return op->emitOpError("expects an input of rank ")
         << expected << (isStep ? " with '" : " without '") << marker
         << "', found rank " << shapedType(input).getRank();
}

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
  results.push_back(RankedTensorType::get(shape, table.getElementType()));
  return success();
}

LogicalResult EmbeddingOp::verify() {
  // embedding_c1
  auto table = shapedType(getTable());
  if (table.getRank() > 2 || !table.hasStaticShape())
    return emitOpError(
               "expects a table of rank 1 or 2 and static shape, found ")
           << table;
  SmallVector<int64_t> shape(shapedType(getIds()).getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  return verifyDestination(*this, shape);
}

FailureOr<int64_t> EmbeddingOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getIdsMutable().getOperandNumber(),
                    /*contracted=*/0);
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
  int64_t timescales = getTimescalesAttr().getInt();
  if (width(getInput()) % 2 != 0 || timescales < 1)
    return emitOpError("expects an even width and timescales of at least 1, "
                       "found width ")
           << width(getInput()) << " and timescales " << timescales;
  return verifyDestination(*this, shapedType(getInput()).getShape());
}

FailureOr<int64_t> SinusoidalPositionsOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

SmallVector<Value> SinusoidalPositionsOp::buildStep(OpBuilder &builder,
                                                    StepContext &step) {
  return {SinusoidalPositionsOp::create(
              builder, getLoc(), step.lookup(getInput()), step.positions,
              /*destination=*/Value(), getTimescalesAttr(), getLayoutAttr())
              .getOutput()};
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
  auto table = shapedType(getTable());
  if (!table.hasStaticShape() || table.getRank() != 2 ||
      table.getDimSize(1) != width(getInput()))
    return emitOpError("expects a table [positions, ")
           << width(getInput()) << "] of static shape, found " << table;
  int64_t offset = getOffsetAttr().getInt();
  if (offset < 0 || offset >= table.getDimSize(0))
    return emitOpError("has offset ") << offset << " outside its table of "
                                      << table.getDimSize(0) << " positions";
  return verifyDestination(*this, shapedType(getInput()).getShape());
}

FailureOr<int64_t> LearnedPositionsOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

SmallVector<Value> LearnedPositionsOp::buildStep(OpBuilder &builder,
                                                 StepContext &step) {
  return {LearnedPositionsOp::create(builder, getLoc(), step.lookup(getInput()),
                                     step.lookup(getTable()), step.positions,
                                     /*destination=*/Value(), getOffsetAttr())
              .getOutput()};
}

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto weight = shapedType(adaptor.getWeight());
  return inferWithWidth(adaptor.getInput(), weight.getShape().back(), results);
}

LogicalResult LinearOp::verify() {
  // linear_c1
  auto weight = shapedType(getWeight());
  if (weight.getRank() != 2 || !weight.hasStaticShape())
    return emitOpError("expects a weight [in, out] of static shape, found ")
           << weight;
  // linear_c2
  if (width(getInput()) != weight.getDimSize(0))
    return emitOpError("weight size ")
           << weight.getDimSize(0)
           << " does not match the last input dimension " << width(getInput());
  // linear_c3
  if (getBias() &&
      failed(verifyVector(*this, "bias", getBias(), weight.getDimSize(1))))
    return failure();
  SmallVector<int64_t> shape(shapedType(getInput()).getShape());
  shape.back() = weight.getDimSize(1);
  return verifyDestination(*this, shape);
}

FailureOr<int64_t> LinearOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

//===----------------------------------------------------------------------===//
// candidate_logits
//===----------------------------------------------------------------------===//

LogicalResult
CandidateLogitsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &results) {
  // Rows of another rank are the verifier's to refuse.
  auto rows = shapedType(adaptor.getRows());
  return inferWithWidth(
      adaptor.getInput(),
      rows.getRank() == 3 ? rows.getDimSize(1) : ShapedType::kDynamic, results);
}

LogicalResult CandidateLogitsOp::verify() {
  // candidate_logits_c1
  if (failed(verifyFormRank(*this, getInput(), bool(getSentences()), "of")))
    return failure();
  // candidate_logits_c2
  auto rows = shapedType(getRows()), bias = shapedType(getBias());
  if (rows.getRank() != 3 || rows.getDimSize(2) != width(getInput()))
    return emitOpError("expects rows [batch, candidates, ")
           << width(getInput()) << "], found " << rows;
  if (failed(
          verifyCompatibleShape(bias.getShape(), rows.getShape().drop_back())))
    return emitOpError("expects a bias [batch, candidates] for rows ")
           << rows << ", found " << bias;
  SmallVector<int64_t> shape(shapedType(getInput()).getShape());
  shape.back() = rows.getDimSize(1);
  return verifyDestination(*this, shape);
}

FailureOr<int64_t> CandidateLogitsOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

SmallVector<Value> CandidateLogitsOp::buildStep(OpBuilder &builder,
                                                StepContext &step) {
  return {CandidateLogitsOp::create(builder, getLoc(), step.lookup(getInput()),
                                    step.lookup(getRows()),
                                    step.lookup(getBias()),
                                    step.lookup(getCounts()), step.sentences,
                                    /*destination=*/Value())
              .getOutput()};
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

LogicalResult NormOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  return inferLike(adaptor.getInput(), results);
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
  return verifyDestination(*this, shapedType(getInput()).getShape());
}

FailureOr<int64_t> NormOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getInputMutable().getOperandNumber(),
                    /*contracted=*/1);
}

LogicalResult AddOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  return inferLike(adaptor.getLhs(), results);
}

LogicalResult AddOp::verify() {
  // add_c1: layouts of memrefs may differ, shapes may not.
  if (shapedType(getLhs()).getShape() != shapedType(getRhs()).getShape())
    return emitOpError("expects operands of one shape, found ")
           << getLhs().getType() << " and " << getRhs().getType();
  return verifyDestination(*this, shapedType(getLhs()).getShape());
}

FailureOr<int64_t> AddOp::timeAxis(TimeAxes axes) {
  if (axes[0] && axes[0] == axes[1])
    return *axes[0];
  if (!axes[0] || !axes[1])
    return emitOpError("cannot be evaluated position by position: operand #")
           << (axes[0] ? 1 : 0) << " does not depend on the target";
  return emitOpError("cannot be evaluated position by position: time is axis ")
         << *axes[0] << " of one operand and axis " << *axes[1]
         << " of the other";
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
