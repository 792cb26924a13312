//===- SumTiles.cpp - Tiles of linear attention ---------------------------===//
//
// Scratch rows end in zeros where a width is no multiple of the lanes, so that
// vectors are read whole; sums and results are masked.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/SumTiles.h"
#include "lib/Kernels/HeadRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

/// Rows of a tile: with as many vectors as `tileParts` says, half of the
/// registers are accumulators.
static constexpr int64_t kTileRows = 4;
/// Heads wider than this have shorter chunks, whose features stay in the L2
/// cache beside the sums.
static constexpr int64_t kWideHead = 128;

int64_t SumTiles::chunk() const {
  return loops.isa.lanes * (features.size() > kWideHead + 1 ? 2 : 4);
}

int64_t SumTiles::padded(int64_t columns) const {
  return llvm::alignTo(columns, loops.isa.lanes);
}

Value SumTiles::scratch(ArrayRef<int64_t> shape) {
  return memref::AllocaOp::create(
      loops.builder, loops.loc,
      MemRefType::get(shape, loops.builder.getF32Type()), ValueRange(),
      loops.builder.getI64IntegerAttr(64));
}

void SumTiles::fillWithZeros(Value memref, Value begin, Value end) {
  Value zero = loops.splat(0, loops.isa.lanes);
  loops.each(begin, end, 1, [&](Value row) {
    loops.each(
        loops.index(0), loops.lastSize(memref), loops.isa.lanes,
        [&](Value column) { loops.storeVector(zero, memref, {row, column}); });
  });
}

void SumTiles::takeKeys() {
  keyRows = scratch({chunk(), padded(features.size())});
  valueRows = scratch({chunk(), padded(width)});
  fillWithZeros(keyRows, loops.index(0), loops.index(chunk()));
}

void SumTiles::takeQueries() {
  queryRows = scratch({chunk(), padded(features.size())});
  inverses = scratch({chunk()});
  fillWithZeros(queryRows, loops.index(0), loops.index(chunk()));
}

void SumTiles::takeCausal() {
  turnedKeys = scratch({padded(features.size()), chunk()});
  prefixes = scratch({chunk(), padded(features.size())});
  scoreRows = scratch({kTileRows, chunk()});
}

void SumTiles::takeRow() {
  keyRows = scratch({1, padded(features.size())});
  valueRows = scratch({1, padded(width)});
  queryRows = scratch({1, padded(features.size())});
  inverses = scratch({1});
}

void SumTiles::clearRow(Value memref, ValueRange row) {
  Value zero = loops.splat(0, loops.isa.lanes);
  forEachPart(
      loops.isa.lanes, widthOf(memref), [&](int64_t begin, int64_t count) {
        loops.storeFirst(zero, memref, append(row, loops.index(begin)), count);
      });
}

void SumTiles::clearSums(Value sums) {
  loops.each(loops.index(0), loops.index(features.size()), 1,
             [&](Value f) { clearRow(sums, f); });
}

void SumTiles::clearTotals(Value totals) { clearRow(totals, {}); }

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Calls `body` for as many vectors that cover `columns` as a tile has.
void SumTiles::forEachGroup(int64_t columns,
                            function_ref<void(const Parts &)> body) {
  Parts parts;
  forEachPart(loops.isa.lanes, columns, [&](int64_t begin, int64_t count) {
    parts.push_back({begin, count});
    if (static_cast<int64_t>(parts.size()) < tileParts())
      return;
    body(parts);
    parts.clear();
  });
  if (!parts.empty())
    body(parts);
}

SmallVector<Value> SumTiles::zeros(int64_t count) {
  return SmallVector<Value>(count, loops.splat(0, loops.isa.lanes));
}

/// A vector of a row, 0 behind its end.
Value SumTiles::partOf(Value memref, Value row, const Part &part) {
  return loops.loadFirst(memref, {row, loops.index(part.first)}, part.second,
                         loops.isa.lanes);
}

