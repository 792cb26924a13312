//===- TileLinear.cpp - Cut linears into tiles ----------------------------===//
//
// A task is a block of rows by a range of panels. Within it all rows pass over
// one panel after the other: the panel stays in the L1 cache, the rows in the
// L2. Few rows, as in a step, take several panels at once, since a tile with
// few accumulators would wait for each of its additions. Weights that no L2
// cache holds are read once: their panels make the tasks.
//
// How much becomes a task depends on sizes alone. Bits do not depend on it: a
// tile sums over the whole depth.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Kernels/VectorLoops.h"
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
/// Bytes of weights that the L2 cache of a core cannot hold: rows that share a
/// task read them once.
static constexpr int64_t kL2Bytes = 1 << 20;
/// Bytes of weights that come from memory for every call, since the L3 cache
/// has to hold other weights, too.
static constexpr int64_t kL3Bytes = 1 << 24;
/// Rows that read such weights together where they have to stay whole: enough
/// for several cores to share what memory gives.
static constexpr int64_t kSharingRows = 32;
/// Bytes of the hidden vectors of a task of ffn, on its stack, where they are
/// those of more than a tile of rows: a part of the L2 cache, and more where
/// reading the weights again would cost more.
static constexpr int64_t kHiddenBytes = 1 << 18, kMostHiddenBytes = 1 << 20;

