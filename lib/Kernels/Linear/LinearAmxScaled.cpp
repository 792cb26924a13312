//===- LinearAmxScaled.cpp - Tiles of bf16 by integers with scales --------===//
//
// linear.unpack makes bf16 of the integers of a panel, exactly, once for all
// rows of a task. A tile of 64 bytes of x has 32 inputs, as many as share a
// scale: so each product of tiles starts from zero, goes to memory, and vectors
// add it times the scale to the sums. These stay in registers for a few tiles,
// whose products wait in the L1 cache meanwhile.
//
// The scale could be multiplied into what is unpacked. Tiles could then add up
// the depth themselves, twice as fast, but weights would be rounded once more;
// and vectors, which few rows wait for memory with, would have to round each
// weight, too, to give the same bits.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearAmx.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

/// Columns of a tile of sums: half a panel.
static constexpr int64_t kTileColumns = 16;
static constexpr int64_t kHalves = kPanelColumns / kTileColumns;
/// Blocks of inputs whose products wait together.
static constexpr int64_t kWaitingBlocks = 4;
/// Pairs of inputs that an iteration unpacks.
static constexpr int64_t kUnrolledPairs = 4;

//===----------------------------------------------------------------------===//
// linear.unpack
//===----------------------------------------------------------------------===//

