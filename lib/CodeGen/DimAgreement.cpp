//===- DimAgreement.cpp - Whether dimensions that meet have one name ------===//
//
// One walk in the order of the ops. The leading dimensions of a layer op's
// result are those of its first operand, and the other operands agree with it
// axis by axis; keys, values and candidates, which are sequences of their own,
// agree with each other instead. Masks agree in what they read of sentences.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/DimAgreement.h"
#include "dialect/Transformer.h"
#include "lib/Support/DimNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;

namespace {
/// Dimension `axis` of a value that an op reads.
struct Dim {
  Value value;
  int64_t axis;
};

/// The names of the dimensions inside one function.
class DimAgreement {
public:
  LogicalResult visit(Operation *op);

private:
  StringAttr nameOf(Dim dim);
  LogicalResult meet(Operation *op, Dim lhs, Dim rhs);
  LogicalResult meetAll(Operation *op, ArrayRef<Value> values, int64_t axis);
  LogicalResult checkShared(Operation *op, Value list, Value rows);
  LogicalResult visitAttention(AttentionOp op);
  LogicalResult visitCandidates(CandidateLogitsOp op);
  LogicalResult visitLinearAttention(LinearAttentionOp op);
  LogicalResult visitRead(LinearAttentionReadOp op);
  template <typename Op> LogicalResult visitCache(Op op, Value numbers);
  template <typename Op>
  LogicalResult visitRows(Op op, Value rows, Value sequences);

  /// Of each result the value that it has its leading dimensions from.
  llvm::DenseMap<Value, Value> leading;
};
} // namespace

/// Null if the dimension is static or nobody named it.
StringAttr DimAgreement::nameOf(Dim dim) {
  auto type = dyn_cast<RankedTensorType>(dim.value.getType());
  if (!type || dim.axis >= type.getRank() || !type.isDynamicDim(dim.axis))
    return {};
  auto found = leading.find(dim.value);
  Value source = found == leading.end() ? dim.value : found->second;
  auto argument = dyn_cast<BlockArgument>(source);
  auto sourceType = dyn_cast<RankedTensorType>(source.getType());
  if (!argument || !sourceType || dim.axis >= sourceType.getRank() ||
      !sourceType.isDynamicDim(dim.axis))
    return {};
  return nameOfArgumentDim(argument, dim.axis);
}

LogicalResult DimAgreement::meet(Operation *op, Dim lhs, Dim rhs) {
  StringAttr left = nameOf(lhs), right = nameOf(rhs);
  if (!left || !right || left == right)
    return success();
  return op->emitOpError("takes dimension ")
         << rhs.axis << " of one operand, '" << right.getValue()
         << "', for dimension " << lhs.axis << " of another, '"
         << left.getValue() << "'";
}

LogicalResult DimAgreement::meetAll(Operation *op, ArrayRef<Value> values,
                                    int64_t axis) {
  for (Value value : values)
    if (value && failed(meet(op, {values.front(), axis}, {value, axis})))
      return failure();
  return success();
}

/// A list that holds for all sentences cannot have one element of each: what
/// stands beside a sentence would change its mask.
LogicalResult DimAgreement::checkShared(Operation *op, Value list, Value rows) {
  StringAttr name = nameOf({list, 0});
  if (!name || name != nameOf({rows, 0}))
    return success();
  return op->emitOpError("reads one list for all sentences, but the list has "
                         "an element for each, dimension '")
         << name.getValue() << "'";
}

LogicalResult DimAgreement::visitAttention(AttentionOp op) {
  // The rows of a step say for themselves which sentence they belong to.
  SmallVector<Value> rows = {op.getQuery()}, sentences;
  SmallVector<Value> kept = {op.getKey(), op.getValue()};
  if (op.getKeyScales())
    kept.append({op.getKeyScales(), op.getValueScales()});
  if (op.getPositions())
    rows.append({op.getPositions(), op.getSentences()});
  // Caches are a number of their own if rows say which are theirs.
  bool hasCaches = op.getCaches() || op.getHistory();
  if (hasCaches)
    rows.push_back(op.getCaches() ? op.getCaches() : op.getHistory());
  else if (!op.getStarts())
    (op.getShared() ? sentences : rows).append(kept);
  if (op.getStarts())
    rows.append({op.getStarts(), op.getLengths()});
  if (op.isRagged())
    sentences = {op.getLengths()};
  else if (!op.isStep())
    sentences = rows;
  llvm::SetVector<Value> masks;
  if (op.getMask())
    masks.insert(op.getMask());
  for (size_t index = 0; index < masks.size(); ++index) {
    auto mask = masks[index].getDefiningOp<MaskOpInterface>();
    SmallVector<Value> ofSentences = mask.operandsOfSentences();
    llvm::append_range(sentences, ofSentences);
    for (Value operand : mask->getOperands())
      if (isa<MaskType>(operand.getType()))
        masks.insert(operand);
      else if (!llvm::is_contained(ofSentences, operand) &&
               failed(checkShared(mask, operand, op.getKey())))
        return failure();
  }
  return success(succeeded(meetAll(op, rows, 0)) &&
                 succeeded(meetAll(op, sentences, 0)) &&
                 succeeded(meetAll(op, kept, 0)) &&
                 (op.hasRaggedKeys() || succeeded(meetAll(op, kept, 1))));
}

