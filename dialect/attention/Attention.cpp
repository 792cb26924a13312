//===- Attention.cpp - General attention ----------------------------------===//
//
// Its types, checks, canonical form and assembly. AttentionForms.cpp has its
// step and chunk forms, AttentionRegions.cpp its regions.
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

SmallVector<OpOperand *> AttentionOp::getComputedFactors() {
  return {&getQueryMutable(), &getKeyMutable(), &getValueMutable()};
}

bool AttentionOp::isStep() { return getPositions() && !isRagged(); }

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
  int64_t queryRank = getPositions() ? 2 : 3, keyRank = hasRaggedKeys() ? 2 : 3;
  if (shapedType(getQuery()).getRank() != queryRank ||
      shapedType(getKey()).getRank() != keyRank ||
      shapedType(getValue()).getRank() != keyRank)
    return emitOpError("expects a query of rank ")
           << queryRank << " and key and value of rank " << keyRank
           << ", found " << getQuery().getType() << ", " << getKey().getType()
           << " and " << getValue().getType();
  if (failed(
          verifyCompatibleShape(shapedType(getKey()).getShape().drop_back(),
                                shapedType(getValue()).getShape().drop_back())))
    return emitOpError("expects a value for each key, found ")
           << getKey().getType() << " and " << getValue().getType();
  // attention_c2
  int64_t pasts =
      getShared() + bool(getCaches()) + bool(getHistory()) + isRagged();
  if (bool(getPositions()) != bool(getSentences()) ||
      (pasts > 0 && !getPositions()))
    return emitOpError("expects 'at' and 'of' together, and both if "
                       "'shared', 'in', 'through' or 'ragged' is given");
  if (bool(getBlocks()) + bool(getStarts()) != hasRaggedKeys() ||
      (getStarts() && getPositions()))
    return emitOpError("expects lengths with blocks, or with starts if there "
                       "is no 'at'");
  if (pasts > 1)
    return emitOpError("expects at most one of 'shared', 'in', 'through' and "
                       "'ragged', found ")
           << pasts;
  if (getHistory() && shapedType(getHistory()).getRank() != 2)
    return emitOpError("expects a history [rows, positions], found ")
           << getHistory().getType();
  if (getPrefill() && !getShared() && !getCaches())
    return emitOpError("expects 'prefill' beside 'shared' or 'in'");
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
    return emitOpError("has a scale beside a similarity region, which computes "
                       "the whole score");
  // attention_c6
  if (failed(verifyMaskOperands(*this)))
    return failure();
  // attention_c7
  if ((getNormalizer() == Normalizer::Region) != !getNormalizerRegion().empty())
    return emitOpError(
        "expects a normalizer region exactly if the normalizer is 'region'");
  // attention_c8, attention_c15
  if (failed(verifyMaskOf(*this)))
    return failure();
  // attention_c12, attention_c18
  if (failed(verifyFactorTypes(*this)))
    return failure();
  if (Value destination = getDestination();
      destination &&
      shapedType(destination).getElementType() != getResultElementType())
    return emitOpError("expects a destination of ")
           << getResultElementType() << ", found " << destination.getType();
  // attention_c19
  if (failed(verifyParts(*this)))
    return failure();
  // attention_c13, attention_c16, attention_c17
  if (failed(verifyProjected(*this)) || failed(verifyTaken(*this)) ||
      failed(verifyRelative(*this)))
    return failure();
  SmallVector<int64_t> shape(shapedType(getQuery()).getShape());
  shape.back() = heads * getValueWidth();
  return verifyDestination(*this, shape);
}

void AttentionOp::build(OpBuilder &builder, OperationState &state,
                        const AttentionSpec &spec) {
  build(builder, state, spec.query, spec.key, spec.value, spec.keyScales,
        spec.valueScales, spec.mask, spec.positions, spec.sentences,
        spec.caches, spec.history, spec.prefill, spec.parts, spec.blocks,
        spec.starts, spec.lengths, spec.relativeKeys, spec.relativeQueries,
        spec.destination, spec.heads, spec.kvHeads, spec.scale, spec.isShared,
        spec.rounds, spec.pinned, spec.normalizer);
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
  kind = NormalizerAttr::get(parser.getContext(), Normalizer::Softmax);
  return parseKindOrRegion(parser, kind, region,
                           {"normalizer", "softmax, sum, none or a region",
                            "what the normalizer is"});
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
