//===- LinearBlock.cpp - Loops over the tiles of a block of linear --------===//
//
// All rows of a block pass over the panels of one tile, then over those of the
// next: both stay in the L2 cache. If rows are few, as in a decode step, a tile
// has more panels, because a few accumulators would wait for each addition.
//
// On a level with tiles of 16 rows (AMX), 32 rows at a time pass over the
// panels. The rows stay in the L1 cache and the panels in the L2: a tile takes
// a panel faster than the L1 could be filled. Rows beyond a multiple of 16 are
// copied to scratch memory, where a tile may read whole. Sums of a tile pass
// through scratch memory to linear.finish, which runs beside the products of
// the next tile.
//
// LinearPieces.cpp has the loops for depths whose panels fit into no cache.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearBlock.h"
#include "lib/Kernels/Linear/LinearAmx.h"
#include "lib/Kernels/Linear/LinearTile.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// Bytes of panels that stay in the L2 cache, beside x and y, while rows pass;
/// and where the group that comes next has to find its place there, too.
static constexpr int64_t kGroupBytes = 1 << 19, kFetchedGroupBytes = 1 << 18;
/// Rows that wait for memory most of the time, and bytes of a group of theirs:
/// nobody has asked for the first group of a task.
static constexpr int64_t kWaitingRows = 128, kShortGroupBytes = 1 << 17;
/// Bytes of the panels of a tile of vectors, at most, that leave the L2 cache
/// room for as many that come next.
static constexpr int64_t kFetchedBytes = 1 << 18;

/// Rows of a tile, at least, that has so many products for each load that the
/// loads within a machine's reach do not keep its memory busy.
static constexpr int64_t kFewestAhead = 3;

/// Whether products take weights that are made of what is loaded, which keeps a
/// machine as busy as the products of more rows do.
static bool unpacksWeights(const LinearBlock &block, const IsaLevel &isa) {
  Type input = getElementTypeOrSelf(block.input),
       weight = getElementTypeOrSelf(block.weight);
  return input != weight || weight.isF16() || (weight.isBF16() && !isa.hasBf16);
}

/// Vectors of a row of a tile among others: as many as load the least for each
/// multiply-add. 6 rows by 4 vectors load 10 for 24, and 8 by 2 load 10 for 16,
/// which is where machines with two loads and two products a cycle wait.
int64_t TileLoops::wholeVectors() const { return isa.vectorRegisters / 8; }

/// The most rows of a tile of vectors: their accumulators, the vectors of the
/// panels and one of x fit into the registers.
int64_t TileLoops::mostRows() const {
  return (isa.vectorRegisters - wholeVectors() - 1) / wholeVectors();
}

int64_t heddle::panelBytes(Value weight) {
  auto type = cast<MemRefType>(weight.getType());
  return type.getNumElements() / type.getDimSize(0) *
         type.getElementTypeBitWidth() / 8;
}

int64_t heddle::rowsOfPanel(Value weight) {
  return cast<MemRefType>(weight.getType()).getDimSize(1);
}

int64_t TileLoops::rowsOfTile(Value input) const {
  return hasAmxProduct(input, isa) ? kMostTileRows : mostRows();
}

int64_t TileLoops::panelsOfTile(Value input) const {
  return hasAmxProduct(input, isa)
             ? 1
             : llvm::divideCeil(wholeColumns(), kPanelColumns);
}

Value TileLoops::slice(Value memref, Value first, int64_t count) {
  if (!memref || count == cast<MemRefType>(memref.getType()).getDimSize(0))
    return memref;
  return viewOf(memref, getAsOpFoldResult(first), builder.getIndexAttr(count));
}

Value TileLoops::viewOf(Value memref, OpFoldResult first, OpFoldResult count) {
  SmallVector<OpFoldResult> offsets = {first}, sizes = {count};
  for (int64_t size :
       cast<MemRefType>(memref.getType()).getShape().drop_front()) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(builder.getIndexAttr(size));
  }
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return memref::SubViewOp::create(builder, loc, memref, offsets, sizes,
                                   strides);
}

/// Columns of a tile that has no other below it: as many vectors as hide the
/// latency of an addition, eight on every machine of these levels.
int64_t TileLoops::wideColumns(int64_t rows) const {
  int64_t vectors = rows == 1 ? 8 : isa.vectorRegisters / 4;
  return std::max(wholeColumns(), vectors * isa.lanes);
}

