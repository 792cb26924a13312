#include "lib/Kernels/Gpu/LogitsGrid.h"
#include "dialect/MaskRanges.h"
#include "lib/Kernels/Gpu/LogitsKeepers.h"
#include "lib/Kernels/Gpu/ProductEnds.h"
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
/// Bytes from one row of logits to the next: rows begin in other banks.
static constexpr int64_t kLogitsPitch = (kColumns + 4) * sizeof(float);
/// Of a block where tiles meet, a range of a row each.
static constexpr int64_t kWarps = 4;

namespace {
class LogitsGrid {
public:
  LogitsGrid(RangedLogitsOpInterface op, const GpuArchitecture &architecture)
      : op(op), architecture(architecture),
        ends(ProductEnds::of(op, {int64_t(op.getVocabulary())})) {}

  bool isSupported() {
    return isPacked(op.getWeight()) && pitchOf(op.getInput()) > 0 &&
           pitchOf(op.getInput()) % 4 == 0;
  }
  /// Takes memory for what tiles leave, in front of the op.
  void takeMemory(LogitsKeeper &keeper, OpBuilder &builder);
  /// The grids of one pass.
  void build(LogitsKeeper &keeper, OpBuilder &builder);

private:
  /// Where a block is.
  struct Place {
    Value range, firstRow, rows;
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

  void buildTiles(const ProductShape &shape, LogitsKeeper &keeper,
                  OpBuilder &builder);
  void buildMeeting(LogitsKeeper &keeper, OpBuilder &builder);
  Place placeOf(const ProductShape &shape, Value rowBlock, Value tile,
                BlockCode &code);
  TileRecords recordsOf(Value row, BlockCode &code);
  void leaveLogits(const ProductShape &shape, const Place &place,
                   BlockCode &code);
  Value findForbidden(Value row, Value firstId, BlockCode &code);
  void goThrough(LogitsKeeper &keeper, const Place &place, Value inBlock,
                 Value record, BlockCode &code);

