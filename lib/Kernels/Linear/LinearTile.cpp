//===- LinearTile.cpp - Vector code of a tile of linear -------------------===//
//
// The tile of y stays in registers while k runs: per k one load a vector of the
// panel, one broadcast a row of x, and one fused multiply-add an element. Loads
// and broadcasts share a port, so that few instructions besides them may stand
// in the loop: it is unrolled, and all strides are constants. A tile may have
// rows of W fetched meanwhile that others will need.
//
// Rows of bf16 by integers with scales have the bits of AMX tiles on a level
// that has these: of each 32 inputs the even ones are a chain of multiply-adds,
// and so are the odd ones (LinearAmx.h).
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearTile.h"
#include "lib/Kernels/Linear/LinearAmx.h"
#include "lib/Kernels/Linear/LinearEpilogue.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

/// Groups of inputs of an iteration: enough for what the loop itself takes not
/// to show, and more where they ask for memory or have few multiply-adds each.
static constexpr int64_t kUnrolledGroups = 4, kFewOps = 4;

/// Groups of inputs before which a tile asks for its own weights: the bytes of
/// a panel that come from memory in less time than a load from there takes.
static constexpr int64_t kGroupsAhead = 16;

namespace {
/// Sums x W for a tile of rows and columns.
class TileSums {
public:
  /// Of a linear.tile or linear.sums, in front of which code is built.
  template <typename Op>
  TileSums(Op op, OpBuilder &builder, const IsaLevel &isa)
      : loops(builder, op.getLoc(), isa),
        product(loops, op.getInput().getType().getElementType(),
                op.getWeight().getType().getElementType()),
        input(op.getInput()), weight(product.flatten(op.getWeight())),
        row(op.getRow()), column(op.getColumn()), rows(op.getRows()),
        columns(op.getColumns()), next(op.getNext()), fetched(op.getFetched()),
        isAhead(op.getAhead()),
        isPaired(product.hasScales() && hasAmxProduct(op.getInput(), isa)),
        shift(op.getShift().value_or(0)),
        depth(op.getInput().getType().getDimSize(1)),
        lanes(std::min(isa.lanes, columns)), vectors(columns / lanes) {}

  /// Only the inputs [from, from + inputs), added to what `sums` holds of those
  /// before.
  void takePiece(Value from, int64_t inputs, Value sums);
  /// The sums of each row, vector by vector.
  SmallVector<Value> build();
  /// Calls `body` with a row and a column of the tile, and so many vectors of
  /// sums from there on; first all rows of a column.
  void forEachVector(ValueRange sums, int64_t together,
                     function_ref<void(int64_t, int64_t, ValueRange)> body);

  VectorLoops loops;

private:
  MultiplyAdd product;
  /// A column of W in the panels.
  struct PanelColumn {
    Value panel, column;
  };
  PanelColumn toPanel(Value column);
  PanelColumn plus(PanelColumn first, int64_t offset);
  SmallVector<Value> start();
  SmallVector<Value> loadWeights(Value g, bool mayFetch);
  SmallVector<Value> multiplyAdd(Value g, ArrayRef<Value> weights,
                                 ValueRange sums, bool isWhole = true);
  SmallVector<Value> takeGroups(ValueRange sums);
  SmallVector<Value> takeBlocks(ValueRange sums);
  SmallVector<Value> takeBlock(Value block, int64_t inputs, ValueRange sums);
  SmallVector<Value> takeInputs(Value block, int64_t offset, int64_t step,
                                int64_t inputs);
  int64_t unrolled() const;
  void fetch(Value g);

  Value input, weight, row, column;
  int64_t rows, columns;
  /// The row of W to ask for first, and how many at a time; null for none.
  Value next, fetched;
  bool isAhead;
  /// Whether even and odd inputs of a block have sums of their own.
  bool isPaired;
  int64_t shift, depth;
  int64_t lanes, vectors;
  /// The first group, and the sums of those before it; null where it is the
  /// first of all.
  Value firstGroup, before;
  /// The first column of the tile.
  PanelColumn current;
};
} // namespace

TileSums::PanelColumn TileSums::toPanel(Value column) {
  Value width = loops.index(kPanelColumns);
  return {loops.udiv(column, width), loops.urem(column, width)};
}

