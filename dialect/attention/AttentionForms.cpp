//===- AttentionForms.cpp - Attention in steps, chunks and ragged ---------===//
//
// The step form of self-attention appends keys and values to caches and attends
// to them; their size follows from the reach of the mask alone. The extend form
// is a step that is told which of its rows are a prompt. Over a memory
// that does not depend on the target nothing is kept: rows read it by sentence.
//
//===----------------------------------------------------------------------===//

#include "dialect/attention/Attention.h"

using namespace mlir;
using namespace heddle;

FailureOr<int64_t> AttentionOp::timeAxis(TimeAxes axes) {
  auto axis = [&](OpOperand &operand) {
    return axes[operand.getOperandNumber()];
  };
  std::optional<int64_t> query = axis(getQueryMutable()),
                         key = axis(getKeyMutable()),
                         value = axis(getValueMutable());
  auto refuse = [&] {
    return emitOpError("cannot be evaluated position by position: ");
  };
  if (query != 1)
    return refuse() << "its keys depend on the target, its queries do not";
  if (key != value || (key && key != 1))
    return refuse() << "only one of its keys and values depends on the target";
  for (MutableOperandRange scales :
       {getKeyScalesMutable(), getValueScalesMutable()})
    for (OpOperand &operand : scales)
      if (axis(operand) != key)
        return refuse() << "only one of its keys and their scales depends on "
                           "the target";
  if (isRelative())
    return refuse() << "it has vectors of relative positions";
  if (!key)
    return 1;
  std::optional<int64_t> lookahead =
      getMask() ? getMaskOp().reach().lookahead : std::nullopt;
  if (!lookahead)
    return refuse() << "its mask lets a query see all later positions (is "
                       "'transformer.mask.causal' missing?)";
  if (*lookahead > 0)
    return refuse() << "its mask lets a query see " << *lookahead
                    << (*lookahead == 1 ? " later position"
                                        : " later positions")
                    << " (is 'transformer.mask.causal' missing?)";
  return 1;
}

/// Slots of the cache that no later position takes: those of a ring's first
/// keys. A cache of all positions has no ring.
static int64_t pinnedSlots(AttentionOp op) {
  Reach reach = op.getMaskOp().reach();
  return reach.lookback ? reach.pinned : 0;
}

bool heddle::readsRing(AttentionOp op) {
  return op.isStep() && !op.getShared() && op.getMask() &&
         op.getMaskOp().reach().lookback.has_value();
}

/// What a cache keeps of each position: its key, its value and, if these are
/// integers, their scales.
static SmallVector<Value> keptRows(AttentionOp op) {
  SmallVector<Value> rows = {op.getKey(), op.getValue()};
  if (op.getKeyScales())
    rows.append({op.getKeyScales(), op.getValueScales()});
  return rows;
}

SmallVector<StateType> AttentionOp::stateTypes(TimeAxes axes) {
  if (!axes[getKeyMutable().getOperandNumber()])
    return {};
  // As many positions as the mask looks back, the query's own, and what is
  // pinned for good.
  std::optional<int64_t> slots = getMaskOp().reach().lookback;
  int64_t pinned = pinnedSlots(*this);
  if (slots)
    *slots += 1 + pinned;
  SmallVector<StateType> caches;
  for (Value kept : keptRows(*this)) {
    auto type = cast<RankedTensorType>(kept.getType());
    caches.push_back(
        {RankedTensorType::get({ShapedType::kDynamic, type.getDimSize(2)},
                               type.getElementType()),
         slots, pinned});
  }
  return caches;
}

/// The operands of the full form and what stays in any form.
static AttentionSpec specOf(AttentionOp op, const IRMapping &mapping) {
  AttentionSpec spec;
  spec.query = mapping.lookupOrDefault(op.getQuery());
  spec.key = mapping.lookupOrDefault(op.getKey());
  spec.value = mapping.lookupOrDefault(op.getValue());
  if (op.getKeyScales()) {
    spec.keyScales = mapping.lookupOrDefault(op.getKeyScales());
    spec.valueScales = mapping.lookupOrDefault(op.getValueScales());
  }
  if (op.getMask())
    spec.mask = mapping.lookupOrDefault(op.getMask());
  if (op.getRelativeKeys())
    spec.relativeKeys = mapping.lookupOrDefault(op.getRelativeKeys());
  if (op.getRelativeQueries())
    spec.relativeQueries = mapping.lookupOrDefault(op.getRelativeQueries());
  spec.heads = op.getHeads();
  spec.kvHeads = op.getKvHeadsAttr();
  spec.scale = op.getScaleAttr();
  spec.rounds = op.getRoundsAttr();
  spec.normalizer = op.getNormalizer();
  return spec;
}

