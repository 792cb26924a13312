//===- LinearPieces.cpp - Loops over the pieces of a deep linear ----------===//
//
// For a deep product: the L2 cache has no room for x, the panels of a tile and
// the next panels at the same time. So a block cuts the depth into pieces. All
// rows multiply a piece of one tile's panels, then the same piece of the next
// tile's; unfinished sums wait in scratch memory. An element still adds its
// products in their order, so pieces change no bit.
//
//===----------------------------------------------------------------------===//

#include "dialect/linear/PanelLayout.h"
#include "lib/Kernels/Linear/LinearBlock.h"
#include "lib/Kernels/Linear/LinearTile.h"

using namespace mlir;
using namespace heddle;

/// Bytes of the panels of a tile that a piece has at most, and of sums that
/// wait.
static constexpr int64_t kPieceBytes = 1 << 17, kSumsBytes = 3 << 18;

static int64_t depthOf(const LinearBlock &block) {
  return cast<MemRefType>(block.input.getType()).getDimSize(1);
}

static PanelLayout layoutOf(const LinearBlock &block) {
  return PanelLayout(weightFormatOf(block.input, block.weight), {});
}

/// Inputs of a turn of a tile of vectors, or of a scale, and the rows of a
/// panel that they take.
static int64_t turnOf(const LinearBlock &block) {
  PanelLayout layout = layoutOf(block);
  return layout.hasScales() ? kScaledInputs : kFetchingGroups * layout.group();
}
static int64_t rowsOfTurn(const LinearBlock &block) {
  PanelLayout layout = layoutOf(block);
  return layout.hasScales() ? layout.rowsOfScale() : kFetchingGroups;
}

/// Inputs of each of equal pieces, in whole turns of a tile of vectors; none
/// where the depth stays whole.
std::optional<int64_t>
TileLoops::inputsOfPiece(const LinearBlock &block) const {
  if (block.lastRows.memref || !block.isFetched ||
      fetchesNext(block, wholeColumns()))
    return std::nullopt;
  int64_t turn = turnOf(block);
  int64_t least = llvm::divideCeil(
      panelsOfTile(block.input) * panelBytes(block.weight), kPieceBytes);
  for (int64_t pieces = least; pieces < 2 * least; ++pieces)
    if (depthOf(block) % (pieces * turn) == 0)
      return depthOf(block) / pieces;
  return std::nullopt;
}

/// Sums stand tile by tile, each of them as wide as it is.
void TileLoops::pieceLoop(const LinearBlock &block, Value begin, Value end,
                          int64_t inputs) {
  int64_t width = wholeColumns();
  int64_t tileBytes = block.mostRows * width * int64_t(sizeof(float));
  int64_t tiles =
      std::clamp<int64_t>(kSumsBytes / tileBytes, 1, block.columns() / width);
  Value sums = scratch(
      MemRefType::get({tiles * block.mostRows, width}, sumTypeOf(block.input)));
  each(begin, end, tiles * width, [&](Value first) {
    PanelGroup group{first, min(add(first, tiles * width), end), Value()};
    auto partAt = [&](Value column) {
      Value number = udiv(sub(column, first), width);
      LinearBlock part = block;
      part.sums = slice(sums, mul(number, block.mostRows), block.mostRows);
      return part;
    };
    each(index(0), index(depthOf(block)), inputs, [&](Value from) {
      each(first, group.end, width, [&](Value column) {
        multiplyPiece(partAt(column), group, column, {from, inputs});
      });
    });
    each(first, group.end, width, [&](Value column) {
      finish(partAt(column), {index(0), column, width, /*isPartial=*/false},
             size(block.destination, 0));
    });
  });
}

/// All rows by a piece of the panels at a column; the block has their sums.
void TileLoops::multiplyPiece(const LinearBlock &block, const PanelGroup &group,
                              Value column, const DepthPiece &piece) {
  int64_t width = wholeColumns();
  Value next = behindPiece(block, group, column, piece);
  auto multiply = [&](Value row, int64_t rows, WeightRows fetched) {
    LinearBlock part = block;
    part.sums = slice(block.sums, row, rows);
    sums(part, block.input, {row, column, width}, rows, fetched, piece);
  };
  Value rows = size(block.destination, 0);
  Value left = urem(rows, index(mostRows()));
  Value whole = sub(rows, left);
  rowLoop(
      whole, left,
      [&](Value row, Value tiles) {
        TilePlace place{row, column, width, /*isPartial=*/false};
        multiply(row, mostRows(),
                 shareOf(block, next,
                         piece.inputs / turnOf(block) * rowsOfTurn(block),
                         place, tiles));
      },
      [&](int64_t count) { multiply(whole, count, WeightRows()); });
}

/// The row of W where what comes next begins: the piece of the panels behind,
/// or the next piece of the first ones, or the first one behind all of them, in
/// whichever task.
Value TileLoops::behindPiece(const LinearBlock &block, const PanelGroup &group,
                             Value column, const DepthPiece &piece) {
  Value behind = add(column, wholeColumns());
  Value nextInput = add(piece.from, piece.inputs);
  Value isInside = less(behind, group.end);
  Value isLast = lessOrEqual(index(depthOf(block)), nextInput);
  Value nextColumn =
      select(isInside, behind, select(isLast, group.end, group.begin));
  nextInput = select(isInside, piece.from, select(isLast, index(0), nextInput));
  Value panel = udiv(nextColumn, kPanelColumns);
  Value isThere =
      lessOrEqual(panel, index(block.panels() - panelsOfTile(block.input)));
  return add(mul(select(isThere, panel, index(0)), rowsOfPanel(block.weight)),
             mul(udiv(nextInput, turnOf(block)), rowsOfTurn(block)));
}