/// sums[r, c] + the sum over k in [begin, end) of x(k, r) w(k, c), a scalar by
/// a vector.
SmallVector<Value> SumTiles::multiply(Value begin, Value end, int64_t rows,
                                      int64_t parts, SmallVector<Value> sums,
                                      function_ref<Value(Value, int64_t)> x,
                                      function_ref<Value(Value, int64_t)> w) {
  return loops.carry(begin, end, 1, sums, [&](Value k, ValueRange carried) {
    SmallVector<Value> next(carried), vectors;
    for (int64_t c = 0; c < parts; ++c)
      vectors.push_back(w(k, c));
    for (int64_t r = 0; r < rows; ++r) {
      Value factor = loops.spread(x(k, r), loops.isa.lanes);
      for (int64_t c = 0; c < parts; ++c)
        next[r * parts + c] =
            loops.multiplyAdd(factor, vectors[c], next[r * parts + c]);
    }
    return next;
  });
}

//===----------------------------------------------------------------------===//
// Into the sums
//===----------------------------------------------------------------------===//

void SumTiles::loadKeys(const PositionRows &keys, Value values) {
  loops.each(loops.index(0), keys.count, 1, [&](Value j) {
    Value from = loops.plus(keys.first, j);
    features.store(keys.rows, from, keyRows, j);
    forEachPart(loops.isa.lanes, width, [&](int64_t begin, int64_t count) {
      Value column = loops.index(begin);
      loops.storeVector(loadAsF32(loops, values, {from, column}, count),
                        valueRows, {j, column});
    });
  });
}

void SumTiles::addTile(Value sums, Value feature, int64_t rows,
                       Value keyCount) {
  forEachGroup(width, [&](const Parts &parts) {
    int64_t count = parts.size();
    SmallVector<Value> tile = multiply(
        loops.index(0), keyCount, rows, count, zeros(rows * count),
        [&](Value j, int64_t r) {
          return loops.load(keyRows, {j, loops.plus(feature, r)});
        },
        [&](Value j, int64_t c) {
          return loops.loadVector(valueRows, {j, loops.index(parts[c].first)},
                                  loops.isa.lanes);
        });
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < count; ++c) {
        Value row = loops.plus(feature, r);
        Value sum = loops.add(partOf(sums, row, parts[c]), tile[r * count + c]);
        loops.storeFirst(sum, sums, {row, loops.index(parts[c].first)},
                         parts[c].second);
      }
  });
}

void SumTiles::addSums(Value sums, Value keyCount) {
  int64_t left = features.size() % kTileRows, whole = features.size() - left;
  if (whole > 0)
    loops.each(loops.index(0), loops.index(whole), kTileRows,
               [&](Value f) { addTile(sums, f, kTileRows, keyCount); });
  if (left > 0)
    addTile(sums, loops.index(whole), left, keyCount);
}

void SumTiles::addTotals(Value totals, Value keyCount) {
  forEachGroup(features.size(), [&](const Parts &parts) {
    SmallVector<Value> sums = loops.carry(
        loops.index(0), keyCount, 1, zeros(parts.size()),
        [&](Value j, ValueRange carried) {
          SmallVector<Value> next;
          for (auto [part, sum] : llvm::zip_equal(parts, carried))
            next.push_back(loops.add(
                sum, loops.loadVector(keyRows, {j, loops.index(part.first)},
                                      loops.isa.lanes)));
          return next;
        });
    for (auto [part, sum] : llvm::zip_equal(parts, sums)) {
      Value column = loops.index(part.first);
      Value before =
          loops.loadFirst(totals, column, part.second, loops.isa.lanes);
      loops.storeFirst(loops.add(before, sum), totals, column, part.second);
    }
  });
}

//===----------------------------------------------------------------------===//
// Out of the sums
//===----------------------------------------------------------------------===//

void SumTiles::loadQueries(const PositionRows &queries, Value totals) {
  Value zero = loops.f32(0);
  bool isMatrix = cast<MemRefType>(totals.getType()).getRank() == 2;
  loops.each(loops.index(0), queries.count, 1, [&](Value i) {
    features.store(queries.rows, loops.plus(queries.first, i), queryRows, i);
    SmallVector<Value> totalsAt;
    if (isMatrix)
      totalsAt.push_back(i);
    Value divisor = kernel.sumOfRow(
        features.size(), [&](Value sum, const Slice &slice) -> Value {
          return loops.multiplyAdd(kernel.load(queryRows, i, slice),
                                   kernel.load(totals, totalsAt, slice), sum);
        });
    Value isZero = arith::CmpFOp::create(
        loops.builder, loops.loc, arith::CmpFPredicate::OEQ, divisor, zero);
    Value inverse = loops.div(loops.f32(1), divisor);
    loops.store(loops.choose(isZero, zero, inverse), inverses, i);
  });
}

