//===- LinearGrid.cpp - linear on a GPU -----------------------------------===//
//
// The columns of the weights may be split into parts, each with its own
// destination. A block finds its part from its number by a chain of selects. A
// thread then finishes its sums in registers, in this order: scales and bias,
// activation, residual, quantisation or rounding, store. Four shapes serve
// warpgroups: tiles of 16 rows, tiles of 64 x 128 and of 64 x 256, and tiles of
// 128 x 256 in clusters of two blocks that share the copies of panels. The
// numbers of rows and columns decide at run time.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/LinearGrid.h"
#include "dialect/linear/GatedColumns.h"
#include "lib/CodeGen/Loops/FinishedRows.h"
#include "lib/CodeGen/Loops/ProductLoops.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "lib/Kernels/Gpu/Linear/ProductEpilogue.h"
#include "lib/Kernels/Gpu/Linear/TileOrder.h"
#include "lib/Kernels/Gpu/Linear/WarpgroupProduct.h"
#include "lib/Kernels/Gpu/Threads/GridMath.h"
#include "lib/Kernels/Rows/ActivationKernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// 64 x 64 of tensor products and 32 x 64 of fused ones are 128 and 64 sums a
/// thread; stages leave room for two blocks in 164 KB of shared memory.
static constexpr ProductShape kTensorShape = {64, 2, 2, 2, 3};
static constexpr ProductShape kFusedShape = {32, 2, 4, 2, 3};
/// For few rows: weights are all that moves, a panel a warp, many at a time.
static constexpr ProductShape kFewRowsShape = {16, 1, 1, 2, 4};
static constexpr int64_t kFewRows = 64;
/// 128 x 256 of two warpgroups that multiply: 128 sums a thread, and as many
/// stages as one block of a multiprocessor has room for. Registers of the three
/// are what a block of 384 threads has of 65,536: 168 each, no more. Two blocks
/// copy panels for each other.
static constexpr WarpgroupShape kWarpgroupShape = {128, 2, 4, 88, 208, 2};
/// A quarter of that, for two blocks a multiprocessor, where those would leave
/// most of them without work. It reads twice the bytes for a product: from a
/// tile for every third multiprocessor on, the large ones are as fast on paper.
static constexpr WarpgroupShape kSmallWarpgroupShape = {64, 1, 4};
static constexpr int64_t kMultiprocessorsOfTile = 3;
/// Half of the large one, for as many large tiles as leave more than half of
/// the multiprocessors without work.
static constexpr WarpgroupShape kMediumWarpgroupShape = {64, 2, 5};
/// For few rows: 80 KB of weights under way, in each of two blocks.
static constexpr WarpgroupShape kFewRowsWarpgroupShape = {16, 1, 6};

namespace {
class LinearGrid {
public:
  LinearGrid(LinearOp op, const GpuArchitecture &architecture)
      : op(op), architecture(architecture), widths(op.getWidths()),
        element(typeOf(op.getWeight()).getElementType()),
        ends(ProductEpilogue::of(op, widths)) {}

  bool isSupported();
  void build(OpBuilder &builder);

private:
  /// A part of a split, or all: constants, or chosen by a block.
  struct Part {
    /// Blocks of columns in front of it.
    Value firstBlock;
    ColumnRange columns;
    Value panels, pitch, destination;
  };
  /// What a block multiplies, or each of its tiles: of rows from the first one
  /// to one in front of `end`.
  struct Tile {
    Part part;
    Value firstRow, end, firstPanel;
  };
  /// Where the thread's sums of a row go.
  struct Place {
    Value row, destination, residual, inputScale;
  };
  /// What four columns of a thread have for all rows.
  struct Columns {
    Value first;
    ProductEpilogue::Columns ends;
  };

  int64_t panelsOf(int64_t part) const {
    return llvm::divideCeil(widths[part], kPanelColumns);
  }
  int64_t blocksOf(int64_t part, int64_t panels) const {
    return llvm::divideCeil(panelsOf(part), panels);
  }
  /// Also the number of its tiles, an index.
  std::pair<Tiling, Value> tilingOf(int64_t rows, int64_t panels,
                                    OpBuilder &builder);
  void buildBlocks(const ProductShape &shape, OpBuilder &builder);
  void buildBlocks(const WarpgroupShape &shape, OpBuilder &builder);
  void buildPairs(const WarpgroupShape &shape, OpBuilder &builder);
  void multiplyTiles(const WarpgroupShape &shape, WarpgroupTiles &tiles,
                     function_ref<Tile(Value)> find, WarpgroupCode &code);
  Tile tileAt(const TileBlocks &place, const Tiling &tiling, BlockCode &code);
  Tile findTile(Value number, const Tiling &tiling, BlockCode &code);
  Part findPart(Value columnBlock, const Tiling &tiling, BlockCode &code);
  ProductOperands operandsOf(const Tile &tile, BlockCode &code);
  Value firstColumnOf(const ProductPiece &piece, const Tile &tile,
                      BlockCode &code);
  void finishRow(const Tile &tile, Value inTile, BlockCode &code,
                 function_ref<void(const Place &)> body);
  void finishPiece(const ProductPiece &piece, const Part &part,
                   const Place &place, const Columns &columns, BlockCode &code);

