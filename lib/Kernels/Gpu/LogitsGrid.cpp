#include "lib/Kernels/Gpu/LogitsGrid.h"
#include "lib/Kernels/Gpu/ProductEnds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace mlir;
using namespace heddle;

/// A warp a panel, and two rows a warp.
static constexpr ProductShape kShape = {16, 1, 1, 8, 3};
static constexpr int64_t kColumns = kShape.panels() * kPanelColumns;
static constexpr int64_t kRowsOfWarp = kShape.rows() / kShape.panelWarps;
/// Bytes from one row of logits to the next: rows begin in other banks.
static constexpr int64_t kLogitsPitch = (kColumns + 4) * sizeof(float);
static constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// The exponential of a difference of two numbers, of which -inf may be one.
static Value expOf(BlockCode &code, Value x) {
  return math::ExpOp::create(code.builder, code.loc, x);
}
static Value isAbove(BlockCode &code, Value lhs, Value rhs) {
  return arith::CmpFOp::create(code.builder, code.loc,
                               arith::CmpFPredicate::OGT, lhs, rhs);
}
static Value isEqual(BlockCode &code, Value lhs, Value rhs) {
  return arith::CmpFOp::create(code.builder, code.loc,
                               arith::CmpFPredicate::OEQ, lhs, rhs);
}
static Value isNoNumber(BlockCode &code, Value x) {
  return arith::CmpFOp::create(code.builder, code.loc,
                               arith::CmpFPredicate::UNO, x, x);
}
static Value either(BlockCode &code, Value lhs, Value rhs) {
  return arith::OrIOp::create(code.builder, code.loc, lhs, rhs);
}

namespace {
/// What a warp keeps of the logits of a row, while it goes through a range.
class Keeper {
public:
  virtual ~Keeper() = default;
  /// Of no logits: each lane's values.
  virtual SmallVector<Value> start(Value row, Value range, BlockCode &code) = 0;
  /// With one more of each lane, of ids that ascend with the lanes; `allowed`
  /// is -inf where the row forbids the id.
  virtual SmallVector<Value> keep(ValueRange kept, Value logit, Value allowed,
                                  Value id, BlockCode &code) = 0;
  /// Writes the range's results, [row, range].
  virtual void finish(ValueRange kept, Value row, Value range,
                      BlockCode &code) = 0;
};

/// Each lane's largest and its id.
class LargestKeeper : public Keeper {
public:
  explicit LargestKeeper(LargestLogitsOp op) : op(op) {}

  SmallVector<Value> start(Value, Value, BlockCode &code) override {
    return {code.f32(kLowest), code.i32(-1)};
  }
  SmallVector<Value> keep(ValueRange kept, Value logit, Value allowed, Value id,
                          BlockCode &code) override;
  void finish(ValueRange kept, Value row, Value range,
              BlockCode &code) override;

private:
  LargestLogitsOp op;
};

/// The list of the best, one a lane; each lane's maximum, and its sum of
/// exponentials of differences from it; and what has to stand in front of the
/// list. More than there are lanes are kept in several passes.
class BestKeeper : public Keeper {
public:
  /// The first place of the list that this pass fills, an index.
  BestKeeper(BestLogitsOp op, Value firstPlace)
      : op(op), firstPlace(firstPlace) {}

  SmallVector<Value> start(Value row, Value range, BlockCode &code) override;
  SmallVector<Value> keep(ValueRange kept, Value logit, Value allowed, Value id,
                          BlockCode &code) override;
  void finish(ValueRange kept, Value row, Value range,
              BlockCode &code) override;

private:
  /// How many this pass is to keep, i32.
  Value count(BlockCode &code) {
    Value all = code.toI32(code.lastSize(op.getDestinations()[2]));
    return code.least(code.minus(all, code.toI32(firstPlace)),
                      code.i32(kWarpThreads));
  }
  SmallVector<Value> insert(ValueRange list, Value logits, Value ids,
                            BlockCode &code);