/// A form of `op`, with its regions.
static Value buildFrom(AttentionOp op, const AttentionSpec &spec,
                       OpBuilder &builder, IRMapping &mapping) {
  auto attention = AttentionOp::create(builder, op.getLoc(), spec);
  for (auto [from, to] : llvm::zip(op->getRegions(), attention->getRegions()))
    from.cloneInto(&to, mapping);
  return attention.getOutput();
}

SmallVector<Value> AttentionOp::buildStep(OpBuilder &builder,
                                          StepContext &step) {
  bool shared = !step.axes[getKeyMutable().getOperandNumber()];
  AttentionSpec spec = specOf(*this, step.mapping);
  SmallVector<Value> results(1);
  IntegerAttr pinned =
      builder.getI64IntegerAttr(shared ? 0 : step.stateTypes.front().pinned);
  // In the order of keptRows.
  Value *kept[] = {&spec.key, &spec.value, &spec.keyScales, &spec.valueScales};
  if (!shared)
    for (auto [rows, cache] : llvm::zip(kept, step.states)) {
      *rows = CacheAppendOp::create(builder, getLoc(), cache.getType(), *rows,
                                    step.positions, step.caches, cache, pinned)
                  .getOutput();
      results.push_back(*rows);
    }
  spec.positions = step.positions;
  spec.sentences = step.sentences;
  if (!shared && step.history)
    spec.history = step.history;
  else if (!shared)
    spec.caches = step.caches;
  spec.isShared = shared;
  spec.prefill = step.prefill;
  spec.pinned = pinned.getInt();
  results.front() = buildFrom(*this, spec, builder, step.mapping);
  return results;
}

SmallVector<Value> AttentionOp::buildChunk(OpBuilder &builder,
                                           ChunkContext &chunk) {
  SmallVector<Value> results = cloneForChunk(*this, builder, chunk);
  if (!chunk.axes[getKeyMutable().getOperandNumber()])
    return results;
  auto attention = results.front().getDefiningOp<AttentionOp>();
  IntegerAttr pinned =
      builder.getI64IntegerAttr(chunk.stateTypes.front().pinned);
  for (auto [source, cache] :
       llvm::zip_equal(keptRows(attention), chunk.states))
    results.push_back(CacheFillOp::create(builder, getLoc(), cache.getType(),
                                          source, chunk.lengths, chunk.caches,
                                          cache, pinned)
                          .getOutput());
  return results;
}

bool heddle::seesWholeSentences(AttentionOp op) {
  return op.getMask() && op.getMask().getDefiningOp<MaskPaddingOp>();
}

/// `mask` without the padding of `lengths`, which have no keys behind them in
/// the ragged form; null if nothing is left.
static Value withoutPadding(Value mask, Value lengths, OpBuilder &builder) {
  if (auto padding = mask.getDefiningOp<MaskPaddingOp>())
    return padding.getLengths() == lengths ? Value() : mask;
  auto both = mask.getDefiningOp<MaskAndOp>();
  if (!both)
    return mask;
  Value lhs = withoutPadding(both.getLhs(), lengths, builder),
        rhs = withoutPadding(both.getRhs(), lengths, builder);
  if (lhs == both.getLhs() && rhs == both.getRhs())
    return mask;
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return MaskAndOp::create(builder, both.getLoc(), lhs, rhs);
}

FailureOr<SmallVector<Value>> AttentionOp::buildRagged(OpBuilder &builder,
                                                       RaggedContext &ragged) {
  // Queries that a list names are not ragged: sequences have as many.
  bool isTaken = hasTakenQueries(*this);
  if (!ragged.isRagged(getKey()) || !ragged.isRagged(getValue()) ||
      ragged.isRagged(getQuery()) == isTaken)
    return failure();
  AttentionSpec spec = specOf(*this, ragged.mapping);
  spec.lengths = ragged.lengths;
  if (isTaken) {
    spec.starts = ragged.starts;
  } else {
    spec.positions = ragged.positions;
    spec.sentences = ragged.sequences;
    spec.blocks = ragged.blocks;
  }
  if (spec.mask)
    spec.mask = withoutPadding(spec.mask, ragged.lengths, builder);
  return SmallVector<Value>{buildFrom(*this, spec, builder, ragged.mapping)};
}
