//===- TileLinear.cpp - Cut linears into tiles ----------------------------===//
//
// A task is a block of rows by a range of panels, LinearBlock.h what happens
// within it. Weights that no L2 cache holds are read once: their panels make
// the tasks.
//
// How much becomes a task depends on sizes, and on whether there are threads to
// share it. Bits do not depend on it: a tile sums over the whole depth.
//
//===----------------------------------------------------------------------===//

#include "dialect/linear/GatedColumns.h"
#include "lib/CodeGen/Loops/FinishedRows.h"
#include "lib/CodeGen/Machine/TaskCosts.h"
#include "lib/Kernels/Linear/BestLogits.h"
#include "lib/Kernels/Linear/LargestLogits.h"
#include "lib/Kernels/Linear/LinearAmx.h"
#include "lib/Kernels/Linear/LinearBlock.h"
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

/// Enough tasks for threads to finish together; and of vectors, whose tasks
/// take longer, the most that panels make.
static constexpr int64_t kEnoughTasks = 16, kMostTasks = 32;
/// Rows of a task: their activations stay in the L2 cache. Tiles take more of
/// short ones where each block of rows reads the weights again.
static constexpr int64_t kMostRows = 192, kTileRowsBytes = 3 << 17;
/// Bytes of weights that tiles of AMX read as a group.
static constexpr int64_t kGroupBytes = 1 << 18;
/// Rows that read weights together where no cache holds these and they have to
/// stay whole, or panels are few: enough for several cores to share what memory
/// gives, and for what a tile asks for ahead not to show.
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
/// What the rows of a linear or an ffn are cut into tasks by.
struct RowWork {
  int64_t flopsPerRow = 0, weightBytes = 0;
  /// Rows of a tile and of a task.
  int64_t tileRows = 0, mostRows = 0;
  /// What is worth a task: operations, or where that is the less bytes of
  /// weights; 0 where it never is.
  int64_t taskFlops = 0, taskBytes = 0;
  /// The most ranges of panels.
  int64_t mostTasks = 0;
  /// Of the weight, and of a tile.
  int64_t panels = 1, tilePanels = 0;
  /// Whether rows have to stay whole: then there is one range of panels.
  bool hasWholeRows = true;
};
} // namespace

/// That of rows of x by some weights, in tasks of a tile of whole rows.
static RowWork workOf(Value input, ValueRange weights, TileLoops &loops) {
  RowWork work;
  for (Value weight : weights) {
    work.flopsPerRow += flopsPerRow(weight);
    work.weightBytes += weightBytes(weight);
  }
  work.tileRows = work.mostRows = loops.rowsOfTile(input);
  bool hasTiles = hasAmxProduct(input, loops.isa);
  work.taskFlops = 2 * (hasTiles ? kTileTaskProducts : kTaskProducts);
  work.taskBytes = hasTiles ? kTileTaskBytes : 0;
  work.mostTasks = hasTiles ? kEnoughTasks : kMostTasks;
  work.tilePanels = loops.panelsOfTile(input);
  return work;
}

/// What one thread alone takes, and what several do.
static Value byThreads(Value alone, Value shared, TileLoops &loops) {
  Value threads = ThreadsOp::create(loops.builder, loops.loc);
  return loops.select(loops.equal(threads, loops.index(1)), alone, shared);
}

/// Blocks of rows that all threads find something to do in. Alone a thread
/// reads weights as rarely as it can.
static Value blocksOf(TileLoops &loops) {
  return byThreads(loops.index(1), loops.index(kEnoughTasks / 2), loops);
}

