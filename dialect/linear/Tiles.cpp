//===- Tiles.cpp - Checks and memory effects of tiles of linear -----------===//
//
// linear.tile computes sums and stores results at once; linear.sums and
// linear.finish are its two halves, with sums in scratch memory. They share
// their checks: weights of i8 come with scales, and a result of i8 with a
// multiplier.
//
// A tile reads every buffer but its destination, which it writes. linear.sums
// with `from` reads the destination, too: the products of a piece of the depth
// are added to the sums of the pieces before it, and the effects keep the
// pieces in order.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"
#include "dialect/linear/GatedColumns.h"

using namespace mlir;
using namespace heddle;

void LinearTileOp::build(OpBuilder &builder, OperationState &state,
                         const TileOperands &operands, const TilePlace &place,
                         int64_t rows, const WeightRows &fetched) {
  build(builder, state, operands.input, operands.inputScales, operands.weight,
        operands.weightScales, operands.bias, operands.residual,
        operands.multiplier, operands.destination, place.row, place.column,
        fetched.first, fetched.count, fetched.isAhead, rows, place.columns,
        operands.shift, operands.activation, place.isPartial, operands.gates);
}

void LinearSumsOp::build(OpBuilder &builder, OperationState &state,
                         const TileOperands &operands, Value sums,
                         const TilePlace &place, int64_t rows,
                         const WeightRows &fetched, const DepthPiece &piece,
                         Value unpacked) {
  build(builder, state, operands.input, operands.weight, unpacked, sums,
        place.row, place.column, fetched.first, fetched.count, piece.from,
        fetched.isAhead, rows, place.columns,
        piece.from ? builder.getI64IntegerAttr(piece.inputs) : IntegerAttr(),
        operands.shift);
}

void LinearFinishOp::build(OpBuilder &builder, OperationState &state,
                           const TileOperands &operands, Value sums,
                           const TilePlace &place, Value rows) {
  build(builder, state, sums, operands.inputScales, operands.weightScales,
        operands.bias, operands.residual, operands.multiplier,
        operands.destination, place.row, place.column, rows, place.columns,
        operands.activation, place.isPartial, operands.gates);
}

/// Of a panel, as many as whole vectors of any level divide.
static LogicalResult verifyColumns(Operation *op, int64_t columns) {
  if (columns % kPanelColumns == 0 || columns == 8 || columns == 16)
    return success();
  return op->emitOpError("expects 8 or 16 columns, or a multiple of ")
         << kPanelColumns << ", found " << columns;
}

/// Whether W is in panels of the vectors of x.
static bool arePanelsOf(Value input, Value weight) {
  auto type = cast<MemRefType>(weight.getType());
  PanelLayout layout =
      panelsOf(input, weight, type.getDimSize(0) * kPanelColumns);
  return type.hasStaticShape() &&
         type.getShape() == ArrayRef<int64_t>(layout.shape(width(input)));
}

/// Whether x and W have one element type, or W is integers with scales.
static bool areFactors(Value input, Value weight) {
  return weightFormatOf(input, weight) == WeightFormat::ScaledIntegers ||
         shapedType(input).getElementType() ==
             shapedType(weight).getElementType();
}

/// Which rows of W a tile asks for.
template <typename Op> static LogicalResult verifyNext(Op op) {
  if (bool(op.getNext()) != bool(op.getFetched()))
    return op.emitOpError("expects next and fetched together");
  if (op.getNext() && op.getAhead())
    return op.emitOpError("expects either next or ahead");
  return success();
}

/// The columns of W: those of y, and of its gate where W has one.
template <typename Op> static int64_t columnsOfWeight(Op op) {
  return width(op.getDestination()) * (isGatedByColumns(op) ? 2 : 1);
}

/// The scales of sums of integers, and the type of what they become.
template <typename Op>
static LogicalResult verifyScales(Op op, bool isOfIntegers) {
  if (isOfIntegers != bool(op.getWeightScales()) ||
      (op.getInputScales() && !isOfIntegers))
    return op.emitOpError(
        "expects scales of W for integers and no scales otherwise");
  if (op.getWeightScales() &&
      width(op.getWeightScales()) != columnsOfWeight(op))
    return op.emitOpError("expects a scale for each of ")
           << columnsOfWeight(op) << " columns, found "
           << op.getWeightScales().getType();
  bool isQuantised =
      shapedType(op.getDestination()).getElementType().isInteger(8);
  if (isQuantised != bool(op.getMultiplier()))
    return op.emitOpError("expects a multiplier exactly if it writes i8");
  return success();
}