  BestLogitsOp op;
  Value firstPlace;
};

class LogitsGrid {
public:
  LogitsGrid(RangedLogitsOpInterface op, Keeper &keeper)
      : op(op), keeper(keeper),
        ends(ProductEnds::of(op, {int64_t(op.getVocabulary())})) {}

  bool isSupported() {
    return isPacked(op.getWeight()) && pitchOf(op.getInput()) > 0 &&
           pitchOf(op.getInput()) % 4 == 0;
  }
  void build(OpBuilder &builder);

private:
  /// Where a block is.
  struct Place {
    Value range, firstRow, rows, panels, width;
    ColumnRange columns;
  };

  int64_t panelsOfRange() { return int64_t(op.getRange()) / kPanelColumns; }
  static int64_t logitsAt() { return kShape.block().sharedBytes; }
  BlockShape block() const {
    return {kShape.threads(), logitsAt() + kShape.rows() * kLogitsPitch};
  }

  void buildBlock(Value block, Value rowBlocks, BlockCode &code);
  void leaveLogits(const Place &place, Value firstPanel, BlockCode &code);
  Value isForbidden(Value row, Value id, BlockCode &code);
  SmallVector<Value> goThrough(const Place &place, Value row, Value inBlock,
                               Value firstPanel, ValueRange kept,
                               BlockCode &code);

  RangedLogitsOpInterface op;
  Keeper &keeper;
  ProductEnds ends;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

SmallVector<Value> LargestKeeper::keep(ValueRange kept, Value logit,
                                       Value allowed, Value id,
                                       BlockCode &code) {
  // What is no number is a value only as long as there is no id.
  Value hasNone = code.isSame(kept[1], code.i32(-1));
  Value best = code.choose(hasNone, code.f32(kLowest), kept[0]);
  Value isBest = isAbove(code, allowed, best);
  Value isTaken =
      either(code, isBest, code.both(hasNone, isNoNumber(code, allowed)));
  return {code.choose(isTaken, allowed, kept[0]),
          code.choose(isBest, id, kept[1])};
}

void LargestKeeper::finish(ValueRange kept, Value row, Value range,
                           BlockCode &code) {
  SmallVector<Value> best =
      code.combineLanes(kept, [&](ValueRange mine, ValueRange other) {
        // Of equal ones the first id; -1, without a sign, is the last one.
        Value isFirst = code.both(isEqual(code, other[0], mine[0]),
                                  code.isLess(other[1], mine[1]));
        Value none = code.i32(-1);
        Value hasNone = code.isSame(mine[1], none);
        Value otherHas = code.isLess(other[1], none);
        Value isBetter = code.both(
            otherHas,
            either(code, hasNone,
                   either(code, isFirst, isAbove(code, other[0], mine[0]))));
        Value isNaN = code.both(hasNone, isNoNumber(code, other[0]));
        Value isTaken = either(code, isBetter, isNaN);
        return SmallVector<Value>{code.choose(isTaken, other[0], mine[0]),
                                  code.choose(isTaken, other[1], mine[1])};
      });
  code.when(code.isSame(code.lane(), code.i32(0)), [&] {
    SmallVector<Value> at = {code.toIndex(row), code.toIndex(range)};
    code.store(best[0], op.getDestinations()[0], at);
    code.store(best[1], op.getDestinations()[1], at);
  });
}

SmallVector<Value> BestKeeper::start(Value row, Value range, BlockCode &code) {
  // In front of the first pass stands what nothing is above.
  constexpr float most = std::numeric_limits<float>::infinity();
  Value one = code.index(1);
  Value before = arith::SubIOp::create(
      code.builder, code.loc,
      arith::MaxUIOp::create(code.builder, code.loc, firstPlace, one), one);
  Value isFirst =
      arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::eq,
                            firstPlace, code.index(0));
  SmallVector<Value> at = {code.toIndex(row), code.toIndex(range), before};
  auto bound = [&](Value first, Value list) {
    return code.choose(isFirst, first, code.load(list, at));
  };
  return {code.f32(kLowest),
          code.i32(-1),
          code.f32(kLowest),
          code.f32(0),
          bound(code.f32(most), op.getDestinations()[2]),
          bound(code.i32(-1), op.getDestinations()[3])};
}

/// The list with what is above its last of a logit a lane, one after the other.
SmallVector<Value> BestKeeper::insert(ValueRange list, Value logits, Value ids,
                                      BlockCode &code) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  Value last = code.minus(count(code), code.i32(1)), lane = code.lane();
  auto isBetter = [&](Value values) {
    return isAbove(code, logits, code.fromLane(values, last));
  };
  // Lanes whose logit is to be inserted, values and ids.
  SmallVector<Value> carried = {code.vote(isBetter(list[0])), list[0], list[1]};
  auto before = [&](OpBuilder &, Location, ValueRange now) {
    Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         now[0], code.i32(0));
    scf::ConditionOp::create(builder, loc, isLeft, now);
  };
  auto insertFirst = [&](OpBuilder &, Location, ValueRange now) {
    Value from = math::CountTrailingZerosOp::create(builder, loc, now[0]);
    Value value = code.fromLane(logits, from), id = code.fromLane(ids, from);
    // Behind those that are as large: their ids come first.
    Value isSmaller = isAbove(code, value, now[1]);
    Value valueBefore = code.fromLaneBefore(now[1]),
          idBefore = code.fromLaneBefore(now[2]);
    Value smallerBefore = code.vote(isSmaller);
    Value place =
        math::CountTrailingZerosOp::create(builder, loc, smallerBefore);
    Value isHere = code.isSame(lane, place);
    auto shifted = [&](Value mine, Value inserted, Value other) {
      return code.choose(isSmaller, code.choose(isHere, inserted, other), mine);
    };
    Value values = shifted(now[1], value, valueBefore);
    Value listed = shifted(now[2], id, idBefore);
    // Those behind this lane that are above what is last now.
    Value behind = arith::ShLIOp::create(builder, loc, code.i32(-2), from);
    Value left = code.both(code.vote(isBetter(values)), behind);
    scf::YieldOp::create(builder, loc, ValueRange{left, values, listed});
  };
  auto loop = scf::WhileOp::create(builder, loc, ValueRange(carried).getTypes(),
                                   carried, before, insertFirst);
  return SmallVector<Value>(loop.getResults().drop_front());
}

