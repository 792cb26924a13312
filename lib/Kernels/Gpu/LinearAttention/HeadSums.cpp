//===- HeadSums.cpp - The sums of linear attention in registers -----------===//
//
// sumShapeFor doubles the lanes of a column until each has at most 16 features,
// if it can, and then the positions of a tile while tiles fit into 48 KB. For
// each key a thread adds feature times value to S, one fused multiply-add, and
// the feature to z. All columns compute the same z: this costs an addition and
// saves an exchange. A query sums S and z over its features, the lanes of the
// column add up, and the quotient is the result, or 0 if the total is 0.
// Taylor's features are divided by the norm of their row.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/LinearAttention/HeadSums.h"
#include "lib/CodeGen/Loops/QueryLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

/// Of a block that may share a head with others, and of one that may not.
static constexpr int64_t kThreads = 128, kMostThreads = 512;
/// Features of a thread: what it should have, and at most has, alone and in a
/// large block, as S and z of each are registers.
static constexpr int64_t kOwnFeatures = 16, kMostFeatures = 80,
                         kMostOfLargeBlock = 32;
static constexpr int64_t kSharedBytes = 48 << 10;

int64_t SumShape::featureBytes() const {
  int64_t norms = features == FeatureMap::Taylor ? positions : 0;
  return llvm::alignTo((positions * keyWidth + norms) * 4, 16);
}

std::optional<SumShape>
heddle::sumShapeFor(FeatureMap features, int64_t keyWidth, int64_t valueWidth,
                    int64_t queryHeads, int64_t mostPositions, bool isWhole) {
  SumShape shape;
  shape.features = features;
  shape.keyWidth = shape.ownFeatures = keyWidth;
  shape.valueWidth = valueWidth;
  int64_t mostLanes = isWhole ? kMostThreads / valueWidth : kWarpThreads;
  while (shape.ownFeatures > kOwnFeatures && shape.ownFeatures % 2 == 0 &&
         shape.lanes * 2 <= std::min(mostLanes, kWarpThreads)) {
    shape.lanes *= 2;
    shape.ownFeatures /= 2;
  }
  int64_t wanted = llvm::alignTo(shape.lanes * valueWidth, kWarpThreads);
  shape.threads = isWhole ? wanted : std::min(wanted, kThreads);
  bool isLarge = shape.threads > kThreads;
  if (shape.ownFeatures > (isLarge ? kMostOfLargeBlock : kMostFeatures) ||
      shape.threads > kMostThreads)
    return std::nullopt;
  auto bytes = [&] {
    return (1 + queryHeads) * shape.featureBytes() + shape.valueBytes();
  };
  while (shape.positions < mostPositions) {
    shape.positions *= 2;
    if (bytes() > kSharedBytes) {
      shape.positions /= 2;
      break;
    }
  }
  if (bytes() > kSharedBytes)
    return std::nullopt;
  return shape;
}

HeadSums::HeadSums(const SumShape &shape, Region &map, Value columnBlock,
                   BlockCode &code)
    : shape(shape), map(map), code(code),
      part(code.urem(code.thread(), shape.lanes)),
      column(code.add(code.mul(columnBlock, shape.columns()),
                      code.udiv(code.thread(), shape.lanes))) {}