/// phi(Q) S of a tile, of queries from `query` on.
SmallVector<Value> SumTiles::readSums(Value sums, Value query, int64_t rows,
                                      const Parts &parts) {
  return multiply(
      loops.index(0), loops.index(features.size()), rows, parts.size(),
      zeros(rows * parts.size()),
      [&](Value f, int64_t r) {
        return loops.load(queryRows, {loops.plus(query, r), f});
      },
      [&](Value f, int64_t c) { return partOf(sums, f, parts[c]); });
}

/// Writes what a tile makes of the queries that there are. Sums that are no
/// numbers have no say where nothing divides them.
void SumTiles::finish(ArrayRef<Value> tile, const Parts &parts, Value query,
                      int64_t rows, const PositionRows &result) {
  int64_t lanes = loops.isa.lanes, count = parts.size();
  Value zero = loops.splat(0, lanes);
  for (int64_t r = 0; r < rows; ++r) {
    Value row = loops.plus(query, r);
    auto write = [&] {
      Value inverse = loops.spread(loops.load(inverses, row), lanes);
      Value isSome = loops.differs(inverse, zero);
      for (int64_t c = 0; c < count; ++c)
        loops.storeFirst(
            loops.choose(isSome, loops.mul(tile[r * count + c], inverse), zero),
            result.rows,
            {loops.plus(result.first, row), loops.index(parts[c].first)},
            parts[c].second);
    };
    if (rows == 1)
      write();
    else
      loops.when(loops.less(row, result.count), write);
  }
}

void SumTiles::read(Value sums, const PositionRows &result) {
  int64_t rows = getConstantIntValue(result.count) == 1 ? 1 : kTileRows;
  loops.each(loops.index(0), result.count, rows, [&](Value query) {
    forEachGroup(width, [&](const Parts &parts) {
      finish(readSums(sums, query, rows, parts), parts, query, rows, result);
    });
  });
}

void SumTiles::advance(Value sums, const PositionRows &result) {
  Value row = loops.index(0);
  forEachGroup(width, [&](const Parts &parts) {
    SmallVector<Value> values;
    for (auto part : parts)
      values.push_back(loops.loadVector(
          valueRows, {row, loops.index(part.first)}, loops.isa.lanes));
    auto passFeature = [&](Value f, ValueRange carried) {
      Value key = loops.spread(loops.load(keyRows, {row, f}), loops.isa.lanes);
      Value query =
          loops.spread(loops.load(queryRows, {row, f}), loops.isa.lanes);
      SmallVector<Value> next;
      for (auto [part, value, y] : llvm::zip_equal(parts, values, carried)) {
        Value sum = loops.multiplyAdd(key, value, partOf(sums, f, part));
        loops.storeFirst(sum, sums, {f, loops.index(part.first)}, part.second);
        next.push_back(loops.multiplyAdd(query, sum, y));
      }
      return next;
    };
    SmallVector<Value> tile = loops.carry(row, loops.index(features.size()), 1,
                                          zeros(parts.size()), passFeature);
    finish(tile, parts, row, /*rows=*/1, result);
  });
}

//===----------------------------------------------------------------------===//
// Causal
//===----------------------------------------------------------------------===//

/// Keys as columns, by squares in registers.
void SumTiles::turnKeys() {
  int64_t lanes = loops.isa.lanes;
  loops.each(loops.index(0), loops.lastSize(keyRows), lanes, [&](Value f) {
    loops.each(loops.index(0), loops.index(chunk()), lanes, [&](Value j) {
      SmallVector<Value> rows;
      for (int64_t r = 0; r < lanes; ++r)
        rows.push_back(loops.loadVector(keyRows, {loops.plus(j, r), f}, lanes));
      for (auto [r, column] : llvm::enumerate(loops.transpose(rows)))
        loops.storeVector(column, turnedKeys, {loops.plus(f, int64_t(r)), j});
    });
  });
}

