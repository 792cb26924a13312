//===- QueryFragments.cpp - The queries of a warp of attention ------------===//
//
// The fragments in which tensor cores leave the scores are the fragments in
// which they take the probabilities, so that probabilities stay in registers.
// weigh() makes scores of products, asks the mask unless the tile is full,
// raises the maxima and computes probabilities. The four lanes of a row
// exchange its maximum for each tile, but add their totals at the end only.
// Probabilities other than softmax's may leave the range of f16: then each row
// counts them in a power of 2 of its own. Values that are not finite are added
// apart, for the queries that see their key.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/QueryFragments.h"
#include "lib/Kernels/Gpu/Attention/QueryState.h"
#include "lib/Kernels/Gpu/Attention/SeenPairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace heddle;

/// From one row of a thread to the next.
static constexpr int64_t kRowStride = kFragmentRows / 2;

/// Of f32: the exponent of 1, and where exponents stand.
static constexpr int64_t kExponentOf1 = 127, kFractionBits = 23,
                         kExponentBits = 0x7f800000;
/// A row's largest probability becomes 2^14 or more, and less than 2^15: as f16
/// it is finite, and as much as can be below it is a number.
static constexpr int64_t kCountedExponent = 14;
/// What probabilities are counted in at first, such that its reciprocal and
/// 2^-kCountedExponent of it are ordinary numbers.
static constexpr float kLeastCount = 0x1p-112f;

QueryFragments::QueryFragments(AttentionOp op, Value mask,
                               const QueryRows &block, const Shape &shape,
                               BlockCode &code)
    : op(op), mask(mask), block(block), shape(shape), code(code) {
  firstRow = code.add(shape.first, code.udiv(code.lane(), 4));
  for (int64_t row = 0; row < rows(); ++row)
    queries.push_back(queryOf(code.add(firstRow, row * kRowStride)));
}

