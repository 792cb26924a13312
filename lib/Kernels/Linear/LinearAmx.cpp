//===- LinearAmx.cpp - Sums of a linear by tiles --------------------------===//
//
// Two tiles of x by the two halves of a panel: four accumulators and four
// operands fill the eight registers. All of them have one shape, so that a
// function configures tiles once, and loads of tiles keep up with products if x
// or the panel comes from the L1 cache. Where a depth ends within 64 bytes, two
// more shapes take the rest: then one tile of x at a time leaves registers for
// them.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearAmx.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heddle;

/// Bytes of a row of x, at most: the last rows of a block are copied to the
/// stack of its task.
static constexpr int64_t kMostRowBytes = 1 << 15;
/// Columns of a tile of sums: half a panel.
static constexpr int64_t kTileColumns = 16;
static constexpr int64_t kHalves = kPanelColumns / kTileColumns;

int64_t heddle::rowBytes(Value input) {
  auto type = cast<MemRefType>(input.getType());
  return type.getDimSize(1) * type.getElementTypeBitWidth() / 8;
}

bool heddle::hasAmxProduct(Value input, const IsaLevel &isa) {
  Type element = cast<MemRefType>(input.getType()).getElementType();
  return isa.hasTiles && (element.isInteger(8) || element.isBF16()) &&
         rowBytes(input) % sizeof(int32_t) == 0 &&
         rowBytes(input) <= kMostRowBytes;
}

/// Bytes of x that the L1 cache holds beside weights and sums.
static constexpr int64_t kHeldBytes = 1 << 15;

namespace {
/// The tiles of a `linear.sums`.
class AmxSums {
public:
  AmxSums(LinearSumsOp op, OpBuilder &builder, const IsaLevel &isa)
      : loops(builder, op.getLoc(), isa),
        element(op.getInput().getType().getElementType()),
        product(loops, element), input(op.getInput()),
        panels(product.flatten(op.getWeight())), sums(op.getDestination()),
        row(op.getRow()), panel(loops.udiv(op.getColumn(), kPanelColumns)),
        next(op.getNext()), fetched(op.getFetched()), beside(op.getBeside()),
        shift(op.getShift().value_or(0)),
        depth(op.getInput().getType().getDimSize(1)),
        step(kTileBytes * 8 / element.getIntOrFloatBitWidth()) {}

  int64_t mostRows() const {
    return depth % step == 0 ? kMostTileRows : kTileRows;
  }
  /// The sums of `rows` rows from `first` on.
  void build(int64_t first, int64_t rows);

private:
  Type sumType() const {
    return amx::TileType::get({kTileRows, kTileColumns},
                              product.accumulatorType(1).getElementType());
  }
  SmallVector<Value> start(int64_t first, int64_t tiles);
  Value multiply(Value x, Value w, Value sum);
  void fetch(Value k);
  void runBeside(Value k);
  Value turned(Value k, int64_t whole);
  SmallVector<Value> multiplyAdd(Value k, int64_t inputs, int64_t first,
                                 ValueRange added);
  amx::TileLoadOp load(Type tile, Value memref, ValueRange at) {
    return amx::TileLoadOp::create(loops.builder, loops.loc, tile, memref, at);
  }

  VectorLoops loops;
  Type element;
  MultiplyAdd product;
  Value input, panels, sums, row, panel;
  /// The row of W to ask for first, and how many for each step; null for none.
  Value next, fetched;
  Region &beside;
  int64_t shift, depth;
  /// Inputs of a whole tile.
  int64_t step;
};
} // namespace

/// What the sums of `tiles` tiles of x start with, by halves of the panel. What
/// is the same for all rows passes through the first one of the destination: a
/// load with a stride of 0 repeats it.
SmallVector<Value> AmxSums::start(int64_t first, int64_t tiles) {
  OpBuilder &builder = loops.builder;
  Value none = loops.index(0), firstRow = loops.index(first);
  bool isZero = !product.isOfIntegers();
  for (int64_t half = 0; half < kHalves && !isZero; ++half) {
    Value column = loops.index(half * kTileColumns);
    Value sum = product.start(panels, panel, column, kTileColumns, shift);
    isZero = matchPattern(sum, m_Zero());
    if (!isZero)
      loops.storeVector(sum, sums, {firstRow, column});
  }
  SmallVector<Value> starts;
  for (int64_t i = 0; i < tiles * kHalves; ++i) {
    Value column = loops.index(i % kHalves * kTileColumns);
    starts.push_back(
        isZero
            ? amx::TileZeroOp::create(builder, loops.loc, sumType()).getResult()
            : amx::TileLoadOp::create(builder, loops.loc, sumType(), sums,
                                      ValueRange{firstRow, column}, none)
                  .getResult());
  }
  return starts;
}