/// Operations of a row of x: two for each element of a weight.
static int64_t flopsPerRow(Value weight) {
  return 2 * cast<MemRefType>(weight.getType()).getNumElements();
}
static int64_t weightBytes(Value weight) {
  auto type = cast<MemRefType>(weight.getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

namespace {
/// x W + b with what follows it element by element; null where it has none.
struct LinearBlock {
  Value input, inputScales, weight, weightScales, bias, residual, multiplier,
      destination;
  IntegerAttr shift;
  ActivationKindAttr activation;
  /// Whether tiles ask for the panels that come next.
  bool isFetched = false;
  /// Scratch memory for sums of fewer rows than a tile's; null where nothing
  /// follows them.
  Value sums;

  bool hasEpilogue() const {
    return weightScales || bias || activation || residual || multiplier;
  }
  int64_t panels() const {
    return cast<MemRefType>(weight.getType()).getDimSize(0);
  }
  int64_t columns() const {
    return cast<MemRefType>(destination.getType()).getDimSize(1);
  }
};

/// The first row and the columns of a tile, which may be cut.
struct TilePlace {
  Value row, column;
  int64_t columns;
  bool isPartial;
};

/// What the rows of a linear or an ffn are cut into tasks by.
struct RowWork {
  int64_t flopsPerRow, weightBytes;
  /// Rows of a task.
  int64_t mostRows;
  int64_t panels;
  /// Whether rows have to stay whole: then there is one range of panels.
  bool hasWholeRows;
};

/// Index arithmetic and loops around tiles.
class TileLoops : public VectorLoops {
public:
  using VectorLoops::VectorLoops;

  /// The most rows of a tile: two vectors of accumulators each, two of the
  /// panel and one of x fit into the registers. More than eight rows of x, 4 KB
  /// apart, would not fit into the L1 cache.
  int64_t mostRows() const {
    return std::min<int64_t>(8, (isa.vectorRegisters - 3) / 2);
  }

  /// A forall over blocks of `count` rows by ranges of panels.
  void forEachTask(Value count, const RowWork &work,
                   function_ref<void(Value firstRow, Value rows,
                                     Value firstPanel, Value endPanel)>
                       body);
  /// All rows of a block, for the panels [firstPanel, endPanel) of its weight;
  /// none where the range is empty.
  void tileBlock(LinearBlock block, Value firstPanel, Value endPanel);
  /// `rows` rows of a memref [rows, width] or [rows], from `first`; null of
  /// null.
  Value rowsOf(Value memref, Value first, Value rows) {
    return memref ? viewOf(memref, first, rows) : memref;
  }

  /// [first, first + count) of the first dimension of a memref: all of it where
  /// it has no more; null of null.
  Value slice(Value memref, Value first, int64_t count) {
    if (!memref || count == cast<MemRefType>(memref.getType()).getDimSize(0))
      return memref;
    return viewOf(memref, getAsOpFoldResult(first),
                  builder.getIndexAttr(count));
  }

  Value multiply(Value lhs, Value rhs) {
    return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
  }

private:
  Value viewOf(Value memref, OpFoldResult first, OpFoldResult count);
  Value divide(Value lhs, Value rhs) {
    return builder.createOrFold<arith::DivUIOp>(loc, lhs, rhs);
  }
  Value remainder(Value lhs, Value rhs) {
    return builder.createOrFold<arith::RemUIOp>(loc, lhs, rhs);
  }
  Value ceilDivide(Value lhs, Value rhs) {
    return builder.createOrFold<arith::CeilDivUIOp>(loc, lhs, rhs);
  }
  int64_t wideColumns(int64_t rows) const;
  int64_t wholeColumns() const;
  Value sumsScratch(Value weight);
  Value wideLoop(const LinearBlock &block, Value begin, Value end);
  void columnLoop(const LinearBlock &block, Value begin, Value end,
                  bool isPartial);
  void tile(const LinearBlock &block, TilePlace place, int64_t rows,
            Value next);
  void fewRows(const LinearBlock &block, TilePlace place, int64_t rows);
  void finish(const LinearBlock &block, TilePlace place, Value rows);
};
} // namespace

Value TileLoops::viewOf(Value memref, OpFoldResult first, OpFoldResult count) {
  SmallVector<OpFoldResult> offsets = {first}, sizes = {count};
  for (int64_t size :
       cast<MemRefType>(memref.getType()).getShape().drop_front()) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(builder.getIndexAttr(size));
  }
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return memref::SubViewOp::create(builder, loc, memref, offsets, sizes,
                                   strides);
}

void TileLoops::forEachTask(
    Value count, const RowWork &work,
    function_ref<void(Value, Value, Value, Value)> body) {
  // As many rows as make a task worth a thread, or else a share of all rows.
  // More where each block of rows would read large weights again: all that a
  // task may have, if panels make enough tasks.
  int64_t worthRows =
      llvm::alignTo(llvm::divideCeil(kTaskFlops, work.flopsPerRow), mostRows());
  if (!work.hasWholeRows && work.panels >= kMostTasks &&
      work.weightBytes > kL2Bytes)
    worthRows = work.mostRows;
  else if (work.weightBytes > kL3Bytes)
    worthRows =
        std::max<int64_t>(worthRows, llvm::alignTo(kSharingRows, mostRows()));
  Value share = multiply(ceilDivide(count, index(kMostTasks / 2 * mostRows())),
                         index(mostRows()));
  Value rows = most(least(share, index(work.mostRows)),
                    index(std::min(work.mostRows, worthRows)));
  Value rowTasks = ceilDivide(count, rows);
  // Ranges of panels where rows alone do not give enough tasks.
  Value tasks = rowTasks, panelTasks = index(1), range = index(work.panels);
  if (!work.hasWholeRows) {
    Value worth =
        least(divide(times(count, work.flopsPerRow), index(kTaskFlops)),
              index(std::min(kMostTasks, work.panels)));
    range =
        ceilDivide(index(work.panels), most(divide(worth, rowTasks), index(1)));
    panelTasks = ceilDivide(index(work.panels), range);
    tasks = multiply(rowTasks, panelTasks);
  }
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{tasks}, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  Value task = forall.getInductionVar(0);
  Value firstRow = multiply(divide(task, panelTasks), rows);
  Value firstPanel = multiply(remainder(task, panelTasks), range);
  body(firstRow, least(rows, minus(count, firstRow)), firstPanel,
       least(plus(firstPanel, range), index(work.panels)));
}

/// Columns of a tile that has no other below it: as many vectors as hide the
/// latency of an addition, eight on every machine of these levels.
int64_t TileLoops::wideColumns(int64_t rows) const {
  int64_t vectors = rows == 1 ? 8 : isa.vectorRegisters / 4;
  return std::max(wholeColumns(), vectors * isa.lanes);
}

/// Columns of a tile among others, two vectors: a panel, or half of one.
int64_t TileLoops::wholeColumns() const { return 2 * isa.lanes; }

Value TileLoops::sumsScratch(Value weight) {
  Type sum = cast<MemRefType>(weight.getType()).getElementType().isInteger(8)
                 ? Type(builder.getI32Type())
                 : builder.getF32Type();
  auto type = MemRefType::get({mostRows() - 1, wideColumns(1)}, sum);
  return memref::AllocaOp::create(builder, loc, type,
                                  builder.getI64IntegerAttr(64));
}

void TileLoops::tileBlock(LinearBlock block, Value firstPanel, Value endPanel) {
  int64_t columns = block.columns();
  // The last panel is cut where columns are no multiple of it.
  int64_t wholePanels = columns / kPanelColumns * kPanelColumns;
  Value begin = times(firstPanel, kPanelColumns);
  Value end = times(endPanel, kPanelColumns);
  if (block.hasEpilogue())
    block.sums = sumsScratch(block.weight);
  if (wholePanels > 0) {
    Value wholeEnd = most(least(end, index(wholePanels)), begin);
    begin = wideLoop(block, begin, wholeEnd);
    columnLoop(block, begin, wholeEnd, /*isPartial=*/false);
  }
  if (wholePanels < columns)
    columnLoop(block, most(begin, index(wholePanels)),
               least(end, index(columns)), /*isPartial=*/true);
}

/// Less than half a tile of rows takes several panels at once; returns the
/// first column that is left.
Value TileLoops::wideLoop(const LinearBlock &block, Value begin, Value end) {
  SmallVector<int64_t> cases =
      llvm::to_vector(llvm::seq<int64_t>(1, mostRows() / 2));
  auto byRows = scf::IndexSwitchOp::create(builder, loc, builder.getIndexType(),
                                           size(block.destination, 0), cases,
                                           cases.size());
  OpBuilder::InsertionGuard guard(builder);
  for (auto [region, rows] : llvm::zip(byRows.getCaseRegions(), cases)) {
    builder.createBlock(&region);
    int64_t width = wideColumns(rows);
    Value left = remainder(minus(end, begin), index(width));
    Value wideEnd = minus(end, left);
    each(begin, wideEnd, width, [&, rows = rows](Value column) {
      TilePlace place{index(0), column, width, /*isPartial=*/false};
      fewRows(block, place, rows);
      finish(block, place, index(rows));
    });
    scf::YieldOp::create(builder, loc, wideEnd);
  }
  builder.createBlock(&byRows.getDefaultRegion());
  scf::YieldOp::create(builder, loc, begin);
  return byRows.getResult(0);
}

/// Whole tiles, and below them one of the rows that are left. Where weights
/// come from memory whole tiles ask for the next panel, the last one for its
/// own.
void TileLoops::columnLoop(const LinearBlock &block, Value begin, Value end,
                           bool isPartial) {
  Value rows = size(block.destination, 0);
  Value left = remainder(rows, index(mostRows()));
  Value whole = minus(rows, left);
  int64_t width = wholeColumns();
  SmallVector<int64_t> cases =
      llvm::to_vector(llvm::seq<int64_t>(1, mostRows()));
  each(begin, end, width, [&](Value column) {
    Value next;
    if (block.isFetched && !isPartial)
      next = least(plus(column, width), plus(end, -width));
    each(index(0), whole, mostRows(), [&](Value row) {
      tile(block, {row, column, width, isPartial}, mostRows(), next);
    });
    TilePlace below{whole, column, width, isPartial};
    auto byRows = scf::IndexSwitchOp::create(builder, loc, TypeRange(), left,
                                             cases, cases.size());
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.createBlock(&byRows.getDefaultRegion());
      scf::YieldOp::create(builder, loc);
      for (auto [region, count] : llvm::zip(byRows.getCaseRegions(), cases)) {
        builder.createBlock(&region);
        fewRows(block, below, count);
        scf::YieldOp::create(builder, loc);
      }
    }
    finish(block, below, left);
  });
}

