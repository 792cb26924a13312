//===- Attention.cpp - General attention ----------------------------------===//
//
// The step form of self-attention appends keys and values to caches and attends
// to them; their size follows from the reach of the mask alone. Over a memory
// that does not depend on the target nothing is kept: rows read it by sentence.
//
//===----------------------------------------------------------------------===//

#include "dialect/attention/Attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

static ShapedType shapedType(Value value) {
  return cast<ShapedType>(value.getType());
}

int64_t AttentionOp::getQueryWidth() {
  return shapedType(getQuery()).getShape().back() / getHeads();
}
int64_t AttentionOp::getKeyWidth() {
  return shapedType(getKey()).getShape().back() / getKeyValueHeads();
}
int64_t AttentionOp::getValueWidth() {
  return shapedType(getValue()).getShape().back() / getKeyValueHeads();
}

Type AttentionOp::getFactorType() {
  return shapedType(getQuery()).getElementType();
}
bool AttentionOp::isOfShortFloats() { return isShortFloat(getFactorType()); }

Type heddle::probabilityTypeBeside(Type values, Normalizer normalizer) {
  bool hasRange = !values.isF16() || normalizer == Normalizer::Softmax;
  return hasRange ? values : Type(Float32Type::get(values.getContext()));
}

bool AttentionOp::isStep() { return bool(getPositions()); }

static Type resultElementType(MLIRContext *context,
                              std::optional<Type> rounds) {
  return rounds.value_or(Float32Type::get(context));
}

Type AttentionOp::getResultElementType() {
  return resultElementType(getContext(), getRounds());
}

float AttentionOp::getEffectiveScale() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToFloat();
  return 1.0f / std::sqrt(static_cast<float>(getKeyWidth()));
}

MaskOpInterface AttentionOp::getMaskOp() {
  return getMask() ? getMask().getDefiningOp<MaskOpInterface>()
                   : MaskOpInterface();
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto query = dyn_cast<RankedTensorType>(adaptor.getQuery().getType());
  if (!query)
    return success();
  auto value = shapedType(adaptor.getValue());
  int64_t heads = adaptor.getHeads();
  int64_t kvHeads = adaptor.getKvHeads().value_or(heads);
  SmallVector<int64_t> shape(query.getShape());
  // Heads that do not divide the widths are the verifier's to refuse.
  int64_t width = value.getShape().back();
  bool divides = shape.back() % heads == 0 && width % kvHeads == 0;
  shape.back() = divides ? width / kvHeads * heads : width;
  results.push_back(RankedTensorType::get(
      shape, resultElementType(context, adaptor.getRounds())));
  return success();
}