Value AmxSums::multiply(Value x, Value w, Value sum) {
  OpBuilder &builder = loops.builder;
  if (!product.isOfIntegers())
    return amx::TileMulFOp::create(builder, loops.loc, sumType(), x, w, sum);
  return amx::TileMulIOp::create(builder, loops.loc, sumType(), x, w, sum,
                                 /*isZextLhs=*/product.takesUnsignedX(),
                                 /*isZextRhs=*/false);
}

/// added[tile, half] + the products of inputs [k, k + inputs).
SmallVector<Value> AmxSums::multiplyAdd(Value k, int64_t inputs, int64_t first,
                                        ValueRange added) {
  int64_t group = product.group();
  Type xType = amx::TileType::get({kTileRows, inputs}, element);
  Type wType =
      amx::TileType::get({inputs / group, kTileColumns * group}, element);
  Value groupNumber = loops.udiv(k, group);
  SmallVector<Value> x, w, result;
  for (size_t tile = 0; tile < added.size() / kHalves; ++tile)
    x.push_back(
        load(xType, input, {loops.add(row, first + tile * kTileRows), k}));
  // Other panels come before the same one: x stays in the L1 cache instead.
  for (int64_t half = 0; half < kHalves; ++half) {
    auto loaded = load(wType, panels,
                       product.weightsAt(panel, groupNumber,
                                         loops.index(half * kTileColumns)));
    loaded->setDiscardableAttr(kNontemporalAttr, loops.builder.getUnitAttr());
    w.push_back(loaded);
  }
  for (auto [i, sum] : llvm::enumerate(added))
    result.push_back(multiply(x[i / kHalves], w[i % kHalves], sum));
  return result;
}

/// The rows of W that the tile at k asks for.
void AmxSums::fetch(Value k) {
  if (!next)
    return;
  Value before = loops.mul(loops.udiv(k, step), fetched);
  product.fetchRows(panels, loops.add(next, before), fetched);
}

/// What runs beside the products of the tile at k.
void AmxSums::runBeside(Value k) {
  cloneBeside(beside, loops.udiv(k, step), loops.builder);
}

/// Of rows that the L1 cache cannot hold every second panel begins where the
/// one before ends, with what is still there. Sums of integers have any order.
Value AmxSums::turned(Value k, int64_t whole) {
  if (!product.isOfIntegers() || whole * kMostTileRows < kHeldBytes)
    return k;
  OpBuilder &builder = loops.builder;
  Value isOdd = arith::TruncIOp::create(
      builder, loops.loc, builder.getI1Type(),
      arith::IndexCastOp::create(builder, loops.loc, builder.getI64Type(),
                                 panel));
  return loops.select(isOdd, loops.sub(loops.index(whole - step), k), k);
}

void AmxSums::build(int64_t first, int64_t rows) {
  int64_t whole = depth / step * step;
  SmallVector<Value> added = start(first, rows / kTileRows);
  if (whole > 0)
    added = loops.carry(loops.index(0), loops.index(whole), step, added,
                        [&](Value k, ValueRange carried) {
                          if (first == 0)
                            runBeside(k);
                          fetch(k);
                          return multiplyAdd(turned(k, whole), step, first,
                                             carried);
                        });
  else if (first == 0)
    runBeside(loops.index(0));
  if (whole < depth)
    added = multiplyAdd(loops.index(whole), depth - whole, first, added);
  for (auto [i, sum] : llvm::enumerate(added))
    amx::TileStoreOp::create(
        loops.builder, loops.loc, sums,
        ValueRange{loops.index(first + i / kHalves * kTileRows),
                   loops.index(i % kHalves * kTileColumns)},
        sum);
}

void heddle::cloneBeside(Region &beside, Value number, OpBuilder &builder) {
  if (beside.empty())
    return;
  IRMapping mapping;
  mapping.map(beside.getArgument(0), number);
  for (Operation &op : beside.front())
    builder.clone(op, mapping);
}

void heddle::emitBeside(LinearSumsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  int64_t tiles = std::max<int64_t>(1, rowBytes(op.getInput()) / kTileBytes);
  if (!op.getBeside().empty())
    loops.each(loops.index(0), loops.index(tiles), 1, [&](Value number) {
      cloneBeside(op.getBeside(), number, builder);
    });
}

void heddle::emitAmxSums(LinearSumsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  AmxSums sums(op, builder, isa);
  int64_t rows = op.getRows(), atOnce = std::min(rows, sums.mostRows());
  for (int64_t first = 0; first < rows; first += atOnce)
    sums.build(first, atOnce);
}
