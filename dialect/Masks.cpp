//===- Masks.cpp - The mask algebra ---------------------------------------===//
//
// Each mask says its predicate and its key ranges. Ranges combine as sets do:
// `and` intersects pairwise, `or` concatenates, `not` complements; where more
// than kMaxKeyRanges would result, their hull stands for them. Masks are a
// graph: what several of them are made of is looked at once.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/RegionKindInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

namespace {
/// Index arithmetic for the bounds of ranges.
struct Bounds {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value lhs, int64_t rhs) {
    return builder.createOrFold<arith::AddIOp>(loc, lhs, constant(rhs));
  }
  Value min(Value lhs, Value rhs) {
    return builder.createOrFold<arith::MinSIOp>(loc, lhs, rhs);
  }
  Value max(Value lhs, Value rhs) {
    return builder.createOrFold<arith::MaxSIOp>(loc, lhs, rhs);
  }
  Value clamp(Value value, Value limit) {
    return max(constant(0), min(value, limit));
  }
  KeyRange intersect(const KeyRange &lhs, const KeyRange &rhs) {
    return {max(lhs.begin, rhs.begin), min(lhs.end, rhs.end),
            max(lhs.fullBegin, rhs.fullBegin), min(lhs.fullEnd, rhs.fullEnd)};
  }
  /// One partial range that covers all of `ranges`.
  KeyRange hull(ArrayRef<KeyRange> ranges) {
    KeyRange result = ranges.front();
    for (const KeyRange &range : ranges.drop_front()) {
      result.begin = min(result.begin, range.begin);
      result.end = max(result.end, range.end);
    }
    result.fullBegin = result.fullEnd = result.begin;
    return result;
  }
};
} // namespace

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

static SmallVector<KeyRange> keyRangesOf(Value mask, OpBuilder &builder,
                                         Location loc,
                                         const QueryBlock &block) {
  auto known = block.known.find(mask);
  if (known != block.known.end())
    return known->second;
  return block.known[mask] = sourceOf(mask).keyRanges(builder, loc, block);
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

static SmallVector<KeyRange> limitRanges(SmallVector<KeyRange> ranges,
                                         OpBuilder &builder, Location loc) {
  if (ranges.size() <= kMaxKeyRanges)
    return ranges;
  return {Bounds{builder, loc}.hull(ranges)};
}

static SmallVector<KeyRange> intersectPairwise(ArrayRef<KeyRange> lhs,
                                               ArrayRef<KeyRange> rhs,
                                               OpBuilder &builder,
                                               Location loc) {
  Bounds bounds{builder, loc};
  SmallVector<KeyRange> left(lhs), right(rhs), result;
  // The hulls first: the intersection of hulls is tighter than the hull of
  // intersections, of which some may be empty and lie anywhere.
  if (left.size() * right.size() > kMaxKeyRanges)
    (left.size() > right.size() ? left : right) = {
        bounds.hull(left.size() > right.size() ? left : right)};
  for (const KeyRange &l : left)
    for (const KeyRange &r : right)
      result.push_back(bounds.intersect(l, r));
  return limitRanges(std::move(result), builder, loc);
}

//===----------------------------------------------------------------------===//
// full, empty, causal, padding
//===----------------------------------------------------------------------===//

Value MaskFullOp::contains(Lanes &lanes, const MaskPoint &) {
  return lanes.constant(true);
}
SmallVector<KeyRange> MaskFullOp::keyRanges(OpBuilder &builder, Location loc,
                                            const QueryBlock &block) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return {{zero, block.keyCount, zero, block.keyCount}};
}
Reach MaskFullOp::reach() { return {}; }
bool MaskFullOp::containsBand(Reach) { return true; }

Value MaskEmptyOp::contains(Lanes &lanes, const MaskPoint &) {
  return lanes.constant(false);
}
SmallVector<KeyRange> MaskEmptyOp::keyRanges(OpBuilder &, Location,
                                             const QueryBlock &) {
  return {};
}
Reach MaskEmptyOp::reach() { return {0, 0}; }
bool MaskEmptyOp::containsBand(Reach) { return false; }

Value MaskCausalOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.lessOrEqual(point.j, point.i);
}
SmallVector<KeyRange> MaskCausalOp::keyRanges(OpBuilder &builder, Location loc,
                                              const QueryBlock &block) {
  Bounds bounds{builder, loc};
  return {{bounds.constant(0), bounds.min(block.end, block.keyCount),
           bounds.constant(0),
           bounds.min(bounds.add(block.begin, 1), block.keyCount)}};
}
Reach MaskCausalOp::reach() { return {std::nullopt, 0}; }
bool MaskCausalOp::containsBand(Reach band) {
  return band.lookahead && *band.lookahead <= 0;
}