/// Columns of a tile among others: two panels, or half of one.
int64_t TileLoops::wholeColumns() const { return wholeVectors() * isa.lanes; }

static bool isOfIntegers(Value input) {
  return cast<MemRefType>(input.getType()).getElementType().isInteger(8);
}

static bool isScaled(Value input, Value weight) {
  return weightFormatOf(input, weight) == WeightFormat::ScaledIntegers;
}

Type heddle::sumTypeOf(Value input) {
  Builder builder(input.getContext());
  return isOfIntegers(input) ? Type(builder.getI32Type())
                             : builder.getF32Type();
}

void TileLoops::tileBlock(LinearBlock block, Value firstPanel, Value endPanel) {
  int64_t columns = block.columns();
  // Whole tiles take several panels where they can. What they leave is a panel
  // and the last one, which is cut where columns are no multiple of it.
  int64_t width = block.lastRows.memref ? kPanelColumns : wholeColumns();
  int64_t narrow = std::min(width, kPanelColumns);
  bool hasRest = columns % std::max(width, kPanelColumns) != 0 ||
                 (width > kPanelColumns && !block.hasWholeTiles);
  Value begin = mul(firstPanel, kPanelColumns);
  Value end = mul(endPanel, kPanelColumns);
  auto sumsOf = [&](int64_t rows, int64_t columns) {
    return scratch(MemRefType::get({rows, columns}, sumTypeOf(block.input)));
  };
  // A few rows by integers are faster in vectors, which wait for no tile; the
  // bits are the same. Those of bf16 are not.
  LinearBlock few = block;
  bool hasFewRows = !block.lastRows.memref || isOfIntegers(block.weight);
  if (hasFewRows && block.hasEpilogue())
    few.sums = sumsOf(mostRows() - 1, wideColumns(1));
  block.sums = block.lastRows.memref ? sumsOf(2 * kMostTileRows, kPanelColumns)
                                     : few.sums;
  Value wholeEnd = begin;
  if (columns >= width) {
    wholeEnd =
        max(min(end, index(columns / kPanelColumns * kPanelColumns)), begin);
    if (hasRest)
      wholeEnd = add(begin, floorTo(sub(wholeEnd, begin), width));
    Value first = hasFewRows ? wideLoop(few, begin, wholeEnd) : begin;
    if (std::optional<int64_t> inputs = inputsOfPiece(block))
      pieceLoop(block, first, wholeEnd, *inputs);
    else
      columnLoop(block, first, wholeEnd, width, /*isPartial=*/false);
  }
  if (hasRest)
    columnLoop(block, wholeEnd, min(end, index(columns)), narrow,
               /*isPartial=*/columns % kPanelColumns != 0);
}

/// At most half a tile of rows takes several panels at once; returns the first
/// column that is left.
Value TileLoops::wideLoop(const LinearBlock &block, Value begin, Value end) {
  SmallVector<int64_t> cases =
      llvm::to_vector(llvm::seq_inclusive<int64_t>(1, mostRows() / 2));
  auto byRows = scf::IndexSwitchOp::create(builder, loc, builder.getIndexType(),
                                           size(block.destination, 0), cases,
                                           cases.size());
  OpBuilder::InsertionGuard guard(builder);
  for (auto [region, rows] : llvm::zip(byRows.getCaseRegions(), cases)) {
    builder.createBlock(&region);
    int64_t width = wideColumns(rows);
    Value left = urem(sub(end, begin), index(width));
    Value wideEnd = sub(end, left);
    auto tiles = [&, rows = rows](Value first, Value last, int64_t width) {
      each(first, last, width, [&](Value column) {
        TilePlace place{index(0), column, width, /*isPartial=*/false};
        fewRows(block, place, rows);
        finish(block, place, index(rows));
      });
    };
    tiles(begin, wideEnd, width);
    // Unpacking a panel takes longer than a few rows take in vectors.
    if (block.unpacked)
      tiles(wideEnd, end, kPanelColumns);
    scf::YieldOp::create(builder, loc, block.unpacked ? end : wideEnd);
  }
  builder.createBlock(&byRows.getDefaultRegion());
  scf::YieldOp::create(builder, loc, begin);
  return byRows.getResult(0);
}