/// Behind the last query that one again.
std::unique_ptr<GpuQueryLoops> QueryFragments::queryOf(Value i) {
  Value last = code.sub(block.queryCount, code.i32(1));
  Value position = block.positions.at(code.umin(i, last), code);
  SmallVector<Value> row = {code.toIndex(block.sentence),
                            code.toIndex(position)};
  if (block.start)
    row = {code.toIndex(code.add(block.start, position))};
  return std::make_unique<GpuQueryLoops>(op, code, row,
                                         code.toIndex(block.head));
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

SmallVector<Value> QueryFragments::State::values() const {
  SmallVector<Value> all = maxima;
  all.append(totals);
  all.append(sums);
  return all;
}

QueryFragments::State QueryFragments::stateOf(ValueRange all) const {
  return {llvm::to_vector(all.take_front(rows())),
          llvm::to_vector(all.slice(rows(), rows())),
          llvm::to_vector(all.drop_front(2 * rows()))};
}

QueryFragments::State QueryFragments::start() {
  State state;
  // A softmax of nothing has a maximum that any score is above, and 0 is as
  // good as any for -inf.
  state.maxima.append(rows(),
                      code.f32(countsProbabilities()
                                   ? kLeastCount
                                   : std::numeric_limits<float>::lowest()));
  state.totals.append(rows(), code.f32(0));
  state.sums.append(rowFragments() * columnFragments() * 4, code.f32(0));
  return state;
}

/// What all four lanes of a row have.
Value QueryFragments::ofRow(Value value,
                            function_ref<Value(Value, Value)> combine) {
  for (int64_t bits : {1, 2})
    value = combine(value, code.exchange(value, bits));
  return value;
}

/// body(its place in a matrix) for each pair of a row.
void QueryFragments::forEachPair(int64_t row, function_ref<void(size_t)> body) {
  for (int64_t fragment = 0; fragment < keyFragments(); ++fragment)
    for (int64_t side = 0; side < 2; ++side)
      body(placeOf(row, keyFragments(), fragment) + side);
}

/// The largest of a row's numbers, one for each pair.
Value QueryFragments::largestOfRow(int64_t row, ArrayRef<Value> numbers) {
  auto maxNumber = [&](Value mine, Value other) {
    return code.maxNumber(mine, other);
  };
  // Two chains for each row.
  std::array<Value, 2> largest;
  for (int64_t fragment = 0; fragment < keyFragments(); ++fragment)
    for (int64_t side = 0; side < 2; ++side) {
      Value number = numbers[placeOf(row, keyFragments(), fragment) + side];
      largest[side] = fragment ? maxNumber(largest[side], number) : number;
    }
  return ofRow(maxNumber(largest[0], largest[1]), maxNumber);
}

/// Brings the total of a row up to another maximum; scaleSums brings its sums.
void QueryFragments::move(int64_t row, Value maximum, Value growth,
                          State &state, Probabilities &probabilities) {
  state.maxima[row] = maximum;
  state.totals[row] = code.mul(state.totals[row], growth);
  probabilities.growth.push_back(growth);
}

/// The maximum and the total of a row for the largest score so far, which it
/// returns.
Value QueryFragments::raiseMaximum(int64_t row, ArrayRef<Value> scores,
                                   State &state, Probabilities &probabilities) {
  Value before = state.maxima[row], largest = largestOfRow(row, scores);
  if (GpuQueryLoops::weighsProducts(op))
    largest = code.mul(largest, code.f32(AttentionOp(op).getEffectiveScale()));
  Value after = code.maxNumber(before, largest);
  move(row, after, queries[row]->growthOf(before, after), state, probabilities);
  return after;
}

/// The number that has this exponent and no other bits. Of what is below the
/// least one that is an ordinary number, that one: products with it are 0 or,
/// if they are not finite, what they were.
Value QueryFragments::powerOf2(Value exponent) {
  return code.maxNumber(code.bitcastToF32(exponent),
                        code.f32(std::numeric_limits<float>::min()));
}

/// Counts the probabilities of a row in the power of 2 that its largest one
/// has: the row's own, so that no other one changes its bits. What is infinite
/// or no number stays so.
void QueryFragments::countRow(int64_t row, MutableArrayRef<Value> probabilities,
                              State &state, Probabilities &all) {
  auto exponent = [&](int64_t value) {
    return code.i32(static_cast<int32_t>(uint32_t(value) << kFractionBits));
  };
  SmallVector<Value> sizes(probabilities.size());
  forEachPair(row, [&](size_t at) {
    sizes[at] = code.bitcastToF32(
        code.bitAnd(code.bitcastToI32(probabilities[at]),
                    code.i32(std::numeric_limits<int32_t>::max())));
  });
  Value before = code.bitcastToI32(state.maxima[row]);
  Value after = code.bitAnd(code.bitcastToI32(code.maxNumber(
                                state.maxima[row], largestOfRow(row, sizes))),
                            code.i32(kExponentBits));
  Value growth =
      powerOf2(code.add(code.sub(before, after), exponent(kExponentOf1)));
  move(row, code.bitcastToF32(after), growth, state, all);
  Value factor = code.bitcastToF32(
      code.sub(exponent(2 * kExponentOf1 + kCountedExponent), after));
  forEachPair(row, [&](size_t at) {
    probabilities[at] = code.mul(probabilities[at], factor);
  });
}

void QueryFragments::scaleSums(const Probabilities &probabilities,
                               State &state) {
  for (auto [row, growth] : llvm::enumerate(probabilities.growth))
    for (int64_t column = 0; column < columnFragments(); ++column)
      for (int64_t side = 0; side < 2; ++side) {
        Value &sum = state.sums[placeOf(row, columnFragments(), column) + side];
        sum = code.mul(sum, growth);
      }
}

//===----------------------------------------------------------------------===//
// Probabilities
//===----------------------------------------------------------------------===//

/// The bit of a row of the thread and one of its pairs.
Value QueryFragments::bitOf(Value bits, int64_t row, int64_t pair) {
  Value one = arith::ConstantIntOp::create(
      code.builder, code.loc,
      static_cast<int64_t>(uint64_t(1) << (row * pairsOfRow() + pair)), 64);
  return code.equal(code.bitAnd(bits, one), one);
}

/// The scores of all products, or the products if they are weighed as they are;
/// at keys that do not exist that of the last one.
SmallVector<Value> QueryFragments::score(ValueRange products, Value firstKey) {
  SmallVector<Value> scores = llvm::to_vector(products);
  if (GpuQueryLoops::weighsProducts(op))
    return scores;
  Value last = code.sub(block.keyCount, code.i32(1));
  for (int64_t fragment = 0; fragment < keyFragments(); ++fragment)
    for (int64_t side = 0; side < 2; ++side) {
      Value key = block.positions.at(
          code.umin(code.add(firstKey, fragment * kFragmentColumns + side),
                    last),
          code);
      for (int64_t row = 0; row < rows(); ++row) {
        Value &score = scores[placeOf(row, keyFragments(), fragment) + side];
        score = queries[row]->scoreOf(score, code.toIndex(key));
      }
    }
  return scores;
}

/// What the scores of a row weigh; a pair outside of the mask nothing.
void QueryFragments::weighRow(int64_t row, SmallVector<Value> scores,
                              State &state, Probabilities &probabilities) {
  Value maximum;
  if (isSoftmax())
    maximum = raiseMaximum(row, scores, state, probabilities);
  auto weigh = [&](Value score, int64_t pair) -> Value {
    if (GpuQueryLoops::weighsProducts(op))
      return queries[row]->probabilityOfProduct(score, maximum);
    Value probability = queries[row]->exactProbabilityOf(score, maximum);
    if (isSoftmax()) // which makes 0 of -inf
      return probability;
    return code.select(bitOf(probabilities.seen, row, pair), probability,
                       code.f32(0));
  };
  if (countsProbabilities()) {
    int64_t pair = 0;
    forEachPair(row,
                [&](size_t at) { scores[at] = weigh(scores[at], pair++); });
    countRow(row, scores, state, probabilities);
  }
  for (int64_t fragment = 0; fragment < keyFragments(); ++fragment) {
    std::array<Value, 2> both;
    for (int64_t side = 0; side < 2; ++side) {
      both[side] = scores[placeOf(row, keyFragments(), fragment) + side];
      if (!countsProbabilities())
        both[side] = weigh(both[side], 2 * fragment + side);
    }
    Value *word =
        &probabilities
             .words[(row / 2 * keyFragments() + fragment) * wordsOfFragment() +
                    row % 2];
    if (isOfShortFloats()) {
      *word = code.roundTwo(element(), both[0], both[1]);
      both = code.widenTwo(element(), *word);
    } else {
      word[0] = code.bitcastToI32(both[0]);
      word[2] = code.bitcastToI32(both[1]);
    }
    Value &total = state.totals[row];
    total = code.add(total, code.add(both[0], both[1]));
  }
}

QueryFragments::Probabilities
QueryFragments::weigh(const KeyTile &tile, ValueRange products, State &state) {
  Value firstKey =
      code.add(code.toI32(tile.first), code.mul(code.urem(code.lane(), 4), 2));
  SmallVector<Value> scores = score(products, firstKey);
  Value lowest = code.f32(-std::numeric_limits<float>::infinity());
  auto choice = scf::IfOp::create(
      code.builder, code.loc, tile.isFull,
      [&](OpBuilder &, Location) {
        SmallVector<Value> all = {
            arith::ConstantIntOp::create(code.builder, code.loc, -1, 64)};
        all.append(scores);
        scf::YieldOp::create(code.builder, code.loc, all);
      },
      [&](OpBuilder &, Location) {
        SeenPairs pairs(op, mask, block, firstRow, rows(), shape.keys, code);
        Value seen = pairs.find(code.toI32(tile.first));
        SmallVector<Value> some = {seen};
        some.append(scores);
        for (int64_t row = 0; row < rows(); ++row)
          for (int64_t pair = 0; pair < pairsOfRow(); ++pair) {
            Value &score =
                some[1 + placeOf(row, keyFragments(), pair / 2) + pair % 2];
            score = code.select(bitOf(seen, row, pair), score, lowest);
          }
        scf::YieldOp::create(code.builder, code.loc, some);
      });
  Probabilities probabilities;
  probabilities.seen = choice.getResult(0);
  probabilities.words.resize(rowFragments() * keyFragments() *
                             wordsOfFragment());
  scores = SmallVector<Value>(choice.getResults().drop_front());
  for (int64_t row = 0; row < rows(); ++row)
    weighRow(row, scores, state, probabilities);
  return probabilities;
}

//===----------------------------------------------------------------------===//
// Values that are not finite
//===----------------------------------------------------------------------===//

/// What row number `row` of the thread has for a key of the tile, an i32 that
/// is the same for all threads of a warp.
QueryFragments::Probability
QueryFragments::probabilityAt(const Probabilities &probabilities, int64_t row,
                              Value key) {
  Value fragment = code.udiv(key, kFragmentColumns);
  Value isOdd = code.equal(code.urem(key, 2), code.i32(1));
  Value word, isSeen;
  for (int64_t number = 0; number < keyFragments(); ++number) {
    auto mine =
        ArrayRef<Value>(probabilities.words)
            .slice((row / 2 * keyFragments() + number) * wordsOfFragment(),
                   wordsOfFragment());
    Value here = mine[row % 2];
    if (!isOfShortFloats())
      here = code.select(isOdd, mine[2 + row % 2], here);
    Value seenHere =
        code.select(isOdd, bitOf(probabilities.seen, row, 2 * number + 1),
                    bitOf(probabilities.seen, row, 2 * number));
    Value isHere = code.equal(fragment, code.i32(number));
    word = word ? code.select(isHere, here, word) : here;
    isSeen = isSeen ? code.select(isHere, seenHere, isSeen) : seenHere;
  }
  // The lane of the row that has the key's column.
  Value first = code.sub(code.lane(), code.urem(code.lane(), 4));
  Value owner = code.add(first, code.udiv(code.urem(key, kFragmentColumns), 2));
  word = code.fromLane(word, owner);
  isSeen = code.notEqual(
      code.fromLane(code.select(isSeen, code.i32(1), code.i32(0)), owner),
      code.i32(0));
  if (!isOfShortFloats())
    return {code.bitcastToF32(word), isSeen};
  std::array<Value, 2> both = code.widenTwo(element(), word);
  return {code.select(isOdd, both[1], both[0]), isSeen};
}

/// The sums with what is not finite in the values of a key of the tile, which
/// begin at the pointer `value`.
SmallVector<Value> QueryFragments::addOther(const Probabilities &probabilities,
                                            Value key, Value value,
                                            ValueRange sums) {
  SmallVector<Value> next = llvm::to_vector(sums);
  SmallVector<Probability> ofRows;
  for (int64_t row = 0; row < rows(); ++row)
    ofRows.push_back(probabilityAt(probabilities, row, key));
  int64_t bytes = isOfShortFloats() ? 2 : 4;
  Value at = code.at(value, code.mul(code.urem(code.lane(), 4), 2 * bytes));
  Value exponent = code.i32(0x7f800000);
  for (int64_t column = 0; column < columnFragments(); ++column)
    for (int64_t side = 0; side < 2; ++side) {
      Value other = code.loadOne(
          element(), code.at(at, (column * kFragmentColumns + side) * bytes));
      if (isOfShortFloats())
        other = arith::ExtFOp::create(code.builder, code.loc,
                                      code.builder.getF32Type(), other);
      Value isOther =
          code.equal(code.bitAnd(code.bitcastToI32(other), exponent), exponent);
      for (int64_t row = 0; row < rows(); ++row) {
        Value &sum = next[placeOf(row, columnFragments(), column) + side];
        auto [probability, isSeen] = ofRows[row];
        Value added = code.fma(probability, other, sum);
        sum = code.select(code.logicalAnd(isOther, isSeen), added, sum);
      }
    }
  return next;
}

void QueryFragments::addOthers(const Probabilities &probabilities,
                               const KeyTile &tile, const HeadRows &values,
                               Value found, State &state) {
  Value firstKey = code.toI32(tile.first);
  Value end =
      code.umin(code.sub(block.keyCount, firstKey), code.i32(shape.keys));
  auto choice = scf::IfOp::create(
      code.builder, code.loc, code.notEqual(found, code.i32(0)),
      [&](OpBuilder &, Location) {
        auto add = [&](Value key, ValueRange sums) {
          Value row = code.add(firstKey, key);
          Value value = code.at(values.first,
                                code.rowOffset(row, code.i32(values.pitch)));
          return addOther(probabilities, key, value, sums);
        };
        scf::YieldOp::create(code.builder, code.loc,
                             code.foldAll(end, state.sums, add));
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(code.builder, code.loc, state.sums);
      });
  state.sums = SmallVector<Value>(choice.getResults());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void QueryFragments::finish(const State &state) {
  Value laneColumn = code.mul(code.urem(code.lane(), 4), 2);
  for (int64_t row = 0; row < rows(); ++row) {
    Value total = ofRow(state.totals[row], [&](Value mine, Value other) {
      return code.add(mine, other);
    });
    Value i = code.add(firstRow, row * kRowStride);
    // Where nothing divides the sums they are what probabilities count.
    Value unit;
    if (countsProbabilities() && op.getNormalizer() == Normalizer::None)
      unit = code.mul(state.maxima[row],
                      code.f32(std::ldexp(1.0, -kCountedExponent)));
    code.ifThen(code.uless(i, block.queryCount), [&] {
      for (int64_t column = 0; column < columnFragments(); ++column)
        for (int64_t side = 0; side < 2; ++side) {
          Value sum =
              state.sums[placeOf(row, columnFragments(), column) + side];
          if (unit)
            sum = code.mul(sum, unit);
          Value result = resultOf(op, sum, total, code);
          Value d = code.toIndex(
              code.add(laneColumn, column * kFragmentColumns + side));
          code.store(result, op.getDestination(), queries[row]->resultAt(d));
        }
    });
  }
}