  RangedLogitsOpInterface op;
  const GpuArchitecture &architecture;
  ProductEnds ends;
  /// f32: records [rows, tiles, words]; the last an index.
  Value memory, recordWords;
};
} // namespace

LogitsGrid::Place LogitsGrid::placeOf(const ProductShape &shape, Value rowBlock,
                                      Value tile, BlockCode &code) {
  int64_t range = int64_t(op.getRange());
  Place place;
  place.firstRow = code.times(rowBlock, shape.rows());
  place.rows =
      code.minus(code.toI32(code.size(op.getInput(), 0)), place.firstRow);
  place.range = code.dividedBy(tile, tilesOfRange());
  Value inRange = code.remainder(tile, tilesOfRange());
  Value firstColumn = code.times(inRange, kColumns);
  place.firstId = code.plus(code.times(place.range, range), firstColumn);
  Value left = code.least(
      code.minus(code.i32(range), firstColumn),
      code.minus(code.i32(int64_t(op.getVocabulary())), place.firstId));
  place.columns = {code.plus(code.times(place.range, range / kPanelColumns),
                             code.times(inRange, kPanels)),
                   place.firstId, code.least(left, code.i32(kColumns))};
  return place;
}

/// The logits of a tile, in shared memory; -inf behind its end.
void LogitsGrid::leaveLogits(const ProductShape &shape, const Place &place,
                             BlockCode &code) {
  int64_t depth = ends.depth;
  Type element = typeOf(op.getWeight()).getElementType();
  PanelLayout layout(element, ends.widths);
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
  operands.panels = code.dividedBy(
      code.plus(place.columns.width, kPanelColumns - 1), kPanelColumns);
  SmallVector<ProductPiece> pieces = multiplyBlock(shape, operands, code);
  // Nobody reads stages any more.
  code.barrier();
  for (const ProductPiece &piece : pieces) {
    Value column =
        code.plus(code.times(piece.panel, kPanelColumns), piece.column);
    Value isRow = code.isLess(piece.row, place.rows);
    Value scale;
    if (Value scales = op.getInputScales()) {
      Value row = code.choose(isRow, piece.row, code.i32(0));
      scale =
          code.loadOne(code.builder.getF32Type(),
                       code.at(code.global(scales),
                               code.rowOffset(code.plus(place.firstRow, row),
                                              code.i32(sizeof(float)))));
    }
    // Columns behind the end read what stands in front of it.
    Value width = place.columns.width;
    Value isColumn = code.isLess(column, width);
    Value inside = code.choose(isColumn, column, code.i32(0));
    FourWords logits = ends.finish(
        piece.sums, scale, ends.load(inside, place.columns, code), code);
    for (auto [number, logit] : llvm::enumerate(logits))
      logit = code.choose(code.isLess(code.plus(column, number), width), logit,
                          code.f32(kLowestLogit));
    code.storeFour(logits,
                   code.shared(code.plus(code.times(piece.row, kLogitsPitch),
                                         code.times(column, sizeof(float)))));
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
    scf::ConditionOp::create(builder, loc, code.isLess(now[0], count), now);
  };
  auto addPlaces = [&](OpBuilder &, Location, ValueRange now) {
    Value place = code.plus(now[0], lane);
    Value listed = code.select(
        code.isLess(place, count),
        [&] {
          return code.load(op.getForbidden(),
                           {code.toIndex(row), code.toIndex(place)});
        },
        code.i32(-1));
    Value negative = code.vote(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, listed, code.i32(0)));
    Value inTile = code.minus(listed, firstId);
    Value isHere = code.both(code.isLess(lane, firstOf(negative)),
                             code.isLess(inTile, code.i32(kColumns)));
    auto isVote = [&](OpBuilder &, Location, ValueRange now) {
      scf::ConditionOp::create(builder, loc,
                               code.isDifferent(now[0], code.i32(0)), now);
    };
    auto addVote = [&](OpBuilder &, Location, ValueRange now) {
      Value id = code.fromLane(inTile, firstOf(now[0]));
      Value bit = shifted(one, code.dividedBy(id, kWarpThreads));
      Value isMine = code.isSame(code.remainder(id, kWarpThreads), lane);
      Value added = code.choose(isMine, bit, code.i32(0));
      Value left = code.both(now[0], code.minus(now[0], one));
      scf::YieldOp::create(builder, loc,
                           ValueRange{left, code.either(now[1], added)});
    };
    SmallVector<Value> votes = {code.vote(isHere), now[1]};
    auto inner = scf::WhileOp::create(
        builder, loc, ValueRange(votes).getTypes(), votes, isVote, addVote);
    // Nothing counts behind a negative one.
    Value next = code.choose(code.isSame(negative, code.i32(0)),
                             code.plus(now[0], kWarpThreads), count);
    scf::YieldOp::create(builder, loc, ValueRange{next, inner.getResult(1)});
  };
  return scf::WhileOp::create(builder, loc, ValueRange(carried).getTypes(),
                              carried, isLeft, addPlaces)
      .getResult(1);
}

/// What is kept of a row of a tile, whose logits stand in shared memory.
void LogitsGrid::goThrough(LogitsKeeper &keeper, const Place &place,
                           Value inBlock, Value record, BlockCode &code) {
  Value row = code.plus(place.firstRow, inBlock), lane = code.lane();
  Value forbidden = findForbidden(row, place.firstId, code);
  Value memory = code.times(inBlock, kLogitsPitch);
  SmallVector<Value> kept = code.foldAll(
      code.i32(kColumns / kWarpThreads), keeper.start(row, place.range, code),
      [&](Value step, ValueRange now) {
        Value column = code.plus(code.times(step, kWarpThreads), lane);
        Value logit = code.loadOne(
            code.builder.getF32Type(),
            code.shared(code.plus(memory, code.times(column, sizeof(float)))));
        Value bit = code.both(
            arith::ShRUIOp::create(code.builder, code.loc, forbidden, step),
            code.i32(1));
        Value allowed = code.choose(code.isSame(bit, code.i32(0)), logit,
                                    code.f32(kLowestLogit));
        return keeper.keep(now, logit, allowed,
                           code.plus(place.firstId, column), code);
      });
  keeper.leave(kept, record, code);
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
  Value words = arith::MulIOp::create(builder, loc, records, recordWords);
  auto type = MemRefType::get(ShapedType::kDynamic, builder.getF32Type());
  memory = memref::AllocOp::create(builder, loc, type, words);
}