void TileLoops::tile(const LinearBlock &block, TilePlace place, int64_t rows,
                     Value next) {
  LinearTileOp::create(builder, loc, block.input, block.inputScales,
                       block.weight, block.weightScales, block.bias,
                       block.residual, block.multiplier, block.destination,
                       place.row, place.column, next, rows, place.columns,
                       block.shift, block.activation, place.isPartial);
}

/// The sums of a number of rows. What follows them would make each number much
/// longer code: it stands once, in `finish`.
void TileLoops::fewRows(const LinearBlock &block, TilePlace place,
                        int64_t rows) {
  if (!block.sums)
    return tile(block, place, rows, /*next=*/Value());
  LinearSumsOp::create(builder, loc, block.input, block.weight, block.sums,
                       place.row, place.column, rows, place.columns,
                       block.shift);
}

void TileLoops::finish(const LinearBlock &block, TilePlace place, Value rows) {
  if (block.sums)
    LinearFinishOp::create(builder, loc, block.sums, block.inputScales,
                           block.weightScales, block.bias, block.residual,
                           block.multiplier, block.destination, place.row,
                           place.column, rows, place.columns, block.activation,
                           place.isPartial);
}

/// Part `number` of equal parts of a linear with `split`: its tiles are built
/// once, for whichever part it is.
static LinearBlock partOf(LinearOp op, ArrayRef<Value> results, Value number,
                          TileLoops &loops) {
  OpBuilder &builder = loops.builder;
  auto type = cast<MemRefType>(op.getWeight().getType());
  int64_t panels = type.getDimSize(0) / int64_t(results.size());
  LinearBlock part;
  part.destination = results.front();
  for (auto [index, result] : llvm::enumerate(results.drop_front())) {
    Value isThis =
        arith::CmpIOp::create(builder, loops.loc, arith::CmpIPredicate::eq,
                              number, loops.index(index + 1));
    part.destination = arith::SelectOp::create(builder, loops.loc, isThis,
                                               result, part.destination);
  }
  part.weight = loops.slice(
      op.getWeight(), loops.multiply(number, loops.index(panels)), panels);
  Value column = loops.multiply(number, loops.index(part.columns()));
  part.weightScales = loops.slice(op.getWeightScales(), column, part.columns());
  part.bias = loops.slice(op.getBias(), column, part.columns());
  return part;
}

