//===- RowLoops.cpp - Formulas as written, one op after the other ---------===//
//
// A norm makes separate passes for mean, variance and result: the variance is a
// sum of squared deviations, which loses no digits if the mean is large. The
// angle of a sinusoid is computed in f64 and its sine rounded once: f32 would
// lose the digits of the angle at large positions. Sums ascend along the row.
// These loops are the reference of kernels on vectors.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/RowLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

Value heddle::activate(ActivationKind kind, Value x, Loops &loops) {
  OpBuilder &builder = loops.builder;
  auto tanh = [&](Value value) -> Value {
    return math::TanhOp::create(builder, loops.loc, value);
  };
  auto halfTimesOnePlus = [&](Value value) {
    return loops.mul(loops.mul(loops.f32(0.5), x),
                     loops.add(loops.f32(1), value));
  };
  switch (kind) {
  case ActivationKind::Relu:
    return loops.max(x, loops.f32(0));
  case ActivationKind::Gelu:
    return halfTimesOnePlus(math::ErfOp::create(
        builder, loops.loc, loops.mul(x, loops.f32(std::sqrt(0.5)))));
  case ActivationKind::GeluTanh: {
    Value cube = loops.mul(loops.mul(x, x), x);
    Value inner = loops.add(x, loops.mul(loops.f32(0.044715), cube));
    return halfTimesOnePlus(
        tanh(loops.mul(loops.f32(std::sqrt(2.0 / M_PI)), inner)));
  }
  case ActivationKind::QuickGelu:
    return loops.mul(x, loops.sigmoid(loops.mul(loops.f32(1.702), x)));
  case ActivationKind::Silu:
    return loops.mul(x, loops.sigmoid(x));
  case ActivationKind::Tanh:
    return tanh(x);
  case ActivationKind::Sigmoid:
    return loops.sigmoid(x);
  }
  llvm_unreachable("all activations are listed");
}

void heddle::addRow(Value lhs, Value rhs, Value result, ValueRange at,
                    Loops &loops) {
  loops.loop(loops.lastSize(result), [&](Value d) {
    SmallVector<Value> place = append(at, d);
    loops.store(loops.add(loops.load(lhs, place), loops.load(rhs, place)),
                result, place);
  });
}

void heddle::normalizeRow(const Norm &norm, Value source, Value result,
                          ValueRange at, Loops &loops) {
  Value width = loops.lastSize(source);
  Value count = loops.f32(cast<MemRefType>(source.getType()).getShape().back());
  auto input = [&](Value d) { return loops.load(source, append(at, d)); };
  auto mean = [&](function_ref<Value(Value)> term) {
    Value sum =
        loops.fold(loops.index(0), width, loops.f32(0),
                   [&](Value d, Value sum) { return loops.add(sum, term(d)); });
    return loops.div(sum, count);
  };
  Value center = norm.kind == NormKind::Layer ? mean(input) : loops.f32(0);
  auto deviation = [&](Value d) { return loops.sub(input(d), center); };
  Value variance =
      mean([&](Value d) { return loops.mul(deviation(d), deviation(d)); });
  Value scale = math::SqrtOp::create(
      loops.builder, loops.loc,
      loops.add(variance, loops.f32(norm.epsilon.convertToFloat())));
  loops.loop(width, [&](Value d) {
    Value y =
        loops.mul(loops.div(deviation(d), scale), loops.load(norm.gamma, d));
    if (norm.beta)
      y = loops.add(y, loops.load(norm.beta, d));
    loops.store(y, result, append(at, d));
  });
}

