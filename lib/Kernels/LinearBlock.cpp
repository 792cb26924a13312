//===- LinearBlock.cpp - Loops over the tiles of a block of linear --------===//
//
// All rows of a block pass over the panels of a tile, then over the next ones:
// both stay in the L2 cache. Few rows, as in a step, take more panels at once,
// since a tile with few accumulators would wait for each of its additions.
//
// Where a level multiplies tiles of 16 rows, 32 of them, in the L1 cache, pass
// over panels that stay in the L2: a tile takes a panel faster than the L1
// could hold it. Rows that are left are copied to where tiles may read them.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/LinearBlock.h"
#include "lib/Kernels/LinearTile.h"
#include "lib/Kernels/TileSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// Bytes of panels that stay in the L2 cache, beside x and y, while rows pass.
static constexpr int64_t kGroupBytes = 1 << 19;

/// Vectors of a row of a tile among others: as many as load the least for each
/// multiply-add. 6 rows by 4 vectors load 10 for 24, and 8 by 2 load 10 for 16,
/// which is where machines with two loads and two products a cycle wait.
int64_t TileLoops::wholeVectors() const { return isa.vectorRegisters / 8; }

/// Bytes of the panels of a tile, at most, that leave the L2 cache room for as
/// many that come next.
static constexpr int64_t kFetchedBytes = 1 << 18;

/// The most rows of a tile of vectors: their accumulators, the vectors of the
/// panels and one of x fit into the registers.
int64_t TileLoops::mostRows() const {
  return (isa.vectorRegisters - wholeVectors() - 1) / wholeVectors();
}

int64_t TileLoops::rowsOfTile(Value input) const {
  return multipliesTiles(input, isa) ? kMostTileRows : mostRows();
}

int64_t TileLoops::panelsOfTile(Value input) const {
  return multipliesTiles(input, isa)
             ? 1
             : llvm::divideCeil(wholeColumns(), kPanelColumns);
}

Value TileLoops::multiply(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
}
Value TileLoops::divide(Value lhs, Value rhs) {
  return builder.createOrFold<arith::DivUIOp>(loc, lhs, rhs);
}
Value TileLoops::remainder(Value lhs, Value rhs) {
  return builder.createOrFold<arith::RemUIOp>(loc, lhs, rhs);
}
Value TileLoops::ceilDivide(Value lhs, Value rhs) {
  return builder.createOrFold<arith::CeilDivUIOp>(loc, lhs, rhs);
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

/// Where the task begins: in its loops the stack would grow, and of a parallel
/// loop that has one task only the body is left.
Value TileLoops::scratch(MemRefType type) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *task = builder.getInsertionBlock()->getParentOp();
  while (task && !llvm::isa<scf::ForallOp>(task))
    task = task->getParentOp();
  if (task)
    builder.setInsertionPointToStart(cast<scf::ForallOp>(task).getBody());
  return memref::AllocaOp::create(builder, loc, type,
                                  builder.getI64IntegerAttr(64));
}

/// Columns of a tile that has no other below it: as many vectors as hide the
/// latency of an addition, eight on every machine of these levels.
int64_t TileLoops::wideColumns(int64_t rows) const {
  int64_t vectors = rows == 1 ? 8 : isa.vectorRegisters / 4;
  return std::max(wholeColumns(), vectors * isa.lanes);
}

/// Columns of a tile among others: two panels, or half of one.
int64_t TileLoops::wholeColumns() const { return wholeVectors() * isa.lanes; }

static bool isOfIntegers(Value weight) {
  return cast<MemRefType>(weight.getType()).getElementType().isInteger(8);
}

/// What sums of products with a weight are.
static Type sumType(Value weight) {
  Builder builder(weight.getContext());
  return isOfIntegers(weight) ? Type(builder.getI32Type())
                              : builder.getF32Type();
}

