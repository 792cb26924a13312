//===- PoolLoops.cpp - Formulas of pool -----------------------------------===//
//
// Sums go up in the positions and end at the sequence's length: the bits of a
// vector depend on its sequence alone.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/PoolLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

/// sentence-transformers': the least that a sum is divided by.
static constexpr float kLeastCount = 1e-9f;

static Value toF32(Value index, Loops &loops) {
  // A sum of positions may be beyond 32 bits.
  OpBuilder &builder = loops.builder;
  Value number = arith::IndexCastOp::create(builder, loops.loc,
                                            builder.getI64Type(), index);
  return arith::SIToFPOp::create(builder, loops.loc, builder.getF32Type(),
                                 number);
}

PooledPositions heddle::findPooledPositions(PoolOp op, Value sequence,
                                            Loops &loops) {
  auto numberOf = [&](Value numbers) {
    return loops.toIndex(loops.load(numbers, sequence));
  };
  Value end = numberOf(op.getLengths()), zero = loops.index(0);
  Value first = op.getFirst() ? loops.umin(numberOf(op.getFirst()), end) : zero;
  bool isRagged = bool(op.getStarts());
  Value start = isRagged ? numberOf(op.getStarts()) : sequence;
  if (Value rows = op.getRows()) {
    // Positions count from the sequence's first row, which may stand before.
    start = loops.sub(start, rows);
    first = loops.max(first, loops.sub(zero, start));
    end = loops.min(end, loops.sub(loops.size(op.getInput(), 0), start));
  }
  Value one = loops.index(1);
  auto sumUpTo = [&](Value count) {
    return loops.udiv(loops.mul(count, loops.add(count, one)), 2);
  };
  Value hasSome = loops.less(first, end);
  Value least = loops.f32(kLeastCount);
  return {
      start,
      isRagged,
      bool(op.getRows()),
      first,
      end,
      hasSome,
      loops.select(hasSome, loops.sub(end, one), zero),
      loops.max(toF32(loops.sub(end, first), loops), least),
      loops.max(toF32(loops.sub(sumUpTo(end), sumUpTo(first)), loops), least)};
}

SmallVector<Value> heddle::pooledRow(const PooledPositions &positions, Value i,
                                     Loops &loops) {
  if (positions.isRagged)
    return {loops.add(positions.sequence, i)};
  return {positions.sequence, i};
}

void heddle::ifPooled(const PooledPositions &positions, Loops &loops,
                      function_ref<void()> body) {
  if (!positions.isPart)
    return body();
  loops.ifThen(positions.hasSome, body);
}

Value heddle::poolColumn(Pooling mode, const PooledPositions &positions,
                         const PooledColumn &column, Loops &loops) {
  Value zero = column.zero;
  auto fold = [&](Value initial, function_ref<Value(Value, Value)> body) {
    return loops.fold(positions.first, positions.end, initial, body);
  };
  auto sum = [&] {
    return fold(
        zero, [&](Value i, Value sum) { return loops.add(sum, column.at(i)); });
  };
  switch (mode) {
  case Pooling::Cls:
    return column.at(loops.index(0));
  case Pooling::Max:
    return fold(
        positions.isPart ? column.before()
                         : loops.constant(kLowestPooled, zero),
        [&](Value i, Value most) { return loops.max(most, column.at(i)); });
  case Pooling::Mean:
    return loops.div(sum(), positions.count);
  case Pooling::MeanSqrt:
    return loops.div(
        sum(), math::SqrtOp::create(loops.builder, loops.loc, positions.count));
  case Pooling::WeightedMean: {
    Value weighted = fold(zero, [&](Value i, Value sum) {
      Value weight = toF32(loops.add(i, loops.index(1)), loops);
      return loops.add(sum, loops.mul(column.at(i), weight));
    });
    return loops.div(weighted, positions.weight);
  }
  case Pooling::Last:
    return loops.select(positions.hasSome, column.at(positions.last), zero);
  }
  llvm_unreachable("all modes are covered");
}

void heddle::buildPoolLoops(PoolOp op, Loops &loops) {
  Value input = op.getInput(), result = op.getDestination();
  Value width = loops.lastSize(input);
  loops.nest(op.getLengths(), 1, [&](ValueRange at) {
    Value sequence = at.front();
    PooledPositions positions = findPooledPositions(op, sequence, loops);
    for (auto [number, mode] : llvm::enumerate(op.getModeList()))
      loops.loop(width, [&, number = number, mode = mode](Value d) {
        auto element = [&](Value i) {
          return loops.load(input, append(pooledRow(positions, i, loops), d));
        };
        Value place = loops.add(loops.mul(width, int64_t(number)), d);
        auto before = [&] { return loops.load(result, {sequence, place}); };
        loops.store(
            poolColumn(mode, positions, {loops.f32(0), element, before}, loops),
            result, {sequence, place});
      });
  });
}