/// Reads every buffer but `destination`, which it writes.
static void addTileEffects(
    Operation *op, OpOperand &destination,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (&operand == &destination)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

/// Whether `unpacked` has the groups of a panel of W.
static LogicalResult verifyUnpacked(Operation *op, Value weight,
                                    Value unpacked) {
  auto type = cast<MemRefType>(weight.getType());
  int64_t columns = std::max<int64_t>(type.getDimSize(0), 0) * kPanelColumns;
  PanelLayout layout(WeightFormat::ScaledIntegers, columns);
  std::optional<int64_t> depth;
  if (type.getElementType().isInteger(8))
    depth = layout.depthOf(type.getShape());
  if (!depth)
    return op->emitOpError("expects panels ")
           << layout.describe() << " of i8 to unpack, found " << type;
  int64_t groups = *depth / 2;
  if (shapedType(unpacked).getShape() ==
      ArrayRef<int64_t>{groups, kPanelColumns, 2})
    return success();
  return op->emitOpError("expects an unpacked panel [")
         << groups << ", " << kPanelColumns << ", 2], found "
         << unpacked.getType();
}

LogicalResult LinearTileOp::verify() {
  // linear.tile_c1
  if (failed(verifyColumns(*this, getColumns())))
    return failure();
  // linear.tile_c2
  int64_t out = width(getDestination()), all = columnsOfWeight(*this);
  if (!arePanelsOf(getInput(), getWeight()) ||
      !areFactors(getInput(), getWeight()) ||
      shapedType(getWeight()).getDimSize(0) !=
          panelsOf(getInput(), getWeight(), all).panels() ||
      (getBias() && width(getBias()) != all) ||
      (getResidual() && width(getResidual()) != out))
    return emitOpError("expects x [rows, in], panels of [in, out], a bias "
                       "[out], a residual and y [rows, out]");
  // linear.tile_c3
  if (failed(verifyNext(*this)))
    return failure();
  return verifyScales(*this,
                      shapedType(getInput()).getElementType().isInteger(8));
}

void LinearTileOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addTileEffects(*this, getDestinationMutable(), effects);
}

LogicalResult LinearSumsOp::verify() {
  // linear.sums_c1
  if (failed(verifyColumns(*this, getColumns())))
    return failure();
  // linear.sums_c2
  auto sums = cast<MemRefType>(getDestination().getType());
  bool isOfIntegers = shapedType(getInput()).getElementType().isInteger(8);
  if (!arePanelsOf(getInput(), getWeight()) || !sums.hasStaticShape() ||
      sums.getElementType().isInteger(32) != isOfIntegers ||
      sums.getDimSize(0) < int64_t(getRows()) ||
      sums.getDimSize(1) < int64_t(getColumns()))
    return emitOpError("expects x [rows, in], panels of [in, out] and sums of "
                       "at least ")
           << getRows() << " x " << getColumns();
  // linear.sums_c3
  if (failed(verifyNext(*this)))
    return failure();
  if (bool(getFrom()) != getInputs().has_value())
    return emitOpError("expects from and inputs together");
  // linear.sums_c4
  int64_t depth = width(getInput());
  int64_t group = panelsOf(getInput(), getWeight(), kPanelColumns).group();
  int64_t inputs = getInputs().value_or(0);
  if (inputs % group != 0 || inputs > depth)
    return emitOpError("expects inputs in groups of ")
           << group << ", no more than " << depth << ", found " << inputs;
  // linear.sums_c6
  if (Region &beside = getBeside();
      !beside.empty() && (beside.getNumArguments() != 1 ||
                          !beside.getArgument(0).getType().isIndex()))
    return emitOpError("expects one argument beside it, an index");
  // linear.sums_c5
  if (!getUnpacked())
    return success();
  bool hasTiles = getRows() % 16 == 0 && getColumns() == kPanelColumns &&
                  shapedType(getInput()).getElementType().isBF16();
  if (!hasTiles || getFrom())
    return emitOpError(
        "expects x of bf16, 32 columns and a multiple of 16 rows "
        "beside an unpacked panel");
  return verifyUnpacked(*this, getWeight(), getUnpacked());
}

void LinearSumsOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addTileEffects(*this, getDestinationMutable(), effects);
  if (getFrom())
    effects.emplace_back(MemoryEffects::Read::get(), &getDestinationMutable());
}

LogicalResult LinearUnpackOp::verify() {
  // linear.unpack_c1
  return verifyUnpacked(*this, getWeight(), getDestination());
}

void LinearUnpackOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addTileEffects(*this, getDestinationMutable(), effects);
}

LogicalResult LinearFinishOp::verify() {
  // linear.finish_c1
  int64_t columns = getColumns();
  if (failed(verifyColumns(*this, columns)))
    return failure();
  // linear.finish_c2
  auto sums = cast<MemRefType>(getSums().getType());
  int64_t out = width(getDestination());
  if (!sums.hasStaticShape() || sums.getDimSize(1) < columns ||
      (getBias() && width(getBias()) != columnsOfWeight(*this)) ||
      (getResidual() && width(getResidual()) != out))
    return emitOpError("expects sums of at least ")
           << columns << " columns, a bias [out], a residual and y [rows, out]";
  return verifyScales(*this, sums.getElementType().isInteger(32));
}

void LinearFinishOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addTileEffects(*this, getDestinationMutable(), effects);
}
