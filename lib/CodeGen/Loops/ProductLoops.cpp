//===- ProductLoops.cpp - Products with weights, as loops -----------------===//
//
// Sums run in ascending order of the depth, panels or not, so that a row's bits
// depend on the row alone.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/ProductLoops.h"
#include "dialect/linear/PanelLayout.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <numeric>

using namespace mlir;
using namespace heddle;

static Type elementOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}
static bool isOfIntegers(Value memref) {
  return elementOf(memref).isInteger(8);
}

/// The integer at these coordinates, as i32.
static Value loadInteger(Value memref, ValueRange at, Loops &loops) {
  return arith::ExtSIOp::create(loops.builder, loops.loc,
                                loops.builder.getI32Type(),
                                loops.load(memref, at));
}

/// x[k] + shift.
static Value loadShifted(const ProductInput &input, Value k, Loops &loops) {
  return loops.add(loadInteger(input.memref, append(input.at, k), loops),
                   loops.i32(input.shift));
}

static Value toFloat(Value integer, Loops &loops) {
  return arith::SIToFPOp::create(loops.builder, loops.loc,
                                 loops.builder.getF32Type(), integer);
}

/// f32(sum) * (s * w) + b.
static Value dequantize(Value sum, const ProductInput &input,
                        const ProductWeight &weight, ValueRange weightAt,
                        Loops &loops) {
  Value scale = loops.load(weight.scales, weightAt);
  if (input.scales)
    scale = loops.mul(loops.load(input.scales, input.at), scale);
  Value y = loops.mul(toFloat(sum, loops), scale);
  return weight.bias ? loops.add(y, loops.load(weight.bias, weightAt)) : y;
}

/// The f32 or short float at these coordinates, as f32.
static Value loadFloat(Value memref, ValueRange at, Loops &loops) {
  Value value = loops.load(memref, at);
  if (value.getType().isF32())
    return value;
  return arith::ExtFOp::create(loops.builder, loops.loc,
                               loops.builder.getF32Type(), value);
}

namespace {
/// The columns of one part of a weight.
class PartOfWeight {
public:
  PartOfWeight(const ProductWeight &weight, size_t part)
      : weight(weight), layout(weight.format, weight.parts),
        columns(weight.parts[part]) {
    ArrayRef<int64_t> before = ArrayRef(weight.parts).take_front(part);
    first = std::accumulate(before.begin(), before.end(), int64_t(0));
    firstPanel = PanelLayout(weight.format, before).panels();
  }

  int64_t size() const { return columns; }
  /// Where column j stands in scales and biases.
  Value column(Value j, Loops &loops) const { return loops.add(j, first); }
  /// The coordinates of W[k, j].
  SmallVector<Value> place(Value k, Value j, Loops &loops) const;
  /// W[k, j] as f32, times its scale if columns have scales within.
  Value load(Value k, Value j, Loops &loops) const;

private:
  Value scale(Value k, Value j, Loops &loops) const;

  const ProductWeight &weight;
  PanelLayout layout;
  int64_t columns, first, firstPanel;
};
} // namespace

SmallVector<Value> PartOfWeight::place(Value k, Value j, Loops &loops) const {
  if (!isPacked(weight.memref))
    return {k, column(j, loops)};
  int64_t group = layout.group();
  Value row = loops.add(loops.udiv(k, group), layout.firstRow());
  if (layout.hasScales())
    row = loops.add(row,
                    loops.mul(loops.udiv(k, kScaledInputs), layout.firstRow()));
  SmallVector<Value> place = {
      loops.add(loops.udiv(j, kPanelColumns), firstPanel), row,
      loops.urem(j, kPanelColumns)};
  if (group > 1)
    place.push_back(loops.urem(k, group));
  return place;
}

Value PartOfWeight::scale(Value k, Value j, Loops &loops) const {
  Value block = loops.udiv(k, kScaledInputs);
  if (!isPacked(weight.memref))
    return loops.load(weight.scales, {block, column(j, loops)});
  // Two bytes in front of the block, of a bf16.
  OpBuilder &builder = loops.builder;
  Value first = loops.mul(block, layout.rowsOfScale());
  Type word = builder.getI32Type();
  Value bits;
  for (int64_t byte : {0, 1}) {
    Value at = loops.add(loops.mul(loops.urem(j, kPanelColumns), 2), byte);
    Value loaded = loops.load(
        weight.memref, {loops.add(loops.udiv(j, kPanelColumns), firstPanel),
                        loops.add(first, loops.udiv(at, kPanelColumns)),
                        loops.urem(at, kPanelColumns)});
    Value shifted = loops.shiftLeft(
        arith::ExtUIOp::create(builder, loops.loc, word, loaded),
        16 + 8 * byte);
    bits = bits ? loops.bitOr(bits, shifted) : shifted;
  }
  return loops.bitcastToF32(bits);
}

