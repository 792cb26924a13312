//===- LogitsGrid.cpp - largest_logits and best_logits on a GPU -----------===//
//
// After its product a block leaves the logits in shared memory, where the
// stages were. A warp takes a row, eight logits a lane. It reads the row's
// forbidden ids, 32 at a time up to the first negative one, and the lane that
// has such an id sets a bit. A keeper writes a record for each row and tile,
// and a second grid combines the records of a range. best_logits repeats both
// grids for every 32 places of the list: a lane holds one place.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/LogitsGrid.h"
#include "dialect/masks/MaskRanges.h"
#include "lib/Kernels/Gpu/Linear/LogitsKeepers.h"
#include "lib/Kernels/Gpu/Linear/ProductEpilogue.h"
#include "lib/Kernels/Gpu/Linear/WarpgroupProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// A warp a panel. Few rows leave registers and shared memory for more blocks,
/// so that more weights are under way.
static constexpr ProductShape kFewRowsShape = {16, 1, 1, 8, 3};
static constexpr ProductShape kShape = {64, 1, 1, 8, 3};
static constexpr int64_t kFewRows = 32, kFewRowsBlocks = 2;
static constexpr int64_t kPanels = kShape.panels(),
                         kColumns = kPanels * kPanelColumns;
static_assert(kFewRowsShape.panels() == kPanels);
/// The same of warpgroups. Of up to 16 rows 160 KB of weights are under way;
/// 128 rows have 128 sums a thread, see LinearGrid.cpp.
static constexpr WarpgroupShape kFewRowsWarpgroupShape = {16, 2, 6},
                                kSmallWarpgroupShape = {64, 2, 5},
                                kWarpgroupShape = {128, 2, 4, 88, 208};
static_assert(kWarpgroupShape.panels() == kPanels);
/// Bytes from one row of logits to the next: rows begin in other banks.
static constexpr int64_t kLogitsPitch = (kColumns + 4) * sizeof(float);
/// Of a block: what goes through logits, or meets tiles, a range of a row each.
static constexpr int64_t kTileWarps = kPanels, kWarps = 4;

namespace {
class LogitsGrid {
public:
  LogitsGrid(RangedLogitsOpInterface op, const GpuArchitecture &architecture)
      : op(op), architecture(architecture),
        element(typeOf(op.getWeight()).getElementType()),
        ends(ProductEpilogue::of(op, {int64_t(op.getVocabulary())})) {}

  bool isSupported() {
    return isPacked(op.getWeight()) &&
           weightFormatOf(op.getInput(), op.getWeight()) !=
               WeightFormat::ScaledIntegers &&
           pitchOf(op.getInput()) > 0 && pitchOf(op.getInput()) % 4 == 0;
  }
  /// Takes memory for what tiles leave, in front of the op.
  void takeMemory(LogitsKeeper &keeper, OpBuilder &builder);
  /// The grids of one pass.
  void build(LogitsKeeper &keeper, OpBuilder &builder);

private:
  /// Where a block is.
  struct Place {
    Value tile, range, firstRow, rows;
    /// Those of the tile, and the first of its ids.
    ColumnRange columns;
    Value firstId;
  };

  int64_t tilesOfRange() {
    return llvm::divideCeil(int64_t(op.getRange()), kColumns);
  }
  int64_t widthOfLast() {
    return int64_t(op.getVocabulary()) -
           (op.getNumRanges() - 1) * int64_t(op.getRange());
  }
  /// Those of the vocabulary.
  int64_t tiles() {
    return (op.getNumRanges() - 1) * tilesOfRange() +
           llvm::divideCeil(widthOfLast(), kColumns);
  }
  /// Logits stand where stages of products stood.
  static BlockShape blockOf(const ProductShape &shape) {
    BlockShape block = shape.block();
    block.sharedBytes =
        std::max(block.sharedBytes, shape.rows() * kLogitsPitch);
    block.blocks = shape.rows() < kShape.rows() ? kFewRowsBlocks : 1;
    return block;
  }
  static BlockShape blockOf(const WarpgroupShape &shape) {
    assert(shape.rows * kLogitsPitch <= shape.stages * shape.stageBytes());
    return shape.block();
  }

