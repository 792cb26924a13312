//===- TileLinear.cpp - Cut linears into tiles ----------------------------===//
//
// A task is a block of rows by a range of panels. Within it all rows pass over
// one panel after the other: the panel stays in the L1 cache, the rows in the
// L2. Rows are cut evenly, so that no tile is much smaller than the others; few
// rows, as in a step, take several panels at once, since a tile with few
// accumulators would wait for each of its additions.
//
// How much becomes a task depends on sizes alone. Bits do not depend on it: a
// tile sums over the whole depth.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops.h"
#include "lib/CodeGen/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace heddle {
#define GEN_PASS_DEF_TILELINEARPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Operations of a task: 20 us at 120 GFLOP/s, what it costs to wake a thread.
static constexpr int64_t kTaskFlops = 2400000;
/// Enough tasks for threads to finish together.
static constexpr int64_t kMostTasks = 16;
/// Rows of a task: their activations stay in the L2 cache.
static constexpr int64_t kMostRows = 192;
/// Bytes of the hidden vectors of a task of ffn, on its stack.
static constexpr int64_t kHiddenBytes = 1 << 18;

namespace {
/// x W + b with what follows it element by element; null where it has none.
struct LinearBlock {
  Value input, weight, bias, residual, destination;
  ActivationKindAttr activation;

  int64_t panels() const {
    return cast<MemRefType>(weight.getType()).getDimSize(0);
  }
  int64_t columns() const {
    return cast<MemRefType>(destination.getType()).getDimSize(1);
  }
};

/// Index arithmetic and loops around tiles.
class TileLoops : public Loops {
public:
  TileLoops(OpBuilder &builder, Location loc, const IsaLevel &isa)
      : Loops(builder, loc), isa(isa) {}

  /// The most rows of a tile: its accumulators, a row of the panel and one
  /// element of x fill the registers.
  int64_t mostRows() const { return isa.registers == 32 ? 8 : 6; }

  /// A forall over blocks of rows by ranges of panels. `flopsPerRow` says what
  /// a row costs; a task has at most `mostRowsOfTask` rows. Where rows have to
  /// stay whole there is one range of panels.
  void forEachTask(Value count, int64_t flopsPerRow, int64_t mostRowsOfTask,
                   int64_t panels, bool wholeRows,
                   function_ref<void(Value firstRow, Value rows,
                                     Value firstPanel, Value endPanel)>
                       body);
  /// All rows of a block, for the panels [firstPanel, endPanel) of its weight;
  /// none where the range is empty.
  void tileBlock(const LinearBlock &block, Value firstPanel, Value endPanel);
  /// `rows` rows of a memref [rows, width], from `first`.
  Value rowsOf(Value memref, Value first, Value rows);

  Value addIndex(Value lhs, Value rhs) {
    return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  }
  Value subtract(Value lhs, Value rhs) {
    return builder.createOrFold<arith::SubIOp>(loc, lhs, rhs);
  }
  Value multiply(Value lhs, Value rhs) {
    return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
  }
  Value least(Value lhs, Value rhs) {
    return builder.createOrFold<arith::MinSIOp>(loc, lhs, rhs);
  }
  Value most(Value lhs, Value rhs) {
    return builder.createOrFold<arith::MaxSIOp>(loc, lhs, rhs);
  }

private:
  Value divide(Value lhs, Value rhs) {
    return builder.createOrFold<arith::DivUIOp>(loc, lhs, rhs);
  }
  Value remainder(Value lhs, Value rhs) {
    return builder.createOrFold<arith::RemUIOp>(loc, lhs, rhs);
  }
  Value ceilDivide(Value lhs, Value rhs) {
    return builder.createOrFold<arith::CeilDivUIOp>(loc, lhs, rhs);
  }
  void stepLoop(Value begin, Value end, int64_t step,
                function_ref<void(Value)> body);
  int64_t columnsFor(int64_t rows) const;
  void columnLoops(const LinearBlock &block, int64_t rows, Value extra,
                   Value firstPanel, Value endPanel);
  void rowLoops(const LinearBlock &block, int64_t rows, Value extra,
                Value column, int64_t width, bool partial);

