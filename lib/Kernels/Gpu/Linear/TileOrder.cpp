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
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

/// Blocks of columns whose blocks of rows run one after the other.
static constexpr int64_t kColumnGroup = 8;

TileBlocks heddle::placeTile(Value number, const Tiling &tiling,
                             BlockCode &code) {
  int64_t columnBlocks = tiling.columnBlocks;
  if (columnBlocks <= kColumnGroup)
    return {code.udiv(number, columnBlocks), code.urem(number, columnBlocks)};
  Value ofGroup = code.mul(tiling.rowBlocks, kColumnGroup);
  Value first = code.mul(code.udiv(number, ofGroup), kColumnGroup);
  Value inGroup = code.urem(number, ofGroup);
  Value count = code.umin(code.sub(code.i32(columnBlocks), first),
                          code.i32(kColumnGroup));
  return {code.udiv(inGroup, count),
          code.add(first, code.urem(inGroup, count))};
}

TilePairs::TilePairs(const Tiling &tiling, Loops &loops) : tiling(tiling) {
  Value two = loops.index(2);
  rowPairs = loops.udiv(tiling.rowBlocks, two);
  below = loops.mul(rowPairs, tiling.columnBlocks);
  Value odd = loops.urem(tiling.rowBlocks, two);
  Value beside = loops.mul(odd, llvm::divideCeil(tiling.columnBlocks, 2));
  all = loops.add(below, beside);
}

Value TilePairs::isBelow(Value pair, BlockCode &code) const {
  return code.uless(pair, code.toI32(below));
}

/// Of the first tile of a pair in the odd row.
Value TilePairs::firstColumn(Value pair, BlockCode &code) const {
  return code.mul(code.sub(pair, code.toI32(below)), 2);
}

TilePairs::Tile TilePairs::find(Value pair, Value second,
                                BlockCode &code) const {
  Value isBelow = this->isBelow(pair, code);
  // Something is divided by rows of pairs, also where there are none.
  Tiling pairs = tiling;
  pairs.rowBlocks = code.toI32(rowPairs);
  Value hasNone = code.equal(pairs.rowBlocks, code.i32(0));
  pairs.rowBlocks = code.select(hasNone, code.i32(1), pairs.rowBlocks);
  TileBlocks first =
      placeTile(code.select(isBelow, pair, code.i32(0)), pairs, code);
  Value row = code.add(code.mul(first.row, 2), second);

  Value lastRow = code.sub(code.toI32(tiling.rowBlocks), code.i32(1));
  Value lastColumn = code.i32(tiling.columnBlocks - 1);
  Value beside = code.add(firstColumn(pair, code), second);
  Value isBehind = code.uless(lastColumn, beside);
  return {{code.select(isBelow, row, lastRow),
           code.select(isBelow, first.column, code.umin(beside, lastColumn))},
          code.logicalOr(isBelow, code.logicalNot(isBehind))};
}

Value TilePairs::haveSameColumns(Value pair, BlockCode &code) const {
  Value isLast =
      code.equal(firstColumn(pair, code), code.i32(tiling.columnBlocks - 1));
  return code.logicalOr(isBelow(pair, code), isLast);
}