  void createTiles(int64_t rows, const BlockShape &shape, OpBuilder &builder,
                   function_ref<void(const Place &, BlockCode &)> body);
  void buildTiles(const ProductShape &shape, LogitsKeeper &keeper,
                  OpBuilder &builder);
  void buildTiles(const WarpgroupShape &shape, LogitsKeeper &keeper,
                  OpBuilder &builder);
  void buildMeeting(LogitsKeeper &keeper, OpBuilder &builder);
  Place placeOf(int64_t rows, Value rowBlock, Value tile, BlockCode &code);
  TileRecords recordsOf(Value row, BlockCode &code);
  ProductOperands operandsOf(const Place &place, BlockCode &code);
  void leaveLogits(ArrayRef<ProductPiece> pieces, Value firstRow,
                   const Place &place, BlockCode &code);
  Value findForbidden(Value row, Value firstId, BlockCode &code);
  void goThrough(LogitsKeeper &keeper, const Place &place, Value inBlock,
                 BlockCode &code);
  void goThroughAll(LogitsKeeper &keeper, const Place &place, int64_t rows,
                    Value warp, BlockCode &code);

  RangedLogitsOpInterface op;
  const GpuArchitecture &architecture;
  Type element;
  ProductEpilogue ends;
  /// f32: records [rows, tiles, words]; the last an index.
  Value memory, recordWords;
};
} // namespace

LogitsGrid::Place LogitsGrid::placeOf(int64_t rows, Value rowBlock, Value tile,
                                      BlockCode &code) {
  int64_t range = int64_t(op.getRange());
  Place place;
  place.tile = tile;
  place.firstRow = code.mul(rowBlock, rows);
  place.rows =
      code.sub(code.toI32(code.size(op.getInput(), 0)), place.firstRow);
  place.range = code.udiv(tile, tilesOfRange());
  Value inRange = code.urem(tile, tilesOfRange());
  Value firstColumn = code.mul(inRange, kColumns);
  place.firstId = code.add(code.mul(place.range, range), firstColumn);
  Value left =
      code.umin(code.sub(code.i32(range), firstColumn),
                code.sub(code.i32(int64_t(op.getVocabulary())), place.firstId));
  place.columns = {code.add(code.mul(place.range, range / kPanelColumns),
                            code.mul(inRange, kPanels)),
                   place.firstId, code.umin(left, code.i32(kColumns))};
  return place;
}

ProductOperands LogitsGrid::operandsOf(const Place &place, BlockCode &code) {
  int64_t depth = ends.depth;
  PanelLayout layout(weightFormatOf(element, /*isScaled=*/false), ends.widths);
  ProductOperands operands;
  operands.element = element;
  operands.depth = depth;
  operands.pitch = pitchOf(op.getInput());
  operands.x =
      code.at(code.global(op.getInput()),
              code.rowOffset(place.firstRow, code.i32(operands.pitch)));
  operands.rows = place.rows;
  operands.panel = code.at(code.global(op.getWeight()),
                           code.rowOffset(place.columns.firstPanel,
                                          code.i32(layout.panelBytes(depth))));
  operands.panels = code.udiv(code.add(place.columns.width, kPanelColumns - 1),
                              kPanelColumns);
  return operands;
}

