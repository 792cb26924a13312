//===- ListedMasks.cpp - Masks that lists and tables say ------------------===//
//
// Tokens, segments, blocks and pairs that are data: each is looked up where it
// is needed, in steps that grow with the logarithm of a list.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "dialect/attention/Attention.h"
#include "dialect/masks/MaskRanges.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heddle;

static int64_t rankOf(Value table) {
  return cast<ShapedType>(table.getType()).getRank();
}

/// The numbers of a table if they are constant.
static std::optional<SmallVector<int64_t>> constantsOf(Value table) {
  DenseIntElementsAttr elements;
  if (!matchPattern(table, m_Constant(&elements)))
    return std::nullopt;
  return llvm::map_to_vector(
      elements.getValues<APInt>(),
      [](const APInt &each) { return each.getSExtValue(); });
}

/// Numbers of a list ascend. Those that are no positions may repeat if
/// `mayFill`.
static LogicalResult verifyAscending(Operation *op, StringRef name,
                                     ArrayRef<int64_t> list, bool mayFill) {
  constexpr int64_t last = std::numeric_limits<int32_t>::max();
  for (size_t at = 1; at < list.size(); ++at) {
    bool isFill = mayFill && (list[at] < 0 || list[at] == last);
    if (list[at - 1] < list[at] || (isFill && list[at - 1] == list[at]))
      continue;
    return op->emitOpError("expects ") << name << " that ascend, found "
                                       << list[at] << " after " << list[at - 1];
  }
  return success();
}

