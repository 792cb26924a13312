//===- AttentionBlock.cpp - Attention by blocks of queries ----------------===//
//
// For each tile of keys a block starts the copy of the values, multiplies
// queries and keys, starts the copy of the next keys, turns scores into
// probabilities and multiplies probabilities and values. Shared memory has one
// tile of keys and one of values: two barriers a tile keep copies from
// overwriting a tile that a warp still reads, and a third shows the values to
// all warps. Sums, scores and probabilities never leave registers. A warp
// without queries still copies and meets each barrier.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/AttentionBlock.h"
#include "lib/Kernels/Gpu/Attention/HeadTile.h"
#include "lib/Kernels/Gpu/Attention/QueryFragments.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// Of heads whose sums a thread has registers for.
static constexpr int64_t kMaxWidth = 304;

namespace {
/// What a block has at once: queries, in warps, and keys.
struct Shape {
  int64_t warpRows, warps, keys;

  int64_t rows() const { return warpRows * warps; }
};

/// What stands in shared memory; behind it a word for each warp, see
/// clearOthers.
struct Tiles {
  HeadTile queries, keys, values;

  Tiles(AttentionOp op, const Shape &shape);
  int64_t end() const { return values.end(); }
  BlockShape block(const Shape &shape) const {
    return {shape.warps * kWarpThreads, end() + 4 * shape.warps};
  }
};

/// What a thread of a block does.
class AttentionBlock {
public:
  /// `mask` is the op's as the head has it.
  AttentionBlock(AttentionOp op, Value mask, const Shape &shape,
                 const QueryRows &block, BlockCode &code);

  void build();

private:
  using State = QueryFragments::State;
  using Probabilities = QueryFragments::Probabilities;

  SmallVector<Value> multiplyKeys();
  void clearOthers(const KeyTile &tile);
  void addValues(ArrayRef<Value> words, State &state);
  Value foundOthers();
  void copyKeys(const KeyTile &tile);
  void passTile(const KeyTile &tile, const KeyTile &next, State *state);
  SmallVector<Value> addTile(const KeyTile &tile, const KeyTile &next,
                             const State &before);
  Value hasKeys(const KeyTile &tile) {
    return code.uless(tile.first, code.toIndex(block.keyCount));
  }

  AttentionOp op;
  Value mask;
  const Shape &shape;
  const QueryRows &block;
  BlockCode &code;
  Tiles tiles;
  OperandRows rows;
  /// The warp's first query.
  Value firstRow;
  QueryFragments queries;
};
} // namespace

//===----------------------------------------------------------------------===//
// What a block has
//===----------------------------------------------------------------------===//

Tiles::Tiles(AttentionOp op, const Shape &shape) {
  Type element = cast<MemRefType>(op.getQuery().getType()).getElementType();
  queries = {element, shape.rows(), op.getKeyWidth(), 0};
  keys = {element, shape.keys, op.getKeyWidth(), queries.end()};
  values = {element, shape.keys, op.getValueWidth(), keys.end()};
}

AttentionBlock::AttentionBlock(AttentionOp op, Value mask, const Shape &shape,
                               const QueryRows &block, BlockCode &code)
    : op(op), mask(mask), shape(shape), block(block), code(code),
      tiles(op, shape),
      firstRow(code.add(block.first, code.mul(code.warp(), shape.warpRows))),
      queries(op, mask, block, {firstRow, shape.warpRows, shape.keys}, code) {
  rows = rowsOf(op, block, code);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Those of the queries and the tile's keys.
SmallVector<Value> AttentionBlock::multiplyKeys() {
  int64_t rowFragments = queries.rowFragments(),
          keyFragments = queries.keyFragments();
  SmallVector<Value> sums(rowFragments * keyFragments * 4, code.f32(0));
  Value queryRow =
      tiles.queries.rowsFrom(code.mul(code.warp(), shape.warpRows), code);
  Value keyRow = tiles.keys.rowsFrom(code.i32(0), code);
  for (int64_t step = 0; step < tiles.keys.steps(); ++step) {
    SmallVector<FourWords> a;
    for (int64_t row = 0; row < shape.warpRows; row += kFragmentRows)
      a.push_back(tiles.queries.rowFragments(queryRow, row, step, code));
    for (int64_t first = 0; first < keyFragments; first += 2) {
      FourWords b =
          tiles.keys.rowFragments(keyRow, first * kFragmentColumns, step, code);
      for (int64_t row = 0; row < rowFragments; ++row)
        for (int64_t side = 0; side < 2; ++side)
          code.multiplyInto(tiles.keys.element, a[row], b[side], b[2 + side],
                            &sums[QueryFragments::placeOf(2 * row, keyFragments,
                                                          first + side)]);
    }
  }
  return sums;
}

/// The sums, with the values of a tile times probabilities.
void AttentionBlock::addValues(ArrayRef<Value> words, State &state) {
  int64_t rowFragments = queries.rowFragments(),
          columnFragments = queries.columnFragments();
  Value columns = tiles.values.columnsFrom(code);
  int64_t steps = words.size() / 4 / rowFragments;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t first = 0; first < columnFragments; first += 2) {
      FourWords b = tiles.values.columnFragments(
          columns, step * shape.keys / steps, first * kFragmentColumns, code);
      for (int64_t row = 0; row < rowFragments; ++row) {
        FourWords a;
        llvm::copy(words.slice((row * steps + step) * 4, 4), a.begin());
        for (int64_t side = 0; side < 2; ++side)
          code.multiplyInto(tiles.values.element, a, b[2 * side],
                            b[2 * side + 1],
                            &state.sums[QueryFragments::placeOf(
                                2 * row, columnFragments, first + side)]);
      }
    }
}