/// The norm behind the rows of a block, in place.
template <typename Op> static void tileNorm(Op op, Value rows, Loops &loops) {
  if (op.getNorm())
    NormOp::create(loops.builder, loops.loc, TypeRange(), *op.getNorm(), rows,
                   op.getGamma(), op.getBeta(), /*residual=*/Value(), rows,
                   *op.getEpsilon());
}

static void tileLinear(LinearOp op, TileLoops &loops) {
  SmallVector<int64_t> widths = op.getWidths();
  bool hasEqualParts = widths.size() > 1 && llvm::all_equal(widths);
  int64_t panels = cast<MemRefType>(op.getWeight().getType()).getDimSize(0);
  RowWork work{flopsPerRow(op.getWeight()), weightBytes(op.getWeight()),
               kMostRows, panels, /*hasWholeRows=*/bool(op.getNorm())};
  loops.forEachTask(
      loops.size(op.getInput(), 0), work,
      [&](Value firstRow, Value rows, Value firstPanel, Value endPanel) {
        Value input = loops.rowsOf(op.getInput(), firstRow, rows);
        Value scales = loops.rowsOf(op.getInputScales(), firstRow, rows);
        Value residual = loops.rowsOf(op.getResidual(), firstRow, rows);
        SmallVector<Value> results;
        for (Value result : op.getDestinations())
          results.push_back(loops.rowsOf(result, firstRow, rows));
        // `first` is the first panel of a part of all.
        auto build = [&](LinearBlock part, Value first) {
          part.input = input;
          part.inputScales = scales;
          part.shift = op.getShiftAttr();
          part.residual = residual;
          part.activation = op.getActivationAttr();
          part.multiplier = op.getMultiplier();
          part.isFetched = work.weightBytes > kL3Bytes;
          auto inside = [&](Value panel) {
            return loops.least(
                loops.most(loops.minus(panel, first), loops.index(0)),
                loops.index(part.panels()));
          };
          loops.tileBlock(part, inside(firstPanel), inside(endPanel));
          tileNorm(op, part.destination, loops);
        };
        if (hasEqualParts)
          return loops.loop(loops.index(widths.size()), [&](Value number) {
            LinearBlock part = partOf(op, results, number, loops);
            build(part, loops.multiply(number, loops.index(part.panels())));
          });
        int64_t panel = 0, column = 0;
        for (auto [result, width] : llvm::zip(results, widths)) {
          int64_t count = llvm::divideCeil(width, kPanelColumns);
          LinearBlock part;
          part.destination = result;
          part.weight = loops.slice(op.getWeight(), loops.index(panel), count);
          part.weightScales =
              loops.slice(op.getWeightScales(), loops.index(column), width);
          part.bias = loops.slice(op.getBias(), loops.index(column), width);
          build(part, loops.index(panel));
          panel += count;
          column += width;
        }
      });
}

