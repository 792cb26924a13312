//===- OnlineBlockAmx.cpp - Attention of bf16 by tiles --------------------===//
//
// A step multiplies 32 keys (or 32 columns of values) by a block of queries:
// two tiles by two, with four accumulators. Tiles and vectors take turns, since
// one waits for the other anyway; scores and probabilities stay in the L1
// cache.
//
// A tile product cannot mask, and 0 * NaN is NaN. So NaN and infinite values
// are zeros in the columns that tiles read, and vectors add the original values
// for the queries that see their keys.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/OnlineBlockAmx.h"
#include "lib/Kernels/Attention/OnlineState.h"
#include "lib/Kernels/Linear/LinearAmx.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

static int64_t sizeOf(Value memref, int64_t axis) {
  return cast<MemRefType>(memref.getType()).getDimSize(axis);
}

/// Bits that are all set where a bf16 is not finite.
static constexpr int64_t kExponentBits = 0x7f80;

//===----------------------------------------------------------------------===//
// Products of tiles
//===----------------------------------------------------------------------===//

namespace {
/// 32 rows by all queries of a block: sums[row tile, query tile].
class TileProduct {
public:
  TileProduct(VectorLoops &loops, int64_t queries)
      : loops(loops), columnTiles(queries / kTileRows) {
    MLIRContext *context = loops.builder.getContext();
    operand =
        amx::TileType::get({kTileRows, kKeyGroup}, BFloat16Type::get(context));
    result =
        amx::TileType::get({kTileRows, kTileRows}, Float32Type::get(context));
  }

  SmallVector<Value> zeros();
  /// The sums that stand in a memref [rows, queries], from `row` on; and back.
  SmallVector<Value> load(Value sums, Value row);
  void store(ValueRange tiles, Value sums, Value row);
  /// sums + 32 rows of x, from the last two indices on, times 32 rows of w in
  /// pairs, from `pair` on.
  SmallVector<Value> multiplyAdd(Value x, ArrayRef<Value> at, Value w,
                                 Value pair, ValueRange sums);

private:
  static constexpr int64_t kRowTiles = kKeyGroup / kTileRows;

  SmallVector<Value> place(Value row, int64_t number) {
    return {loops.add(row, number / columnTiles * kTileRows),
            loops.index(number % columnTiles * kTileRows)};
  }
  Value loadTile(amx::TileType type, Value memref, ValueRange at) {
    return amx::TileLoadOp::create(loops.builder, loops.loc, type, memref, at);
  }

  VectorLoops &loops;
  int64_t columnTiles;
  amx::TileType operand, result;
};
} // namespace

SmallVector<Value> TileProduct::zeros() {
  SmallVector<Value> tiles;
  for (int64_t i = 0; i < kRowTiles * columnTiles; ++i)
    tiles.push_back(amx::TileZeroOp::create(loops.builder, loops.loc, result));
  return tiles;
}

SmallVector<Value> TileProduct::load(Value sums, Value row) {
  SmallVector<Value> tiles;
  for (int64_t i = 0; i < kRowTiles * columnTiles; ++i)
    tiles.push_back(loadTile(result, sums, place(row, i)));
  return tiles;
}

void TileProduct::store(ValueRange tiles, Value sums, Value row) {
  for (auto [i, tile] : llvm::enumerate(tiles))
    amx::TileStoreOp::create(loops.builder, loops.loc, sums, place(row, i),
                             tile);
}