Value PartOfWeight::load(Value k, Value j, Loops &loops) const {
  SmallVector<Value> at = place(k, j, loops);
  if (weight.format != WeightFormat::ScaledIntegers)
    return loadFloat(weight.memref, at, loops);
  return loops.mul(toFloat(loops.load(weight.memref, at), loops),
                   scale(k, j, loops));
}

static void multiplyFloats(const ProductInput &input,
                           const ProductWeight &weight,
                           const PartOfWeight &part, Value result,
                           ValueRange at, Loops &loops) {
  // Columns inside: the weight is read along its rows.
  Value columns = loops.index(part.size());
  loops.loop(columns, [&](Value j) {
    loops.store(weight.bias ? loops.load(weight.bias, part.column(j, loops))
                            : loops.f32(0),
                result, append(at, j));
  });
  loops.loop(loops.lastSize(input.memref), [&](Value k) {
    Value x = loadFloat(input.memref, append(input.at, k), loops);
    loops.loop(columns, [&](Value j) {
      Value term = loops.mul(x, part.load(k, j, loops));
      SmallVector<Value> place = append(at, j);
      loops.store(loops.add(loops.load(result, place), term), result, place);
    });
  });
}

static void multiplyIntegers(const ProductInput &input,
                             const ProductWeight &weight,
                             const PartOfWeight &part, Value result,
                             ValueRange at, Loops &loops) {
  Value columns = loops.index(part.size());
  Value sums = weight.sums;
  loops.loop(columns, [&](Value j) { loops.store(loops.i32(0), sums, j); });
  loops.loop(loops.lastSize(input.memref), [&](Value k) {
    Value x = loadShifted(input, k, loops);
    loops.loop(columns, [&](Value j) {
      Value w = loadInteger(weight.memref, part.place(k, j, loops), loops);
      loops.store(loops.add(loops.load(sums, j), loops.mul(x, w)), sums, j);
    });
  });
  loops.loop(columns, [&](Value j) {
    loops.store(dequantize(loops.load(sums, j), input, weight,
                           part.column(j, loops), loops),
                result, append(at, j));
  });
}

ProductWeight heddle::productWeight(Value input, Value memref, Value scales,
                                    Value bias, ArrayRef<int64_t> parts,
                                    Loops &loops) {
  ProductWeight weight{memref, scales, bias, llvm::to_vector(parts)};
  weight.format = weightFormatOf(input, memref);
  if (weight.format == WeightFormat::Integers)
    weight.sums = memref::AllocaOp::create(
        loops.builder, loops.loc,
        MemRefType::get(*llvm::max_element(parts), loops.builder.getI32Type()));
  return weight;
}

void heddle::multiplyRow(const ProductInput &input, const ProductWeight &weight,
                         size_t part, Value result, ValueRange at,
                         Loops &loops) {
  auto multiply = weight.format == WeightFormat::Integers ? multiplyIntegers
                                                          : multiplyFloats;
  multiply(input, weight, PartOfWeight(weight, part), result, at, loops);
}

Value heddle::multiplyRows(const ProductInput &input, const ProductWeight &rows,
                           ValueRange rowAt, Loops &loops) {
  Value begin = loops.index(0), end = loops.lastSize(rows.memref);
  if (isOfIntegers(rows.memref)) {
    Value sum = loops.fold(begin, end, loops.i32(0), [&](Value d, Value sum) {
      Value w = loadInteger(rows.memref, append(rowAt, d), loops);
      return loops.add(sum, loops.mul(loadShifted(input, d, loops), w));
    });
    return dequantize(sum, input, rows, rowAt, loops);
  }
  return loops.fold(
      begin, end, loops.load(rows.bias, rowAt), [&](Value d, Value sum) {
        Value x = loadFloat(input.memref, append(input.at, d), loops);
        Value w = loadFloat(rows.memref, append(rowAt, d), loops);
        return loops.add(sum, loops.mul(x, w));
      });
}

Value heddle::roundToInteger(Value x, Loops &loops) {
  OpBuilder &builder = loops.builder;
  Value isNumber = arith::CmpFOp::create(builder, loops.loc,
                                         arith::CmpFPredicate::ORD, x, x);
  Value rounded = math::RoundEvenOp::create(
      builder, loops.loc, loops.select(isNumber, x, loops.f32(0)));
  Value most = loops.f32(QuantizeOp::kMost),
        least = loops.f32(-QuantizeOp::kMost);
  Value clipped = loops.max(loops.min(rounded, most), least);
  return arith::FPToSIOp::create(builder, loops.loc, builder.getI8Type(),
                                 clipped);
}

