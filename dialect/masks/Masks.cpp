//===- Masks.cpp - The mask algebra ---------------------------------------===//
//
// Ranges and segments combine as sets do: `and` intersects, `or` unites, `not`
// complements. Masks are a graph: what several of them are made of is looked at
// once.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "dialect/masks/MaskAlgebra.h"
#include "dialect/masks/MaskRanges.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/RegionKindInterface.h"
#include <numeric>

using namespace mlir;
using namespace heddle;

/// The op that builds a mask; `verifyMaskOperands` has seen that there is one.
static MaskOpInterface sourceOf(Value mask) {
  return cast<MaskOpInterface>(mask.getDefiningOp());
}

Value Lanes::contains(Value mask, const MaskPoint &point) {
  Value &member =
      members[{builder.getInsertionBlock(), mask.getAsOpaquePointer(),
               point.b.getAsOpaquePointer(), point.h.getAsOpaquePointer(),
               point.i.getAsOpaquePointer(), point.j.getAsOpaquePointer()}];
  if (!member)
    member = sourceOf(mask).contains(*this, point);
  return member;
}

LogicalResult heddle::verifyMaskOperands(Operation *op) {
  // A module's body, for one, is a graph, in which masks could be cyclic.
  Region *region = op->getParentRegion();
  if (region && !mayHaveSSADominance(*region))
    return op->emitOpError("expects to stand in a function");
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!isa<MaskType>(operand.getType()) ||
        isa_and_nonnull<MaskOpInterface>(source))
      continue;
    InFlightDiagnostic error =
        op->emitOpError("expects its mask to be built by mask ops, found ");
    if (source)
      return error << "a result of '" << source->getName() << "'";
    return error << "a block argument";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// and, or, not
//===----------------------------------------------------------------------===//

Value MaskAndOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.logicalAnd(lanes.contains(getLhs(), point),
                          lanes.contains(getRhs(), point));
}
KeyRanges MaskAndOp::keyRanges(OpBuilder &builder, Location loc,
                               const QueryBlock &block) {
  KeyRanges lhs = keyRangesOf(builder, loc, block, getLhs());
  KeyRanges rhs = keyRangesOf(builder, loc, block, getRhs());
  return IndexMath{builder, loc}.intersect(lhs, rhs);
}
KeySegment MaskAndOp::segmentAt(OpBuilder &builder, Location loc,
                                const QueryBlock &block, Value key) {
  return IndexMath{builder, loc}.intersect(
      heddle::segmentAt(builder, loc, block, getLhs(), key),
      heddle::segmentAt(builder, loc, block, getRhs(), key));
}

static std::optional<int64_t> looser(std::optional<int64_t> lhs,
                                     std::optional<int64_t> rhs) {
  if (!lhs || !rhs)
    return std::nullopt;
  return std::max(*lhs, *rhs);
}

static Reach unite(const Reach &lhs, const Reach &rhs) {
  return {looser(lhs.lookback, rhs.lookback),
          looser(lhs.lookahead, rhs.lookahead),
          std::max(lhs.pinned, rhs.pinned)};
}

static Reach reachOf(Value mask) {
  auto leaf = [](MaskOpInterface op) { return op.reach(); };
  return MaskAlgebra<Reach>(intersect, unite, leaf).ask(mask);
}
static bool holdsBand(Value mask, Reach band) {
  std::logical_and<bool> both;
  std::logical_or<bool> either;
  auto leaf = [&](MaskOpInterface op) { return op.containsBand(band); };
  return MaskAlgebra<bool>(both, either, leaf).ask(mask);
}

/// Strides that no positions have in common are as good as none.
static int64_t strideOf(Value mask) {
  auto both = [](int64_t lhs, int64_t rhs) {
    constexpr int64_t limit = std::numeric_limits<int32_t>::max();
    int64_t stride = std::lcm(lhs, rhs);
    return stride <= limit ? stride : std::max(lhs, rhs);
  };
  auto leaf = [](MaskOpInterface op) { return op.stride(); };
  return MaskAlgebra<int64_t>(both, std::gcd<int64_t, int64_t>, leaf).ask(mask);
}