SmallVector<Value> TileProduct::multiplyAdd(Value x, ArrayRef<Value> at,
                                            Value w, Value pair,
                                            ValueRange sums) {
  SmallVector<Value> rows, columns, next;
  for (int64_t i = 0; i < kRowTiles; ++i) {
    SmallVector<Value> place(at);
    Value &row = place.end()[-2];
    row = loops.add(row, i * kTileRows);
    rows.push_back(loadTile(operand, x, place));
  }
  for (int64_t i = 0; i < columnTiles; ++i)
    columns.push_back(loadTile(operand, w, {pair, loops.index(i * kKeyGroup)}));
  for (auto [i, sum] : llvm::enumerate(sums))
    next.push_back(amx::TileMulFOp::create(loops.builder, loops.loc, result,
                                           rows[i / columnTiles],
                                           columns[i % columnTiles], sum));
  return next;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Copies the keys from `first` on, fewer than a group, to the start of `last`.
static void copyLastKeys(VectorLoops &loops, Value keys, Value first,
                         Value last) {
  int64_t count = 2 * loops.isa.lanes;
  loops.each(first, loops.size(keys, 0), 1, [&](Value key) {
    for (int64_t d = 0; d < sizeOf(keys, 1); d += count)
      loops.storeVector(loops.loadVector(keys, {key, loops.index(d)}, count),
                        last, {loops.sub(key, first), loops.index(d)});
  });
}

void heddle::emitAmxScores(VectorLoops &loops, OnlineProbabilitiesOp op,
                           Value queries, Value key) {
  OpBuilder &builder = loops.builder;
  Value keys = op.getKeys(), last = op.getLast();
  int64_t width = sizeOf(keys, 1);
  Value isWhole =
      loops.lessOrEqual(loops.add(key, kKeyGroup), loops.size(keys, 0));
  loops.ifElse(isWhole, [] {}, [&] { copyLastKeys(loops, keys, key, last); });
  constexpr int64_t any = ShapedType::kDynamic;
  auto rowsType = MemRefType::get(
      {any, width}, builder.getBF16Type(),
      StridedLayoutAttr::get(builder.getContext(), any, {any, 1}));
  auto asRows = [&](Value memref) -> Value {
    return memref::CastOp::create(builder, loops.loc, rowsType, memref);
  };
  Value rows = loops.select(isWhole, asRows(keys), asRows(last));
  Value row = loops.select(isWhole, key, loops.index(0));

  TileProduct product(loops, sizeOf(op.getScores(), 1));
  SmallVector<Value> sums = product.zeros();
  for (int64_t d = 0; d < width; d += kKeyGroup)
    sums = product.multiplyAdd(rows, {row, loops.index(d)}, queries,
                               loops.index(d / 2), sums);
  product.store(sums, op.getScores(), loops.index(0));
}

//===----------------------------------------------------------------------===//
// Values in columns
//===----------------------------------------------------------------------===//

/// key / 32, the number of a group within its head.
static Value groupOf(VectorLoops &loops, Value key) {
  return loops.udiv(key, kKeyGroup);
}
static Value slotOf(VectorLoops &loops, Value key, Value slots) {
  Value group = groupOf(loops, key);
  return loops.sub(group, loops.floorTo(group, sizeOf(slots, 0)));
}

namespace {
class Columns {
public:
  Columns(OnlineColumnsOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        rowCount(loops.size(op.getValues(), 0)) {}

  void build();

private:
  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(
        loops.builder, loops.loc,
        DenseElementsAttr::get(cast<VectorType>(type),
                               APInt(16, uint64_t(value))));
  }
  Value values(Value key, Value d, bool exists);
  Value square(Value key, Value slot, Value d, int64_t pair, Value largest,
               bool exists);
  Value fill(Value key, Value slot, bool exists);

  OnlineColumnsOp op;
  VectorLoops loops;
  Value rowCount;
};
} // namespace

/// As many values of a key as a vector has lanes; zeros where it need not exist
/// and does not.
Value Columns::values(Value key, Value d, bool exists) {
  Value row = exists ? key : loops.min(key, loops.add(rowCount, -1));
  Value bits =
      loops.bitcast(loops.loadVector(op.getValues(), {row, d}, loops.isa.lanes),
                    loops.builder.getI16Type());
  if (!exists)
    bits = loops.select(loops.less(key, rowCount), bits,
                        constant(bits.getType(), 0));
  return loops.bitcast(bits, loops.builder.getBF16Type());
}

/// A square of pairs of keys by widths. Returns the greatest exponents, of
/// these values and of `largest`.
Value Columns::square(Value key, Value slot, Value d, int64_t pair,
                      Value largest, bool exists) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  SmallVector<Value> rows;
  for (int64_t i = 0; i < loops.isa.lanes; ++i) {
    Value first = loops.add(key, 2 * (pair + i));
    Value words = loops.interleave(values(first, d, exists),
                                   values(loops.add(first, 1), d, exists));
    rows.push_back(loops.bitcast(words, builder.getI32Type()));
  }
  Value mask = constant(largest.getType(), kExponentBits);
  Value zeros = constant(largest.getType(), 0);
  for (auto [i, words] : llvm::enumerate(loops.transpose(rows))) {
    Value bits = loops.bitcast(words, builder.getI16Type());
    Value exponents = loops.bitAnd(bits, mask);
    largest = arith::MaxUIOp::create(builder, loc, largest, exponents);
    Value isFinite = loops.notEqual(exponents, mask);
    Value kept = loops.select(isFinite, bits, zeros);
    loops.storeVector(loops.bitcast(kept, builder.getBF16Type()),
                      op.getColumns(),
                      {slot, loops.add(d, i), loops.index(2 * pair)});
  }
  return largest;
}

/// A group of keys; returns whether a value is left out, as an index.
Value Columns::fill(Value key, Value slot, bool exists) {
  OpBuilder &builder = loops.builder;
  int64_t lanes = loops.isa.lanes, width = sizeOf(op.getValues(), 1);
  auto type = VectorType::get(2 * lanes, builder.getI16Type());
  Value largest =
      loops.carry(loops.index(0), loops.index(width), lanes, constant(type, 0),
                  [&](Value d, ValueRange carried) {
                    Value largest = carried[0];
                    for (int64_t pair = 0; pair < kKeyGroup / 2; pair += lanes)
                      largest = square(key, slot, d, pair, largest, exists);
                    return SmallVector<Value>{largest};
                  })[0];
  Value leavesOut =
      loops.any(loops.equal(largest, constant(type, kExponentBits)));
  return loops.select(leavesOut, loops.index(1), loops.index(0));
}