Value MaskPaddingOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.less(point.j, lanes.load(getLengths(), point.b));
}
SmallVector<KeyRange> MaskPaddingOp::keyRanges(OpBuilder &builder, Location loc,
                                               const QueryBlock &block) {
  Bounds bounds{builder, loc};
  Lanes lanes(builder, loc);
  Value length = builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getIndexType(), lanes.load(getLengths(), block.b));
  Value end = bounds.clamp(length, block.keyCount);
  return {{bounds.constant(0), end, bounds.constant(0), end}};
}
SmallVector<Value> MaskPaddingOp::operandsOfSentences() {
  return {getLengths()};
}
Reach MaskPaddingOp::reach() { return {}; }
bool MaskPaddingOp::containsBand(Reach) { return false; }

//===----------------------------------------------------------------------===//
// window
//===----------------------------------------------------------------------===//

LogicalResult MaskWindowOp::verify() {
  // mask_window_c1
  int64_t left = getLeftAttr().getInt(), right = getRightAttr().getInt();
  if (left < 0 || right < 0)
    return emitOpError("expects left and right of at least 0, found ")
           << left << " and " << right;
  // mask_window_c2
  if (getDilation().empty())
    return emitOpError("expects at least one dilation, found none");
  for (int64_t dilation : getDilation())
    if (dilation < 1)
      return emitOpError("expects dilations of at least 1, found ") << dilation;
  // mask_window_c3
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  int64_t widest = *llvm::max_element(getDilation());
  for (auto [side, extent] :
       {std::pair("left", left), std::pair("right", right)})
    if (widest > limit || extent > limit / widest)
      return emitOpError("expects ")
             << side << " times the largest dilation to be at most " << limit
             << ", found " << extent << " times " << widest;
  return success();
}

Value MaskWindowOp::contains(Lanes &lanes, const MaskPoint &point) {
  Value dilation = lanes.table(getDilation(), point.h);
  Value distance = lanes.sub(point.i, point.j);
  Value left = lanes.mul(dilation, lanes.constant(int32_t(getLeft())));
  Value right = lanes.mul(dilation, lanes.constant(-int32_t(getRight())));
  Value inside = lanes.both(lanes.lessOrEqual(distance, left),
                            lanes.lessOrEqual(right, distance));
  if (llvm::all_equal(getDilation()) && getDilation().front() == 1)
    return inside;
  return lanes.both(inside, lanes.equal(lanes.rem(distance, dilation),
                                        lanes.constant(int32_t(0))));
}

SmallVector<KeyRange> MaskWindowOp::keyRanges(OpBuilder &builder, Location loc,
                                              const QueryBlock &block) {
  Bounds bounds{builder, loc};
  int64_t left = getLeft(), right = getRight();
  int64_t widest = *llvm::max_element(getDilation());
  Value begin =
      bounds.clamp(bounds.add(block.begin, -left * widest), block.keyCount);
  Value end =
      bounds.clamp(bounds.add(block.end, right * widest), block.keyCount);
  if (widest > 1)
    return {{begin, end, begin, begin}};
  return {{begin, end,
           bounds.clamp(bounds.add(block.end, -1 - left), block.keyCount),
           bounds.clamp(bounds.add(block.begin, 1 + right), block.keyCount)}};
}

std::optional<int64_t> MaskWindowOp::numHeads() {
  // One value serves all heads.
  return getDilation().size() == 1 ? std::nullopt
                                   : std::optional(getDilation().size());
}

Reach MaskWindowOp::reach() {
  int64_t widest = *llvm::max_element(getDilation());
  return {int64_t(getLeft()) * widest, int64_t(getRight()) * widest};
}

bool MaskWindowOp::containsBand(Reach band) {
  // A dilated window has holes, except on the query's own position.
  bool isPoint = band.lookback == 0 && band.lookahead == 0;
  if (!isPoint && *llvm::max_element(getDilation()) > 1)
    return false;
  return band.lookback && *band.lookback <= int64_t(getLeft()) &&
         band.lookahead && *band.lookahead <= int64_t(getRight());
}

//===----------------------------------------------------------------------===//
// and, or, not
//===----------------------------------------------------------------------===//

