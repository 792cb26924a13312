//===- ChunkProducts.cpp - Tiles of linear attention ----------------------===//
//
// Scratch rows end in zeros where a width is no multiple of the lanes, so that
// vectors are read whole; sums and results are masked.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/LinearAttention/ChunkProducts.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

/// Queries that are read at once, and features that are summed.
static constexpr int64_t kRows = RegisterTile::kRows;

void ChunkProducts::fillWithZeros(Value memref, Value begin, Value end) {
  Value zero = loops.f32(0, loops.isa.lanes);
  loops.each(begin, end, 1, [&](Value row) {
    loops.each(
        loops.index(0), loops.lastSize(memref), loops.isa.lanes,
        [&](Value column) { loops.storeVector(zero, memref, {row, column}); });
  });
}

Value ChunkProducts::takeSums() {
  return tile.scratch({features.size(), width});
}
Value ChunkProducts::takeTotals() {
  return tile.scratch({tile.padded(features.size())});
}

void ChunkProducts::takeKeys() {
  keyRows = tile.scratch({kChunk, tile.padded(features.size())});
  valueRows = tile.scratch({kChunk, tile.padded(width)});
  fillWithZeros(keyRows, loops.index(0), loops.index(kChunk));
}

void ChunkProducts::takeQueries() {
  queryRows = tile.scratch({kChunk, tile.padded(features.size())});
  inverses = tile.scratch({kChunk});
  fillWithZeros(queryRows, loops.index(0), loops.index(kChunk));
}

void ChunkProducts::takeCausal() {
  turnedKeys = tile.scratch({tile.padded(features.size()), kChunk});
  prefixes = tile.scratch({kChunk, tile.padded(features.size())});
  scoreRows = tile.scratch({kRows, kChunk});
}

void ChunkProducts::takeRow() {
  keyRows = tile.scratch({1, tile.padded(features.size())});
  valueRows = tile.scratch({1, tile.padded(width)});
  queryRows = tile.scratch({1, tile.padded(features.size())});
  inverses = tile.scratch({1});
}

void ChunkProducts::clearRow(Value memref, ValueRange row) {
  Value zero = loops.f32(0, loops.isa.lanes);
  forEachPart(
      loops.isa.lanes, widthOf(memref), [&](int64_t begin, int64_t count) {
        loops.storeFirst(zero, memref, append(row, loops.index(begin)), count);
      });
}

void ChunkProducts::clearSums(Value sums) {
  loops.each(loops.index(0), loops.index(features.size()), 1,
             [&](Value f) { clearRow(sums, f); });
}

void ChunkProducts::clearTotals(Value totals) { clearRow(totals, {}); }

//===----------------------------------------------------------------------===//
// Into the sums
//===----------------------------------------------------------------------===//

/// Asks for the row of the next chunk that has the place of `row` in this one.
void ChunkProducts::fetchNext(Value rows, Value row) {
  tile.fetch(rows, loops.add(row, kChunk), loops.index(0), widthOf(rows));
}

void ChunkProducts::loadKeys(const PositionRows &keys, Value values) {
  source = {keys, values};
  loops.each(loops.index(0), keys.count, 1, [&](Value j) {
    Value from = loops.add(keys.first, j);
    features.store(keys.rows, from, keyRows, j);
    forEachPart(loops.isa.lanes, width, [&](int64_t begin, int64_t count) {
      Value column = loops.index(begin);
      loops.storeVector(loadAsF32(loops, values, {from, column}, count),
                        valueRows, {j, column});
    });
  });
}

/// Asks for the share of the next chunk's keys and values that falls to the
/// tile of sums from `feature` on.
void ChunkProducts::fetchKeys(Value feature) {
  int64_t share =
      llvm::divideCeil(kChunk, llvm::divideCeil(features.size(), kRows));
  Value first = loops.mul(loops.udiv(feature, kRows), share);
  for (int64_t r = 0; r < share; ++r) {
    Value row = loops.add(loops.add(source.keys.first, first), r);
    fetchNext(source.keys.rows, row);
    fetchNext(source.values, row);
  }
}

void ChunkProducts::addSums(Value sums, Value keyCount) {
  tile.forEachRows(features.size(), [&](Value feature, int64_t rows) {
    fetchKeys(feature);
    tile.forEachGroup(width, [&](const Parts &parts) {
      Sums products = tile.multiply(
          loops.index(0), keyCount, parts, tile.zeros(rows, parts),
          [&](Value j, int64_t r) {
            return loops.load(keyRows, {j, loops.add(feature, r)});
          },
          [&](Value j, const Part &part) {
            return tile.loadWhole(valueRows, j, part);
          });
      auto product = products.begin();
      for (int64_t r = 0; r < rows; ++r)
        for (const Part &part : parts) {
          Value row = loops.add(feature, r);
          Value sum = loops.add(tile.load(sums, row, part), *product++);
          tile.store(sum, sums, row, part);
        }
    });
  });
}