Reach MaskAndOp::reach() { return reachOf(getMask()); }
int64_t MaskAndOp::stride() { return strideOf(getMask()); }
bool MaskAndOp::containsBand(Reach band) { return holdsBand(getMask(), band); }
bool MaskAndOp::knowsQueries() { return false; }

Value MaskOrOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.logicalOr(lanes.contains(getLhs(), point),
                         lanes.contains(getRhs(), point));
}
KeyRanges MaskOrOp::keyRanges(OpBuilder &builder, Location loc,
                              const QueryBlock &block) {
  KeyRanges lhs = keyRangesOf(builder, loc, block, getLhs());
  KeyRanges rhs = keyRangesOf(builder, loc, block, getRhs());
  if (!lhs || !rhs || lhs->size() + rhs->size() > kMaxKeyRanges)
    return std::nullopt;
  llvm::append_range(*lhs, *rhs);
  return lhs;
}
KeySegment MaskOrOp::segmentAt(OpBuilder &builder, Location loc,
                               const QueryBlock &block, Value key) {
  return IndexMath{builder, loc}.unite(
      heddle::segmentAt(builder, loc, block, getLhs(), key),
      heddle::segmentAt(builder, loc, block, getRhs(), key));
}
Reach MaskOrOp::reach() { return reachOf(getMask()); }
int64_t MaskOrOp::stride() { return strideOf(getMask()); }
bool MaskOrOp::containsBand(Reach band) { return holdsBand(getMask(), band); }
bool MaskOrOp::knowsQueries() { return false; }

Value MaskNotOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.logicalNot(lanes.contains(getOperand(), point));
}

KeyRanges MaskNotOp::keyRanges(OpBuilder &builder, Location loc,
                               const QueryBlock &block) {
  KeyRanges ranges = keyRangesOf(builder, loc, block, getOperand());
  if (!ranges)
    return std::nullopt;
  IndexMath math{builder, loc};
  Value zero = math.index(0);
  KeyRanges result = {{{zero, block.keyCount, zero, block.keyCount}}};
  for (const KeyRange &range : *ranges) {
    // An empty full part may stand anywhere: bring it inside first.
    Value fullBegin =
        math.min(math.max(range.fullBegin, range.begin), range.end);
    Value fullEnd = math.max(fullBegin, math.min(range.fullEnd, range.end));
    Value end = math.max(range.begin, range.end);
    result = math.intersect(result,
                            {{{zero, fullBegin, zero, range.begin},
                              {fullEnd, block.keyCount, end, block.keyCount}}});
  }
  return result;
}
KeySegment MaskNotOp::segmentAt(OpBuilder &builder, Location loc,
                                const QueryBlock &block, Value key) {
  auto [cover, end] = heddle::segmentAt(builder, loc, block, getOperand(), key);
  IndexMath math{builder, loc};
  return {math.sub(math.index(kAll), cover), end};
}
Reach MaskNotOp::reach() { return {}; }
bool MaskNotOp::containsBand(Reach) { return false; }
bool MaskNotOp::knowsQueries() { return false; }

//===----------------------------------------------------------------------===//
// Folding and canonicalisation
//===----------------------------------------------------------------------===//

OpFoldResult MaskAndOp::fold(FoldAdaptor) {
  for (auto [mask, other] :
       {std::pair(getLhs(), getRhs()), std::pair(getRhs(), getLhs())}) {
    if (mask == other || mask.getDefiningOp<MaskFullOp>())
      return other;
    if (mask.getDefiningOp<MaskEmptyOp>())
      return mask;
  }
  return {};
}