/// Whole tiles, which `whole` gets the first rows and the number of, and below
/// them one of the rows that are `left`, of which `few` builds any number.
void TileLoops::rowLoop(Value end, Value left,
                        function_ref<void(Value, Value)> whole,
                        function_ref<void(int64_t)> few) {
  Value tiles = max(udiv(end, mostRows()), index(1));
  each(index(0), end, mostRows(), [&](Value row) { whole(row, tiles); });
  SmallVector<int64_t> cases =
      llvm::to_vector(llvm::seq<int64_t>(1, mostRows()));
  auto byRows = scf::IndexSwitchOp::create(builder, loc, TypeRange(), left,
                                           cases, cases.size());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&byRows.getDefaultRegion());
  scf::YieldOp::create(builder, loc);
  for (auto [region, count] : llvm::zip(byRows.getCaseRegions(), cases)) {
    builder.createBlock(&region);
    few(count);
    scf::YieldOp::create(builder, loc);
  }
}

void TileLoops::columnLoop(const LinearBlock &block, Value begin, Value end,
                           int64_t width, bool isPartial) {
  if (block.lastRows.memref)
    return panelLoop(block, begin, end, isPartial);
  Value rows = size(block.destination, 0);
  Value left = urem(rows, index(mostRows()));
  Value whole = sub(rows, left);
  each(begin, end, width, [&](Value column) {
    TilePlace below{whole, column, width, isPartial};
    rowLoop(
        whole, left,
        [&](Value row, Value tiles) {
          TilePlace place{row, column, width, isPartial};
          tile(block, place, mostRows(),
               isPartial || !fetchesNext(block, width)
                   ? WeightRows()
                   : nextPanels(block, place, tiles));
        },
        [&](int64_t count) { fewRows(block, below, count); });
    finish(block, below, left);
  });
}

/// Whether the panels of a tile and those that come next fit into the L2 cache
/// beside x.
bool TileLoops::fetchesNext(const LinearBlock &block, int64_t columns) const {
  int64_t panels = llvm::divideCeil(columns, kPanelColumns);
  return block.isFetched && panels * panelBytes(block.weight) <= kFetchedBytes;
}

/// What a tile of rows, one of `tiles`, asks for: its share of the panels
/// behind its own, in whichever task; behind the last ones of the first, which
/// other rows may come to.
WeightRows TileLoops::nextPanels(const LinearBlock &block,
                                 const TilePlace &place, Value tiles) {
  int64_t panels = llvm::divideCeil(place.columns, kPanelColumns);
  Value behind = add(udiv(place.column, kPanelColumns), panels);
  Value isInside = lessOrEqual(behind, index(block.panels() - panels));
  Value first =
      mul(select(isInside, behind, index(0)), rowsOfPanel(block.weight));
  return shareOf(block, first, rowsOfPanel(block.weight), place, tiles);
}

/// The share that a tile of rows, one of `tiles`, has in asking for `rows` of
/// each panel of a tile, from row `first` of W on. Few tiles ask for more at
/// once; of many the first ones ask for all.
WeightRows TileLoops::shareOf(const LinearBlock &block, Value first,
                              int64_t rows, const TilePlace &place,
                              Value tiles) {
  int64_t panels = llvm::divideCeil(place.columns, kPanelColumns);
  int64_t turns = std::max<int64_t>(1, rows / kFetchingGroups);
  Value atOnce = uceilDiv(index(panels * rows), mul(tiles, turns));
  Value number = udiv(place.row, mostRows());
  Value before = mul(mul(number, turns), atOnce);
  Value isAsked = less(before, index(panels * rows));
  Value next = add(first, before);
  // Between the shares of a part of each panel stands the rest of it.
  if (int64_t rest = rowsOfPanel(block.weight) - rows; rest > 0)
    next = add(next, mul(udiv(before, rows), rest));
  return {next, select(isAsked, atOnce, index(0))};
}

void TileLoops::tile(const LinearBlock &block, TilePlace place, int64_t rows,
                     WeightRows fetched) {
  LinearTileOp::create(builder, loc, block, place, rows, fetched);
}