void Columns::build() {
  Value none = loops.index(0), one = loops.index(1);
  // More groups than a head has, whatever rows it has.
  Value first = loops.mul(op.getHead(), int64_t(1) << 32);
  Value begin = loops.floorTo(op.getBegin(), kKeyGroup);
  loops.each(begin, op.getEnd(), kKeyGroup, [&](Value key) {
    Value slot = slotOf(loops, key, op.getSlots());
    Value number = loops.add(first, groupOf(loops, key));
    Value isThere =
        loops.equal(loops.load(op.getSlots(), {slot, none}), number);
    auto make = [&] {
      Value exists = loops.lessOrEqual(loops.add(key, kKeyGroup), rowCount);
      Value leavesOut = loops.ifYield(
          exists, [&] { return SmallVector<Value>{fill(key, slot, true)}; },
          [&] { return SmallVector<Value>{fill(key, slot, false)}; })[0];
      loops.store(number, op.getSlots(), {slot, none});
      loops.store(leavesOut, op.getSlots(), {slot, one});
    };
    loops.ifElse(isThere, [] {}, make);
  });
}

void heddle::emitColumns(OnlineColumnsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  Columns(op, builder, isa).build();
}

//===----------------------------------------------------------------------===//
// Weighted values
//===----------------------------------------------------------------------===//

namespace {
class AmxUpdate {
public:
  AmxUpdate(OnlineUpdateOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        pairs(loops, builder.getBF16Type()),
        probabilities(pairs.flatten(op.getProbabilities())) {}

  void build();

private:
  Value pairOf(Value key) {
    return loops.udiv(loops.sub(key, op.getBegin()), 2);
  }
  void finiteValues(Value d);
  void otherValues(Value group);
  void otherValue(Value pair, bool isOdd, Value d, Value value);

  OnlineUpdateOp op;
  VectorLoops loops;
  MultiplyAdd pairs;
  Value probabilities;
};
} // namespace

/// A group of widths, for all keys.
void AmxUpdate::finiteValues(Value d) {
  TileProduct product(loops, sizeOf(op.getSums(), 1));
  SmallVector<Value> sums = loops.carry(
      op.getBegin(), op.getEnd(), kKeyGroup, product.load(op.getSums(), d),
      [&](Value key, ValueRange carried) {
        Value slot = slotOf(loops, key, op.getSlots());
        return product.multiplyAdd(op.getColumns(), {slot, d, loops.index(0)},
                                   probabilities, pairOf(key), carried);
      });
  product.store(sums, op.getSums(), d);
}

void AmxUpdate::otherValue(Value pair, bool isOdd, Value d, Value value) {
  int64_t lanes = loops.isa.lanes;
  Value factor =
      loops.broadcast(arith::ExtFOp::create(loops.builder, loops.loc,
                                            loops.builder.getF32Type(), value),
                      lanes);
  for (int64_t column = 0; column < sizeOf(op.getSums(), 1); column += lanes) {
    Value probability = pairs.widen(
        loops.loadVector(probabilities, {pair, loops.index(2 * column)},
                         2 * lanes),
        isOdd);
    Value sum = loops.loadVector(op.getSums(), {d, loops.index(column)}, lanes);
    sum = loops.select(insideMask(loops, probability),
                       loops.fma(factor, probability, sum), sum);
    loops.storeVector(sum, op.getSums(), {d, loops.index(column)});
  }
}

/// The values of a group of keys that are not in the columns.
void AmxUpdate::otherValues(Value group) {
  OpBuilder &builder = loops.builder;
  Value rowCount = loops.size(op.getValues(), 0);
  auto isOther = [&](Value value) -> Value {
    auto constant = [&] {
      return arith::ConstantOp::create(builder, loops.loc,
                                       builder.getI16IntegerAttr(kExponentBits))
          .getResult();
    };
    Value bits = arith::BitcastOp::create(builder, loops.loc,
                                          builder.getI16Type(), value);
    return loops.equal(loops.bitAnd(bits, constant()), constant());
  };
  Value width = loops.index(sizeOf(op.getValues(), 1));
  loops.each(group, loops.add(group, kKeyGroup), 2, [&](Value even) {
    for (bool isOdd : {false, true}) {
      Value key = loops.add(even, isOdd);
      loops.ifThen(loops.less(key, rowCount), [&] {
        loops.each(loops.index(0), width, 1, [&](Value d) {
          Value value = loops.load(op.getValues(), {key, d});
          loops.ifThen(isOther(value),
                       [&] { otherValue(pairOf(even), isOdd, d, value); });
        });
      });
    }
  });
}

void AmxUpdate::build() {
  int64_t width = sizeOf(op.getSums(), 0);
  loops.each(loops.index(0), loops.index(width), kKeyGroup,
             [&](Value d) { finiteValues(d); });
  loops.each(op.getBegin(), op.getEnd(), kKeyGroup, [&](Value key) {
    Value slot = slotOf(loops, key, op.getSlots());
    Value leavesOut = loops.equal(
        loops.load(op.getSlots(), {slot, loops.index(1)}), loops.index(1));
    loops.ifThen(leavesOut, [&] { otherValues(key); });
  });
}

void heddle::emitAmxUpdate(OnlineUpdateOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  AmxUpdate(op, builder, isa).build();
}