TileSums::PanelColumn TileSums::plus(PanelColumn first, int64_t offset) {
  return {loops.add(first.panel, offset / kPanelColumns),
          loops.add(first.column, offset % kPanelColumns)};
}

void TileSums::takePiece(Value from, int64_t inputs, Value sums) {
  firstGroup = loops.udiv(from, product.group());
  depth = inputs;
  before = sums;
}

/// Sums of nothing, or of the inputs before a piece.
SmallVector<Value> TileSums::start() {
  SmallVector<Value> starts, sums;
  for (int64_t v = 0; v < vectors; ++v) {
    PanelColumn place = plus(current, v * lanes);
    starts.push_back(
        product.start(weight, place.panel, place.column, lanes, shift));
  }
  for (int64_t r = 0; r < rows; ++r)
    sums.append(starts);
  if (!before)
    return sums;
  Value mask = loops.broadcast(loops.less(loops.index(0), firstGroup), lanes);
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = vector::MaskedLoadOp::create(
        loops.builder, loops.loc, sum.getType(), before,
        ValueRange{loops.index(i / vectors), loops.index(i % vectors * lanes)},
        mask, sum);
  return sums;
}

/// W[group g, column + v] of each vector; groups are rows of panels.
SmallVector<Value> TileSums::loadWeights(Value g, bool mayFetch) {
  SmallVector<Value> weights;
  for (int64_t v = 0; v < vectors; ++v) {
    PanelColumn place = plus(current, v * lanes);
    weights.push_back(
        product.loadWeights(weight, place.panel, g, place.column, lanes));
    if (isAhead && mayFetch && v * lanes % product.columnsOfLine() == 0)
      product.fetchWeights(weight, place.panel,
                           loops.add(g, kGroupsAhead * product.rowsOfLine()),
                           place.column);
  }
  return weights;
}

/// sums[r, v] + x[row + r, group g] * weights[v]; the depth ends in a group
/// that is not whole.
SmallVector<Value> TileSums::multiplyAdd(Value g, ArrayRef<Value> weights,
                                         ValueRange sums, bool isWhole) {
  SmallVector<Value> added;
  Value k = loops.mul(g, product.group());
  for (int64_t r = 0; r < rows; ++r) {
    Value x = product.broadcast(input, {loops.add(row, r), k}, lanes, isWhole);
    for (int64_t v = 0; v < vectors; ++v)
      added.push_back(
          product.multiplyAdd(x, weights[v], sums[r * vectors + v]));
  }
  return added;
}

/// What a tile asks for at group g.
void TileSums::fetch(Value g) {
  Value before = loops.mul(loops.udiv(g, kFetchingGroups), fetched);
  product.fetchRows(weight, loops.add(next, before), fetched);
}

int64_t TileSums::unrolled() const {
  if (next)
    return kFetchingGroups;
  return rows * vectors > kFewOps ? kUnrolledGroups : 2 * kUnrolledGroups;
}

SmallVector<Value> TileSums::build() {
  current = toPanel(column);
  SmallVector<Value> sums = start();
  return product.hasScales() ? takeBlocks(sums) : takeGroups(sums);
}

/// The products of every `step`-th of `inputs` inputs that share scales, from
/// `offset` on, summed without these.
SmallVector<Value> TileSums::takeInputs(Value block, int64_t offset,
                                        int64_t step, int64_t inputs) {
  Value firstRow = product.firstGroupOf(block);
  Value firstInput = loops.mul(block, kScaledInputs);
  auto add = [&](Value input, bool isFirstOfLine, ValueRange carried) {
    return multiplyAdd(loops.add(firstInput, input),
                       loadWeights(loops.add(firstRow, input), isFirstOfLine),
                       carried);
  };
  int64_t turn = unrolled() * step;
  int64_t end = offset + inputs / turn * turn;
  SmallVector<Value> added(rows * vectors, loops.f32(0, lanes));
  if (offset < end)
    added = loops.carry(
        loops.index(offset), loops.index(end), turn, added,
        [&](Value input, ValueRange carried) {
          if (next)
            fetch(loops.sub(loops.add(firstInput, input),
                            firstGroup ? firstGroup : loops.index(0)));
          SmallVector<Value> more(carried);
          for (int64_t i = 0; i < turn; i += step)
            more = add(loops.add(input, i),
                       (offset + i) % product.rowsOfLine() == 0, more);
          return more;
        });
  for (int64_t input = end; input < inputs; input += step)
    added = add(loops.index(input), /*isFirstOfLine=*/false, added);
  return added;
}