SmallVector<Value> BestKeeper::keep(ValueRange kept, Value logit, Value allowed,
                                    Value id, BlockCode &code) {
  Value isBehind = either(
      code, isAbove(code, kept[4], allowed),
      code.both(isEqual(code, kept[4], allowed),
                arith::CmpIOp::create(code.builder, code.loc,
                                      arith::CmpIPredicate::slt, kept[5], id)));
  SmallVector<Value> result =
      insert(kept.take_front(2),
             code.choose(isBehind, allowed, code.f32(kLowest)), id, code);
  // Differences from -inf are those from 0: there is nothing to add then.
  Value lowest = code.f32(kLowest);
  Value maximum = code.choose(isAbove(code, logit, kept[2]), logit, kept[2]);
  Value base =
      code.choose(isEqual(code, maximum, lowest), code.f32(0), maximum);
  Value before = code.mul(kept[3], expOf(code, code.sub(kept[2], base)));
  result.push_back(maximum);
  result.push_back(code.add(before, expOf(code, code.sub(logit, base))));
  llvm::append_range(result, kept.take_back(2));
  return result;
}

void BestKeeper::finish(ValueRange kept, Value row, Value range,
                        BlockCode &code) {
  Value lowest = code.f32(kLowest);
  SmallVector<Value> ends = code.combineLanes(
      kept.slice(2, 2), [&](ValueRange mine, ValueRange other) {
        Value maximum =
            code.choose(isAbove(code, other[0], mine[0]), other[0], mine[0]);
        Value base =
            code.choose(isEqual(code, maximum, lowest), code.f32(0), maximum);
        auto scaled = [&](ValueRange part) {
          return code.mul(part[1], expOf(code, code.sub(part[0], base)));
        };
        return SmallVector<Value>{maximum,
                                  code.add(scaled(mine), scaled(other))};
      });
  SmallVector<Value> at = {code.toIndex(row), code.toIndex(range)};
  Value lane = code.lane();
  code.when(code.isSame(lane, code.i32(0)), [&] {
    code.store(ends[0], op.getDestinations()[0], at);
    code.store(ends[1], op.getDestinations()[1], at);
  });
  code.when(code.isLess(lane, count(code)), [&] {
    SmallVector<Value> place =
        append(at, arith::AddIOp::create(code.builder, code.loc, firstPlace,
                                         code.toIndex(lane)));
    code.store(kept[0], op.getDestinations()[2], place);
    code.store(kept[1], op.getDestinations()[3], place);
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The logits of some panels of the range, in shared memory; -inf behind its
/// end.
void LogitsGrid::leaveLogits(const Place &place, Value firstPanel,
                             BlockCode &code) {
  int64_t depth = ends.depth;
  Type element = cast<MemRefType>(op.getWeight().getType()).getElementType();
  PanelLayout layout(element, ends.widths);
  ProductOperands operands;
  operands.element = element;
  operands.depth = depth;
  operands.pitch = pitchOf(op.getInput());
  operands.x =
      code.at(code.global(op.getInput()),
              code.rowOffset(place.firstRow, code.i32(operands.pitch)));
  operands.rows = place.rows;
  operands.panel =
      code.at(code.global(op.getWeight()),
              code.rowOffset(code.plus(place.columns.firstPanel, firstPanel),
                             code.i32(layout.panelBytes(depth))));
  operands.panels = code.minus(place.panels, firstPanel);
  for (const ProductPiece &piece : multiplyBlock(kShape, operands, code)) {
    Value inTile =
        code.plus(code.times(piece.panel, kPanelColumns), piece.column);
    Value column = code.plus(code.times(firstPanel, kPanelColumns), inTile);
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
    Value isColumn = code.isLess(column, place.width);
    Value inside = code.choose(isColumn, column, code.i32(0));
    FourWords logits =
        ends.finish(piece.sums, scale, inside, place.columns, code);
    for (auto [number, logit] : llvm::enumerate(logits))
      logit = code.choose(code.isLess(code.plus(column, number), place.width),
                          logit, code.f32(kLowest));
    code.storeFour(logits, code.shared(code.plus(
                               code.plus(code.times(piece.row, kLogitsPitch),
                                         code.times(inTile, sizeof(float))),
                               logitsAt())));
  }
}

/// Whether `id` stands in front of the first negative one of a row's.
Value LogitsGrid::isForbidden(Value row, Value id, BlockCode &code) {
  OpBuilder &builder = code.builder;
  Value no =
      arith::ConstantOp::create(builder, code.loc, builder.getBoolAttr(false));
  Value yes =
      arith::ConstantOp::create(builder, code.loc, builder.getBoolAttr(true));
  Value count = code.toI32(code.lastSize(op.getForbidden()));
  return code.foldAll(count, {no, yes}, [&](Value at, ValueRange now) {
    Value listed =
        code.load(op.getForbidden(), {code.toIndex(row), code.toIndex(at)});
    Value isListed =
        code.both(now[1], arith::CmpIOp::create(builder, code.loc,
                                                arith::CmpIPredicate::sge,
                                                listed, code.i32(0)));
    Value isHere = code.both(isListed, code.isSame(listed, id));
    return SmallVector<Value>{either(code, now[0], isHere), isListed};
  })[0];
}

/// What is kept of a row with the logits in shared memory.
SmallVector<Value> LogitsGrid::goThrough(const Place &place, Value row,
                                         Value inBlock, Value firstPanel,
                                         ValueRange kept, BlockCode &code) {
  Value lane = code.lane();
  Value first = code.plus(code.times(place.range, int64_t(op.getRange())),
                          code.times(firstPanel, kPanelColumns));
  Value memory = code.plus(code.times(inBlock, kLogitsPitch), logitsAt());
  return code.foldAll(
      code.i32(kColumns / kWarpThreads), kept, [&](Value step, ValueRange now) {
        Value column = code.plus(code.times(step, kWarpThreads), lane);
        Value logit = code.loadOne(
            code.builder.getF32Type(),
            code.shared(code.plus(memory, code.times(column, sizeof(float)))));
        Value id = code.plus(first, column);
        Value allowed =
            code.choose(isForbidden(row, id, code), code.f32(kLowest), logit);
        return keeper.keep(now, logit, allowed, id, code);
      });
}

void LogitsGrid::buildBlock(Value block, Value rowBlocks, BlockCode &code) {
  Place place;
  place.range = code.dividedBy(block, rowBlocks);
  place.firstRow = code.times(code.remainder(block, rowBlocks), kShape.rows());
  place.rows =
      code.minus(code.toI32(code.size(op.getInput(), 0)), place.firstRow);
  Value firstId = code.times(place.range, int64_t(op.getRange()));
  place.width =
      code.least(code.minus(code.i32(int64_t(op.getVocabulary())), firstId),
                 code.i32(int64_t(op.getRange())));
  place.panels =
      code.dividedBy(code.plus(place.width, kPanelColumns - 1), kPanelColumns);
  place.columns = {code.times(place.range, panelsOfRange()), firstId,
                   place.width};

  auto rowOf = [&](int64_t row) {
    return code.plus(code.warp(), row * kShape.panelWarps);
  };
  // A row behind the last does what that one does.
  auto rowInside = [&](Value inBlock) {
    Value last = code.minus(place.rows, code.i32(1));
    return code.plus(place.firstRow, code.least(inBlock, last));
  };
  SmallVector<Value> kept;
  for (int64_t row = 0; row < kRowsOfWarp; ++row)
    llvm::append_range(kept,
                       keeper.start(rowInside(rowOf(row)), place.range, code));
  size_t each = kept.size() / kRowsOfWarp;
  Value tiles = code.dividedBy(code.plus(place.panels, kShape.panels() - 1),
                               kShape.panels());
  kept = code.foldAll(tiles, kept, [&](Value tile, ValueRange now) {
    Value firstPanel = code.times(tile, kShape.panels());
    // Nobody goes through logits any more that are written here, nor writes
    // those that are read.
    code.barrier();
    leaveLogits(place, firstPanel, code);
    code.barrier();
    SmallVector<Value> next;
    for (int64_t row = 0; row < kRowsOfWarp; ++row) {
      Value inBlock = rowOf(row);
      llvm::append_range(next, goThrough(place, rowInside(inBlock), inBlock,
                                         firstPanel,
                                         now.slice(row * each, each), code));
    }
    return next;
  });
  for (int64_t row = 0; row < kRowsOfWarp; ++row) {
    Value inBlock = rowOf(row);
    code.when(code.isLess(inBlock, place.rows), [&] {
      keeper.finish(ValueRange(kept).slice(row * each, each),
                    code.plus(place.firstRow, inBlock), place.range, code);
    });
  }
}

void LogitsGrid::build(OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  Value rowBlocks = arith::CeilDivUIOp::create(
      builder, loc, loops.size(op.getInput(), 0), loops.index(kShape.rows()));
  Value blocks = arith::MulIOp::create(builder, loc, rowBlocks,
                                       loops.index(op.getNumRanges()));
  createGrid(builder, loc, blocks, block(), [&](BlockCode &code, Value block) {
    buildBlock(block, code.toI32(rowBlocks), code);
  });
}

LogicalResult heddle::emitLogitsGrid(LargestLogitsOp op) {
  LargestKeeper keeper(op);
  LogitsGrid grid(op, keeper);
  if (!grid.isSupported())
    return failure();
  OpBuilder builder(op);
  grid.build(builder);
  return success();
}

LogicalResult heddle::emitLogitsGrid(BestLogitsOp op) {
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  Value count = loops.lastSize(op.getDestinations()[2]);
  auto passes = scf::ForOp::create(builder, op.getLoc(), loops.index(0), count,
                                   loops.index(kWarpThreads));
  BestKeeper keeper(op, passes.getInductionVar());
  LogitsGrid grid(op, keeper);
  if (!grid.isSupported()) {
    passes.erase();
    return failure();
  }
  builder.setInsertionPointToStart(passes.getBody());
  grid.build(builder);
  return success();
}