void ChunkProducts::addTotals(Value totals, Value keyCount) {
  tile.forEachGroup(features.size(), [&](const Parts &parts) {
    Sums sums = loops.carry(
        loops.index(0), keyCount, 1, tile.zeros(/*rows=*/1, parts),
        [&](Value j, ValueRange carried) {
          Sums next;
          for (auto [part, sum] : llvm::zip_equal(parts, carried))
            next.push_back(loops.add(sum, tile.loadWhole(keyRows, j, part)));
          return next;
        });
    for (auto [part, sum] : llvm::zip_equal(parts, sums)) {
      Value column = loops.index(part.column);
      Value before =
          loops.loadFirst(totals, column, part.size, loops.isa.lanes);
      loops.storeFirst(loops.add(before, sum), totals, column, part.size);
    }
  });
}

//===----------------------------------------------------------------------===//
// Out of the sums
//===----------------------------------------------------------------------===//

void ChunkProducts::loadQueries(const PositionRows &queries, Value totals) {
  querySource = queries;
  Value zero = loops.f32(0);
  bool isMatrix = cast<MemRefType>(totals.getType()).getRank() == 2;
  loops.each(loops.index(0), queries.count, 1, [&](Value i) {
    features.store(queries.rows, loops.add(queries.first, i), queryRows, i);
    SmallVector<Value> totalsAt;
    if (isMatrix)
      totalsAt.push_back(i);
    Value divisor = kernel.sumOfRow(
        features.size(), [&](Value sum, const Slice &slice) -> Value {
          return loops.fma(kernel.load(queryRows, i, slice),
                           kernel.load(totals, totalsAt, slice), sum);
        });
    Value isZero = loops.equal(divisor, zero);
    Value inverse = loops.div(loops.f32(1), divisor);
    loops.store(loops.select(isZero, zero, inverse), inverses, i);
  });
}

/// phi(Q) S of a tile, of queries from `query` on.
ChunkProducts::Sums ChunkProducts::readSums(Value sums, Value query,
                                            int64_t rows, const Parts &parts) {
  return tile.multiply(
      loops.index(0), loops.index(features.size()), parts,
      tile.zeros(rows, parts),
      [&](Value f, int64_t r) {
        return loops.load(queryRows, {loops.add(query, r), f});
      },
      [&](Value f, const Part &part) { return tile.load(sums, f, part); });
}

/// Writes what a tile makes of the queries that there are. Sums that are no
/// numbers have no say where nothing divides them.
void ChunkProducts::finish(ArrayRef<Value> sums, const Parts &parts,
                           Value query, int64_t rows,
                           const PositionRows &result) {
  int64_t lanes = loops.isa.lanes;
  Value zero = loops.f32(0, lanes);
  for (int64_t r = 0; r < rows; ++r) {
    Value row = loops.add(query, r);
    auto write = [&] {
      Value inverse = loops.broadcast(loops.load(inverses, row), lanes);
      Value isSome = loops.notEqual(inverse, zero);
      for (auto [c, part] : llvm::enumerate(parts)) {
        Value quotient = loops.mul(sums[r * parts.size() + c], inverse);
        tile.store(loops.select(isSome, quotient, zero), result.rows,
                   loops.add(result.first, row), part);
      }
    };
    if (rows == 1)
      write();
    else
      loops.ifThen(loops.less(row, result.count), write);
  }
}

/// Asks for what a tile of the next chunk reads and writes.
void ChunkProducts::fetchQueries(Value query, const PositionRows &result) {
  for (int64_t r = 0; r < kRows; ++r) {
    Value row = loops.add(query, r);
    fetchNext(querySource.rows, loops.add(querySource.first, row));
    fetchNext(result.rows, loops.add(result.first, row));
  }
}

void ChunkProducts::read(Value sums, const PositionRows &result) {
  int64_t rows = getConstantIntValue(result.count) == 1 ? 1 : kRows;
  loops.each(loops.index(0), result.count, rows, [&](Value query) {
    if (rows > 1)
      fetchQueries(query, result);
    tile.forEachGroup(width, [&](const Parts &parts) {
      finish(readSums(sums, query, rows, parts), parts, query, rows, result);
    });
  });
}

void ChunkProducts::advance(Value sums, const PositionRows &result) {
  Value row = loops.index(0);
  tile.forEachGroup(width, [&](const Parts &parts) {
    SmallVector<Value> values =
        llvm::map_to_vector(parts, [&](const Part &part) {
          return tile.loadWhole(valueRows, row, part);
        });
    auto passFeature = [&](Value f, ValueRange carried) {
      Value key =
          loops.broadcast(loops.load(keyRows, {row, f}), loops.isa.lanes);
      Value query =
          loops.broadcast(loops.load(queryRows, {row, f}), loops.isa.lanes);
      Sums next;
      for (auto [part, value, y] : llvm::zip_equal(parts, values, carried)) {
        Value sum = loops.fma(key, value, tile.load(sums, f, part));
        tile.store(sum, sums, f, part);
        next.push_back(loops.fma(query, sum, y));
      }
      return next;
    };
    Sums y = loops.carry(row, loops.index(features.size()), 1,
                         tile.zeros(/*rows=*/1, parts), passFeature);
    finish(y, parts, row, /*rows=*/1, result);
  });
}