OpFoldResult MaskOrOp::fold(FoldAdaptor) {
  for (auto [mask, other] :
       {std::pair(getLhs(), getRhs()), std::pair(getRhs(), getLhs())}) {
    if (mask == other || mask.getDefiningOp<MaskEmptyOp>())
      return other;
    if (mask.getDefiningOp<MaskFullOp>())
      return mask;
  }
  return {};
}

OpFoldResult MaskNotOp::fold(FoldAdaptor) {
  if (auto inner = getOperand().getDefiningOp<MaskNotOp>())
    return inner.getOperand();
  return {};
}

namespace {
/// and(causal, window[l, r]) is window[l, 0].
struct MergeCausalIntoWindow : OpRewritePattern<MaskAndOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskAndOp op,
                                PatternRewriter &rewriter) const override {
    Value window = op.getRhs(), causal = op.getLhs();
    if (window.getDefiningOp<MaskCausalOp>())
      std::swap(window, causal);
    auto windowOp = window.getDefiningOp<MaskWindowOp>();
    if (!windowOp || !causal.getDefiningOp<MaskCausalOp>())
      return rewriter.notifyMatchFailure(op, "expected a causal mask and a "
                                             "window");
    rewriter.replaceOpWithNewOp<MaskWindowOp>(
        op, windowOp.getLeftAttr(), rewriter.getDenseI64ArrayAttr({0}),
        windowOp.getDilationAttr());
    return success();
  }
};

/// Two windows of the same dilation meet in the narrower on each side.
struct IntersectWindows : OpRewritePattern<MaskAndOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskAndOp op,
                                PatternRewriter &rewriter) const override {
    auto lhs = op.getLhs().getDefiningOp<MaskWindowOp>();
    auto rhs = op.getRhs().getDefiningOp<MaskWindowOp>();
    if (!lhs || !rhs || lhs.getDilation() != rhs.getDilation())
      return rewriter.notifyMatchFailure(op, "expected two windows of one "
                                             "dilation");
    auto narrower = [&](ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
      SmallVector<int64_t> result;
      for (size_t h = 0; h < std::max(lhs.size(), rhs.size()); ++h)
        result.push_back(std::min(lhs[lhs.size() == 1 ? 0 : h],
                                  rhs[rhs.size() == 1 ? 0 : h]));
      return rewriter.getDenseI64ArrayAttr(result);
    };
    rewriter.replaceOpWithNewOp<MaskWindowOp>(
        op, narrower(lhs.getLeft(), rhs.getLeft()),
        narrower(lhs.getRight(), rhs.getRight()), lhs.getDilationAttr());
    return success();
  }
};

/// not(full) is empty, not(empty) is full.
struct ComplementConstant : OpRewritePattern<MaskNotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskNotOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getOperand().getDefiningOp<MaskFullOp>())
      rewriter.replaceOpWithNewOp<MaskEmptyOp>(op);
    else if (op.getOperand().getDefiningOp<MaskEmptyOp>())
      rewriter.replaceOpWithNewOp<MaskFullOp>(op);
    else
      return rewriter.notifyMatchFailure(op, "expected a full or empty mask");
    return success();
  }
};

/// De Morgan: not(and(a, b)) is or(not a, not b), and the other way round. A
/// mask that others read stays: its complement would be a second one beside it,
/// and so would be those of its operands.
template <typename Inner, typename Outer>
struct PushNotInward : OpRewritePattern<MaskNotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskNotOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<Inner>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "expected a combined mask");
    if (!inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "expected no other reader");
    Value lhs = MaskNotOp::create(rewriter, op.getLoc(), inner.getLhs());
    Value rhs = MaskNotOp::create(rewriter, op.getLoc(), inner.getRhs());
    rewriter.replaceOpWithNewOp<Outer>(op, lhs, rhs);
    return success();
  }
};
} // namespace

void MaskAndOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MergeCausalIntoWindow, IntersectWindows>(context);
}
void MaskOrOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {
}
void MaskNotOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ComplementConstant, PushNotInward<MaskAndOp, MaskOrOp>,
               PushNotInward<MaskOrOp, MaskAndOp>>(context);
}