  LinearOp op;
  const GpuArchitecture &architecture;
  SmallVector<int64_t> widths;
  Type element;
  ProductEpilogue ends;
};
} // namespace

bool LinearGrid::isSupported() {
  auto hasPitch = [&](Value rows) {
    int64_t piece = ends.hasWholePieces ? 4 : 1;
    return !rows || (pitchOf(rows) > 0 &&
                     pitchOf(rows) % (piece * elementBytes(rows)) == 0);
  };
  return isPacked(op.getWeight()) &&
         weightFormatOf(op.getInput(), op.getWeight()) !=
             WeightFormat::ScaledIntegers &&
         pitchOf(op.getInput()) > 0 && pitchOf(op.getInput()) % 4 == 0 &&
         hasPitch(op.getResidual()) &&
         llvm::all_of(op.getDestinations().take_front(widths.size()), hasPitch);
}

//===----------------------------------------------------------------------===//
// Which rows and columns
//===----------------------------------------------------------------------===//

LinearGrid::Part LinearGrid::findPart(Value columnBlock, const Tiling &tiling,
                                      BlockCode &code) {
  Part part;
  int64_t block = 0, panel = 0, column = 0;
  for (auto [number, width] : llvm::enumerate(widths)) {
    Value result = op.getDestinations()[number];
    Part here = {code.i32(block),
                 {code.i32(panel), code.i32(column), code.i32(width)},
                 code.i32(panelsOf(number)),
                 code.i32(pitchOf(result)),
                 code.global(result)};
    Value isHere = code.uless(columnBlock, code.i32(block));
    auto choose = [&](Value &value, Value other) {
      value = value ? code.select(isHere, value, other) : other;
    };
    choose(part.firstBlock, here.firstBlock);
    choose(part.columns.firstPanel, here.columns.firstPanel);
    choose(part.columns.firstColumn, here.columns.firstColumn);
    choose(part.columns.width, here.columns.width);
    choose(part.panels, here.panels);
    choose(part.pitch, here.pitch);
    choose(part.destination, here.destination);
    block += blocksOf(number, tiling.panels);
    panel += panelsOf(number);
    column += width;
  }
  return part;
}

//===----------------------------------------------------------------------===//
// What becomes of sums
//===----------------------------------------------------------------------===//

void LinearGrid::finishPiece(const ProductPiece &piece, const Part &part,
                             const Place &place, const Columns &columns,
                             BlockCode &code) {
  Value column = columns.first;
  FourWords y = ends.finish(piece.sums, place.inputScale, columns.ends, code);
  if (op.getActivation())
    for (Value &value : y)
      value = emitActivation(*op.getActivation(), value, GridMath(code));
  // What stands between columns of this thread and the next, in bytes.
  int64_t bytes = elementBytes(op.getDestinations().front());
  auto isColumn = [&](int64_t number) {
    return code.uless(code.add(column, number), part.columns.width);
  };
  auto finish = [&](int64_t number, Value residual) {
    Value value = y[number];
    if (residual)
      value =
          op.getGates() ? code.mul(value, residual) : code.add(residual, value);
    if (op.getMultiplier())
      value = quantizeValue(value, op.getMultiplier(), code);
    else if (std::optional<Type> rounded = op.getRounds())
      value = roundTo(*rounded, code.builder, code.loc, value);
    y[number] = value;
  };
  Value to = code.at(place.destination, code.mul(column, bytes));
  Value from;
  if (place.residual)
    from = code.at(place.residual, code.mul(column, 4));
  Type f32 = code.builder.getF32Type();
  if (ends.hasWholePieces) {
    FourWords residual = {};
    if (from)
      residual = code.loadFour(f32, from);
    for (int64_t number = 0; number < 4; ++number)
      finish(number, residual[number]);
    return code.storeFour(y, to);
  }
  for (int64_t number = 0; number < 4; ++number)
    code.ifThen(isColumn(number), [&] {
      finish(number,
             from ? code.loadOne(f32, code.at(from, number * 4)) : Value());
      code.storeOne(y[number], code.at(to, number * bytes));
    });
}

Value LinearGrid::firstColumnOf(const ProductPiece &piece, const Tile &tile,
                                BlockCode &code) {
  return code.add(
      code.mul(code.add(tile.firstPanel, piece.panel), kPanelColumns),
      piece.column);
}