Value HeadSums::isColumn() {
  return code.uless(column, code.i32(shape.valueWidth));
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

SmallVector<Value> HeadSums::State::values() const {
  SmallVector<Value> all = sums;
  all.append(totals);
  return all;
}

HeadSums::State HeadSums::stateOf(ValueRange values) const {
  size_t half = values.size() / 2;
  return {llvm::to_vector(values.take_front(half)),
          llvm::to_vector(values.drop_front(half))};
}

HeadSums::State HeadSums::start() {
  SmallVector<Value> zeros(shape.ownFeatures + isTaylor(), code.f32(0));
  return {zeros, zeros};
}

/// Calls `body` with the number of each of the thread's features in its state,
/// and with its own among all.
template <typename Body>
static void forEachFeature(const SumShape &shape, Value part, BlockCode &code,
                           Body body) {
  Value first = code.mul(part, shape.ownFeatures);
  for (int64_t number = 0; number < shape.ownFeatures; ++number)
    body(number, code.add(first, number));
  if (shape.features == FeatureMap::Taylor)
    body(shape.ownFeatures, code.i32(shape.keyWidth));
}

namespace {
/// Where S and z of a unit stand.
struct SumPlaces {
  Value sums, totals;

  SumPlaces(const SumShape &shape, Value sumsMemref, Value totalsMemref,
            Value unit, BlockCode &code) {
    int64_t features =
        shape.keyWidth + (shape.features == FeatureMap::Taylor ? 1 : 0);
    Value before = code.mul(unit, features);
    sums = code.at(code.global(sumsMemref),
                   code.rowOffset(before, code.i32(4 * shape.valueWidth)));
    totals =
        code.at(code.global(totalsMemref), code.rowOffset(before, code.i32(4)));
  }
};
} // namespace

HeadSums::State HeadSums::load(Value sums, Value totals, Value unit) {
  Type f32 = code.builder.getF32Type();
  SumPlaces places(shape, sums, totals, unit, code);
  Value there = code.umin(column, code.i32(shape.valueWidth - 1));
  State state = start();
  forEachFeature(shape, part, code, [&](int64_t number, Value feature) {
    Value element = code.add(code.mul(feature, shape.valueWidth), there);
    state.sums[number] =
        code.loadOne(f32, code.at(places.sums, code.mul(element, 4)));
    state.totals[number] =
        code.loadOne(f32, code.at(places.totals, code.mul(feature, 4)));
  });
  return state;
}

void HeadSums::store(const State &state, Value sums, Value totals, Value unit) {
  SumPlaces places(shape, sums, totals, unit, code);
  code.ifThen(isColumn(), [&] {
    forEachFeature(shape, part, code, [&](int64_t number, Value feature) {
      Value element = code.add(code.mul(feature, shape.valueWidth), column);
      code.storeOne(state.sums[number],
                    code.at(places.sums, code.mul(element, 4)));
    });
  });
  // All columns have the same totals.
  code.ifThen(code.equal(column, code.i32(0)), [&] {
    forEachFeature(shape, part, code, [&](int64_t number, Value feature) {
      code.storeOne(state.totals[number],
                    code.at(places.totals, code.mul(feature, 4)));
    });
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// A feature of one element; of taylor the element, which is scaled where it is
/// read.
Value HeadSums::feature(Value x) {
  switch (shape.features) {
  case FeatureMap::Elu:
    return code.select(code.greater(x, code.f32(0)), code.add(x, code.f32(1)),
                       code.exp(x));
  case FeatureMap::Relu:
    return code.max(x, code.f32(0));
  case FeatureMap::Taylor:
    return x;
  case FeatureMap::Region:
    return inlineRegion(map, code.builder, x);
  }
  llvm_unreachable("all maps are covered");
}

void HeadSums::bring(const Rows &rows, int64_t width, int64_t to,
                     bool isMapped) {
  MemRefType type = typeOf(rows.memref);
  Type element = type.getElementType();
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t each = width % 4 == 0 ? 4 : 1, ofRow = width / each;
  Value from =
      code.at(code.global(rows.memref), code.mul(rows.head, width * bytes));
  Value pitch = code.i32(type.getShape().back() * bytes);
  Value last = code.sub(rows.count, code.i32(1));
  code.eachPiece(shape.positions * ofRow, [&](Value piece) {
    Value place = code.udiv(piece, ofRow);
    Value inRow = code.mul(code.urem(piece, ofRow), each);
    Value row = code.add(rows.first, code.umin(place, last));
    Value pointer = code.at(code.at(from, code.rowOffset(row, pitch)),
                            code.mul(inRow, bytes));
    SmallVector<Value> values;
    if (each == 4)
      llvm::append_range(values, code.loadFour(element, pointer));
    else
      values.push_back(code.loadOne(element, pointer));
    for (Value &value : values) {
      if (!element.isF32())
        value = arith::ExtFOp::create(code.builder, code.loc,
                                      code.builder.getF32Type(), value);
      if (isMapped)
        value = feature(value);
    }
    Value word = code.add(code.mul(place, width), inRow);
    Value there = code.shared(code.add(code.mul(word, 4), to));
    if (each == 4)
      code.storeFour({values[0], values[1], values[2], values[3]}, there);
    else
      code.storeOne(values[0], there);
  });
}

void HeadSums::bringValues(const Rows &rows, int64_t to) {
  bring(rows, shape.valueWidth, to, /*isMapped=*/false);
}
void HeadSums::bringFeatures(const Rows &rows, int64_t to) {
  bring(rows, shape.keyWidth, to, /*isMapped=*/true);
}

/// 1 / |x| of each row, 0 of zeros, behind the rows.
void HeadSums::measureFeatures(int64_t from) {
  if (!isTaylor())
    return;
  Type f32 = code.builder.getF32Type();
  int64_t lanes = std::min<int64_t>(
      llvm::bit_floor(uint64_t(shape.threads / shape.positions)), kWarpThreads);
  Value place = code.udiv(code.thread(), lanes);
  Value lane = code.urem(code.thread(), lanes);
  Value first =
      code.mul(code.umin(place, code.i32(shape.positions - 1)), shape.keyWidth);
  Value squares = code.f32(0);
  for (int64_t d = 0; d < shape.keyWidth; d += lanes) {
    Value at = code.add(lane, d);
    Value isElement = code.uless(at, code.i32(shape.keyWidth));
    Value word = code.add(first, code.select(isElement, at, code.i32(0)));
    Value x = code.loadOne(f32, code.shared(code.add(code.mul(word, 4), from)));
    Value sum = code.fma(x, x, squares);
    squares = code.select(isElement, sum, squares);
  }
  for (int64_t bits = 1; bits < lanes; bits *= 2)
    squares = code.add(squares, code.exchange(squares, bits));
  Value norm = math::SqrtOp::create(code.builder, code.loc, squares);
  Value inverse = code.select(code.equal(squares, code.f32(0)), code.f32(0),
                              code.div(code.f32(1), norm));
  Value isOne = code.logicalAnd(code.equal(lane, code.i32(0)),
                                code.uless(place, code.i32(shape.positions)));
  int64_t behind = from + shape.positions * shape.keyWidth * 4;
  code.ifThen(isOne, [&] {
    code.storeOne(inverse, code.shared(code.add(code.mul(place, 4), behind)));
  });
}

/// The thread's features of the row at a place.
SmallVector<Value> HeadSums::featuresAt(int64_t from, Value place) {
  Type f32 = code.builder.getF32Type();
  Value word = code.add(code.mul(place, shape.keyWidth),
                        code.mul(part, shape.ownFeatures));
  Value first = code.shared(code.add(code.mul(word, 4), from));
  SmallVector<Value> features;
  int64_t each = shape.ownFeatures % 4 == 0 ? 4 : 1;
  for (int64_t number = 0; number < shape.ownFeatures; number += each) {
    Value at = code.at(first, number * 4);
    if (each == 4)
      llvm::append_range(features, code.loadFour(f32, at));
    else
      features.push_back(code.loadOne(f32, at));
  }
  if (!isTaylor())
    return features;
  int64_t behind = from + shape.positions * shape.keyWidth * 4;
  Value inverse =
      code.loadOne(f32, code.shared(code.add(code.mul(place, 4), behind)));
  for (Value &value : features)
    value = code.mul(value, inverse);
  features.push_back(code.f32(1));
  return features;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

HeadSums::State HeadSums::add(const State &state, int64_t keys, int64_t values,
                              Value place) {
  Value there = code.umin(column, code.i32(shape.valueWidth - 1));
  Value word = code.add(code.mul(place, shape.valueWidth), there);
  Value value = code.loadOne(code.builder.getF32Type(),
                             code.shared(code.add(code.mul(word, 4), values)));
  State next;
  for (auto [feature, sum, total] :
       llvm::zip(featuresAt(keys, place), state.sums, state.totals)) {
    next.sums.push_back(code.fma(feature, value, sum));
    next.totals.push_back(code.add(total, feature));
  }
  return next;
}

/// The sum over the lanes of a column.
Value HeadSums::overLanes(Value value) {
  for (int64_t bits = 1; bits < shape.lanes; bits *= 2)
    value = code.add(value, code.exchange(value, bits));
  return value;
}

Value HeadSums::read(const State &state, int64_t queries, Value place) {
  SmallVector<Value> features = featuresAt(queries, place);
  Value sum = code.f32(0), total = code.f32(0);
  for (int64_t number = 0; number < shape.ownFeatures; ++number) {
    auto add = [&](Value by, Value to) -> Value {
      return code.fma(features[number], by, to);
    };
    sum = add(state.sums[number], sum);
    total = add(state.totals[number], total);
  }
  sum = overLanes(sum);
  total = overLanes(total);
  if (isTaylor()) {
    sum = code.add(sum, state.sums.back());
    total = code.add(total, state.totals.back());
  }
  return code.select(code.equal(total, code.f32(0)), code.f32(0),
                     code.div(sum, total));
}

void HeadSums::storeResult(Value result, Value memref, Value row, Value head) {
  int64_t pitch = typeOf(memref).getShape().back() * 4;
  Value isMine = code.logicalAnd(isColumn(), code.equal(part, code.i32(0)));
  code.ifThen(isMine, [&] {
    Value inRow = code.add(code.mul(head, shape.valueWidth), column);
    Value to =
        code.at(code.global(memref), code.rowOffset(row, code.i32(pitch)));
    code.storeOne(result, code.at(to, code.mul(inRow, 4)));
  });
}

SmallVector<Value> HeadSums::passTiles(
    Value count, ValueRange initial, function_ref<void(Value, Value)> bring,
    function_ref<void()> measure,
    function_ref<SmallVector<Value>(Value, Value, ValueRange)> each) {
  Value tiles =
      code.udiv(code.add(count, shape.positions - 1), shape.positions);
  return code.foldAll(tiles, initial, [&](Value tile, ValueRange now) {
    Value first = code.mul(tile, shape.positions);
    Value left = code.sub(count, first);
    code.barrier();
    bring(first, left);
    code.barrier();
    if (isTaylor()) {
      measure();
      code.barrier();
    }
    return code.foldAll(code.umin(left, code.i32(shape.positions)), now,
                        [&](Value place, ValueRange carried) {
                          return each(code.add(first, place), place, carried);
                        });
  });
}