/// What is written, a row or a sentence each, has the caches named by `caches`.
template <typename Op>
LogicalResult DimAgreement::visitCache(Op op, Value numbers) {
  SmallVector<Value> rows = {op.getInput(), numbers,
                             op.getCaches() ? op.getCaches()
                                            : op.getDestination()};
  return meetAll(op, rows, 0);
}

LogicalResult DimAgreement::visitCandidates(CandidateLogitsOp op) {
  SmallVector<Value> lists = {op.getRows(), op.getBias()};
  if (op.getCandidates())
    lists = {op.getCandidates()};
  SmallVector<Value> rows = {op.getInput()}, sentences = {op.getCounts()};
  (op.getSentences() ? rows : sentences)
      .push_back(op.getSentences() ? op.getSentences() : op.getInput());
  llvm::append_range(sentences, lists);
  return success(succeeded(meetAll(op, rows, 0)) &&
                 succeeded(meetAll(op, sentences, 0)) &&
                 succeeded(meetAll(op, lists, 1)));
}

LogicalResult DimAgreement::visitLinearAttention(LinearAttentionOp op) {
  // Positions of queries are those of keys if one follows from the other.
  SmallVector<Value> sequences = {op.getKey(), op.getValue()};
  if (op.getCausal())
    sequences.push_back(op.getQuery());
  return success(
      succeeded(meetAll(op, SmallVector<Value>(op->getOperands()), 0)) &&
      succeeded(meetAll(op, sequences, 1)));
}

LogicalResult DimAgreement::visitRead(LinearAttentionReadOp op) {
  SmallVector<Value> rows = {op.getQuery()},
                     sentences = {op.getSums(), op.getTotals()};
  (op.getSentences() ? rows : sentences)
      .push_back(op.getSentences() ? op.getSentences() : op.getQuery());
  return success(succeeded(meetAll(op, rows, 0)) &&
                 succeeded(meetAll(op, sentences, 0)));
}

/// `rows` are as many as tokens, which are positions of `sequences`; null if
/// they are the result.
template <typename Op>
LogicalResult DimAgreement::visitRows(Op op, Value rows, Value sequences) {
  Value tokens = op.getTokens();
  // Tokens of all sequences are as many as a list has.
  if (cast<ShapedType>(tokens.getType()).getRank() == 1)
    return success();
  SmallVector<Value> ofBatch = {tokens, rows};
  if (op.getStarts())
    ofBatch.append({op.getStarts(), op.getLengths()});
  else
    ofBatch.push_back(sequences);
  return success(succeeded(meetAll(op, ofBatch, 0)) &&
                 succeeded(meetAll(op, {tokens, rows}, 1)));
}

/// The operand that a result has its leading dimensions from.
static Value leadingOperand(Operation *op) {
  if (auto take = dyn_cast<TakeRowsOp>(op))
    return take.getTokens();
  if (auto put = dyn_cast<PutRowsOp>(op))
    return put.getDestination();
  if (auto pool = dyn_cast<PoolOp>(op); pool && pool.getStarts())
    return pool.getLengths();
  if (isa<CacheAppendOp, CacheFillOp, LastRowsOp>(op))
    return cast<DestinationOpInterface>(op).getDestinations().front();
  return op->getOperand(0);
}

LogicalResult DimAgreement::visit(Operation *op) {
  if (!isa<DestinationOpInterface>(op))
    return success();
  Value first = leadingOperand(op);
  auto found = leading.find(first);
  Value source = found == leading.end() ? first : found->second;
  for (Value result : op->getResults())
    leading[result] = source;
  if (auto attention = dyn_cast<AttentionOp>(op))
    return visitAttention(attention);
  if (auto candidates = dyn_cast<CandidateLogitsOp>(op))
    return visitCandidates(candidates);
  if (auto attention = dyn_cast<LinearAttentionOp>(op))
    return visitLinearAttention(attention);
  if (auto read = dyn_cast<LinearAttentionReadOp>(op))
    return visitRead(read);
  if (auto take = dyn_cast<TakeRowsOp>(op))
    return visitRows(take, /*rows=*/Value(), take.getInput());
  if (auto put = dyn_cast<PutRowsOp>(op))
    return visitRows(put, put.getInput(), put.getDestination());
  if (auto append = dyn_cast<CacheAppendOp>(op))
    return visitCache(append, append.getPositions());
  if (auto fill = dyn_cast<CacheFillOp>(op))
    return visitCache(fill, fill.getLengths());
  if (auto pool = dyn_cast<PoolOp>(op); pool && pool.getStarts())
    return meetAll(op, {pool.getLengths(), pool.getFirst(), pool.getStarts()},
                   0);
  if (isa<LastRowsOp, PoolOp>(op))
    return meetAll(op, SmallVector<Value>(op->getOperands()), 0);
  SmallVector<Value> operands(op->getOperands());
  int64_t rank = cast<ShapedType>(first.getType()).getRank();
  for (int64_t axis = 0; axis < rank; ++axis)
    if (failed(meetAll(op, operands, axis)))
      return failure();
  return success();
}

LogicalResult heddle::checkDimAgreement(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    DimAgreement agreement;
    for (Block &block : function.getBody())
      for (Operation &op : block)
        if (failed(agreement.visit(&op)))
          return failure();
  }
  return success();
}