/// body(place) for a row of a tile, where it exists.
void LinearGrid::finishRow(const Tile &tile, Value inTile, BlockCode &code,
                           function_ref<void(const Place &)> body) {
  Place place;
  place.row = code.add(tile.firstRow, inTile);
  code.ifThen(code.uless(place.row, tile.end), [&] {
    place.destination = code.at(tile.part.destination,
                                code.rowOffset(place.row, tile.part.pitch));
    if (op.getResidual())
      place.residual = code.at(
          code.global(op.getResidual()),
          code.rowOffset(place.row, code.i32(pitchOf(op.getResidual()))));
    if (op.getInputScales())
      place.inputScale = code.loadWord(op.getInputScales(), place.row);
    body(place);
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

std::pair<Tiling, Value> LinearGrid::tilingOf(int64_t rows, int64_t panels,
                                              OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  int64_t columnBlocks = 0;
  for (size_t part = 0; part < widths.size(); ++part)
    columnBlocks += blocksOf(part, panels);
  Value rowBlocks = loops.uceilDiv(loops.size(op.getInput(), 0), rows);
  Value count = loops.mul(rowBlocks, columnBlocks);
  return {{rows, panels, rowBlocks, columnBlocks}, count};
}

LinearGrid::Tile LinearGrid::tileAt(const TileBlocks &place,
                                    const Tiling &tiling, BlockCode &code) {
  Part part = findPart(place.column, tiling, code);
  return {part, code.mul(place.row, tiling.rows),
          code.toI32(code.size(op.getInput(), 0)),
          code.mul(code.sub(place.column, part.firstBlock), tiling.panels)};
}

LinearGrid::Tile LinearGrid::findTile(Value number, const Tiling &tiling,
                                      BlockCode &code) {
  return tileAt(placeTile(number, tiling, code), tiling, code);
}

ProductOperands LinearGrid::operandsOf(const Tile &tile, BlockCode &code) {
  int64_t depth = typeOf(op.getInput()).getDimSize(1);
  PanelLayout layout(weightFormatOf(element, /*isScaled=*/false), widths);
  ProductOperands operands;
  operands.element = element;
  operands.depth = depth;
  operands.pitch = pitchOf(op.getInput());
  operands.x = code.at(code.global(op.getInput()),
                       code.rowOffset(tile.firstRow, code.i32(operands.pitch)));
  operands.rows = code.sub(tile.end, tile.firstRow);
  operands.panel = code.at(
      code.global(op.getWeight()),
      code.rowOffset(code.add(tile.part.columns.firstPanel, tile.firstPanel),
                     code.i32(layout.panelBytes(depth))));
  operands.panels = code.sub(tile.part.panels, tile.firstPanel);
  return operands;
}

/// A tile a block, of any type.
void LinearGrid::buildBlocks(const ProductShape &shape, OpBuilder &builder) {
  auto [tiling, count] = tilingOf(shape.rows(), shape.panels(), builder);
  createGrid(
      builder, op.getLoc(), count, shape.block(),
      [&, &tiling = tiling](BlockCode &code, Value block) {
        code.multipliesTf32 = architecture.multipliesTf32;
        Tiling here = tiling;
        here.rowBlocks = code.toI32(tiling.rowBlocks);
        Tile tile = findTile(block, here, code);
        SmallVector<ProductPiece> pieces =
            multiplyBlock(shape, operandsOf(tile, code), code);
        for (ArrayRef<ProductPiece> rest = pieces; !rest.empty();) {
          size_t ofRow = llvm::count_if(rest, [&](const ProductPiece &piece) {
            return piece.row == rest.front().row;
          });
          finishRow(tile, rest.front().row, code, [&](const Place &place) {
            for (const ProductPiece &piece : rest.take_front(ofRow)) {
              Value column = firstColumnOf(piece, tile, code);
              code.ifThen(code.uless(column, tile.part.columns.width), [&] {
                Columns columns = {column,
                                   ends.load(column, tile.part.columns, code)};
                finishPiece(piece, tile.part, place, columns, code);
              });
            }
          });
          rest = rest.drop_front(ofRow);
        }
      });
}

void LinearGrid::multiplyTiles(const WarpgroupShape &shape,
                               WarpgroupTiles &tiles,
                               function_ref<Tile(Value)> find,
                               WarpgroupCode &code) {
  auto place = [&](Value number) { return operandsOf(find(number), code); };
  auto finish = [&](Value number, Value firstRow,
                    ArrayRef<ProductPiece> pieces) {
    Tile tile = find(number);
    tile.firstRow = code.add(tile.firstRow, firstRow);
    Value column = firstColumnOf(pieces.front(), tile, code);
    code.ifThen(code.uless(column, tile.part.columns.width), [&] {
      Columns columns = {column, ends.load(column, tile.part.columns, code)};
      for (const ProductPiece &piece : pieces)
        finishRow(tile, piece.row, code, [&](const Place &place) {
          finishPiece(piece, tile.part, place, columns, code);
        });
    });
  };
  tiles.place = place;
  tiles.finish = finish;
  multiplyByWarpgroups(shape, tiles, code);
}

/// A tile a block of warpgroups, of short floats and i8.
void LinearGrid::buildBlocks(const WarpgroupShape &shape, OpBuilder &builder) {
  auto [tiling, count] = tilingOf(shape.rows, shape.panels(), builder);
  createGrid(builder, op.getLoc(), count, shape.block(),
             [&, &tiling = tiling](BlockCode &block, Value number) {
               WarpgroupCode code(block.builder, block.loc, block.threads);
               Tiling here = tiling;
               here.rowBlocks = code.toI32(tiling.rowBlocks);
               WarpgroupTiles tiles;
               tiles.count = code.i32(1);
               multiplyTiles(
                   shape, tiles,
                   [&](Value) { return findTile(number, here, code); }, code);
             });
}

/// Persistent clusters of two blocks, a block a multiprocessor: cluster c of n
/// computes tile pairs c, c + n, c + 2n, ... A tile that is not there has no
/// rows: its block copies, and multiplies what nobody asks for.
void LinearGrid::buildPairs(const WarpgroupShape &shape, OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  Tiling tiling = tilingOf(shape.rows, shape.panels(), builder).first;
  TilePairs pairs(tiling, loops);
  Value blocks = loops.mul(pairs.count(), shape.cluster);
  BlockShape staying = shape.block();
  staying.stays = true;
  createGrid(builder, loc, blocks, staying,
             [&](BlockCode &block, Value number) {
               WarpgroupCode code(block.builder, block.loc, block.threads);
               Value first = code.udiv(number, shape.cluster);
               Value rank = code.rankInCluster();
               Value step = code.clusters();
               WarpgroupTiles tiles;
               tiles.count = code.udiv(
                   code.add(code.sub(code.sub(code.toI32(pairs.count()), first),
                                     code.i32(1)),
                            step),
                   step);
               auto pairAt = [&](Value tile) {
                 return code.add(first, code.mul(tile, step));
               };
               auto haveSamePanels = [&](Value tile) {
                 return pairs.haveSameColumns(pairAt(tile), code);
               };
               tiles.haveSamePanels = haveSamePanels;
               auto find = [&](Value tile) {
                 auto [place, exists] = pairs.find(pairAt(tile), rank, code);
                 Tile found = tileAt(place, tiling, code);
                 found.end = code.select(exists, found.end, found.firstRow);
                 return found;
               };
               multiplyTiles(shape, tiles, find, code);
             });
}

/// The grid of the first shape whose condition holds when it starts; the last
/// has none. All of them have the same bits.
void LinearGrid::build(OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  Value rows = loops.size(op.getInput(), 0);
  if (!architecture.hasWarpgroups || element.isF32())
    return createIfElse(
        builder, loc, loops.uless(rows, loops.index(kFewRows + 1)),
        [&] { buildBlocks(kFewRowsShape, builder); },
        [&] {
          bool isFused = isFusedProduct(element, architecture.multipliesTf32);
          buildBlocks(isFused ? kFusedShape : kTensorShape, builder);
        });
  auto buildTiles = [&](const WarpgroupShape &shape) {
    return [this, shape, &builder] { buildBlocks(shape, builder); };
  };
  Value tiles =
      tilingOf(kWarpgroupShape.rows, kWarpgroupShape.panels(), builder).second;
  auto areFewer = [&](int64_t than) {
    return loops.uless(tiles, loops.index(than));
  };
  Value isSmall =
      areFewer(architecture.multiprocessors / kMultiprocessorsOfTile);
  Value isMedium = areFewer(architecture.multiprocessors / 2 + 1);
  createIfElse(
      builder, loc,
      loops.uless(rows, loops.index(kFewRowsWarpgroupShape.rows + 1)),
      buildTiles(kFewRowsWarpgroupShape), [&] {
        createIfElse(
            builder, loc, isSmall, buildTiles(kSmallWarpgroupShape), [&] {
              createIfElse(builder, loc, isMedium,
                           buildTiles(kMediumWarpgroupShape),
                           [&] { buildPairs(kWarpgroupShape, builder); });
            });
      });
}

LogicalResult heddle::emitGrid(LinearOp op,
                               const GpuArchitecture &architecture) {
  LinearGrid grid(op, architecture);
  if (isGatedByColumns(op) || !grid.isSupported())
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  grid.build(builder);
  finishRows(op, llvm::to_vector(op.getDestinations()), loops);
  return success();
}
