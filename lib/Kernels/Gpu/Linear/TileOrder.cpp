//===- TileOrder.cpp - Which tile of a product is whose -------------------===//
//
// Eight blocks of columns are a group; the last group may be narrower. Within a
// group tiles are numbered row by row, so that the panels of the group stay in
// the L2 cache while the rows pass. Pairs are numbered in the same way, with
// two rows of tiles as one. If the number of rows is odd, the pairs of the last
// row come at the end.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/TileOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

/// Blocks of columns whose blocks of rows run one after the other.
static constexpr int64_t kColumnGroup = 8;

TilePlace heddle::placeTile(Value number, const Tiling &tiling,
                            BlockCode &code) {
  int64_t columnBlocks = tiling.columnBlocks;
  if (columnBlocks <= kColumnGroup)
    return {code.dividedBy(number, columnBlocks),
            code.remainder(number, columnBlocks)};
  Value ofGroup = code.times(tiling.rowBlocks, kColumnGroup);
  Value first = code.times(code.dividedBy(number, ofGroup), kColumnGroup);
  Value inGroup = code.remainder(number, ofGroup);
  Value count = code.least(code.minus(code.i32(columnBlocks), first),
                           code.i32(kColumnGroup));
  return {code.dividedBy(inGroup, count),
          code.plus(first, code.remainder(inGroup, count))};
}

TilePairs::TilePairs(const Tiling &tiling, Loops &loops) : tiling(tiling) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value two = loops.index(2);
  rowPairs = arith::DivUIOp::create(builder, loc, tiling.rowBlocks, two);
  below = arith::MulIOp::create(builder, loc, rowPairs,
                                loops.index(tiling.columnBlocks));
  Value odd = arith::RemUIOp::create(builder, loc, tiling.rowBlocks, two);
  Value beside = arith::MulIOp::create(
      builder, loc, odd, loops.index(llvm::divideCeil(tiling.columnBlocks, 2)));
  all = arith::AddIOp::create(builder, loc, below, beside);
}

Value TilePairs::isBelow(Value pair, BlockCode &code) const {
  return code.isLess(pair, code.toI32(below));
}

/// Of the first tile of a pair in the odd row.
Value TilePairs::firstColumn(Value pair, BlockCode &code) const {
  return code.times(code.minus(pair, code.toI32(below)), 2);
}

TilePairs::Tile TilePairs::find(Value pair, Value second,
                                BlockCode &code) const {
  Value isBelow = this->isBelow(pair, code);
  // Something is divided by rows of pairs, also where there are none.
  Tiling pairs = tiling;
  pairs.rowBlocks = code.toI32(rowPairs);
  Value hasNone = code.isSame(pairs.rowBlocks, code.i32(0));
  pairs.rowBlocks = code.choose(hasNone, code.i32(1), pairs.rowBlocks);
  TilePlace first =
      placeTile(code.choose(isBelow, pair, code.i32(0)), pairs, code);
  Value row = code.plus(code.times(first.row, 2), second);

  Value lastRow = code.minus(code.toI32(tiling.rowBlocks), code.i32(1));
  Value lastColumn = code.i32(tiling.columnBlocks - 1);
  Value beside = code.plus(firstColumn(pair, code), second);
  Value isBehind = code.isLess(lastColumn, beside);
  return {{code.choose(isBelow, row, lastRow),
           code.choose(isBelow, first.column, code.least(beside, lastColumn))},
          code.either(isBelow, code.isNot(isBehind))};
}

Value TilePairs::haveSameColumns(Value pair, BlockCode &code) const {
  Value isLast =
      code.isSame(firstColumn(pair, code), code.i32(tiling.columnBlocks - 1));
  return code.either(isBelow(pair, code), isLast);
}