/// A forall over blocks of `count` rows by ranges of panels; `body` gets the
/// first row, the rows, the first panel and where panels end.
static void forEachTask(TileLoops &loops, Value count, const RowWork &work,
                        function_ref<void(Value, Value, Value, Value)> body) {
  // As many rows as make a task worth a thread, or else a share of all rows.
  // More where each block of rows would read large weights again: all that a
  // task may have, if panels make enough tasks.
  int64_t worthRows = llvm::alignTo(
      llvm::divideCeil(work.taskFlops, work.flopsPerRow), work.tileRows);
  bool areShared = work.weightBytes > (work.hasWholeRows ? kL3Bytes : kL2Bytes);
  if (areShared && !work.hasWholeRows && work.panels >= kEnoughTasks)
    worthRows = work.mostRows;
  else if (areShared)
    worthRows = std::max<int64_t>(worthRows,
                                  llvm::alignTo(kSharingRows, work.tileRows));
  Value share = loops.mul(
      loops.uceilDiv(count, loops.mul(blocksOf(loops), work.tileRows)),
      loops.index(work.tileRows));
  Value rows = loops.max(loops.min(share, loops.index(work.mostRows)),
                         loops.index(std::min(work.mostRows, worthRows)));
  Value rowTasks = loops.uceilDiv(count, rows);
  // Ranges of panels where rows alone do not give enough tasks.
  Value tasks = rowTasks, panelTasks = loops.index(1),
        range = loops.index(work.panels);
  if (!work.hasWholeRows) {
    Value flops = loops.mul(count, work.flopsPerRow);
    Value worth = loops.udiv(flops, loops.index(work.taskFlops));
    if (work.taskBytes > 0)
      worth = loops.max(worth, loops.index(work.weightBytes / work.taskBytes));
    worth =
        loops.min(worth, loops.index(std::min(work.mostTasks, work.panels)));
    // Alone a thread asks for the panels of one range behind each other.
    if (work.tileRows == kMostTileRows)
      worth = loops.select(loops.less(loops.index(kMostTileRows), count),
                           byThreads(loops.index(1), worth, loops), worth);
    range = loops.uceilDiv(
        loops.index(work.panels),
        loops.max(loops.uceilDiv(worth, rowTasks), loops.index(1)));
    Value tilePanels = loops.index(work.tilePanels);
    range = loops.mul(loops.uceilDiv(range, tilePanels), tilePanels);
    panelTasks = loops.uceilDiv(loops.index(work.panels), range);
    tasks = loops.mul(rowTasks, panelTasks);
  }
  auto forall = scf::ForallOp::create(loops.builder, loops.loc,
                                      ArrayRef<OpFoldResult>{tasks},
                                      ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(loops.builder);
  loops.builder.setInsertionPoint(forall.getTerminator());
  Value task = forall.getInductionVar(0);
  Value rowTask = loops.udiv(task, panelTasks);
  Value firstPanel = loops.mul(loops.urem(task, panelTasks), range);
  // Blocks differ by one tile at most.
  Value tiles = loops.uceilDiv(count, work.tileRows);
  auto rowOf = [&](Value number) {
    return loops.mul(loops.udiv(loops.mul(number, tiles), rowTasks),
                     work.tileRows);
  };
  Value firstRow = rowOf(rowTask);
  Value endRow = loops.min(rowOf(loops.add(rowTask, 1)), count);
  body(firstRow, loops.sub(endRow, firstRow), firstPanel,
       loops.min(loops.add(firstPanel, range), loops.index(work.panels)));
}

/// Part `number` of equal parts of a linear with `split`: its tiles are built
/// once, for whichever part it is.
static LinearBlock partOf(LinearOp op, ArrayRef<Value> results, Value number,
                          TileLoops &loops) {
  auto type = cast<MemRefType>(op.getWeight().getType());
  int64_t panels = type.getDimSize(0) / int64_t(results.size());
  LinearBlock part;
  part.destination = results.front();
  for (auto [index, result] : llvm::enumerate(results.drop_front())) {
    Value isThis = loops.equal(number, loops.index(index + 1));
    part.destination = loops.select(isThis, result, part.destination);
  }
  part.weight = loops.slice(op.getWeight(),
                            loops.mul(number, loops.index(panels)), panels);
  Value column = loops.mul(number, loops.index(part.columns()));
  part.weightScales = loops.slice(op.getWeightScales(), column, part.columns());
  part.bias = loops.slice(op.getBias(), column, part.columns());
  return part;
}

/// Whether tiles ask for weights ahead. Those of AMX are fast enough to wait
/// for all that a group of panels does not hold. But bytes come soon enough:
/// asked for, linears of 1,024 rows took 8 % longer, and others as long.
static bool isFetched(Value input, int64_t weightBytes, TileLoops &loops) {
  if (!hasAmxProduct(input, loops.isa))
    return weightBytes > kL2Bytes;
  return weightBytes > kGroupBytes && !getElementTypeOrSelf(input).isInteger(8);
}

/// Rows of x that share a task.
static int64_t mostRowsOf(const RowWork &work, Value input, TileLoops &loops) {
  if (!hasAmxProduct(input, loops.isa) ||
      !isFetched(input, work.weightBytes, loops))
    return kMostRows;
  int64_t rows = kTileRowsBytes / rowBytes(input);
  return std::max(kMostRows, rows / kMostTileRows * kMostTileRows);
}

static void tileLinear(LinearOp op, TileLoops &loops) {
  SmallVector<int64_t> widths = weightColumnsOf(op);
  bool hasEqualParts = widths.size() > 1 && llvm::all_equal(widths);
  int64_t panels = cast<MemRefType>(op.getWeight().getType()).getDimSize(0);
  RowWork work = workOf(op.getInput(), {op.getWeight()}, loops);
  work.mostRows = mostRowsOf(work, op.getInput(), loops);
  work.panels = panels;
  // Blocks of whole rows would each read large weights: what needs them waits
  // for all.
  bool needsRows = op.getNorm() || op.getAlso();
  bool finishesLast = needsRows && work.weightBytes > kL2Bytes;
  work.hasWholeRows = needsRows && !finishesLast;
  forEachTask(
      loops, loops.size(op.getInput(), 0), work,
      [&](Value firstRow, Value rows, Value firstPanel, Value endPanel) {
        Value input = loops.rowsOf(op.getInput(), firstRow, rows);
        TileRows lastRows = loops.separateLastRows(input);
        Value unpacked = loops.unpackedPanel(input, op.getWeight());
        Value scales = loops.rowsOf(op.getInputScales(), firstRow, rows);
        Value residual = loops.rowsOf(op.getResidual(), firstRow, rows);
        SmallVector<Value> results;
        for (Value result : op.getDestinations())
          results.push_back(loops.rowsOf(result, firstRow, rows));
        // `first` is the first panel of a part of all.
        auto build = [&](LinearBlock part, Value first) {
          part.input = input;
          part.lastRows = lastRows;
          part.unpacked = unpacked;
          part.inputScales = scales;
          part.shift = op.getShiftAttr();
          part.residual = residual;
          part.gates = op.getGates();
          part.activation = op.getActivationAttr();
          part.multiplier = op.getMultiplier();
          part.isFetched = isFetched(op.getInput(), work.weightBytes, loops);
          part.mostRows = work.mostRows;
          part.hasWholeTiles = part.panels() % work.tilePanels == 0;
          auto inside = [&](Value panel) {
            Value ofPart =
                loops.min(loops.max(loops.sub(panel, first), loops.index(0)),
                          loops.index(part.panels()));
            return part.hasWholeTiles ? loops.floorTo(ofPart, work.tilePanels)
                                      : ofPart;
          };
          loops.tileBlock(part, inside(firstPanel), inside(endPanel));
          if (!finishesLast)
            finishRows(op, results, loops);
        };
        if (hasEqualParts)
          return loops.loop(loops.index(widths.size()), [&](Value number) {
            LinearBlock part = partOf(op, results, number, loops);
            build(part, loops.mul(number, loops.index(part.panels())));
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
  if (finishesLast)
    finishRows(op, llvm::to_vector(op.getDestinations()), loops);
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
        width * int64_t(cast<MemRefType>(op.getWeight2().getType())
                            .getElementTypeBitWidth() /
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

/// Whether a product ends in a part of a tile. LLVM configures the tiles of a
/// function once, eight of them: two products find no place for such parts
/// beside their whole ones.
static bool hasPartsOfTiles(FfnOp op) {
  auto type = cast<MemRefType>(op.getInput().getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  return llvm::any_of(
      ArrayRef{type.getDimSize(1), op.getHiddenWidth()},
      [&](int64_t depth) { return depth * bytes % kTileBytes != 0; });
}

static void tileFfn(FfnOp op, TileLoops &loops) {
  OpBuilder &builder = loops.builder;
  RowWork work =
      workOf(op.getInput(), {op.getWeight1(), op.getWeight2()}, loops);
  int64_t bytes = work.weightBytes > kL2Bytes ? kMostHiddenBytes : kHiddenBytes;
  work.mostRows = std::clamp(bytes / HiddenRows::bytesOfRow(op) /
                                 work.tileRows * work.tileRows,
                             work.tileRows, kMostRows);
  forEachTask(
      loops, loops.size(op.getInput(), 0), work,
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
        auto results = llvm::map_to_vector(op.getDestinations(), task);
        second.destination = results.front();
        auto tileAll = [&](LinearBlock &block) {
          block.lastRows = loops.separateLastRows(block.input);
          block.shift = op.getShiftAttr();
          block.hasWholeTiles = block.panels() % work.tilePanels == 0;
          block.isFetched = isFetched(op.getInput(), work.weightBytes, loops);
          block.mostRows = work.mostRows;
          loops.tileBlock(block, loops.index(0), loops.index(block.panels()));
        };
        tileAll(first);
        if (hidden.scales)
          QuantizeOp::create(builder, loops.loc, TypeRange(), first.destination,
                             /*multiplier=*/Value(),
                             ValueRange{second.input, second.inputScales},
                             op.getRotated());
        tileAll(second);
        finishRows(op, results, loops);
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
      IsaLevel isa = *level;
      if (auto ffn = dyn_cast<FfnOp>(op))
        isa.hasTiles &= !hasPartsOfTiles(ffn);
      TileLoops loops(builder, op->getLoc(), isa);
      if (auto linear = dyn_cast<LinearOp>(op);
          linear && isTiled(linear.getInput(), linear.getWeight()))
        tileLinear(linear, loops);
      else if (auto ffn = dyn_cast<FfnOp>(op);
               ffn && isTiled(ffn.getInput(), ffn.getWeight1()))
        tileFfn(ffn, loops);
      else if (auto logits = dyn_cast<LargestLogitsOp>(op);
               logits && isTiled(logits.getInput(), logits.getWeight()))
        tileLargestLogits(logits, loops,
                          isFetched(logits.getInput(),
                                    weightBytes(logits.getWeight()), loops));
      else if (auto logits = dyn_cast<BestLogitsOp>(op);
               logits && isTiled(logits.getInput(), logits.getWeight()))
        tileBestLogits(logits, loops,
                       isFetched(logits.getInput(),
                                 weightBytes(logits.getWeight()), loops));
      else
        return;
      op->erase();
    });
  }
};
} // namespace
