//===- TakenRows.cpp - Rows of some positions -----------------------------===//
//
// Verifiers check the numbered constraints of TakenRows.td.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"

using namespace mlir;
using namespace heddle;

static bool mayBeEqual(int64_t lhs, int64_t rhs) {
  return ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs) || lhs == rhs;
}

/// Lists of sequences: of `tokens` [batch, k] that are positions of `rows`
/// [batch, n, d], or, with `starts` and `lengths`, of rows [rows, d].
static LogicalResult verifyLists(Operation *op, Value rows, Value tokens,
                                 Value starts, Value lengths) {
  auto type = shapedType(rows), list = shapedType(tokens);
  if (bool(starts) != bool(lengths))
    return op->emitOpError("expects starts and lengths together");
  StringRef shape = starts ? "[rows, d]" : "[batch, n, d]";
  if (type.getRank() != (starts ? 2 : 3) || list.getRank() != 2)
    return op->emitOpError("expects rows ")
           << shape << " and tokens [batch, k], found " << type << " and "
           << list;
  if (starts)
    return verifyPerSentence(op, tokens, {starts, lengths});
  if (!mayBeEqual(type.getDimSize(0), list.getDimSize(0)))
    return op->emitOpError("has ")
           << list.getDimSize(0) << " lists of tokens for a batch of "
           << type.getDimSize(0);
  return success();
}

//===----------------------------------------------------------------------===//
// take_rows
//===----------------------------------------------------------------------===//

LogicalResult TakeRowsOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!input)
    return success();
  // Lists of another rank are the verifier's to refuse.
  SmallVector<int64_t> shape(shapedType(adaptor.getTokens()).getShape());
  shape.push_back(input.getShape().back());
  results.push_back(input.clone(shape));
  return success();
}

LogicalResult TakeRowsOp::verify() {
  // take_rows_c1, take_rows_c2, take_rows_c3
  bool isOfRows = !getStarts() && shapedType(getInput()).getRank() == 2 &&
                  shapedType(getTokens()).getRank() == 1;
  if (!isOfRows && failed(verifyLists(*this, getInput(), getTokens(),
                                      getStarts(), getLengths())))
    return failure();
  SmallVector<int64_t> shape(shapedType(getTokens()).getShape());
  shape.push_back(width(getInput()));
  return verifyDestination(*this, shape);
}

FailureOr<int64_t> TakeRowsOp::timeAxis(TimeAxes) {
  return emitOpError("cannot be evaluated position by position: its tokens may "
                     "be later positions");
}

FailureOr<SmallVector<Value>> TakeRowsOp::buildRagged(OpBuilder &builder,
                                                      RaggedContext &ragged) {
  if (!ragged.isRagged(getInput()))
    return failure();
  bool areRows = ragged.isRagged(getTokens());
  return SmallVector<Value>{
      TakeRowsOp::create(builder, getLoc(), ragged.lookup(getInput()),
                         ragged.lookup(getTokens()),
                         areRows ? Value() : ragged.starts,
                         areRows ? Value() : ragged.lengths,
                         /*destination=*/Value())
          .getOutput()};
}

//===----------------------------------------------------------------------===//
// put_rows
//===----------------------------------------------------------------------===//

LogicalResult PutRowsOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  Type type = adaptor.getDestination().getType();
  if (isa<RankedTensorType>(type))
    results.push_back(type);
  return success();
}

LogicalResult PutRowsOp::verify() {
  // put_rows_c1, put_rows_c2, put_rows_c3
  auto rows = shapedType(getInput()), all = shapedType(getDestination());
  if (failed(verifyLists(*this, getDestination(), getTokens(), getStarts(),
                         getLengths())) ||
      failed(verifyLists(*this, getInput(), getTokens(), Value(), Value())))
    return failure();
  if (width(getInput()) != width(getDestination()))
    return emitOpError("puts ")
           << rows << " into " << all << ", expected one width";
  int64_t tokens = shapedType(getTokens()).getDimSize(1);
  if (!mayBeEqual(rows.getDimSize(1), tokens))
    return emitOpError("has ")
           << tokens << " tokens for " << rows.getDimSize(1) << " rows";
  return success();
}

/// The rows that no list names.
bool PutRowsOp::readsDestinations() { return true; }

FailureOr<int64_t> PutRowsOp::timeAxis(TimeAxes) {
  return emitOpError("cannot be evaluated position by position: a later token "
                     "would change rows of earlier positions");
}

FailureOr<SmallVector<Value>> PutRowsOp::buildRagged(OpBuilder &builder,
                                                     RaggedContext &ragged) {
  if (ragged.isRagged(getInput()) || ragged.isRagged(getTokens()))
    return failure();
  return SmallVector<Value>{
      PutRowsOp::create(builder, getLoc(), ragged.lookup(getInput()),
                        ragged.lookup(getTokens()), ragged.starts,
                        ragged.lengths, ragged.lookup(getDestination()))
          .getOutput()};
}