void TileLoops::tileBlock(LinearBlock block, Value firstPanel, Value endPanel) {
  int64_t columns = block.columns();
  // Whole tiles take several panels where they can. What they leave is a panel
  // and the last one, which is cut where columns are no multiple of it.
  int64_t width = block.lastRows.memref ? kPanelColumns : wholeColumns();
  int64_t narrow = std::min(width, kPanelColumns);
  bool hasRest = columns % std::max(width, kPanelColumns) != 0;
  Value begin = times(firstPanel, kPanelColumns);
  Value end = times(endPanel, kPanelColumns);
  if (!hasRest) {
    begin = floorTo(begin, width);
    end = floorTo(end, width);
  }
  auto sumsOf = [&](int64_t rows, int64_t columns) {
    return scratch(MemRefType::get({rows, columns}, sumType(block.weight)));
  };
  // A few rows of integers are faster in vectors, which wait for no tile; the
  // bits are the same. Those of bf16 are not.
  LinearBlock few = block;
  bool hasFewRows = !block.lastRows.memref || isOfIntegers(block.weight);
  if (hasFewRows && block.hasEpilogue())
    few.sums = sumsOf(mostRows() - 1, wideColumns(1));
  block.sums =
      block.lastRows.memref ? sumsOf(kMostTileRows, kPanelColumns) : few.sums;
  Value wholeEnd = begin;
  if (columns >= width) {
    wholeEnd =
        most(least(end, index(columns / kPanelColumns * kPanelColumns)), begin);
    if (hasRest)
      wholeEnd = plus(begin, floorTo(minus(wholeEnd, begin), width));
    Value first = hasFewRows ? wideLoop(few, begin, wholeEnd) : begin;
    columnLoop(block, first, wholeEnd, width, /*isPartial=*/false);
  }
  if (hasRest)
    columnLoop(block, wholeEnd, least(end, index(columns)), narrow,
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
    Value left = remainder(minus(end, begin), index(width));
    Value wideEnd = minus(end, left);
    each(begin, wideEnd, width, [&, rows = rows](Value column) {
      TilePlace place{index(0), column, width, /*isPartial=*/false};
      fewRows(block, place, rows);
      finish(block, place, index(rows));
    });
    scf::YieldOp::create(builder, loc, wideEnd);
  }
  builder.createBlock(&byRows.getDefaultRegion());
  scf::YieldOp::create(builder, loc, begin);
  return byRows.getResult(0);
}

/// Whether the panels of a tile and those that come next fit into the L2 cache
/// beside x.
static bool fetchesNext(const LinearBlock &block, int64_t width) {
  auto type = cast<MemRefType>(block.weight.getType());
  int64_t panelBytes = type.getNumElements() / type.getDimSize(0) *
                       type.getElementTypeBitWidth() / 8;
  return block.isFetched &&
         llvm::divideCeil(width, kPanelColumns) * panelBytes <= kFetchedBytes;
}

/// Whole tiles, and below them one of the rows that are left.
void TileLoops::columnLoop(const LinearBlock &block, Value begin, Value end,
                           int64_t width, bool isPartial) {
  if (block.lastRows.memref)
    return panelLoop(block, begin, end, isPartial);
  Value rows = size(block.destination, 0);
  Value left = remainder(rows, index(mostRows()));
  Value whole = minus(rows, left);
  SmallVector<int64_t> cases =
      llvm::to_vector(llvm::seq<int64_t>(1, mostRows()));
  each(begin, end, width, [&](Value column) {
    FetchedRows fetched;
    if (!isPartial && fetchesNext(block, width))
      fetched = fetchedRows(block, dividedBy(whole, mostRows()), column, width);
    each(index(0), whole, mostRows(), [&](Value row) {
      tile(block, {row, column, width, isPartial}, mostRows(), fetched);
    });
    TilePlace below{whole, column, width, isPartial};
    auto byRows = scf::IndexSwitchOp::create(builder, loc, TypeRange(), left,
                                             cases, cases.size());
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.createBlock(&byRows.getDefaultRegion());
      scf::YieldOp::create(builder, loc);
      for (auto [region, count] : llvm::zip(byRows.getCaseRegions(), cases)) {
        builder.createBlock(&region);
        fewRows(block, below, count);
        scf::YieldOp::create(builder, loc);
      }
    }
    finish(block, below, left);
  });
}

/// What `tiles` tiles of rows ask for: the panels behind their own, in
/// whichever task; behind the last ones the first, which other rows may come
/// to. Few tiles ask for more at once.
TileLoops::FetchedRows TileLoops::fetchedRows(const LinearBlock &block,
                                              Value tiles, Value column,
                                              int64_t width) {
  auto type = cast<MemRefType>(block.weight.getType());
  int64_t rowsOfPanel = type.getDimSize(1);
  int64_t panels = llvm::divideCeil(width, kPanelColumns);
  Value behind = plus(dividedBy(column, kPanelColumns), panels);
  Value isInside = lessOrEqual(behind, index(block.panels() - panels));
  FetchedRows rows;
  rows.first = times(choose(isInside, behind, index(0)), rowsOfPanel);
  rows.end = plus(rows.first, panels * rowsOfPanel);
  int64_t turns = std::max<int64_t>(1, rowsOfPanel / kFetchingGroups);
  rows.atOnce = ceilDivide(index(panels * rowsOfPanel),
                           multiply(most(tiles, index(1)), index(turns)));
  rows.ofTile = multiply(rows.atOnce, index(turns));
  return rows;
}