/// A panel of pairs as rows: [groups, 64] of [groups, 32, 2].
static Value flattenPairs(VectorLoops &loops, Value unpacked) {
  return memref::CollapseShapeOp::create(
      loops.builder, loops.loc, unpacked,
      ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

void heddle::emitLinearUnpack(LinearUnpackOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  MultiplyAdd product(loops, builder.getBF16Type(), builder.getI8Type());
  Value panel = loops.udiv(op.getColumn(), kPanelColumns);
  Value to = flattenPairs(loops, op.getDestination());
  auto bitsAt = [&](Value row, int64_t column) {
    Value w = product.loadWeights(op.getWeight(), panel, row,
                                  loops.index(column), isa.lanes);
    return loops.bitcast(w, builder.getI32Type());
  };
  Value pairs = loops.size(to, 0);
  Value blocks = loops.udiv(pairs, kScaledInputs / 2);
  loops.each(loops.index(0), blocks, 1, [&](Value block) {
    Value firstRow = product.firstGroupOf(block);
    Value firstPair = loops.mul(block, kScaledInputs / 2);
    loops.each(loops.index(0), loops.index(kScaledInputs / 2), kUnrolledPairs,
               [&](Value first) {
                 for (int64_t i = 0; i < kUnrolledPairs; ++i) {
                   Value pair = loops.add(first, i);
                   Value row = loops.add(firstRow, loops.mul(pair, 2));
                   for (int64_t c = 0; c < kPanelColumns; c += isa.lanes) {
                     // The lower half of an f32 that is such an integer is 0.
                     Value even = loops.shiftRight(bitsAt(row, c), 16);
                     Value both =
                         loops.bitOr(bitsAt(loops.add(row, 1), c), even);
                     loops.storeVector(
                         loops.bitcast(both, builder.getBF16Type()), to,
                         {loops.add(firstPair, pair), loops.index(2 * c)});
                   }
                 }
               });
  });
}

//===----------------------------------------------------------------------===//
// linear.sums
//===----------------------------------------------------------------------===//

namespace {
/// The tiles of a `linear.sums` that reads an unpacked panel.
class ScaledSums {
public:
  ScaledSums(LinearSumsOp op, OpBuilder &builder, const IsaLevel &isa)
      : loops(builder, op.getLoc(), isa), bf16(builder.getBF16Type()),
        product(loops, bf16, builder.getI8Type()), input(op.getInput()),
        weight(op.getWeight()), unpacked(flattenPairs(loops, op.getUnpacked())),
        sums(op.getDestination()), row(op.getRow()),
        panel(loops.udiv(op.getColumn(), kPanelColumns)), next(op.getNext()),
        fetched(op.getFetched()), depth(op.getInput().getType().getDimSize(1)) {
  }

  /// Where a depth ends within a block, its tiles need registers of their own.
  int64_t mostRows() const {
    return depth % kScaledInputs == 0 ? kMostTileRows : kTileRows;
  }
  /// The sums of `rows` rows from `first` on.
  void build(int64_t first, int64_t rows);

private:
  Type sumType() const {
    return amx::TileType::get({kTileRows, kTileColumns},
                              loops.builder.getF32Type());
  }
  Value load(Type tile, Value memref, ValueRange at) {
    return amx::TileLoadOp::create(loops.builder, loops.loc, tile, memref, at);
  }
  void fetch(Value block);
  void multiply(Value block, int64_t inputs, int64_t slot);
  void addProducts(Value firstBlock, int64_t blocks);
  void takeBlocks(Value firstBlock, int64_t whole, int64_t rest);

  VectorLoops loops;
  Type bf16;
  MultiplyAdd product;
  Value input, weight, unpacked, sums, row, panel;
  /// The row of W to ask for first, and how many for each block; null for none.
  Value next, fetched;
  int64_t depth;
  /// The rows that are built, and the products of their tiles that wait:
  /// [tiles, 16] of 16 rows each, by blocks, rows and halves of the panel.
  int64_t first = 0, rows = 0;
  Value waiting;
};
} // namespace

/// The rows of W that a block asks for.
void ScaledSums::fetch(Value block) {
  if (next)
    product.fetchRows(weight, loops.add(next, loops.mul(block, fetched)),
                      fetched);
}

/// The products of `inputs` inputs of a block, without its scales.
void ScaledSums::multiply(Value block, int64_t inputs, int64_t slot) {
  OpBuilder &builder = loops.builder;
  Type xType = amx::TileType::get({kTileRows, inputs}, bf16);
  Type wType = amx::TileType::get({inputs / 2, kTileColumns * 2}, bf16);
  Value k = loops.mul(block, kScaledInputs);
  Value group = loops.mul(block, kScaledInputs / 2);
  SmallVector<Value> w, products;
  for (int64_t tile = 0; tile < rows / kTileRows; ++tile) {
    Value x = load(xType, input, {loops.add(row, first + tile * kTileRows), k});
    for (int64_t half = 0; half < kHalves; ++half) {
      if (tile == 0)
        w.push_back(load(wType, unpacked,
                         {group, loops.index(half * kTileColumns * 2)}));
      Value zero = amx::TileZeroOp::create(builder, loops.loc, sumType());
      products.push_back(amx::TileMulFOp::create(builder, loops.loc, sumType(),
                                                 x, w[half], zero));
    }
  }
  int64_t firstTile = slot * int64_t(products.size());
  for (auto [i, tile] : llvm::enumerate(products))
    amx::TileStoreOp::create(
        builder, loops.loc, waiting,
        ValueRange{loops.index((firstTile + int64_t(i)) * kTileRows),
                   loops.index(0)},
        tile);
}

/// Adds the products of `blocks` blocks that wait, times their scales.
void ScaledSums::addProducts(Value firstBlock, int64_t blocks) {
  int64_t lanes = std::min(loops.isa.lanes, kTileColumns);
  int64_t tiles = rows / kTileRows * kHalves;
  int64_t atOnce = std::min(kTileRows, loops.isa.vectorRegisters / 2);
  loops.each(loops.index(0), loops.index(rows), atOnce, [&](Value r) {
    Value tile = loops.mul(loops.udiv(r, kTileRows), kHalves * kTileRows);
    Value place = loops.add(tile, loops.urem(r, kTileRows));
    for (int64_t c = 0; c < kPanelColumns; c += lanes) {
      int64_t half = c / kTileColumns;
      SmallVector<SmallVector<Value>> at;
      SmallVector<Value> added;
      for (int64_t i = 0; i < atOnce; ++i) {
        at.push_back({loops.add(loops.add(r, first), i), loops.index(c)});
        added.push_back(loops.loadVector(sums, at.back(), lanes));
      }
      for (int64_t block = 0; block < blocks; ++block) {
        Value scale = product.loadScales(
            weight, panel, loops.add(firstBlock, block), loops.index(c), lanes);
        for (auto [i, sum] : llvm::enumerate(added)) {
          int64_t before = (block * tiles + half) * kTileRows + int64_t(i);
          Value products = loops.loadVector(
              waiting,
              {loops.add(place, before), loops.index(c % kTileColumns)}, lanes);
          sum = loops.fma(scale, products, sum);
        }
      }
      for (auto [sum, where] : llvm::zip(added, at))
        loops.storeVector(sum, sums, where);
    }
  });
}

/// `whole` blocks of inputs, and behind them `rest` inputs.
void ScaledSums::takeBlocks(Value firstBlock, int64_t whole, int64_t rest) {
  for (int64_t i = 0; i < whole; ++i) {
    fetch(loops.add(firstBlock, i));
    multiply(loops.add(firstBlock, i), kScaledInputs, i);
  }
  if (rest > 0)
    multiply(loops.add(firstBlock, whole), rest, whole);
  addProducts(firstBlock, whole + (rest > 0));
}

void ScaledSums::build(int64_t firstRow, int64_t count) {
  first = firstRow;
  rows = count;
  int64_t tiles = rows / kTileRows * kHalves;
  waiting = loops.scratch(
      MemRefType::get({kWaitingBlocks * tiles * kTileRows, kTileColumns},
                      loops.builder.getF32Type()));
  int64_t lanes = loops.isa.lanes;
  loops.each(loops.index(first), loops.index(first + rows), 1, [&](Value r) {
    for (int64_t c = 0; c < kPanelColumns; c += lanes)
      loops.storeVector(loops.f32(0, lanes), sums, {r, loops.index(c)});
  });
  int64_t whole = depth / kScaledInputs, rest = depth % kScaledInputs;
  int64_t end = whole / kWaitingBlocks * kWaitingBlocks;
  loops.each(loops.index(0), loops.index(end), kWaitingBlocks,
             [&](Value block) { takeBlocks(block, kWaitingBlocks, 0); });
  if (end < whole || rest > 0)
    takeBlocks(loops.index(end), whole - end, rest);
}

void heddle::emitScaledAmxSums(LinearSumsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  ScaledSums tiles(op, builder, isa);
  int64_t rows = op.getRows(), atOnce = std::min(rows, tiles.mostRows());
  for (int64_t first = 0; first < rows; first += atOnce)
    tiles.build(first, atOnce);
}