  IsaLevel isa;
};
} // namespace

void TileLoops::stepLoop(Value begin, Value end, int64_t step,
                         function_ref<void(Value)> body) {
  scf::ForOp::create(builder, loc, begin, end, index(step), ValueRange(),
                     [&](OpBuilder &, Location, Value i, ValueRange) {
                       body(i);
                       scf::YieldOp::create(builder, loc);
                     });
}

Value TileLoops::rowsOf(Value memref, Value first, Value rows) {
  if (!memref)
    return memref;
  int64_t width = cast<MemRefType>(memref.getType()).getDimSize(1);
  auto constant = [&](int64_t value) -> OpFoldResult {
    return builder.getIndexAttr(value);
  };
  return memref::SubViewOp::create(
      builder, loc, memref, ArrayRef<OpFoldResult>{first, constant(0)},
      ArrayRef<OpFoldResult>{rows, constant(width)},
      ArrayRef<OpFoldResult>{constant(1), constant(1)});
}

void TileLoops::forEachTask(
    Value count, int64_t flopsPerRow, int64_t mostRowsOfTask, int64_t panels,
    bool wholeRows, function_ref<void(Value, Value, Value, Value)> body) {
  // As many rows as make a task worth a thread, or else a share of all rows.
  int64_t worthRows =
      llvm::alignTo(llvm::divideCeil(kTaskFlops, flopsPerRow), mostRows());
  Value share = multiply(ceilDivide(count, index(kMostTasks / 2 * mostRows())),
                         index(mostRows()));
  Value rows = most(least(share, index(mostRowsOfTask)),
                    index(std::min(mostRowsOfTask, worthRows)));
  Value rowTasks = ceilDivide(count, rows);
  // Ranges of panels where rows alone do not give enough tasks.
  Value tasks = rowTasks, panelTasks = index(1), range = index(panels);
  if (!wholeRows) {
    Value worth =
        least(divide(multiply(count, index(flopsPerRow)), index(kTaskFlops)),
              index(std::min(kMostTasks, panels)));
    range = ceilDivide(index(panels), most(divide(worth, rowTasks), index(1)));
    panelTasks = ceilDivide(index(panels), range);
    tasks = multiply(rowTasks, panelTasks);
  }
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{tasks}, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  Value task = forall.getInductionVar(0);
  Value firstRow = multiply(divide(task, panelTasks), rows);
  Value firstPanel = multiply(remainder(task, panelTasks), range);
  body(firstRow, least(rows, subtract(count, firstRow)), firstPanel,
       least(addIndex(firstPanel, range), index(panels)));
}

/// Columns of a tile. Eight vectors hide the latency of an addition on every
/// machine of these levels. Whole tiles take a panel, or half of one where
/// there are 16 registers.
int64_t TileLoops::columnsFor(int64_t rows) const {
  int64_t whole = isa.registers == 32 ? kPanelColumns : kPanelColumns / 2;
  if (2 * rows >= mostRows())
    return whole;
  int64_t vectors = rows == 1 ? 8 : isa.registers / 4;
  return std::max(whole, vectors * isa.lanes);
}

/// Rows are cut into as few tiles as there can be: of `base` rows, the first
/// `extra` of them one row more.
void TileLoops::tileBlock(const LinearBlock &block, Value firstPanel,
                          Value endPanel) {
  Value rows = size(block.destination, 0);
  Value tiles = ceilDivide(rows, index(mostRows()));
  Value base = divide(rows, tiles), extra = remainder(rows, tiles);
  SmallVector<int64_t> cases =
      llvm::to_vector(llvm::seq<int64_t>(1, mostRows()));
  auto bySize = scf::IndexSwitchOp::create(builder, loc, TypeRange(), base,
                                           cases, cases.size());
  auto fill = [&](Region &region, int64_t size) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    columnLoops(block, size, extra, firstPanel, endPanel);
    scf::YieldOp::create(builder, loc);
  };
  fill(bySize.getDefaultRegion(), mostRows());
  for (auto [region, size] : llvm::zip(bySize.getCaseRegions(), cases))
    fill(region, size);
}

