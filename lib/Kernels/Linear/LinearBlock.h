//===- LinearBlock.h - Loops over the tiles of a block of linear *- C++ -*-===//
//
// What a task of linear does with its rows: linear.tile, linear.sums and
// linear.finish in loops over panels and rows. Tiles differ in size between ISA
// levels; no bit depends on it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_LINEAR_LINEARBLOCK_H
#define HEDDLE_LIB_KERNELS_LINEAR_LINEARBLOCK_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/VectorLoops.h"
#include <optional>

namespace heddle {

/// Rows of x where tiles of 16 rows may read them.
struct TileRows {
  mlir::Value memref, first;
};

/// A block of rows of x W + b.
struct LinearBlock : TileOperands {
  /// Whether every range of panels begins and ends with a whole tile.
  bool hasWholeTiles = false;
  /// Whether weights come from behind the L2 cache: then tiles ask for those
  /// that come next.
  bool isFetched = false;
  /// The most rows that the block may have.
  int64_t mostRows = 0;
  /// From `TileLoops::separateLastRows`; null if x is not multiplied so.
  TileRows lastRows;
  /// From `TileLoops::unpackedPanel`; null if tiles read panels as they are.
  mlir::Value unpacked;
  /// Scratch memory for sums that `linear.finish` reads, for those of two tiles
  /// if `lastRows` is there; null if there are none.
  mlir::Value sums;

  int64_t panels() const {
    return mlir::cast<mlir::MemRefType>(weight.getType()).getDimSize(0);
  }
  /// Of W: those of the destination, and of its gate where W has one.
  int64_t columns() const {
    int64_t width =
        mlir::cast<mlir::MemRefType>(destination.getType()).getDimSize(1);
    return isGatedByColumns() ? 2 * width : width;
  }
};

/// Bytes of a panel of a packed weight [panels, rows, ...], a memref, and its
/// rows: groups of inputs, and what sums start with.
int64_t panelBytes(mlir::Value weight);
int64_t rowsOfPanel(mlir::Value weight);
/// What sums of products with a weight are.
mlir::Type sumTypeOf(mlir::Value input);

/// Index arithmetic and loops around tiles.
class TileLoops : public VectorLoops {
public:
  using VectorLoops::VectorLoops;

  /// The most rows of a tile of x: blocks are multiples of them.
  int64_t rowsOfTile(mlir::Value input) const;
  /// The panels of a tile: ranges that are multiples of them leave no part of
  /// one.
  int64_t panelsOfTile(mlir::Value input) const;

  /// The rows behind the last whole tile of x [rows, in]; null if a tile
  /// is one of vectors. For `LinearBlock::lastRows` of all blocks of these
  /// rows.
  TileRows separateLastRows(mlir::Value input);
  /// Scratch memory for a panel of W that tiles of x do not read as it is; null
  /// if they do. For `LinearBlock::unpacked` of all blocks of these rows.
  mlir::Value unpackedPanel(mlir::Value input, mlir::Value weight);
  /// All rows of a block, for the panels [firstPanel, endPanel) of its weight;
  /// none if the range is empty.
  void tileBlock(LinearBlock block, mlir::Value firstPanel,
                 mlir::Value endPanel);
  /// `rows` rows of a memref [rows, width] or [rows], from `first`; null of
  /// null.
  mlir::Value rowsOf(mlir::Value memref, mlir::Value first, mlir::Value rows) {
    return memref ? viewOf(memref, getAsOpFoldResult(first), rows) : memref;
  }

  /// [first, first + count) of the first dimension of a memref: all of it if
  /// it has no more; null of null.
  mlir::Value slice(mlir::Value memref, mlir::Value first, int64_t count);

private:
  /// Columns of panels that rows pass over together, and how many rows of W
  /// behind them each step of a tile asks for; null for none.
  struct PanelGroup {
    mlir::Value begin, end, fetched;
  };

  /// Sums of a tile of rows by a panel, which `linear.finish` has not read yet,
  /// and the half of scratch memory where they are.
  struct WaitingSums {
    mlir::Value row, column, rows, half;
    bool isPartial;

    llvm::SmallVector<mlir::Value> values() const {
      return {row, column, rows, half};
    }
    /// The same of other values.
    WaitingSums with(mlir::ValueRange values) const {
      return {values[0], values[1], values[2], values[3], isPartial};
    }
  };

  mlir::Value viewOf(mlir::Value memref, mlir::OpFoldResult first,
                     mlir::OpFoldResult count);
  int64_t wholeVectors() const;
  int64_t mostRows() const;
  int64_t wideColumns(int64_t rows) const;
  int64_t wholeColumns() const;
  mlir::Value wideLoop(const LinearBlock &block, mlir::Value begin,
                       mlir::Value end);
  void columnLoop(const LinearBlock &block, mlir::Value begin, mlir::Value end,
                  int64_t width, bool isPartial);
  void rowLoop(mlir::Value end, mlir::Value left,
               llvm::function_ref<void(mlir::Value, mlir::Value)> whole,
               llvm::function_ref<void(int64_t)> few);
  std::optional<int64_t> inputsOfPiece(const LinearBlock &block) const;
  void pieceLoop(const LinearBlock &block, mlir::Value begin, mlir::Value end,
                 int64_t inputs);
  void multiplyPiece(const LinearBlock &block, const PanelGroup &group,
                     mlir::Value column, const DepthPiece &piece);
  mlir::Value behindPiece(const LinearBlock &block, const PanelGroup &group,
                          mlir::Value column, const DepthPiece &piece);
  void panelLoop(const LinearBlock &block, mlir::Value begin, mlir::Value end,
                 bool isPartial);
  mlir::Value groupWidth(const LinearBlock &block);
  mlir::Value fetchedRows(const LinearBlock &block, mlir::Value groupEnd,
                          mlir::Value end);
  mlir::Value nextRow(const LinearBlock &block, mlir::Value row,
                      mlir::Value column, const PanelGroup &group);
  WaitingSums tileRow(const LinearBlock &block, mlir::Value row,
                      const PanelGroup &group, WaitingSums waiting);
  WaitingSums tilePanel(const LinearBlock &block, const TileRows &x,
                        const TilePlace &place, const PanelGroup &group,
                        const WaitingSums &waiting);
  void finishWaiting(const LinearBlock &block, const WaitingSums &waiting,
                     mlir::Value first, int64_t count);
  bool fetchesNext(const LinearBlock &block, int64_t columns) const;
  WeightRows nextPanels(const LinearBlock &block, const TilePlace &place,
                        mlir::Value tiles);
  WeightRows shareOf(const LinearBlock &block, mlir::Value first, int64_t rows,
                     const TilePlace &place, mlir::Value tiles);
  void tile(const LinearBlock &block, TilePlace place, int64_t rows,
            WeightRows fetched = {});
  LinearSumsOp sums(const LinearBlock &block, mlir::Value input,
                    const TilePlace &place, int64_t rows,
                    WeightRows fetched = {}, const DepthPiece &piece = {});
  void fewRows(const LinearBlock &block, TilePlace place, int64_t rows);
  void finish(const LinearBlock &block, TilePlace place, mlir::Value rows);
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEAR_LINEARBLOCK_H
