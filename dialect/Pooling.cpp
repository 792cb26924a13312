//===- Pooling.cpp - One vector for a sequence ----------------------------===//
//
// Verifiers check the numbered constraints of Pooling.td.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"

using namespace mlir;
using namespace heddle;

//===----------------------------------------------------------------------===//
// pool
//===----------------------------------------------------------------------===//

SmallVector<Pooling> PoolOp::getModeList() {
  return llvm::map_to_vector(getModes().getAsRange<PoolingAttr>(),
                             [](PoolingAttr mode) { return mode.getValue(); });
}

int64_t PoolOp::getOutputWidth() {
  return width(getInput()) * int64_t(getModes().size());
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!input)
    return success();
  int64_t wide = input.getShape().back() * int64_t(adaptor.getModes().size());
  // The batch as it is known from either.
  int64_t batch = shapedType(adaptor.getLengths()).getDimSize(0);
  if (!adaptor.getStarts() && !input.isDynamicDim(0))
    batch = input.getDimSize(0);
  results.push_back(input.clone({batch, wide}));
  return success();
}

LogicalResult PoolOp::verify() {
  // pool_c1
  ShapedType type = shapedType(getInput());
  bool isRagged = bool(getStarts());
  if (isRagged ? type.getRank() != 2
               : type.getRank() != 3 || type.getDimSize(1) == 0)
    return emitOpError("expects ")
           << (isRagged ? "sequences [tokens, d] with 'starts', found "
                        : "sequences [batch, n, d] of at least one position, "
                          "found ")
           << type;
  // pool_c2
  SmallVector<Value> numbers = {getLengths()};
  for (Value each : {getFirst(), getStarts()})
    if (each)
      numbers.push_back(each);
  Value batch = isRagged ? getLengths() : getInput();
  if (failed(verifyPerSentence(*this, batch, numbers)))
    return failure();
  // pool_c3
  SmallVector<Pooling> modes = getModeList();
  if (modes.empty())
    return emitOpError("expects at least one mode");
  for (auto [at, mode] : llvm::enumerate(modes))
    if (llvm::is_contained(ArrayRef(modes).take_front(at), mode))
      return emitOpError("has the mode '")
             << stringifyPooling(mode) << "' twice";
  // pool_c4
  if (getRows() && !(isRagged && isa<MemRefType>(type) &&
                     ArrayRef(modes) == ArrayRef{Pooling::Max}))
    return emitOpError("pools some rows, which ragged ones with the mode max "
                       "on memrefs can");
  return verifyDestination(*this,
                           {shapedType(batch).getDimSize(0), getOutputWidth()});
}

FailureOr<int64_t> PoolOp::timeAxis(TimeAxes) {
  return emitOpError(
      "cannot be evaluated position by position: the vector of a "
      "sequence is known at its end");
}

FailureOr<SmallVector<Value>> PoolOp::buildRagged(OpBuilder &builder,
                                                  RaggedContext &ragged) {
  return SmallVector<Value>{
      PoolOp::create(builder, getLoc(), ragged.lookup(getInput()),
                     ragged.lookup(getLengths()), ragged.lookup(getFirst()),
                     ragged.starts, /*rows=*/Value(), /*destination=*/Value(),
                     getModes())
          .getOutput()};
}

/// What other rows made of it.
bool PoolOp::readsDestinations() { return bool(getRows()); }

//===----------------------------------------------------------------------===//
// normalize
//===----------------------------------------------------------------------===//

LogicalResult NormalizeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  return inferWithWidth(adaptor.getInput(), width(adaptor.getInput()), results);
}

LogicalResult NormalizeOp::verify() {
  // normalize_c1
  if (!getEpsilon().isFiniteNonZero() || getEpsilon().isNegative())
    return emitOpError("expects a finite epsilon above 0, found ")
           << getEpsilon().convertToFloat();
  return verifyDestination(*this, shapedType(getInput()).getShape());
}

FailureOr<int64_t> NormalizeOp::timeAxis(TimeAxes axes) {
  return timeAxisOfVectors(*this, axes, {});
}

SmallVector<Value> NormalizeOp::getRowInputs() { return {getInput()}; }