void TileLoops::columnLoops(const LinearBlock &block, int64_t rows, Value extra,
                            Value firstPanel, Value endPanel) {
  int64_t width = columnsFor(rows);
  int64_t columns = block.columns();
  // The last panel is cut where columns are no multiple of it.
  int64_t wholeColumns = columns / kPanelColumns * kPanelColumns;
  Value begin = multiply(firstPanel, index(kPanelColumns));
  Value end = multiply(endPanel, index(kPanelColumns));
  Value wholeEnd = most(least(end, index(wholeColumns)), begin);
  auto over = [&](Value from, Value to, int64_t width, bool partial) {
    stepLoop(from, to, width, [&](Value column) {
      rowLoops(block, rows, extra, column, width, partial);
    });
  };
  if (width > kPanelColumns) {
    Value left = remainder(subtract(wholeEnd, begin), index(width));
    Value wideEnd = subtract(wholeEnd, left);
    over(begin, wideEnd, width, /*partial=*/false);
    begin = wideEnd;
    width = kPanelColumns;
  }
  over(begin, wholeEnd, width, /*partial=*/false);
  if (wholeColumns < columns)
    over(most(begin, index(wholeColumns)), least(end, index(columns)), width,
         /*partial=*/true);
}

void TileLoops::rowLoops(const LinearBlock &block, int64_t rows, Value extra,
                         Value column, int64_t width, bool partial) {
  auto tile = [&](Value row, int64_t rows) {
    LinearTileOp::create(builder, loc, block.input, block.weight, block.bias,
                         block.residual, block.destination, row, column, rows,
                         width, block.activation, partial);
  };
  // Less than half a tile is alone, and whole tiles are all equal.
  Value middle = index(0);
  if (rows < mostRows() && 2 * rows >= mostRows()) {
    middle = multiply(extra, index(rows + 1));
    stepLoop(index(0), middle, rows + 1,
             [&](Value row) { tile(row, rows + 1); });
  }
  stepLoop(middle, size(block.destination, 0), rows,
           [&](Value row) { tile(row, rows); });
}

/// The panels [first, first + count) of a weight.
static Value panelsOf(Value weight, int64_t first, int64_t count,
                      Loops &loops) {
  auto type = cast<MemRefType>(weight.getType());
  if (count == type.getDimSize(0))
    return weight;
  return memref::SubViewOp::create(
      loops.builder, loops.loc, weight, ArrayRef<int64_t>{first, 0, 0},
      ArrayRef<int64_t>{count, type.getDimSize(1), type.getDimSize(2)},
      ArrayRef<int64_t>{1, 1, 1});
}

/// The norm behind the rows of a block, in place.
template <typename Op> static void tileNorm(Op op, Value rows, Loops &loops) {
  if (op.getNorm())
    NormOp::create(loops.builder, loops.loc, TypeRange(), *op.getNorm(), rows,
                   op.getGamma(), op.getBeta(), /*residual=*/Value(), rows,
                   *op.getEpsilon());
}

/// Operations for one row of x.
static int64_t flopsPerRow(Value weight) {
  return 2 * cast<MemRefType>(weight.getType()).getNumElements();
}