LinearSumsOp TileLoops::sums(const LinearBlock &block, Value input,
                             const TilePlace &place, int64_t rows,
                             WeightRows fetched, const DepthPiece &piece) {
  TileOperands operands = block;
  operands.input = input;
  return LinearSumsOp::create(builder, loc, operands, block.sums, place, rows,
                              fetched, piece,
                              rows % kTileRows == 0 ? block.unpacked : Value());
}

/// The sums of a number of rows. What follows them would make each number much
/// longer code: it stands once, in `finish`.
void TileLoops::fewRows(const LinearBlock &block, TilePlace place,
                        int64_t rows) {
  WeightRows fetched;
  fetched.isAhead = rows >= kFewestAhead || unpacksWeights(block, isa);
  if (!block.sums)
    return tile(block, place, rows, fetched);
  sums(block, block.input, place, rows, fetched);
}

/// 16 rows are left as they are. Others move to where 32 may be read: the
/// memory behind them is nobody's sum.
TileRows TileLoops::separateLastRows(Value input) {
  if (!hasAmxProduct(input, isa))
    return TileRows();
  auto type = cast<MemRefType>(input.getType());
  Value rows = size(input, 0), whole = floorTo(rows, kMostTileRows);
  Value left = sub(rows, whole);
  Value copy = scratch(MemRefType::get({kMostTileRows, type.getDimSize(1)},
                                       type.getElementType()));
  Value isTile = equal(left, index(kTileRows));
  ifElse(
      isTile, [] {},
      [&] {
        memref::CopyOp::create(builder, loc, rowsOf(input, whole, left),
                               rowsOf(copy, index(0), left));
      });
  return {
      select(isTile, input, memref::CastOp::create(builder, loc, type, copy)),
      select(isTile, whole, index(0))};
}

Value TileLoops::unpackedPanel(Value input, Value weight) {
  if (!hasAmxProduct(input, isa) || !isScaled(input, weight))
    return Value();
  int64_t groups =
      llvm::divideCeil(rowBytes(input), kTileBytes) * kScaledInputs / 2;
  return scratch(
      MemRefType::get({groups, kPanelColumns, 2}, builder.getBF16Type()));
}

/// The columns of a group of panels: of one that is unpacked.
Value TileLoops::groupWidth(const LinearBlock &block) {
  if (block.unpacked)
    return index(kPanelColumns);
  auto columnsOf = [&](int64_t bytes) {
    return index(std::max<int64_t>(1, bytes / panelBytes(block.weight)) *
                 kPanelColumns);
  };
  if (!block.isFetched)
    return columnsOf(kGroupBytes);
  Value rows = size(block.destination, 0);
  return select(lessOrEqual(rows, index(kWaitingRows)),
                columnsOf(kShortGroupBytes), columnsOf(kFetchedGroupBytes));
}

/// Rows pass over a group of panels together, 32 at a time: those stay in the
/// L1 cache, the group in the L2, and y is written in the order of memory.
void TileLoops::panelLoop(const LinearBlock &block, Value begin, Value end,
                          bool isPartial) {
  Value width = groupWidth(block);
  // A range that has no cut panel ends before it would begin.
  Value columns = max(sub(end, begin), index(0));
  // None at first: no rows.
  WaitingSums waiting{index(0), begin, index(0), index(0), isPartial};
  auto passRows = [&](const PanelGroup &group, ValueRange values) {
    return carry(
        index(0), size(block.destination, 0), kMostTileRows, values,
        [&](Value row, ValueRange values) {
          return tileRow(block, row, group, waiting.with(values)).values();
        });
  };
  SmallVector<Value> last =
      carry(index(0), uceilDiv(columns, width), 1, waiting.values(),
            [&](Value number, ValueRange values) {
              Value first = add(begin, mul(number, width));
              Value groupEnd = min(add(first, width), end);
              PanelGroup group{first, groupEnd, Value()};
              if (block.isFetched && !isPartial)
                group.fetched = fetchedRows(block, groupEnd, end);
              if (block.unpacked)
                LinearUnpackOp::create(builder, loc, block.weight,
                                       block.unpacked, first);
              return passRows(group, values);
            });
  finishWaiting(block, waiting.with(last), index(0), kMostTileRows);
}