LogicalResult AttentionOp::verify() {
  // attention_c1
  int64_t queryRank = isStep() ? 2 : 3;
  if (shapedType(getQuery()).getRank() != queryRank ||
      shapedType(getKey()).getRank() != 3 ||
      shapedType(getValue()).getRank() != 3)
    return emitOpError("expects a query of rank ")
           << queryRank << " and key and value of rank 3, found "
           << getQuery().getType() << ", " << getKey().getType() << " and "
           << getValue().getType();
  if (failed(
          verifyCompatibleShape(shapedType(getKey()).getShape().drop_back(),
                                shapedType(getValue()).getShape().drop_back())))
    return emitOpError("expects a value for each key, found ")
           << getKey().getType() << " and " << getValue().getType();
  // attention_c2
  int64_t pasts = getShared() + bool(getCaches()) + bool(getHistory());
  if (bool(getPositions()) != bool(getSentences()) || (pasts > 0 && !isStep()))
    return emitOpError("expects 'at' and 'of' together, and both with "
                       "'shared', 'in' and 'through'");
  if (pasts > 1)
    return emitOpError("expects one of 'shared', 'in' and 'through', found ")
           << pasts;
  if (getHistory() && shapedType(getHistory()).getRank() != 2)
    return emitOpError("expects a history [rows, positions], found ")
           << getHistory().getType();
  int64_t pinned = getPinnedAttr().getInt();
  if (pinned < 0 || (pinned > 0 && (!isStep() || getShared())))
    return emitOpError("expects pinned slots in a step over its own cache "
                       "alone, found ")
           << pinned;
  // attention_c3
  int64_t heads = getHeads(), kvHeads = getKeyValueHeads();
  if (heads % kvHeads != 0)
    return emitOpError("expects kv_heads to divide heads, found ")
           << kvHeads << " and " << heads;
  auto divides = [&](StringRef name, Value value, int64_t count) {
    int64_t width = shapedType(value).getShape().back();
    if (width % count == 0)
      return success();
    return LogicalResult(emitOpError("expects a ")
                         << name << " width that " << count
                         << " heads divide, found " << value.getType());
  };
  if (failed(divides("query", getQuery(), heads)) ||
      failed(divides("key", getKey(), kvHeads)) ||
      failed(divides("value", getValue(), kvHeads)))
    return failure();
  // attention_c4
  if (getSimilarity().empty() && getQueryWidth() != getKeyWidth())
    return emitOpError("expects queries and keys of one width without a "
                       "similarity region, found ")
           << getQueryWidth() << " and " << getKeyWidth() << " a head";
  // attention_c11
  if (!std::isfinite(getEffectiveScale()))
    return emitOpError("expects a finite scale, found ") << getScaleAttr();
  // attention_c14
  if (!getSimilarity().empty() && getScaleAttr())
    return emitOpError("has a scale beside a similarity region, which says all "
                       "of a score");
  // attention_c6
  if (failed(verifyMaskOperands(*this)))
    return failure();
  // attention_c7
  if ((getNormalizer() == Normalizer::Region) != !getWeighting().empty())
    return emitOpError("expects a normalizer region exactly where the "
                       "normalizer is 'region'");
  // attention_c8, attention_c15
  if (failed(verifyMaskOf(*this)))
    return failure();
  // attention_c12
  Type element = shapedType(getQuery()).getElementType();
  for (Value each : {getKey(), getValue()})
    if (shapedType(each).getElementType() != element)
      return emitOpError("expects queries, keys and values of one element "
                         "type, found ")
             << getQuery().getType() << " and " << each.getType();
  if (Value destination = getDestination();
      destination &&
      shapedType(destination).getElementType() != getResultElementType())
    return emitOpError("expects a destination of ")
           << getResultElementType() << ", found " << destination.getType();
  // attention_c13, attention_c16
  if (failed(verifyProjected(*this)) || failed(verifyTaken(*this)))
    return failure();
  SmallVector<int64_t> shape(shapedType(getQuery()).getShape());
  shape.back() = heads * getValueWidth();
  return verifyDestination(*this, shape);
}

/// Whether values of `type` may stand in a region: numbers that every level
/// computes with, and vectors of them where queries and keys are vectors.
static bool isRegionType(Type type, bool hasVectors) {
  if (auto vector = dyn_cast<VectorType>(type); vector && hasVectors)
    return !vector.isScalable() && isRegionType(vector.getElementType(), false);
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
      type.isIndex())
    return true;
  return llvm::any_of(ArrayRef<unsigned>{1, 8, 16, 32, 64}, [&](unsigned bits) {
    return type.isSignlessInteger(bits);
  });
}

/// Ops of vector that move elements or add them up, at places known here.
static bool isVectorMove(Operation *op) {
  auto isInside = [](auto access) {
    return !access.hasDynamicPosition() &&
           llvm::all_of(access.getStaticPosition(),
                        [](int64_t at) { return at >= 0; });
  };
  return TypeSwitch<Operation *, bool>(op)
      .Case<vector::ExtractOp, vector::InsertOp>(isInside)
      .Case([](vector::ShuffleOp shuffle) {
        return llvm::all_of(shuffle.getMask(),
                            [](int64_t at) { return at >= 0; });
      })
      .Case<vector::BroadcastOp, vector::ExtractStridedSliceOp, vector::FMAOp,
            vector::FromElementsOp, vector::InsertStridedSliceOp,
            vector::ReductionOp, vector::ShapeCastOp, vector::ToElementsOp,
            vector::TransposeOp>([](Operation *) { return true; })
      .Default([](Operation *) { return false; });
}

