#include "lib/Kernels/Gpu/LogitsGrid.h"
#include "lib/Kernels/Gpu/LogitsKeepers.h"
#include "lib/Kernels/Gpu/ProductEnds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// A warp a panel, and two rows a warp.
static constexpr ProductShape kShape = {16, 1, 1, 8, 3};
static constexpr int64_t kColumns = kShape.panels() * kPanelColumns;
static constexpr int64_t kRowsOfWarp = kShape.rows() / kShape.panelWarps;
/// Bytes from one row of logits to the next: rows begin in other banks.
static constexpr int64_t kLogitsPitch = (kColumns + 4) * sizeof(float);

namespace {
class LogitsGrid {
public:
  LogitsGrid(RangedLogitsOpInterface op, LogitsKeeper &keeper)
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
  LogitsKeeper &keeper;
  ProductEnds ends;
};
} // namespace

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
    FourWords logits = ends.finish(
        piece.sums, scale, ends.load(inside, place.columns, code), code);
    for (auto [number, logit] : llvm::enumerate(logits))
      logit = code.choose(code.isLess(code.plus(column, number), place.width),
                          logit, code.f32(kLowestLogit));
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
    return SmallVector<Value>{code.either(now[0], isHere), isListed};
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
        Value allowed = code.choose(isForbidden(row, id, code),
                                    code.f32(kLowestLogit), logit);
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

LogicalResult heddle::emitGrid(LargestLogitsOp op) {
  LargestKeeper keeper(op);
  LogitsGrid grid(op, keeper);
  if (!grid.isSupported())
    return failure();
  OpBuilder builder(op);
  grid.build(builder);
  return success();
}

LogicalResult heddle::emitGrid(BestLogitsOp op) {
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