namespace {
/// The hidden vectors of a task of an ffn, on its stack.
struct HiddenRows {
  /// What the first product writes and the second multiplies: the same where
  /// vectors need no scale.
  Value written, factors;
  /// [rows]; null where the factors are floats or have one multiplier.
  Value scales;

  static int64_t bytesOfRow(FfnOp op) {
    int64_t width = op.getHiddenWidth();
    int64_t factors =
        width * int64_t(
                    getElementTypeOrSelf(op.getWeight2().getType())
                        .getIntOrFloatBitWidth() /
                    8);
    return op.scalesHidden() ? factors + (width + 1) * int64_t(sizeof(float))
                             : factors;
  }
};
} // namespace

static HiddenRows allocateHidden(FfnOp op, int64_t rows, TileLoops &loops) {
  OpBuilder &builder = loops.builder;
  auto allocate = [&](ArrayRef<int64_t> shape, Type element) -> Value {
    return memref::AllocaOp::create(builder, loops.loc,
                                    MemRefType::get(shape, element),
                                    builder.getI64IntegerAttr(64));
  };
  int64_t width = op.getHiddenWidth();
  Type factor = cast<MemRefType>(op.getWeight2().getType()).getElementType();
  HiddenRows hidden;
  // Bytes are read by fours: the last row may end in the row behind it.
  bool isCut = factor.isInteger(8) && width % 4 != 0;
  hidden.factors = hidden.written = allocate({rows + isCut, width}, factor);
  if (op.scalesHidden()) {
    hidden.written = allocate({rows, width}, builder.getF32Type());
    hidden.scales = allocate(rows, builder.getF32Type());
  }
  return hidden;
}

static void tileFfn(FfnOp op, TileLoops &loops) {
  OpBuilder &builder = loops.builder;
  RowWork work{flopsPerRow(op.getWeight1()) + flopsPerRow(op.getWeight2()),
               weightBytes(op.getWeight1()) + weightBytes(op.getWeight2()),
               /*mostRows=*/0, /*panels=*/1, /*hasWholeRows=*/true};
  bool isFetched = work.weightBytes > kL3Bytes;
  int64_t bytes = isFetched ? kMostHiddenBytes : kHiddenBytes;
  work.mostRows = std::clamp(bytes / HiddenRows::bytesOfRow(op) /
                                 loops.mostRows() * loops.mostRows(),
                             loops.mostRows(), kMostRows);
  loops.forEachTask(
      loops.size(op.getInput(), 0), work,
      [&](Value firstRow, Value rows, Value, Value) {
        auto task = [&](Value memref) {
          return loops.rowsOf(memref, firstRow, rows);
        };
        auto used = [&](Value memref) {
          return loops.rowsOf(memref, loops.index(0), rows);
        };
        HiddenRows hidden = allocateHidden(op, work.mostRows, loops);
        LinearBlock first, second;
        first.input = task(op.getInput());
        first.inputScales = task(op.getInputScales());
        first.weight = op.getWeight1();
        first.weightScales = op.getWeight1Scales();
        first.bias = op.getBias1();
        first.multiplier = op.getMultiplier();
        first.activation = op.getActivationAttr();
        first.destination = used(hidden.written);
        second.input = used(hidden.factors);
        second.inputScales = used(hidden.scales);
        second.weight = op.getWeight2();
        second.weightScales = op.getWeight2Scales();
        second.bias = op.getBias2();
        second.residual = task(op.getResidual());
        second.destination = task(op.getDestination());
        auto tileAll = [&](LinearBlock &block) {
          block.shift = op.getShiftAttr();
          block.isFetched = isFetched;
          loops.tileBlock(block, loops.index(0), loops.index(block.panels()));
        };
        tileAll(first);
        if (hidden.scales)
          QuantizeOp::create(builder, loops.loc, TypeRange(), first.destination,
                             /*multiplier=*/Value(),
                             ValueRange{second.input, second.inputScales});
        tileAll(second);
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