void heddle::addSinusoids(Value position, int64_t timescales,
                          PositionLayout layout, const AddedRow &row,
                          Loops &loops) {
  OpBuilder &builder = loops.builder;
  Type f64 = builder.getF64Type();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loops.loc,
                                     builder.getF64FloatAttr(value));
  };
  auto toF64 = [&](Value index) -> Value {
    Value i64 = arith::IndexCastOp::create(builder, loops.loc,
                                           builder.getI64Type(), index);
    return arith::SIToFPOp::create(builder, loops.loc, f64, i64);
  };
  auto toF32 = [&](Value value) -> Value {
    return arith::TruncFOp::create(builder, loops.loc, builder.getF32Type(),
                                   value);
  };
  int64_t width = cast<MemRefType>(row.source.getType()).getShape().back();
  bool halves = layout == PositionLayout::Halves;
  Value place = toF64(position);
  loops.loop(loops.index(width / 2), [&](Value k) {
    // p / 10000^(k / timescales), as p * exp(-ln(10000) / timescales * k).
    Value rate = constant(-std::log(10000.0) / timescales);
    Value frequency =
        math::ExpOp::create(builder, loops.loc, loops.mul(rate, toF64(k)));
    Value angle = loops.mul(place, frequency);
    Value stride = loops.index(halves ? 1 : 2);
    Value sinAt = loops.mul(k, stride);
    Value cosAt = loops.add(sinAt, halves ? width / 2 : 1);
    auto addAt = [&](Value d, Value term) {
      SmallVector<Value> where = append(row.at, d);
      loops.store(loops.add(loops.load(row.source, where), toF32(term)),
                  row.result, where);
    };
    addAt(sinAt, math::SinOp::create(builder, loops.loc, angle));
    addAt(cosAt, math::CosOp::create(builder, loops.loc, angle));
  });
}

void heddle::rotateRow(RotaryPositionsOp op, Value position, ValueRange at,
                       Loops &loops) {
  OpBuilder &builder = loops.builder;
  Type f32 = builder.getF32Type(), f64 = builder.getF64Type();
  int64_t pairs = cast<MemRefType>(op.getFrequencies().getType()).getDimSize(0);
  int64_t width = cast<MemRefType>(op.getInput().getType()).getShape().back() /
                  int64_t(op.getHeads());
  Value number =
      arith::SIToFPOp::create(builder, loops.loc, f32, loops.toI32(position));
  // Of a rounded angle, rounded once, and then the factor.
  auto round = [&](Value value) -> Value {
    return loops.mul(arith::TruncFOp::create(builder, loops.loc, f32, value),
                     loops.f32(op.getScale().convertToDouble()));
  };
  auto load = [&](Value d) { return loops.load(op.getInput(), append(at, d)); };
  auto store = [&](Value value, Value d) {
    loops.store(value, op.getDestination(), append(at, d));
  };
  loops.loop(loops.index(pairs), [&](Value k) {
    Value angle = arith::ExtFOp::create(
        builder, loops.loc, f64,
        loops.mul(number, loops.load(op.getFrequencies(), k)));
    Value sine = round(math::SinOp::create(builder, loops.loc, angle));
    Value cosine = round(math::CosOp::create(builder, loops.loc, angle));
    loops.loop(loops.index(op.getHeads()), [&](Value head) {
      Value low = loops.add(loops.mul(head, width), k);
      Value high = loops.add(low, pairs);
      Value first = load(low), second = load(high);
      store(loops.sub(loops.mul(first, cosine), loops.mul(second, sine)), low);
      store(loops.add(loops.mul(second, cosine), loops.mul(first, sine)), high);
    });
  });
  loops.loop(loops.index(op.getHeads()), [&](Value head) {
    loops.loop(loops.index(2 * pairs), loops.index(width), [&](Value d) {
      Value place = loops.add(loops.mul(head, width), d);
      store(load(place), place);
    });
  });
}

void heddle::addTableRow(Value table, Value position, int64_t offset,
                         const AddedRow &row, Loops &loops) {
  Value number = loops.add(position, loops.index(offset));
  loops.loop(loops.lastSize(row.source), [&](Value d) {
    SmallVector<Value> place = append(row.at, d);
    loops.store(loops.add(loops.load(row.source, place),
                          loops.load(table, {number, d})),
                row.result, place);
  });
}