Value heddle::quantizeValue(Value x, Value multiplier, Loops &loops) {
  return roundToInteger(loops.mul(x, loops.load(multiplier, loops.index(0))),
                        loops);
}

Value heddle::scaleOfLargest(Value most, Loops &loops) {
  Value isZero = loops.equal(most, loops.f32(0));
  return loops.select(isZero, loops.f32(1),
                      loops.div(most, loops.f32(QuantizeOp::kMost)));
}

namespace {
/// A row that is quantised, as it is or rotated.
class QuantizedRow {
public:
  QuantizedRow(Value input, ValueRange at, bool isRotated, Loops &loops)
      : input(input), at(at), loops(loops) {
    if (isRotated)
      block = rotationOf(cast<ShapedType>(input.getType()).getShape().back());
  }

  Value scale();
  /// Calls `body` with the place of each element, and with the element.
  void forEach(function_ref<void(ArrayRef<Value>, Value)> body);

private:
  SmallVector<Value> loadBlock(Value first);

  Value input;
  ValueRange at;
  Loops &loops;
  int64_t block = 1;
};
} // namespace

/// The elements of a block, rotated.
SmallVector<Value> QuantizedRow::loadBlock(Value first) {
  SmallVector<Value> x;
  for (int64_t i = 0; i < block; ++i) {
    Value element = loops.load(input, append(at, loops.add(first, i)));
    x.push_back(isNegatedByRotation(i)
                    ? arith::NegFOp::create(loops.builder, loops.loc, element)
                    : element);
  }
  for (int64_t distance = 1; distance < block; distance *= 2)
    for (int64_t i = 0; i < block; ++i)
      if ((i & distance) == 0) {
        Value a = x[i], b = x[i + distance];
        x[i] = loops.add(a, b);
        x[i + distance] = loops.sub(a, b);
      }
  return x;
}

Value QuantizedRow::scale() {
  Value blocks = loops.udiv(loops.lastSize(input), loops.index(block));
  Value most = loops.fold(
      loops.index(0), blocks, loops.f32(0), [&](Value number, Value most) {
        for (Value x : loadBlock(loops.mul(number, block)))
          most = loops.max(most,
                           math::AbsFOp::create(loops.builder, loops.loc, x));
        return most;
      });
  return scaleOfLargest(most, loops);
}

void QuantizedRow::forEach(function_ref<void(ArrayRef<Value>, Value)> body) {
  Value blocks = loops.udiv(loops.lastSize(input), loops.index(block));
  loops.loop(blocks, [&](Value number) {
    Value first = loops.mul(number, block);
    for (auto [i, x] : llvm::enumerate(loadBlock(first)))
      body(append(at, loops.add(first, int64_t(i))), x);
  });
}

void heddle::quantizeRow(const Quantization &op, ValueRange at, Loops &loops) {
  QuantizedRow row(op.input, at, op.isRotated, loops);
  Value scale;
  if (op.scales)
    loops.store(scale = row.scale(), op.scales, at);
  row.forEach([&](ArrayRef<Value> place, Value x) {
    loops.store(scale ? roundToInteger(loops.div(x, scale), loops)
                      : quantizeValue(x, op.multiplier, loops),
                op.integers, place);
  });
}

void heddle::fakeQuantizeRow(FakeQuantizeOp op, ValueRange at, Loops &loops) {
  OpBuilder &builder = loops.builder;
  Type as = op.getAs();
  auto loadOne = [&](Value vector) {
    return vector ? loops.load(vector, loops.index(0)) : Value();
  };
  auto widenInteger = [&](Value integer) -> Value {
    return arith::SIToFPOp::create(builder, loops.loc, builder.getF32Type(),
                                   integer);
  };
  QuantizedRow row(op.getInput(), at, op.getRotated(), loops);
  Value multiplier = loadOne(op.getMultiplier()), scale;
  if (as.isInteger(8) && !multiplier)
    scale = row.scale();
  Value on = loops.notEqual(loadOne(op.getOn()), loops.f32(0));
  row.forEach([&](ArrayRef<Value> place, Value x) {
    Value y;
    if (multiplier)
      y = loops.div(
          widenInteger(roundToInteger(loops.mul(x, multiplier), loops)),
          multiplier);
    else if (scale)
      y = loops.mul(widenInteger(roundToInteger(loops.div(x, scale), loops)),
                    scale);
    else
      y = widen(builder, loops.loc, roundTo(as, builder, loops.loc, x));
    loops.store(loops.select(on, y, x), op.getDestination(), place);
  });
}