/// Whether all levels can evaluate `op` in a region, lane by lane.
static bool isRegionOp(Operation *op, bool hasVectors) {
  if (isa<YieldOp, LookupOp, arith::ConstantOp>(op) ||
      (hasVectors && isVectorMove(op)))
    return true;
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         OpTrait::hasElementwiseMappableTraits(op) &&
         !isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op);
}

static LogicalResult verifyRegionOp(Operation *op, StringRef region) {
  bool hasVectors = region == "similarity";
  // attention_c9
  if (!isRegionOp(op, hasVectors))
    return op->emitOpError("cannot be evaluated lane by lane in a ")
           << region << " region (expected elementwise ops of arith and math"
           << (hasVectors ? ", ops of vector at constant places" : "")
           << " and transformer.lookup)";
  if (auto truncate = dyn_cast<arith::TruncFOp>(op))
    if (truncate.getRoundingmode().value_or(
            arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return op->emitOpError("cannot round ")
             << stringifyRoundingMode(*truncate.getRoundingmode()) << " in a "
             << region << " region (expected to_nearest_even)";
  // attention_c10
  SmallVector<Type> types(op->getResultTypes());
  if (!isa<LookupOp>(op))
    llvm::append_range(types, op->getOperandTypes());
  for (Type type : types)
    if (!isRegionType(type, hasVectors))
      return op->emitOpError("has a value of type ")
             << type << " in a " << region << " region (expected f16, bf16, "
             << "f32, f64, index, i1, i8, i16, i32"
             << (hasVectors ? ", i64 or vectors of them)" : " or i64)");
  return success();
}

LogicalResult heddle::verifyRegion(Operation *op, StringRef name,
                                   Region &region, ArrayRef<Type> expected,
                                   Type yielded) {
  if (region.empty())
    return success();
  // attention_c5
  if (!llvm::equal(region.getArgumentTypes(), expected)) {
    InFlightDiagnostic error = op->emitOpError("expects ")
                               << name << " region arguments (";
    llvm::interleaveComma(expected, error);
    error << "), found (";
    llvm::interleaveComma(region.getArgumentTypes(), error);
    return error << ")";
  }
  if (!yielded)
    yielded = Float32Type::get(op->getContext());
  auto yield = dyn_cast<YieldOp>(region.front().back());
  if (!yield || yield.getValue().getType() != yielded)
    return op->emitOpError("expects its ")
           << name << " region to end in 'transformer.yield' of " << yielded;
  for (Operation &inner : region.front())
    if (failed(verifyRegionOp(&inner, name)))
      return failure();
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  Builder builder(getContext());
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  return failure(
      failed(verifyRegion(*this, "similarity", getSimilarity(),
                          {VectorType::get(getQueryWidth(), f32),
                           VectorType::get(getKeyWidth(), f32)})) ||
      failed(verifyRegion(*this, "score", getScore(),
                          {f32, i32, i32, i32, i32})) ||
      failed(verifyRegion(*this, "normalizer", getWeighting(), {f32})));
}

int64_t heddle::similarityOperations(AttentionOp op, int64_t function) {
  if (op.getSimilarity().empty())
    return 2 * op.getKeyWidth();
  auto elements = [](Value value) -> int64_t {
    auto vector = dyn_cast<VectorType>(value.getType());
    return vector ? vector.getNumElements() : 1;
  };
  int64_t operations = 0;
  for (Operation &each : op.getSimilarity().front())
    if (isa<vector::ReductionOp>(each))
      operations += elements(each.getOperand(0));
    else if (isa<math::MathDialect>(each.getDialect()))
      operations += function * elements(each.getResult(0));
    else if (!isVectorMove(&each) &&
             isa<arith::ArithDialect>(each.getDialect()) &&
             each.getNumOperands() > 0)
      operations += elements(each.getResult(0));
  return operations;
}

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
    return refuse() << "of its keys and values only one depends on the target";
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

SmallVector<StateType> AttentionOp::stateTypes(TimeAxes axes) {
  if (!axes[getKeyMutable().getOperandNumber()])
    return {};
  // As many positions as the mask looks back, the query's own, and what is
  // pinned for good.
  std::optional<int64_t> slots = getMaskOp().reach().lookback;
  int64_t pinned = pinnedSlots(*this);
  if (slots)
    *slots += 1 + pinned;
  auto cache = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return StateType{
        RankedTensorType::get({ShapedType::kDynamic, type.getDimSize(2)},
                              type.getElementType()),
        slots, pinned};
  };
  return {cache(getKey()), cache(getValue())};
}

void AttentionOp::build(OpBuilder &builder, OperationState &state,
                        const AttentionSpec &spec) {
  build(builder, state, spec.query, spec.key, spec.value, spec.mask,
        spec.positions, spec.sentences, spec.caches, spec.history,
        spec.destination, spec.heads, spec.kvHeads, spec.scale, spec.isShared,
        spec.rounds, spec.pinned, spec.normalizer);
}

SmallVector<Value> AttentionOp::buildStep(OpBuilder &builder,
                                          StepContext &step) {
  bool shared = !step.axes[getKeyMutable().getOperandNumber()];
  Value key = step.lookup(getKey()), value = step.lookup(getValue());
  SmallVector<Value> results(1);
  IntegerAttr pinned =
      builder.getI64IntegerAttr(shared ? 0 : pinnedSlots(*this));
  if (!shared) {
    auto append = [&](Value source, Value cache) {
      return CacheAppendOp::create(builder, getLoc(), cache.getType(), source,
                                   step.positions, step.caches, cache, pinned)
          .getOutput();
    };
    key = append(key, step.states[0]);
    value = append(value, step.states[1]);
    results.append({key, value});
  }
  AttentionSpec spec;
  spec.query = step.lookup(getQuery());
  spec.key = key;
  spec.value = value;
  spec.mask = step.lookup(getMask());
  spec.positions = step.positions;
  spec.sentences = step.sentences;
  if (!shared && step.history)
    spec.history = step.history;
  else if (!shared)
    spec.caches = step.caches;
  spec.isShared = shared;
  spec.pinned = pinned.getInt();
  spec.heads = getHeads();
  spec.kvHeads = getKvHeadsAttr();
  spec.scale = getScaleAttr();
  spec.rounds = getRoundsAttr();
  spec.normalizer = getNormalizer();
  auto attention = AttentionOp::create(builder, getLoc(), spec);
  for (auto [from, to] :
       llvm::zip(getOperation()->getRegions(), attention->getRegions()))
    from.cloneInto(&to, step.mapping);
  results.front() = attention.getOutput();
  return results;
}

SmallVector<Value> AttentionOp::buildChunk(OpBuilder &builder,
                                           ChunkContext &chunk) {
  SmallVector<Value> results = cloneForChunk(*this, builder, chunk);
  if (!chunk.axes[getKeyMutable().getOperandNumber()])
    return results;
  auto attention = results.front().getDefiningOp<AttentionOp>();
  IntegerAttr pinned = builder.getI64IntegerAttr(pinnedSlots(*this));
  for (auto [source, cache] : llvm::zip_equal(
           ValueRange{attention.getKey(), attention.getValue()}, chunk.states))
    results.push_back(CacheFillOp::create(builder, getLoc(), cache.getType(),
                                          source, chunk.lengths, chunk.caches,
                                          cache, pinned)
                          .getOutput());
  return results;
}

namespace {
/// attention under an empty mask is 0 everywhere.
struct FillUnderEmptyMask : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask() || !op.getMask().getDefiningOp<MaskEmptyOp>())
      return rewriter.notifyMatchFailure(op, "expected an empty mask");
    if (!op.getOutput())
      return rewriter.notifyMatchFailure(op, "expected the tensor form");
    if (op.isOfShortFloats() || op.getRounds())
      return rewriter.notifyMatchFailure(op, "expected f32");
    int64_t width =
        cast<RankedTensorType>(op.getOutput().getType()).getShape().back();
    rewriter.replaceOpWithNewOp<FillOp>(op, op.getQuery(), op.getDestination(),
                                        rewriter.getF32FloatAttr(0.0f),
                                        rewriter.getI64IntegerAttr(width));
    return success();
  }
};

