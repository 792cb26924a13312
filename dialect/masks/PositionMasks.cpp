//===- PositionMasks.cpp - Masks by the distance of positions -------------===//
//
// What two positions, or one and a length, decide.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "dialect/masks/MaskRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace heddle;

//===----------------------------------------------------------------------===//
// full, empty, causal, padding
//===----------------------------------------------------------------------===//

Value MaskFullOp::contains(Lanes &lanes, const MaskPoint &) {
  return lanes.i1(true);
}
KeyRanges MaskFullOp::keyRanges(OpBuilder &builder, Location loc,
                                const QueryBlock &block) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return {{{zero, block.keyCount, zero, block.keyCount}}};
}
Reach MaskFullOp::reach() { return {}; }
bool MaskFullOp::containsBand(Reach) { return true; }
bool MaskFullOp::knowsQueries() { return false; }

Value MaskEmptyOp::contains(Lanes &lanes, const MaskPoint &) {
  return lanes.i1(false);
}
KeyRanges MaskEmptyOp::keyRanges(OpBuilder &, Location, const QueryBlock &) {
  return KeyRanges::value_type();
}
Reach MaskEmptyOp::reach() { return {0, 0}; }
bool MaskEmptyOp::containsBand(Reach) { return false; }
bool MaskEmptyOp::knowsQueries() { return false; }

Value MaskCausalOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.lessOrEqual(point.j, point.i);
}
KeyRanges MaskCausalOp::keyRanges(OpBuilder &builder, Location loc,
                                  const QueryBlock &block) {
  IndexMath math{builder, loc};
  return {{{math.index(0), math.min(block.end, block.keyCount), math.index(0),
            math.min(math.add(block.begin, 1), block.keyCount)}}};
}
Reach MaskCausalOp::reach() { return {std::nullopt, 0}; }
bool MaskCausalOp::containsBand(Reach band) {
  return band.lookahead && *band.lookahead <= 0;
}

Value MaskPaddingOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.less(point.j, lanes.load(getLengths(), point.b));
}
KeyRanges MaskPaddingOp::keyRanges(OpBuilder &builder, Location loc,
                                   const QueryBlock &block) {
  IndexMath math{builder, loc};
  Lanes lanes(builder, loc);
  Value length = builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getIndexType(), lanes.load(getLengths(), block.b));
  Value end = math.clamp(length, block.keyCount);
  return {{{math.index(0), end, math.index(0), end}}};
}
SmallVector<Value> MaskPaddingOp::operandsOfSentences() {
  return {getLengths()};
}
Reach MaskPaddingOp::reach() { return {}; }
bool MaskPaddingOp::containsBand(Reach) { return false; }
bool MaskPaddingOp::knowsQueries() { return false; }

//===----------------------------------------------------------------------===//
// prefix, window
//===----------------------------------------------------------------------===//

Value MaskPrefixOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.less(point.j, lanes.i32(int32_t(getLength())));
}
KeyRanges MaskPrefixOp::keyRanges(OpBuilder &builder, Location loc,
                                  const QueryBlock &block) {
  IndexMath math{builder, loc};
  Value end = math.min(math.index(getLength()), block.keyCount);
  return {{{math.index(0), end, math.index(0), end}}};
}
Reach MaskPrefixOp::reach() {
  int64_t length = getLength();
  return {0, length - 1, length};
}
bool MaskPrefixOp::containsBand(Reach) { return false; }
bool MaskPrefixOp::knowsQueries() { return false; }

/// The value of a head in a list of one for each, or one for all.
static int64_t ofHead(ArrayRef<int64_t> values, size_t head) {
  return values.size() == 1 ? values.front() : values[head];
}

/// How far each head looks to one side, in positions.
static SmallVector<int64_t> distances(ArrayRef<int64_t> extents,
                                      ArrayRef<int64_t> dilation) {
  SmallVector<int64_t> result;
  for (size_t h = 0; h < std::max(extents.size(), dilation.size()); ++h)
    result.push_back(ofHead(extents, h) * ofHead(dilation, h));
  return result;
}