//===----------------------------------------------------------------------===//
// Values that are not finite
//===----------------------------------------------------------------------===//

/// 0 times what is no number is none, and three products of tf32 know no
/// infinity: values that are not finite become zeros in the tile, unless all
/// queries have their keys in one product. A warp's word says whether it found
/// any.
void AttentionBlock::clearOthers(const KeyTile &tile) {
  auto clear = [&] { return code.vote(tiles.values.clearOthers(code)); };
  Value found =
      op.isOfShortFloats()
          ? code.ifYield(code.logicalNot(tile.isFull), clear, code.i32(0))
          : clear();
  Value word =
      code.at(code.shared(code.i32(tiles.end())), code.mul(code.warp(), 4));
  code.ifThen(code.equal(code.lane(), code.i32(0)),
              [&] { code.storeOne(found, word); });
}

/// Not 0 if some warp has found any.
Value AttentionBlock::foundOthers() {
  Value found = code.i32(0), first = code.shared(code.i32(tiles.end()));
  for (int64_t warp = 0; warp < shape.warps; ++warp)
    found = code.bitOr(found, code.loadOne(code.builder.getI32Type(),
                                           code.at(first, 4 * warp)));
  return found;
}

//===----------------------------------------------------------------------===//
// All tiles
//===----------------------------------------------------------------------===//

void AttentionBlock::copyKeys(const KeyTile &tile) {
  code.ifThen(hasKeys(tile), [&] {
    tiles.keys.copy(rows.keys, code.toI32(tile.first), code);
  });
  code.endGroup();
}

/// What all warps of the block do for a tile; `state` is that of a warp which
/// has queries, or null.
void AttentionBlock::passTile(const KeyTile &tile, const KeyTile &next,
                              State *state) {
  SmallVector<Value> products;
  Probabilities probabilities;
  code.waitForGroups(0);
  // Keys are there, and all have read the values before.
  code.barrier();
  tiles.values.copy(rows.values, code.toI32(tile.first), code);
  code.endGroup();
  if (state)
    products = multiplyKeys();
  // All have read the keys.
  code.barrier();
  copyKeys(next);
  if (state) {
    probabilities = queries.weigh(tile, products, *state);
    queries.scaleSums(probabilities, *state);
  }
  code.waitForGroups(1);
  clearOthers(tile);
  // Values are there.
  code.barrier();
  if (!state)
    return;
  addValues(probabilities.words, *state);
  queries.addOthers(probabilities, tile, rows.values, foundOthers(), *state);
}

/// The state with a tile.
SmallVector<Value> AttentionBlock::addTile(const KeyTile &tile,
                                           const KeyTile &next,
                                           const State &before) {
  auto step = scf::IfOp::create(
      code.builder, code.loc, code.uless(firstRow, block.queryCount),
      [&](OpBuilder &, Location) {
        State state = before;
        passTile(tile, next, &state);
        scf::YieldOp::create(code.builder, code.loc, state.values());
      },
      [&](OpBuilder &, Location) {
        passTile(tile, next, nullptr);
        scf::YieldOp::create(code.builder, code.loc, before.values());
      });
  return SmallVector<Value>(step.getResults());
}

void AttentionBlock::build() {
  QueryBlock asked = block.asked(op, shape.rows(), code);
  KeyTiles walk(mask, asked, code.index(0), shape.keys, code, block.positions);
  KeyTile first = walk.from(code.index(0));
  tiles.queries.copy(rows.queries, block.first, code);
  copyKeys(first);

  SmallVector<Value> carried = {first.first, first.isFull};
  carried.append(queries.start().values());
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    scf::ConditionOp::create(code.builder, code.loc, hasKeys({now[0], now[1]}),
                             now);
  };
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    KeyTile tile = {now[0], now[1]};
    KeyTile next = walk.from(code.add(tile.first, shape.keys));
    SmallVector<Value> results = {next.first, next.isFull};
    results.append(addTile(tile, next, queries.stateOf(now.drop_front(2))));
    scf::YieldOp::create(code.builder, code.loc, results);
  };
  auto loop = scf::WhileOp::create(code.builder, code.loc,
                                   ValueRange(carried).getTypes(), carried,
                                   isLeft, step);
  // Nothing that was begun is left behind.
  code.waitForGroups(0);
  queries.finish(queries.stateOf(loop.getResults().drop_front(2)));
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// The shape for the widths: at most 168 sums and scores a thread and 99 KB of
/// shared memory, which sm_86 has. None where rows have no fragments, or a
/// thread no registers.
static std::optional<Shape> shapeFor(AttentionOp op) {
  if (!hasQueryBlocks(op))
    return std::nullopt;
  int64_t width = std::max(op.getKeyWidth(), op.getValueWidth());
  int64_t bytes = width * (op.isOfShortFloats() ? 2 : 4);
  if (bytes <= 128)
    return Shape{32, 4, 64};
  if (bytes <= 256)
    return Shape{32, 4, 32};
  if (bytes <= 512)
    return Shape{16, 4, 32};
  if (bytes <= 1024 && width <= kMaxWidth)
    return Shape{16, 2, 32};
  return std::nullopt;
}

LogicalResult heddle::emitBlocks(AttentionOp op,
                                 const GpuArchitecture &architecture) {
  std::optional<Shape> shape = shapeFor(op);
  if (!shape)
    return failure();
  OpBuilder builder(op);
  createQueryGrid(op, shape->rows(), Tiles(op, *shape).block(*shape), builder,
                  [&](BlockCode &code, const QueryRows &block, Value mask) {
                    code.multipliesTf32 = architecture.multipliesTf32;
                    AttentionBlock(op, mask, *shape, block, code).build();
                  });
  return success();
}