/// A region that multiplies queries by keys is the default.
struct UseScaledProduct : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Region &region = op.getSimilarity();
    if (region.empty())
      return rewriter.notifyMatchFailure(op, "expected a similarity region");
    Value score = region.front().getTerminator()->getOperand(0);
    FloatAttr scale = rewriter.getF32FloatAttr(1.0f);
    if (auto product = score.getDefiningOp<arith::MulFOp>()) {
      // Constants stand on the right.
      score = product.getLhs();
      if (!matchPattern(product.getRhs(), m_Constant(&scale)) ||
          !scale.getValue().isFinite())
        return rewriter.notifyMatchFailure(op, "expected a finite scale");
    }
    auto sum = score.getDefiningOp<vector::ReductionOp>();
    if (!sum || sum.getKind() != vector::CombiningKind::ADD || sum.getAcc())
      return rewriter.notifyMatchFailure(op, "expected a sum");
    auto product = sum.getVector().getDefiningOp<arith::MulFOp>();
    Value query = region.getArgument(0), key = region.getArgument(1);
    if (!product || !((product.getLhs() == query && product.getRhs() == key) ||
                      (product.getLhs() == key && product.getRhs() == query)))
      return rewriter.notifyMatchFailure(op, "expected a product of q and k");
    rewriter.modifyOpInPlace(op, [&] { op.setScaleAttr(scale); });
    rewriter.eraseBlock(&region.front());
    return success();
  }
};