/// The logits of a thread's sums, whose rows count from that one of the tile,
/// in shared memory; -inf behind the tile's end.
void LogitsGrid::leaveLogits(ArrayRef<ProductPiece> pieces, Value firstRow,
                             const Place &place, BlockCode &code) {
  Value width = place.columns.width, column, panel, inPanel;
  ProductEpilogue::Columns columns;
  for (const ProductPiece &piece : pieces) {
    Value row = code.add(firstRow, piece.row);
    if (piece.panel != panel || piece.column != inPanel) {
      panel = piece.panel;
      inPanel = piece.column;
      column = code.add(code.mul(panel, kPanelColumns), inPanel);
      // Columns behind the end read what stands in front of it.
      Value inside =
          code.select(code.uless(column, width), column, code.i32(0));
      columns = ends.load(inside, place.columns, code);
    }
    Value scale;
    if (Value scales = op.getInputScales()) {
      Value inside = code.select(code.uless(row, place.rows), row, code.i32(0));
      scale =
          code.loadOne(code.builder.getF32Type(),
                       code.at(code.global(scales),
                               code.rowOffset(code.add(place.firstRow, inside),
                                              code.i32(sizeof(float)))));
    }
    FourWords logits = ends.finish(piece.sums, scale, columns, code);
    for (auto [number, logit] : llvm::enumerate(logits))
      logit = code.select(code.uless(code.add(column, number), width), logit,
                          code.f32(kLowestLogit));
    code.storeFour(logits,
                   code.shared(code.add(code.mul(row, kLogitsPitch),
                                        code.mul(column, sizeof(float)))));
  }
}

/// What a row forbids of a tile whose ids begin there: bit i says it of the
/// lane's id number i, of which each is 32 behind the one before.
Value LogitsGrid::findForbidden(Value row, Value firstId, BlockCode &code) {
  static_assert(kColumns / kWarpThreads <= 32);
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  Value lane = code.lane(), one = code.i32(1);
  Value count = code.toI32(code.lastSize(op.getForbidden()));
  auto shifted = [&](Value bits, Value by) -> Value {
    return arith::ShLIOp::create(builder, loc, bits, by);
  };
  auto firstOf = [&](Value votes) -> Value {
    return math::CountTrailingZerosOp::create(builder, loc, votes);
  };
  // Carried: the first place of 32, and the bits.
  SmallVector<Value> carried = {code.i32(0), code.i32(0)};
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    scf::ConditionOp::create(builder, loc, code.uless(now[0], count), now);
  };
  auto addPlaces = [&](OpBuilder &, Location, ValueRange now) {
    Value place = code.add(now[0], lane);
    Value listed = code.ifYield(
        code.uless(place, count),
        [&] {
          return code.load(op.getForbidden(),
                           {code.toIndex(row), code.toIndex(place)});
        },
        code.i32(-1));
    Value negative = code.vote(code.less(listed, code.i32(0)));
    Value inTile = code.sub(listed, firstId);
    Value isHere = code.logicalAnd(code.uless(lane, firstOf(negative)),
                                   code.uless(inTile, code.i32(kColumns)));
    auto isVote = [&](OpBuilder &, Location, ValueRange now) {
      scf::ConditionOp::create(builder, loc, code.notEqual(now[0], code.i32(0)),
                               now);
    };
    auto addVote = [&](OpBuilder &, Location, ValueRange now) {
      Value id = code.fromLane(inTile, firstOf(now[0]));
      Value bit = shifted(one, code.udiv(id, kWarpThreads));
      Value isMine = code.equal(code.urem(id, kWarpThreads), lane);
      Value added = code.select(isMine, bit, code.i32(0));
      Value left = code.bitAnd(now[0], code.sub(now[0], one));
      scf::YieldOp::create(builder, loc,
                           ValueRange{left, code.bitOr(now[1], added)});
    };
    SmallVector<Value> votes = {code.vote(isHere), now[1]};
    auto inner = scf::WhileOp::create(
        builder, loc, ValueRange(votes).getTypes(), votes, isVote, addVote);
    // Nothing counts behind a negative one.
    Value next = code.select(code.equal(negative, code.i32(0)),
                             code.add(now[0], kWarpThreads), count);
    scf::YieldOp::create(builder, loc, ValueRange{next, inner.getResult(1)});
  };
  return scf::WhileOp::create(builder, loc, ValueRange(carried).getTypes(),
                              carried, isLeft, addPlaces)
      .getResult(1);
}