/// Adds the products of `inputs` inputs that share scales: their sum is
/// multiplied by the scale, not each weight.
SmallVector<Value> TileSums::takeBlock(Value block, int64_t inputs,
                                       ValueRange sums) {
  SmallVector<Value> scales;
  for (int64_t v = 0; v < vectors; ++v) {
    PanelColumn place = plus(current, v * lanes);
    scales.push_back(
        product.loadScales(weight, place.panel, block, place.column, lanes));
  }
  SmallVector<Value> added =
      takeInputs(block, /*offset=*/0, /*step=*/isPaired ? 2 : 1, inputs);
  if (isPaired) {
    SmallVector<Value> odd =
        takeInputs(block, /*offset=*/1, /*step=*/2, inputs);
    for (auto [sum, other] : llvm::zip(added, odd))
      sum = loops.add(sum, other);
  }
  for (auto [i, sum] : llvm::enumerate(added))
    sum = loops.fma(scales[i % vectors], sum, sums[i]);
  return added;
}

/// All blocks of inputs that share scales.
SmallVector<Value> TileSums::takeBlocks(ValueRange start) {
  Value first =
      firstGroup ? loops.udiv(firstGroup, kScaledInputs) : loops.index(0);
  int64_t whole = depth / kScaledInputs, rest = depth % kScaledInputs;
  SmallVector<Value> sums(start);
  Value end = loops.add(first, whole);
  if (whole > 0)
    sums =
        loops.carry(first, end, 1, sums, [&](Value block, ValueRange carried) {
          return takeBlock(block, kScaledInputs, carried);
        });
  return rest > 0 ? takeBlock(end, rest, sums) : sums;
}

SmallVector<Value> TileSums::takeGroups(ValueRange start) {
  int64_t unroll = unrolled(), group = product.group();
  int64_t whole = depth / group / unroll * unroll;
  Value first = firstGroup ? firstGroup : loops.index(0);
  auto add = [&](Value g, ValueRange carried, bool isWhole = true) {
    return multiplyAdd(g, loadWeights(g, /*mayFetch=*/true), carried, isWhole);
  };
  SmallVector<Value> sums(start);
  if (whole > 0)
    sums = loops.carry(first, loops.add(first, whole), unroll, sums,
                       [&](Value g, ValueRange carried) {
                         if (next)
                           fetch(loops.sub(g, first));
                         SmallVector<Value> added(carried);
                         for (int64_t step = 0; step < unroll; ++step)
                           added = add(loops.add(g, step), added);
                         return added;
                       });
  for (int64_t k = whole * group; k < depth; k += group)
    sums = add(loops.add(first, k / group), sums, k + group <= depth);
  return sums;
}

void TileSums::forEachVector(
    ValueRange sums, int64_t together,
    function_ref<void(int64_t, int64_t, ValueRange)> body) {
  for (int64_t v = 0; v < vectors; v += together)
    for (int64_t r = 0; r < rows; ++r)
      body(r, v * lanes, sums.slice(r * vectors + v, together));
}

void heddle::emitLinearTile(LinearTileOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  TileSums tile(op, builder, isa);
  LinearEpilogue epilogue = epilogueOf(op);
  VectorLoops &loops = tile.loops;
  auto finish = [&](int64_t r, int64_t c, ValueRange sums) {
    epilogue.finish(sums, loops.add(op.getRow(), r),
                    loops.add(op.getColumn(), c), loops);
  };
  tile.forEachVector(tile.build(), epilogue.vectors(), finish);
}

void heddle::emitLinearSums(LinearSumsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  TileSums tile(op, builder, isa);
  VectorLoops &loops = tile.loops;
  if (op.getFrom())
    tile.takePiece(op.getFrom(), *op.getInputs(), op.getDestination());
  auto store = [&](int64_t r, int64_t c, ValueRange sums) {
    loops.storeVector(sums.front(), op.getDestination(),
                      {loops.index(r), loops.index(c)});
  };
  tile.forEachVector(tile.build(), /*together=*/1, store);
}