/// A full mask restricts nothing.
struct DropFullMask : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask() || !op.getMask().getDefiningOp<MaskFullOp>())
      return rewriter.notifyMatchFailure(op, "expected a full mask");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};
} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<FillUnderEmptyMask, UseScaledProduct, DropFullMask>(context);
}

//===----------------------------------------------------------------------===//
// The normalizer of the assembly format
//===----------------------------------------------------------------------===//

ParseResult heddle::parseNormalizer(OpAsmParser &parser, NormalizerAttr &kind,
                                    Region &region) {
  MLIRContext *context = parser.getContext();
  kind = NormalizerAttr::get(context, Normalizer::Softmax);
  if (failed(parser.parseOptionalKeyword("normalizer")))
    return success();
  OptionalParseResult parsed = parser.parseOptionalRegion(region);
  if (parsed.has_value()) {
    kind = NormalizerAttr::get(context, Normalizer::Region);
    return parsed.value();
  }
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Normalizer> value = symbolizeNormalizer(keyword);
  if (!value || *value == Normalizer::Region)
    return parser.emitError(loc, "expected softmax, sum, none or a region, "
                                 "found '")
           << keyword << "'";
  kind = NormalizerAttr::get(context, *value);
  loc = parser.getCurrentLocation();
  if (parser.parseOptionalRegion(region).has_value())
    return parser.emitError(loc, "expected no region beside '")
           << keyword << "', which says what the normalizer is";
  return success();
}

void heddle::printNormalizer(OpAsmPrinter &printer, Operation *,
                             NormalizerAttr kind, Region &region) {
  if (kind.getValue() == Normalizer::Softmax)
    return;
  printer << " normalizer ";
  if (kind.getValue() == Normalizer::Region)
    printer.printRegion(region);
  else
    printer << stringifyNormalizer(kind.getValue());
}

//===----------------------------------------------------------------------===//
// lookup
//===----------------------------------------------------------------------===//

LogicalResult LookupOp::verify() {
  auto table = shapedType(getTable());
  auto vector = dyn_cast<VectorType>(getResult().getType());
  // lookup_c1
  int64_t expected = table.getRank() - (vector ? 1 : 0);
  if (static_cast<int64_t>(getIndices().size()) != expected)
    return emitOpError("expects ") << expected << " indices into " << table
                                   << ", found " << getIndices().size();
  if (vector &&
      (vector.isScalable() || vector.getDimSize(0) != table.getShape().back()))
    return emitOpError("expects a vector as long as the last dimension of ")
           << table << ", found " << vector;
  // lookup_c2
  if (llvm::is_contained(table.getShape(), 0))
    return emitOpError("expects a table with elements, found ") << table;
  return success();
}

void LookupOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isa<MemRefType>(getTable().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getTableMutable());
}

SmallVector<OpOperand *> AttentionOp::getComputedFactors() {
  return {&getQueryMutable(), &getKeyMutable(), &getValueMutable()};
}