/// Keeps what is to be kept of a row of a tile, whose logits stand in shared
/// memory.
void LogitsGrid::goThrough(LogitsKeeper &keeper, const Place &place,
                           Value inBlock, BlockCode &code) {
  Value row = code.add(place.firstRow, inBlock);
  TileLogits tile;
  tile.firstId = place.firstId;
  tile.forbidden = findForbidden(row, place.firstId, code);
  Value memory = code.shared(code.add(code.mul(inBlock, kLogitsPitch),
                                      code.mul(code.lane(), sizeof(float))));
  for (int64_t column = 0; column < kColumns; column += kWarpThreads)
    tile.logits.push_back(
        code.loadOne(code.builder.getF32Type(),
                     code.at(memory, column * int64_t(sizeof(float)))));
  keeper.keep(tile, row, place.range, recordsOf(row, code).at(place.tile, code),
              code);
}

/// The same for all rows of a tile: warp w of n has rows w, w + n, w + 2n, ...
void LogitsGrid::goThroughAll(LogitsKeeper &keeper, const Place &place,
                              int64_t rows, Value warp, BlockCode &code) {
  code.foldAll(code.i32(rows / kTileWarps), {},
               [&](Value number, ValueRange) -> SmallVector<Value> {
                 Value inBlock = code.add(code.mul(number, kTileWarps), warp);
                 code.ifThen(code.uless(inBlock, place.rows),
                             [&] { goThrough(keeper, place, inBlock, code); });
                 return {};
               });
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

void LogitsGrid::takeMemory(LogitsKeeper &keeper, OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  IndexMath math = {builder, loc};
  recordWords = keeper.recordWords(loops);
  Value records = math.mul(loops.size(op.getInput(), 0), tiles());
  Value words = loops.mul(records, recordWords);
  auto type = MemRefType::get(ShapedType::kDynamic, builder.getF32Type());
  memory = memref::AllocOp::create(builder, loc, type, words);
}

/// Those of all tiles of a row.
TileRecords LogitsGrid::recordsOf(Value row, BlockCode &code) {
  Value pitch = code.mul(code.toI32(recordWords), 4);
  Value first = code.at(code.global(memory),
                        code.rowOffset(row, code.mul(pitch, tiles())));
  return {first, pitch, code.i32(tiles())};
}

/// A block a tile of so many rows. Those of the same weights are side by side,
/// and read them at once.
void LogitsGrid::createTiles(
    int64_t rows, const BlockShape &shape, OpBuilder &builder,
    function_ref<void(const Place &, BlockCode &)> body) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  Value rowBlocks = loops.uceilDiv(loops.size(op.getInput(), 0), rows);
  Value blocks = loops.mul(rowBlocks, tiles());
  createGrid(builder, loc, blocks, shape, [&](BlockCode &code, Value block) {
    Value count = code.toI32(rowBlocks);
    body(placeOf(rows, code.urem(block, count), code.udiv(block, count), code),
         code);
  });
}

void LogitsGrid::buildTiles(const ProductShape &shape, LogitsKeeper &keeper,
                            OpBuilder &builder) {
  static_assert(kShape.threads() == kTileWarps * kWarpThreads);
  createTiles(shape.rows(), blockOf(shape), builder,
              [&](const Place &place, BlockCode &code) {
                code.multipliesTf32 = architecture.multipliesTf32;
                SmallVector<ProductPiece> pieces =
                    multiplyBlock(shape, operandsOf(place, code), code);
                // Nobody reads stages any more.
                code.barrier();
                leaveLogits(pieces, code.i32(0), place, code);
                code.barrier();
                goThroughAll(keeper, place, shape.rows(), code.warp(), code);
              });
}