/// Constant rows lie inside of the elements, which ascend in each.
static LogicalResult verifyCompressedRows(Operation *op, StringRef name,
                                          Value offsets, Value elements) {
  if (cast<ShapedType>(offsets.getType()).getDimSize(0) == 0)
    return op->emitOpError("expects at least one offset, found ")
           << offsets.getType();
  std::optional<SmallVector<int64_t>> at = constantsOf(offsets),
                                      listed = constantsOf(elements);
  if (!at)
    return success();
  int64_t count = cast<ShapedType>(elements.getType()).getDimSize(0);
  for (size_t row = 0; row < at->size(); ++row)
    if ((*at)[row] < (row ? (*at)[row - 1] : 0) ||
        (!ShapedType::isDynamic(count) && (*at)[row] > count))
      return op->emitOpError("expects offsets that do not decrease, within ")
             << elements.getType() << ", found " << (*at)[row] << " at index "
             << row;
  for (size_t row = 1; listed && row < at->size(); ++row)
    if (failed(verifyAscending(op, name,
                               ArrayRef(*listed).slice(
                                   (*at)[row - 1], (*at)[row] - (*at)[row - 1]),
                               /*mayFill=*/false)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// global
//===----------------------------------------------------------------------===//

LogicalResult MaskGlobalOp::verify() {
  // mask_global_c1
  if (getCount().has_value() == bool(getTokens()))
    return emitOpError("expects either a count or tokens");
  // mask_global_c2
  if (getTokens() && rankOf(getTokens()) != 1 && rankOf(getTokens()) != 2)
    return emitOpError("expects tokens [k] or [batch, k], found ")
           << getTokens().getType();
  // mask_global_c3
  std::optional<SmallVector<int64_t>> tokens;
  if (getTokens())
    tokens = constantsOf(getTokens());
  if (!tokens || tokens->empty())
    return success();
  size_t row = cast<ShapedType>(getTokens().getType()).getShape().back();
  for (size_t first = 0; first < tokens->size(); first += row)
    if (failed(verifyAscending(*this, "tokens",
                               ArrayRef(*tokens).slice(first, row),
                               /*mayFill=*/true)))
      return failure();
  return success();
}

SmallVector<Value> MaskGlobalOp::operandsOfSentences() {
  if (getTokens() && rankOf(getTokens()) == 2)
    return {getTokens()};
  return {};
}

/// The tokens of sentence `batch`, an index.
static SortedList tokensOf(IndexMath &math, Value tokens, Value batch) {
  Lanes lanes(math.builder, math.loc);
  int64_t last = rankOf(tokens) - 1;
  SortedList list = {
      tokens, {}, math.index(0), math.toIndex(lanes.size(tokens, last))};
  if (last == 1)
    list.row.push_back(batch);
  return list;
}

Value MaskGlobalOp::contains(Lanes &lanes, const MaskPoint &point) {
  auto holds = [&](Value position) {
    if (!getTokens())
      return lanes.less(position, lanes.i32(int32_t(*getCount())));
    IndexMath math{lanes.builder, lanes.loc};
    return tokensOf(math, getTokens(), math.toIndex(point.b))
        .contains(lanes, position);
  };
  Value isColumn = holds(point.j);
  return getColumns() ? isColumn : lanes.logicalOr(holds(point.i), isColumn);
}

KeyRanges MaskGlobalOp::keyRanges(OpBuilder &builder, Location loc,
                                  const QueryBlock &block) {
  if (getTokens())
    return std::nullopt;
  IndexMath math{builder, loc};
  Value zero = math.index(0), count = math.index(*getCount());
  Value end = math.min(count, block.keyCount);
  KeyRange columns = {zero, end, zero, end};
  if (getColumns())
    return {{columns}};
  auto allKeysIf = [&](Value condition) {
    return math.select(condition, block.keyCount, zero);
  };
  return {{columns,
           {zero, allKeysIf(math.less(block.begin, count)), zero,
            allKeysIf(math.lessOrEqual(block.end, count))}}};
}

KeySegment MaskGlobalOp::segmentAt(OpBuilder &builder, Location loc,
                                   const QueryBlock &block, Value key) {
  if (!getTokens())
    return segmentOfRanges(builder, loc, block, getMask(), key);
  IndexMath math{builder, loc};
  SortedList tokens = tokensOf(math, getTokens(), block.b);
  Value none = math.index(kNone), all = math.index(kAll);
  Value next = tokens.atOr(math, tokens.lowerBound(math, key), block.keyCount);
  Value isHere = math.lessOrEqual(next, key);
  KeySegment columns = {
      math.select(isHere, all, none),
      math.select(isHere, math.add(key, 1), math.min(next, block.keyCount))};
  if (getColumns())
    return columns;
  // Queries that are tokens see all keys.
  Value from = tokens.lowerBound(math, block.begin);
  Value to = tokens.lowerBound(math, block.end);
  Value found = math.sub(to, from);
  Value isWhole = math.lessOrEqual(math.sub(block.end, block.begin), found);
  Value cover = math.select(math.less(none, found), math.index(kSome), none);
  KeySegment rows = {math.select(isWhole, all, cover), block.keyCount};
  return math.unite(rows, columns);
}

/// A global query sees what comes behind it, and a step does not know which
/// keys will be tokens. The first ones are: they are all that lies far behind.
Reach MaskGlobalOp::reach() {
  if (!getCount())
    return {};
  int64_t count = *getCount();
  return {0, getColumns() ? std::optional(count - 1) : std::nullopt, count};
}
bool MaskGlobalOp::containsBand(Reach) { return false; }
bool MaskGlobalOp::knowsQueries() { return !getColumns(); }

//===----------------------------------------------------------------------===//
// segments
//===----------------------------------------------------------------------===//

LogicalResult MaskSegmentsOp::verify() {
  // mask_segments_c1
  auto ids = cast<ShapedType>(getIds().getType());
  if (ids.getRank() != 2 || ids.getDimSize(1) == 0)
    return emitOpError("expects ids [batch, n], found ") << ids;
  return success();
}

SmallVector<Value> MaskSegmentsOp::operandsOfSentences() { return {getIds()}; }

/// ids[b, at], with positions behind the last one limited to it: lanes behind a
/// sentence's end.
static Value idOf(Lanes &lanes, Value ids, Value b, Value at) {
  Value last = lanes.sub(lanes.size(ids, 1), lanes.i32(1));
  return lanes.load(ids, {b, lanes.min(at, last)});
}

Value MaskSegmentsOp::contains(Lanes &lanes, const MaskPoint &point) {
  return lanes.equal(idOf(lanes, getIds(), point.b, point.i),
                     idOf(lanes, getIds(), point.b, point.j));
}

/// From the first key with the id of the first query to the last with that of
/// the last one. Where a sentence ends is not known: nothing is full.
KeyRanges MaskSegmentsOp::keyRanges(OpBuilder &builder, Location loc,
                                    const QueryBlock &block) {
  IndexMath math{builder, loc};
  Lanes lanes(builder, loc);
  Value count = math.min(math.toIndex(lanes.size(getIds(), 1)), block.keyCount);
  Value last = math.min(math.add(block.end, -1), math.add(count, -1));
  Value first = math.min(block.begin, math.add(count, -1));
  // Ids do not decrease up to the queries, whose own sentence goes on there.
  SortedList before = {getIds(), {block.b}, math.index(0), first};
  Value begin = before.lowerBound(math, math.load(getIds(), {block.b, first}));
  SortedList behind = {getIds(), {block.b}, last, math.sub(count, last)};
  Value next = math.add(math.load(getIds(), {block.b, last}), 1);
  Value end = math.add(last, behind.lowerBound(math, next));
  return {{{begin, end, begin, begin}}};
}

Reach MaskSegmentsOp::reach() { return {}; }
bool MaskSegmentsOp::containsBand(Reach) { return false; }

//===----------------------------------------------------------------------===//
// blocks, pairs
//===----------------------------------------------------------------------===//

LogicalResult MaskBlocksOp::verify() {
  // mask_blocks_c1, mask_blocks_c2
  return verifyCompressedRows(*this, "blocks", getOffsets(), getBlocks());
}
LogicalResult MaskPairsOp::verify() {
  // mask_pairs_c1, mask_pairs_c2
  return verifyCompressedRows(*this, "keys", getOffsets(), getKeys());
}

/// Whether `keys` are in the rows that `rows` name, lane by lane.
static Value inCompressedRows(Lanes &lanes, Value offsets, Value elements,
                              Value rows, Value keys) {
  IndexMath math{lanes.builder, lanes.loc};
  Value behind = lanes.add(lanes.reduceMax(rows), lanes.i32(1));
  Value like = isa<VectorType>(rows.getType()) ? rows : keys;
  return lanes.anyOf(lanes.reduceMin(rows), behind, like, [&](Value row) {
    SortedList list = compressedRow(math, offsets, elements, math.toIndex(row));
    return lanes.logicalAnd(lanes.equal(rows, row), list.contains(lanes, keys));
  });
}

Value MaskBlocksOp::contains(Lanes &lanes, const MaskPoint &point) {
  Value size = lanes.i32(int32_t(getBlock()));
  return inCompressedRows(lanes, getOffsets(), getBlocks(),
                          lanes.udiv(point.i, size), lanes.udiv(point.j, size));
}

KeyRanges MaskBlocksOp::keyRanges(OpBuilder &, Location, const QueryBlock &) {
  return std::nullopt;
}

KeySegment MaskBlocksOp::segmentAt(OpBuilder &builder, Location loc,
                                   const QueryBlock &block, Value key) {
  IndexMath math{builder, loc};
  int64_t size = getBlock();
  Value here = math.udiv(key, size);
  return math.overBlocks(block, size, [&](Value row) {
    SortedList list = compressedRow(math, getOffsets(), getBlocks(), row);
    Value none = math.index(kNone), zero = math.index(0);
    Value next = list.atOr(math, list.lowerBound(math, here), block.keyCount);
    Value isHere = math.lessOrEqual(next, here);
    auto first = [&](Value number) {
      return math.mul(math.max(number, zero), size);
    };
    Value end = math.select(isHere, first(math.add(here, 1)), first(next));
    return KeySegment{math.select(isHere, math.index(kAll), none),
                      math.min(end, block.keyCount)};
  });
}

Reach MaskBlocksOp::reach() { return {}; }
bool MaskBlocksOp::containsBand(Reach) { return false; }

Value MaskPairsOp::contains(Lanes &lanes, const MaskPoint &point) {
  return inCompressedRows(lanes, getOffsets(), getKeys(), point.i, point.j);
}
KeyRanges MaskPairsOp::keyRanges(OpBuilder &builder, Location loc,
                                 const QueryBlock &block) {
  return {{wholeRange(builder, loc, block)}};
}
Value MaskPairsOp::listSize(Lanes &lanes, const MaskPoint &point) {
  IndexMath math{lanes.builder, lanes.loc};
  return math.toI32(
      compressedRow(math, getOffsets(), getKeys(), math.toIndex(point.i)).size);
}
Value MaskPairsOp::listedKey(Lanes &lanes, const MaskPoint &point, Value at) {
  IndexMath math{lanes.builder, lanes.loc};
  SortedList list =
      compressedRow(math, getOffsets(), getKeys(), math.toIndex(point.i));
  return lanes.load(getKeys(), lanes.add(at, math.toI32(list.begin)));
}
Reach MaskPairsOp::reach() { return {}; }
bool MaskPairsOp::containsBand(Reach) { return false; }

//===----------------------------------------------------------------------===//
// dense, where
//===----------------------------------------------------------------------===//

LogicalResult MaskDenseOp::verify() {
  // mask_dense_c1
  if (int64_t rank = rankOf(getTable()); rank < 2 || rank > 4)
    return emitOpError("expects a table [n, m], [batch, n, m] or [batch, "
                       "heads, n, m], found ")
           << getTable().getType();
  auto table = cast<ShapedType>(getTable().getType());
  if (llvm::is_contained(table.getShape(), 0))
    return emitOpError("expects a table with elements, found ") << table;
  if (table.getRank() == 4 && table.isDynamicDim(1))
    return emitOpError("expects a static number of heads, found ") << table;
  return success();
}

std::optional<int64_t> MaskDenseOp::numHeads() {
  auto table = cast<ShapedType>(getTable().getType());
  return table.getRank() == 4 ? std::optional(table.getDimSize(1))
                              : std::nullopt;
}

SmallVector<Value> MaskDenseOp::operandsOfSentences() {
  if (rankOf(getTable()) == 2)
    return {};
  return {getTable()};
}

Value MaskDenseOp::contains(Lanes &lanes, const MaskPoint &point) {
  int64_t rank = rankOf(getTable());
  Value zero = lanes.i32(0);
  auto inside = [&](Value at, int64_t axis) {
    return lanes.less(at, lanes.size(getTable(), axis));
  };
  Value isInside =
      lanes.logicalAnd(inside(point.i, rank - 2), inside(point.j, rank - 1));
  SmallVector<Value> at;
  if (rank > 2)
    at.push_back(point.b);
  if (rank > 3)
    at.push_back(point.h);
  for (Value each : {point.i, point.j})
    at.push_back(lanes.select(isInside, each, zero));
  Value member = lanes.load(getTable(), at);
  return lanes.logicalAnd(isInside,
                          lanes.notEqual(member, lanes.constant(0, member)));
}
KeyRanges MaskDenseOp::keyRanges(OpBuilder &builder, Location loc,
                                 const QueryBlock &block) {
  return {{wholeRange(builder, loc, block)}};
}
Reach MaskDenseOp::reach() { return {}; }
bool MaskDenseOp::containsBand(Reach) { return false; }

LogicalResult MaskWhereOp::verifyRegions() {
  // mask_where_c1, mask_where_c2
  Builder builder(getContext());
  SmallVector<Type> coordinates(4, builder.getI32Type());
  if (failed(verifyRegion(*this, "where", getPredicate(), coordinates,
                          builder.getI1Type())))
    return failure();
  // mask_where_c3
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  if (getLeft().has_value() != getRight().has_value())
    return emitOpError("expects left and right together");
  for (IntegerAttr extent : {getLeftAttr(), getRightAttr()})
    if (extent && (extent.getInt() < 0 || extent.getInt() > limit))
      return emitOpError("expects left and right from 0 to ")
             << limit << ", found " << extent.getInt();
  return success();
}

/// How far a window [left, right] reaches; everywhere without one.
static Reach reachOf(MaskWhereOp op) {
  if (!op.getLeft())
    return {};
  return {int64_t(*op.getLeft()), int64_t(*op.getRight())};
}

Value MaskWhereOp::contains(Lanes &lanes, const MaskPoint &point) {
  Value holds =
      lanes.inlineRegion(getPredicate(), {point.b, point.h, point.i, point.j});
  if (!getLeft())
    return holds;
  Value distance = lanes.sub(point.i, point.j);
  Value isNear = lanes.logicalAnd(
      lanes.lessOrEqual(distance, lanes.i32(int32_t(*getLeft()))),
      lanes.lessOrEqual(lanes.i32(-int32_t(*getRight())), distance));
  return lanes.logicalAnd(isNear, holds);
}

KeyRanges MaskWhereOp::keyRanges(OpBuilder &builder, Location loc,
                                 const QueryBlock &block) {
  if (!getLeft())
    return {{wholeRange(builder, loc, block)}};
  IndexMath math{builder, loc};
  Value begin =
      math.clamp(math.add(block.begin, -int64_t(*getLeft())), block.keyCount);
  Value end = math.clamp(math.add(block.end, *getRight()), block.keyCount);
  return {{{begin, end, begin, begin}}};
}
Reach MaskWhereOp::reach() { return reachOf(*this); }
bool MaskWhereOp::containsBand(Reach) { return false; }