LogicalResult MaskWindowOp::verify() {
  // mask_window_c1
  for (ArrayRef<int64_t> extents : {getLeft(), getRight()})
    for (int64_t extent : extents)
      if (extent < 0)
        return emitOpError("expects left and right of at least 0, found ")
               << extent;
  // mask_window_c2
  size_t heads =
      std::max({getLeft().size(), getRight().size(), getDilation().size()});
  for (ArrayRef<int64_t> list : {getLeft(), getRight(), getDilation()})
    if (list.size() != 1 && list.size() != heads)
      return emitOpError("expects one value or one for each of ")
             << heads << " heads, found " << list.size();
  for (int64_t dilation : getDilation())
    if (dilation < 1)
      return emitOpError("expects dilations of at least 1, found ") << dilation;
  // mask_window_c3
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  for (size_t h = 0; h < heads; ++h)
    for (auto [side, extents] :
         {std::pair("left", getLeft()), std::pair("right", getRight())}) {
      int64_t extent = ofHead(extents, h), dilation = ofHead(getDilation(), h);
      if (dilation > limit || extent > limit / dilation)
        return emitOpError("expects ")
               << side << " times the dilation to be at most " << limit
               << ", found " << extent << " times " << dilation;
    }
  return success();
}

int64_t MaskWindowOp::getLookback() {
  return *llvm::max_element(distances(getLeft(), getDilation()));
}
int64_t MaskWindowOp::getLookahead() {
  return *llvm::max_element(distances(getRight(), getDilation()));
}

Value MaskWindowOp::contains(Lanes &lanes, const MaskPoint &point) {
  Value distance = lanes.sub(point.i, point.j);
  Value left = lanes.table(distances(getLeft(), getDilation()), point.h);
  Value right = lanes.table(distances(getRight(), getDilation()), point.h);
  Value zero = lanes.i32(int32_t(0));
  Value inside =
      lanes.logicalAnd(lanes.lessOrEqual(distance, left),
                       lanes.lessOrEqual(lanes.sub(zero, right), distance));
  if (llvm::all_of(getDilation(), [](int64_t each) { return each == 1; }))
    return inside;
  Value dilation = lanes.table(getDilation(), point.h);
  return lanes.logicalAnd(inside,
                          lanes.equal(lanes.srem(distance, dilation), zero));
}

KeyRanges MaskWindowOp::keyRanges(OpBuilder &builder, Location loc,
                                  const QueryBlock &block) {
  IndexMath math{builder, loc};
  Value begin =
      math.clamp(math.add(block.begin, -getLookback()), block.keyCount);
  Value end = math.clamp(math.add(block.end, getLookahead()), block.keyCount);
  // Between the positions of a dilated window are others, unless the block has
  // none of them.
  if (llvm::any_of(getDilation(),
                   [&](int64_t each) { return block.stride % each != 0; }))
    return {{{begin, end, begin, begin}}};
  int64_t left = *llvm::min_element(distances(getLeft(), getDilation()));
  int64_t right = *llvm::min_element(distances(getRight(), getDilation()));
  return {
      {{begin, end, math.clamp(math.add(block.end, -1 - left), block.keyCount),
        math.clamp(math.add(block.begin, 1 + right), block.keyCount)}}};
}

std::optional<int64_t> MaskWindowOp::numHeads() {
  // One value serves all heads.
  size_t heads =
      std::max({getLeft().size(), getRight().size(), getDilation().size()});
  return heads == 1 ? std::nullopt : std::optional(int64_t(heads));
}

Value MaskWindowOp::forHead(OpBuilder &builder, int64_t head) {
  return MaskWindowOp::create(builder, getLoc(), ofHead(getLeft(), head),
                              ofHead(getRight(), head),
                              {ofHead(getDilation(), head)});
}

int64_t MaskWindowOp::stride() {
  int64_t result = 0;
  for (int64_t dilation : getDilation())
    result = std::gcd(result, dilation);
  return result;
}

Reach MaskWindowOp::reach() { return {getLookback(), getLookahead()}; }

bool MaskWindowOp::containsBand(Reach band) {
  // A dilated window has holes, except on the query's own position.
  bool isPoint = band.lookback == 0 && band.lookahead == 0;
  if (!isPoint && *llvm::max_element(getDilation()) > 1)
    return false;
  return band.lookback && *band.lookback <= *llvm::min_element(getLeft()) &&
         band.lookahead && *band.lookahead <= *llvm::min_element(getRight());
}