void TileLoops::tile(const LinearBlock &block, TilePlace place, int64_t rows,
                     FetchedRows fetched) {
  // The first tiles have asked for all.
  Value next, count;
  if (fetched.first) {
    next = plus(fetched.first,
                multiply(dividedBy(place.row, mostRows()), fetched.ofTile));
    count = choose(less(next, fetched.end), fetched.atOnce, index(0));
  }
  LinearTileOp::create(
      builder, loc, block.input, block.inputScales, block.weight,
      block.weightScales, block.bias, block.residual, block.multiplier,
      block.destination, place.row, place.column, next, count, rows,
      place.columns, block.shift, block.activation, place.isPartial);
}

void TileLoops::sums(const LinearBlock &block, const TileRows &x, Value column,
                     int64_t rows, int64_t columns) {
  LinearSumsOp::create(builder, loc, x.memref, block.weight, block.sums,
                       x.first, column, rows, columns, block.shift);
}

/// The sums of a number of rows. What follows them would make each number much
/// longer code: it stands once, in `finish`.
void TileLoops::fewRows(const LinearBlock &block, TilePlace place,
                        int64_t rows) {
  if (!block.sums)
    return tile(block, place, rows);
  sums(block, {block.input, place.row}, place.column, rows, place.columns);
}

/// 16 rows are left as they are. Others move to where 32 may be read: the
/// memory behind them is nobody's sum.
TileRows TileLoops::separateLastRows(Value input) {
  if (!multipliesTiles(input, isa))
    return TileRows();
  auto type = cast<MemRefType>(input.getType());
  Value rows = size(input, 0), whole = floorTo(rows, kMostTileRows);
  Value left = minus(rows, whole);
  Value copy = scratch(MemRefType::get({kMostTileRows, type.getDimSize(1)},
                                       type.getElementType()));
  Value isTile = same(left, index(kTileRows));
  whenElse(
      isTile, [] {},
      [&] {
        memref::CopyOp::create(builder, loc, rowsOf(input, whole, left),
                               rowsOf(copy, index(0), left));
      });
  return {
      arith::SelectOp::create(builder, loc, isTile, input,
                              memref::CastOp::create(builder, loc, type, copy)),
      arith::SelectOp::create(builder, loc, isTile, whole, index(0))};
}

/// Rows pass over a group of panels together, 32 at a time: those stay in the
/// L1 cache, the group in the L2, and y is written in the order of memory.
void TileLoops::panelLoop(const LinearBlock &block, Value begin, Value end,
                          bool isPartial) {
  auto type = cast<MemRefType>(block.weight.getType());
  int64_t panelBytes = type.getNumElements() / type.getDimSize(0) *
                       type.getElementTypeBitWidth() / 8;
  int64_t width =
      std::max<int64_t>(1, kGroupBytes / panelBytes) * kPanelColumns;
  each(begin, end, width, [&](Value group) {
    Value groupEnd = least(plus(group, width), end);
    each(index(0), size(block.destination, 0), kMostTileRows,
         [&](Value row) { tileRow(block, row, group, groupEnd, isPartial); });
  });
}

/// Sums of 32 rows, or of 16 where no more are left, pass through scratch
/// memory, which stays in the L1 cache, too.
void TileLoops::tileRow(const LinearBlock &block, Value row, Value begin,
                        Value end, bool isPartial) {
  Value left = minus(size(block.destination, 0), row);
  Value isLast = less(left, index(kMostTileRows));
  TileRows x = {
      arith::SelectOp::create(builder, loc, isLast, block.lastRows.memref,
                              block.input),
      arith::SelectOp::create(builder, loc, isLast, block.lastRows.first, row)};
  each(begin, end, kPanelColumns, [&](Value column) {
    whenElse(
        lessOrEqual(left, index(kTileRows)),
        [&] { sums(block, x, column, kTileRows, kPanelColumns); },
        [&] { sums(block, x, column, kMostTileRows, kPanelColumns); });
    finish(block, {row, column, kPanelColumns, isPartial},
           least(left, index(kMostTileRows)));
  });
}

void TileLoops::finish(const LinearBlock &block, TilePlace place, Value rows) {
  if (block.sums)
    LinearFinishOp::create(builder, loc, block.sums, block.inputScales,
                           block.weightScales, block.bias, block.residual,
                           block.multiplier, block.destination, place.row,
                           place.column, rows, place.columns, block.activation,
                           place.isPartial);
}