/// How many rows of W each whole tile along the depth of x has to ask for, so
/// that all tiles of rows together ask for a group; 0 where none follows.
Value TileLoops::fetchedRows(const LinearBlock &block, Value groupEnd,
                             Value end) {
  Value tiles = uceilDiv(size(block.destination, 0), kMostTileRows);
  int64_t rows =
      block.unpacked
          ? PanelLayout(WeightFormat::ScaledIntegers, {}).rowsOfScale()
          : kTileRows;
  return select(less(groupEnd, end), uceilDiv(index(rows), tiles), index(0));
}

/// 32 rows, or what is left of them, pass over the panels of a group.
TileLoops::WaitingSums TileLoops::tileRow(const LinearBlock &block, Value row,
                                          const PanelGroup &group,
                                          WaitingSums waiting) {
  Value left = sub(size(block.destination, 0), row);
  Value isLast = less(left, index(kMostTileRows));
  TileRows x = {select(isLast, block.lastRows.memref, block.input),
                select(isLast, block.lastRows.first, row)};
  return waiting.with(carry(
      group.begin, group.end, kPanelColumns, waiting.values(),
      [&](Value column, ValueRange values) {
        TilePlace place{row, column, kPanelColumns, waiting.isPartial};
        return tilePanel(block, x, place, group, waiting.with(values)).values();
      }));
}

/// Sums of 32 rows, or of 16 where no more are left. 16 ask for nothing: where
/// they are alone, products take no time that could be shared. But they take
/// some if a panel is unpacked before them.
TileLoops::WaitingSums TileLoops::tilePanel(const LinearBlock &block,
                                            const TileRows &x,
                                            const TilePlace &place,
                                            const PanelGroup &group,
                                            const WaitingSums &waiting) {
  Value left = sub(size(block.destination, 0), place.row);
  WeightRows fetched;
  if (group.fetched)
    fetched = {nextRow(block, place.row, place.column, group), group.fetched};
  Value half = sub(index(1), waiting.half);
  LinearBlock tile = block;
  tile.sums = slice(block.sums, mul(half, kMostTileRows), kMostTileRows);
  int64_t tilesOfDepth =
      std::max<int64_t>(1, rowBytes(block.input) / kTileBytes);
  int64_t share = llvm::divideCeil(kMostTileRows, tilesOfDepth);
  auto multiply = [&](int64_t rows, WeightRows fetched) {
    Region &beside = sums(tile, x.memref,
                          {x.first, place.column, kPanelColumns}, rows, fetched)
                         .getBeside();
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&beside);
    Value number = beside.addArgument(builder.getIndexType(), loc);
    finishWaiting(block, waiting, mul(number, share), share);
  };
  ifElse(
      lessOrEqual(left, index(kTileRows)),
      [&] { multiply(kTileRows, block.unpacked ? fetched : WeightRows()); },
      [&] { multiply(kMostTileRows, fetched); });
  return {place.row, place.column, min(left, index(kMostTileRows)), half,
          waiting.isPartial};
}

/// `count` rows of sums that wait, from `first` on, as far as there are some.
void TileLoops::finishWaiting(const LinearBlock &block,
                              const WaitingSums &waiting, Value first,
                              int64_t count) {
  Value rows = clamp(sub(waiting.rows, first), index(0), index(count));
  Value at = add(mul(waiting.half, kMostTileRows), first);
  LinearFinishOp::create(builder, loc, block, slice(block.sums, at, count),
                         TilePlace{add(waiting.row, first), waiting.column,
                                   kPanelColumns, waiting.isPartial},
                         rows);
}

/// The first row of W, behind the group, that a tile of rows asks for while it
/// is at the panel of `column`.
Value TileLoops::nextRow(const LinearBlock &block, Value row, Value column,
                         const PanelGroup &group) {
  int64_t steps = rowBytes(block.input) / kTileBytes;
  Value panels = udiv(sub(group.end, group.begin), kPanelColumns);
  Value before = add(mul(udiv(row, kMostTileRows), panels),
                     udiv(sub(column, group.begin), kPanelColumns));
  return add(mul(udiv(group.end, kPanelColumns), rowsOfPanel(block.weight)),
             mul(mul(before, steps), group.fetched));
}

void TileLoops::finish(const LinearBlock &block, TilePlace place, Value rows) {
  if (block.sums)
    LinearFinishOp::create(builder, loc, block, block.sums, place, rows);
}