/// Those of all tiles of a row.
TileRecords LogitsGrid::recordsOf(Value row, BlockCode &code) {
  Value pitch = code.times(code.toI32(recordWords), 4);
  Value first = code.at(code.global(memory),
                        code.rowOffset(row, code.times(pitch, tiles())));
  return {first, pitch, code.i32(tiles())};
}

/// Tiles of the same weights are side by side, and read them at once.
void LogitsGrid::buildTiles(const ProductShape &shape, LogitsKeeper &keeper,
                            OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  Value rowBlocks = arith::CeilDivUIOp::create(
      builder, loc, loops.size(op.getInput(), 0), loops.index(shape.rows()));
  Value blocks =
      arith::MulIOp::create(builder, loc, rowBlocks, loops.index(tiles()));
  auto buildBlock = [&](BlockCode &code, Value block) {
    code.multipliesTf32 = architecture.multipliesTf32;
    Value count = code.toI32(rowBlocks);
    Value tile = code.dividedBy(block, count);
    Place place = placeOf(shape, code.remainder(block, count), tile, code);
    leaveLogits(shape, place, code);
    code.barrier();
    code.foldAll(code.i32(shape.rows() / shape.panelWarps), {},
                 [&](Value number, ValueRange) -> SmallVector<Value> {
                   Value inBlock = code.plus(
                       code.times(number, shape.panelWarps), code.warp());
                   code.when(code.isLess(inBlock, place.rows), [&] {
                     Value row = code.plus(place.firstRow, inBlock);
                     Value record = recordsOf(row, code).at(tile, code);
                     goThrough(keeper, place, inBlock, record, code);
                   });
                   return {};
                 });
  };
  createGrid(builder, loc, blocks, blockOf(shape), buildBlock);
}

/// A warp a range of a row.
void LogitsGrid::buildMeeting(LogitsKeeper &keeper, OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  IndexMath math = {builder, loc};
  int64_t ranges = op.getNumRanges();
  Value units = math.mul(loops.size(op.getInput(), 0), ranges);
  Value blocks =
      arith::CeilDivUIOp::create(builder, loc, units, loops.index(kWarps));
  auto buildBlock = [&](BlockCode &code, Value block) {
    Value unit = code.plus(code.times(block, kWarps), code.warp());
    code.when(code.isLess(unit, code.toI32(units)), [&] {
      Value row = code.dividedBy(unit, ranges);
      Value range = code.remainder(unit, ranges);
      TileRecords records = recordsOf(row, code);
      Value firstTile = code.times(range, tilesOfRange());
      records.first = records.at(firstTile, code);
      records.count = code.least(code.minus(records.count, firstTile),
                                 code.i32(tilesOfRange()));
      keeper.finish(records, row, range, code);
    });
  };
  createGrid(builder, loc, blocks, {kWarps * kWarpThreads}, buildBlock);
}

void LogitsGrid::build(LogitsKeeper &keeper, OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                      loops.size(op.getInput(), 0),
                                      loops.index(kFewRows));
  auto tilesOf = [&](const ProductShape &shape) {
    return [&, shape](OpBuilder &, Location at) {
      buildTiles(shape, keeper, builder);
      scf::YieldOp::create(builder, at);
    };
  };
  scf::IfOp::create(builder, loc, isFew, tilesOf(kFewRowsShape),
                    tilesOf(kShape));
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