//===----------------------------------------------------------------------===//
// Causal
//===----------------------------------------------------------------------===//

/// Keys as columns, by squares in registers.
void ChunkProducts::turnKeys() {
  int64_t lanes = loops.isa.lanes;
  loops.each(loops.index(0), loops.lastSize(keyRows), lanes, [&](Value f) {
    loops.each(loops.index(0), loops.index(kChunk), lanes, [&](Value j) {
      SmallVector<Value> rows;
      for (int64_t r = 0; r < lanes; ++r)
        rows.push_back(loops.loadVector(keyRows, {loops.add(j, r), f}, lanes));
      for (auto [r, column] : llvm::enumerate(loops.transpose(rows)))
        loops.storeVector(column, turnedKeys, {loops.add(f, int64_t(r)), j});
    });
  });
}

void ChunkProducts::beginCausal(Value totals, Value count, Value keyCount) {
  fillWithZeros(keyRows, keyCount, count);
  fillWithZeros(valueRows, keyCount, count);
  turnKeys();
  tile.forEachGroup(features.size(), [&](const Parts &parts) {
    SmallVector<Value> before =
        llvm::map_to_vector(parts, [&](const Part &part) {
          return loops.loadVector(totals, loops.index(part.column),
                                  loops.isa.lanes);
        });
    Sums sums = loops.carry(
        loops.index(0), count, 1, tile.zeros(/*rows=*/1, parts),
        [&](Value j, ValueRange carried) {
          Sums next;
          for (auto [part, sum, total] :
               llvm::zip_equal(parts, carried, before)) {
            next.push_back(loops.add(sum, tile.loadWhole(keyRows, j, part)));
            loops.storeVector(loops.add(total, next.back()), prefixes,
                              {j, loops.index(part.column)});
          }
          return next;
        });
    for (auto [part, sum, total] : llvm::zip_equal(parts, sums, before))
      loops.storeVector(loops.add(total, sum), totals,
                        loops.index(part.column));
  });
}

/// The scores of queries from `query` on, with the first `vectors` of keys.
void ChunkProducts::scoreTile(Value query, int64_t vectors) {
  int64_t keys = vectors * loops.isa.lanes;
  tile.forEachGroup(keys, [&](const Parts &parts) {
    Sums scores = tile.multiply(
        loops.index(0), loops.index(features.size()), parts,
        tile.zeros(kRows, parts),
        [&](Value f, int64_t r) {
          return loops.load(queryRows, {loops.add(query, r), f});
        },
        [&](Value f, const Part &part) {
          return tile.loadWhole(turnedKeys, f, part);
        });
    auto score = scores.begin();
    for (int64_t r = 0; r < kRows; ++r)
      for (const Part &part : parts)
        tile.store(*score++, scoreRows, loops.index(r), part);
  });
}

/// Adds the chunk's own keys to a tile. Those beside its diagonal are written
/// out: a query's result has no part of keys behind it, be they no numbers.
ChunkProducts::Sums ChunkProducts::addChunk(Sums sums, Value query,
                                            const Parts &parts) {
  auto score = [&](Value j, int64_t r) {
    return loops.load(scoreRows, {loops.index(r), j});
  };
  auto value = [&](Value j, const Part &part) {
    return tile.loadWhole(valueRows, j, part);
  };
  sums = tile.multiply(loops.index(0), query, parts, std::move(sums), score,
                       value);
  for (int64_t k = 0; k < kRows; ++k) {
    Value j = loops.add(query, k);
    SmallVector<Value> vectors = llvm::map_to_vector(
        parts, [&](const Part &part) { return value(j, part); });
    for (int64_t r = k; r < kRows; ++r) {
      Value factor = loops.broadcast(score(j, r), loops.isa.lanes);
      for (auto [c, vector] : llvm::enumerate(vectors)) {
        Value &sum = sums[r * parts.size() + c];
        sum = loops.fma(factor, vector, sum);
      }
    }
  }
  return sums;
}

void ChunkProducts::readCausal(Value sums, const PositionRows &result) {
  int64_t lanes = loops.isa.lanes;
  // Queries of the first vectors of keys have no scores with the later ones.
  for (int64_t begin = 0; begin < kChunk; begin += lanes) {
    Value end = loops.min(result.count, loops.index(begin + lanes));
    loops.each(loops.index(begin), end, kRows, [&](Value query) {
      fetchQueries(query, result);
      scoreTile(query, begin / lanes + 1);
      tile.forEachGroup(width, [&](const Parts &parts) {
        finish(addChunk(readSums(sums, query, kRows, parts), query, parts),
               parts, query, kRows, result);
      });
    });
  }
}