Value MaskAndOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.both(lanes.contains(getLhs(), point),
                    lanes.contains(getRhs(), point));
}
SmallVector<KeyRange> MaskAndOp::keyRanges(OpBuilder &builder, Location loc,
                                           const QueryBlock &block) {
  return intersectPairwise(keyRangesOf(getLhs(), builder, loc, block),
                           keyRangesOf(getRhs(), builder, loc, block), builder,
                           loc);
}

static std::optional<int64_t> looser(std::optional<int64_t> lhs,
                                     std::optional<int64_t> rhs) {
  if (!lhs || !rhs)
    return std::nullopt;
  return std::max(*lhs, *rhs);
}

static Reach unite(const Reach &lhs, const Reach &rhs) {
  return {looser(lhs.lookback, rhs.lookback),
          looser(lhs.lookahead, rhs.lookahead)};
}

/// The answer for `mask`, given functions that join the answers for the
/// operands of `and` and `or`, and one that asks any other mask.
template <typename Answer>
static Answer ask(Value mask, llvm::function_ref<Answer(Answer, Answer)> both,
                  llvm::function_ref<Answer(Answer, Answer)> either,
                  llvm::function_ref<Answer(MaskOpInterface)> leaf,
                  llvm::DenseMap<Value, Answer> &known) {
  auto found = known.find(mask);
  if (found != known.end())
    return found->second;
  auto operand = [&](Value value) {
    return ask(value, both, either, leaf, known);
  };
  Answer answer =
      llvm::TypeSwitch<Operation *, Answer>(mask.getDefiningOp())
          .Case([&](MaskAndOp op) {
            return both(operand(op.getLhs()), operand(op.getRhs()));
          })
          .Case([&](MaskOrOp op) {
            return either(operand(op.getLhs()), operand(op.getRhs()));
          })
          .Default(
              [&](Operation *op) { return leaf(cast<MaskOpInterface>(op)); });
  known.insert({mask, answer});
  return answer;
}

static Reach reachOf(Value mask) {
  llvm::DenseMap<Value, Reach> known;
  return ask<Reach>(
      mask, intersect, unite, [](MaskOpInterface op) { return op.reach(); },
      known);
}
static bool holdsBand(Value mask, Reach band) {
  llvm::DenseMap<Value, bool> known;
  return ask<bool>(
      mask, std::logical_and<bool>(), std::logical_or<bool>(),
      [&](MaskOpInterface op) { return op.containsBand(band); }, known);
}

Reach MaskAndOp::reach() { return reachOf(getMask()); }
bool MaskAndOp::containsBand(Reach band) { return holdsBand(getMask(), band); }

Value MaskOrOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.either(lanes.contains(getLhs(), point),
                      lanes.contains(getRhs(), point));
}
SmallVector<KeyRange> MaskOrOp::keyRanges(OpBuilder &builder, Location loc,
                                          const QueryBlock &block) {
  SmallVector<KeyRange> ranges = keyRangesOf(getLhs(), builder, loc, block);
  llvm::append_range(ranges, keyRangesOf(getRhs(), builder, loc, block));
  return limitRanges(std::move(ranges), builder, loc);
}
Reach MaskOrOp::reach() { return reachOf(getMask()); }
bool MaskOrOp::containsBand(Reach band) { return holdsBand(getMask(), band); }

Value MaskNotOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.negate(lanes.contains(getOperand(), point));
}

SmallVector<KeyRange> MaskNotOp::keyRanges(OpBuilder &builder, Location loc,
                                           const QueryBlock &block) {
  Bounds bounds{builder, loc};
  Value zero = bounds.constant(0);
  SmallVector<KeyRange> result = {{zero, block.keyCount, zero, block.keyCount}};
  for (const KeyRange &range : keyRangesOf(getOperand(), builder, loc, block)) {
    // An empty full part may stand anywhere: bring it inside first.
    Value fullBegin =
        bounds.min(bounds.max(range.fullBegin, range.begin), range.end);
    Value fullEnd = bounds.max(fullBegin, bounds.min(range.fullEnd, range.end));
    Value end = bounds.max(range.begin, range.end);
    KeyRange outside[] = {{zero, fullBegin, zero, range.begin},
                          {fullEnd, block.keyCount, end, block.keyCount}};
    result = intersectPairwise(result, outside, builder, loc);
  }
  return result;
}
Reach MaskNotOp::reach() { return {}; }
bool MaskNotOp::containsBand(Reach) { return false; }

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
    rewriter.replaceOpWithNewOp<MaskWindowOp>(op, windowOp.getLeftAttr(),
                                              rewriter.getI64IntegerAttr(0),
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
    auto narrower = [&](uint64_t left, uint64_t right) {
      return rewriter.getI64IntegerAttr(std::min(left, right));
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