static void tileLinear(LinearOp op, TileLoops &loops) {
  int64_t panels = cast<MemRefType>(op.getWeight().getType()).getDimSize(0);
  loops.forEachTask(
      loops.size(op.getInput(), 0), flopsPerRow(op.getWeight()), kMostRows,
      panels, /*wholeRows=*/bool(op.getNorm()),
      [&](Value firstRow, Value rows, Value firstPanel, Value endPanel) {
        Value input = loops.rowsOf(op.getInput(), firstRow, rows);
        Value residual = loops.rowsOf(op.getResidual(), firstRow, rows);
        int64_t panel = 0, column = 0;
        for (Value result : op.getDestinations()) {
          LinearBlock block;
          block.input = input;
          block.residual = residual;
          block.destination = loops.rowsOf(result, firstRow, rows);
          block.activation = op.getActivationAttr();
          int64_t count = llvm::divideCeil(block.columns(), kPanelColumns);
          block.weight = panelsOf(op.getWeight(), panel, count, loops);
          block.bias = op.getBias();
          if (block.bias && op.getSplit())
            block.bias = memref::SubViewOp::create(
                loops.builder, loops.loc, block.bias, ArrayRef{column},
                ArrayRef{block.columns()}, ArrayRef<int64_t>{1});
          // What of the task's panels belongs to this result.
          auto inside = [&](Value at) {
            return loops.least(
                loops.most(loops.subtract(at, loops.index(panel)),
                           loops.index(0)),
                loops.index(count));
          };
          loops.tileBlock(block, inside(firstPanel), inside(endPanel));
          tileNorm(op, block.destination, loops);
          panel += count;
          column += block.columns();
        }
      });
}

/// A task keeps the hidden vectors of its rows on its stack.
static void tileFfn(FfnOp op, TileLoops &loops) {
  int64_t hidden = op.getHiddenWidth();
  int64_t mostRows = std::clamp(kHiddenBytes / int64_t(sizeof(float)) / hidden /
                                    loops.mostRows() * loops.mostRows(),
                                loops.mostRows(), kMostRows);
  auto type = MemRefType::get({mostRows, hidden}, loops.builder.getF32Type());
  loops.forEachTask(
      loops.size(op.getInput(), 0),
      flopsPerRow(op.getWeight1()) + flopsPerRow(op.getWeight2()), mostRows,
      /*panels=*/1, /*wholeRows=*/true,
      [&](Value firstRow, Value rows, Value, Value) {
        auto scratch =
            memref::AllocaOp::create(loops.builder, loops.loc, type,
                                     loops.builder.getI64IntegerAttr(64));
        LinearBlock first, second;
        first.input = loops.rowsOf(op.getInput(), firstRow, rows);
        first.weight = op.getWeight1();
        first.bias = op.getBias1();
        first.activation = op.getActivationAttr();
        first.destination = loops.rowsOf(scratch, loops.index(0), rows);
        second.input = first.destination;
        second.weight = op.getWeight2();
        second.bias = op.getBias2();
        second.residual = loops.rowsOf(op.getResidual(), firstRow, rows);
        second.destination = loops.rowsOf(op.getDestination(), firstRow, rows);
        for (const LinearBlock &block : {first, second})
          loops.tileBlock(block, loops.index(0), loops.index(block.panels()));
        tileNorm(op, second.destination, loops);
      });
}

namespace {
struct TileLinear : heddle::impl::TileLinearPassBase<TileLinear> {
  using Base::Base;

  void runOnOperation() override {
    llvm::Expected<IsaLevel> level = getIsaLevel(isa);
    if (!level) {
      getOperation().emitError(llvm::toString(level.takeError()));
      return signalPassFailure();
    }
    // Rows are collapsed where a linear has become a kernel.
    auto isTiled = [](Value input, Value weight) {
      return isPacked(weight) &&
             cast<MemRefType>(input.getType()).getRank() == 2;
    };
    getOperation().walk([&](Operation *op) {
      OpBuilder builder(op);
      TileLoops loops(builder, op->getLoc(), *level);
      if (auto linear = dyn_cast<LinearOp>(op);
          linear && isTiled(linear.getInput(), linear.getWeight()))
        tileLinear(linear, loops);
      else if (auto ffn = dyn_cast<FfnOp>(op);
               ffn && isTiled(ffn.getInput(), ffn.getWeight1()))
        tileFfn(ffn, loops);
      else
        return;
      op->erase();
    });
  }
};
} // namespace