/// Warps that have multiplied go on with what they have left each other; those
/// that copied are done, and have too few registers.
void LogitsGrid::buildTiles(const WarpgroupShape &shape, LogitsKeeper &keeper,
                            OpBuilder &builder) {
  auto buildBlock = [&](const Place &place, BlockCode &block) {
    WarpgroupCode code(block.builder, block.loc, block.threads);
    WarpgroupTiles tiles;
    tiles.count = code.i32(1);
    auto find = [&](Value) { return operandsOf(place, code); };
    auto finish = [&](Value, Value firstRow, ArrayRef<ProductPiece> pieces) {
      constexpr int64_t threads = kTileWarps * kWarpThreads;
      // Nobody reads stages any more.
      code.barrierOf(threads);
      leaveLogits(pieces, firstRow, place, code);
      code.barrierOf(threads);
      Value warp = code.sub(code.uniformWarp(),
                            code.i32(kWarpgroupThreads / kWarpThreads));
      goThroughAll(keeper, place, shape.rows, warp, code);
    };
    tiles.place = find;
    tiles.finish = finish;
    multiplyByWarpgroups(shape, tiles, code);
  };
  static_assert(kWarpgroupShape.threads() ==
                kTileWarps * kWarpThreads + kWarpgroupThreads);
  createTiles(shape.rows, blockOf(shape), builder, buildBlock);
}

/// A warp a range of a row.
void LogitsGrid::buildMeeting(LogitsKeeper &keeper, OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  IndexMath math = {builder, loc};
  int64_t ranges = op.getNumRanges();
  Value units = math.mul(loops.size(op.getInput(), 0), ranges);
  Value blocks = loops.uceilDiv(units, kWarps);
  auto buildBlock = [&](BlockCode &code, Value block) {
    Value unit = code.add(code.mul(block, kWarps), code.warp());
    code.ifThen(code.uless(unit, code.toI32(units)), [&] {
      Value row = code.udiv(unit, ranges);
      Value range = code.urem(unit, ranges);
      TileRecords records = recordsOf(row, code);
      Value firstTile = code.mul(range, tilesOfRange());
      records.first = records.at(firstTile, code);
      records.count = code.umin(code.sub(records.count, firstTile),
                                code.i32(tilesOfRange()));
      keeper.finish(records, row, range, code);
    });
  };
  createGrid(builder, loc, blocks, {kWarps * kWarpThreads}, buildBlock);
}

/// The tiles of the shape that the rows ask for, all of which have the same
/// bits, and what becomes of them.
void LogitsGrid::build(LogitsKeeper &keeper, OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  Value rows = loops.size(op.getInput(), 0);
  auto choose = [&](int64_t most, function_ref<void()> few,
                    function_ref<void()> many) {
    Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                        rows, loops.index(most));
    createIfElse(builder, loc, isFew, few, many);
  };
  auto tilesOf = [&](const auto &shape) {
    return [&] { buildTiles(shape, keeper, builder); };
  };
  if (architecture.hasWarpgroups && !element.isF32())
    choose(kFewRowsWarpgroupShape.rows, tilesOf(kFewRowsWarpgroupShape), [&] {
      choose(kSmallWarpgroupShape.rows, tilesOf(kSmallWarpgroupShape),
             tilesOf(kWarpgroupShape));
    });
  else
    choose(kFewRows, tilesOf(kFewRowsShape), tilesOf(kShape));
  buildMeeting(keeper, builder);
}

LogicalResult heddle::emitGrid(LargestLogitsOp op,
                               const GpuArchitecture &architecture) {
  LogitsGrid grid(op, architecture);
  if (!grid.isSupported())
    return failure();
  OpBuilder builder(op);
  LargestKeeper keeper(op);
  grid.takeMemory(keeper, builder);
  grid.build(keeper, builder);
  return success();
}

LogicalResult heddle::emitGrid(BestLogitsOp op,
                               const GpuArchitecture &architecture) {
  LogitsGrid grid(op, architecture);
  if (!grid.isSupported())
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  Value first = loops.index(0), count = loops.lastSize(op.getDestinations()[2]);
  BestKeeper all(op, first);
  grid.takeMemory(all, builder);
  auto passes = scf::ForOp::create(builder, op.getLoc(), first, count,
                                   loops.index(kWarpThreads));
  BestKeeper keeper(op, passes.getInductionVar());
  builder.setInsertionPointToStart(passes.getBody());
  grid.build(keeper, builder);
  return success();
}