void SumTiles::beginCausal(Value totals, Value count, Value keyCount) {
  fillWithZeros(keyRows, keyCount, count);
  fillWithZeros(valueRows, keyCount, count);
  turnKeys();
  forEachGroup(padded(features.size()), [&](const Parts &parts) {
    auto totalsOf = [&](const Part &part) {
      return loops.loadVector(totals, loops.index(part.first), loops.isa.lanes);
    };
    SmallVector<Value> before = llvm::map_to_vector(parts, totalsOf);
    SmallVector<Value> sums = loops.carry(
        loops.index(0), count, 1, zeros(parts.size()),
        [&](Value j, ValueRange carried) {
          SmallVector<Value> next;
          for (auto [part, sum, total] :
               llvm::zip_equal(parts, carried, before)) {
            Value at[] = {j, loops.index(part.first)};
            next.push_back(
                loops.add(sum, loops.loadVector(keyRows, at, loops.isa.lanes)));
            loops.storeVector(loops.add(total, next.back()), prefixes, at);
          }
          return next;
        });
    for (auto [part, sum, total] : llvm::zip_equal(parts, sums, before))
      loops.storeVector(loops.add(total, sum), totals, loops.index(part.first));
  });
}

/// The scores of queries from `query` on, with the first `vectors` of keys.
void SumTiles::scoreTile(Value query, int64_t vectors) {
  int64_t lanes = loops.isa.lanes;
  forEachGroup(vectors * lanes, [&](const Parts &parts) {
    int64_t count = parts.size();
    SmallVector<Value> tile = multiply(
        loops.index(0), loops.index(features.size()), kTileRows, count,
        zeros(kTileRows * count),
        [&](Value f, int64_t r) {
          return loops.load(queryRows, {loops.plus(query, r), f});
        },
        [&](Value f, int64_t c) {
          return loops.loadVector(turnedKeys, {f, loops.index(parts[c].first)},
                                  lanes);
        });
    for (int64_t r = 0; r < kTileRows; ++r)
      for (int64_t c = 0; c < count; ++c)
        loops.storeVector(tile[r * count + c], scoreRows,
                          {loops.index(r), loops.index(parts[c].first)});
  });
}

/// Adds the chunk's own keys to a tile. Those beside its diagonal are written
/// out: a query's result has no part of keys behind it, be they no numbers.
void SumTiles::addChunk(SmallVector<Value> &tile, Value query,
                        const Parts &parts) {
  int64_t lanes = loops.isa.lanes, count = parts.size();
  auto score = [&](Value j, int64_t r) {
    return loops.load(scoreRows, {loops.index(r), j});
  };
  auto value = [&](Value j, int64_t c) {
    return loops.loadVector(valueRows, {j, loops.index(parts[c].first)}, lanes);
  };
  tile = multiply(loops.index(0), query, kTileRows, count, std::move(tile),
                  score, value);
  for (int64_t k = 0; k < kTileRows; ++k) {
    Value j = loops.plus(query, k);
    for (int64_t c = 0; c < count; ++c) {
      Value vector = value(j, c);
      for (int64_t r = k; r < kTileRows; ++r) {
        Value &sum = tile[r * count + c];
        sum = loops.multiplyAdd(loops.spread(score(j, r), lanes), vector, sum);
      }
    }
  }
}

void SumTiles::readCausal(Value sums, const PositionRows &result) {
  int64_t lanes = loops.isa.lanes;
  // Queries of the first vectors of keys have no scores with the later ones.
  for (int64_t begin = 0; begin < chunk(); begin += lanes) {
    Value end = loops.least(result.count, loops.index(begin + lanes));
    loops.each(loops.index(begin), end, kTileRows, [&](Value query) {
      scoreTile(query, begin / lanes + 1);
      forEachGroup(width, [&](const Parts &parts) {
        SmallVector<Value> tile = readSums(sums, query, kTileRows, parts);
        addChunk(tile, query, parts);
        finish(tile, parts, query, kTileRows, result);
      });
    });
  }
}
