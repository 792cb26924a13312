//===- CandidateGrid.cpp - candidate_logits, a warp a logit ---------------===//
//
// Each sentence has its own list of candidates, so there is no common matrix
// for tensor cores: a warp computes one dot product, each lane its pieces of
// the row, and a butterfly adds the lanes. Sums of i8 are exact; the shift is
// added to x before the product. A candidate behind the count of its sentence
// becomes -inf, and reads neither a row nor a bias.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/CandidateGrid.h"
#include "lib/Kernels/Gpu/Rows/WarpRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace heddle;

namespace {
/// The logit of one row of x and one candidate; numbers are i32.
class CandidateLogit {
public:
  CandidateLogit(CandidateLogitsOp op, WarpRow &x, BlockCode &code)
      : op(op), x(x), code(code) {}

  void build(Value row, Value candidate);

private:
  Value toSum(Value element) const;
  Value sumOfProducts(ArrayRef<Value> lhs, ArrayRef<Value> rhs);
  Value logit(Value row, Value place);

  CandidateLogitsOp op;
  WarpRow &x;
  BlockCode &code;
};
} // namespace

/// An element of x or of a candidate's row, as sums have it.
Value CandidateLogit::toSum(Value element) const {
  Type type = element.getType();
  if (type.isInteger(8))
    return arith::ExtSIOp::create(code.builder, code.loc,
                                  code.builder.getI32Type(), element);
  if (type.isF32())
    return element;
  return arith::ExtFOp::create(code.builder, code.loc,
                               code.builder.getF32Type(), element);
}

/// Of all lanes; the order of f32 is that of columns in a lane, then of lanes.
Value CandidateLogit::sumOfProducts(ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
  bool isOfIntegers = lhs.front().getType().isInteger(8);
  Value sum = isOfIntegers ? code.i32(0) : code.f32(0);
  int64_t shift = op.getShift().value_or(0);
  for (auto [a, b] : llvm::zip(lhs, rhs)) {
    Value x = toSum(a), w = toSum(b);
    if (isOfIntegers)
      // What stands behind the end has a weight of 0.
      sum = code.add(sum, code.mul(code.add(x, shift), w));
    else
      sum = code.fma(x, w, sum);
  }
  return code.combineLanes(sum, [&](ValueRange mine, ValueRange other) {
    return SmallVector<Value>{isOfIntegers ? code.add(mine[0], other[0])
                                           : code.add(mine[0], other[0])};
  })[0];
}

/// x . rows[place] + bias[place].
Value CandidateLogit::logit(Value row, Value place) {
  Type f32 = code.builder.getF32Type();
  auto floatAt = [&](Value memref, Value at) {
    return code.loadOne(f32,
                        code.at(code.global(memref),
                                code.rowOffset(at, code.i32(sizeof(float)))));
  };
  Value y =
      sumOfProducts(x.load(op.getInput(), row), x.load(op.getRows(), place));
  if (op.getRowScales()) {
    Value scale = floatAt(op.getRowScales(), place);
    if (op.getInputScales())
      scale = code.mul(floatAt(op.getInputScales(), row), scale);
    y = code.mul(arith::SIToFPOp::create(code.builder, code.loc, f32, y),
                 scale);
  }
  return code.add(y, floatAt(op.getBias(), place));
}

void CandidateLogit::build(Value row, Value candidate) {
  auto wordAt = [&](Value memref, Value at) {
    return code.loadOne(code.builder.getI32Type(),
                        code.at(code.global(memref),
                                code.rowOffset(at, code.i32(sizeof(int32_t)))));
  };
  Value width = code.toI32(code.lastSize(op.getDestination()));
  Value sentence =
      op.getSentences()
          ? wordAt(op.getSentences(), row)
          : code.udiv(row, code.toI32(code.size(op.getInput(), 1)));
  Value isCandidate = code.uless(candidate, wordAt(op.getCounts(), sentence));
  Value y = code.ifYield(
      isCandidate,
      [&] {
        Value place = code.add(code.mul(sentence, width), candidate);
        if (op.getCandidates())
          place = wordAt(op.getCandidates(), place);
        return logit(row, place);
      },
      code.f32(-std::numeric_limits<float>::infinity()));
  code.ifThen(code.equal(code.lane(), code.i32(0)), [&] {
    Value first = code.rowOffset(row, code.mul(width, sizeof(float)));
    code.storeOne(y, code.at(code.at(code.global(op.getDestination()), first),
                             code.mul(candidate, sizeof(float))));
  });
}

LogicalResult heddle::emitGrid(CandidateLogitsOp op) {
  if (!op.getDestination() || !areDense(op->getOperands()) ||
      !haveWarpRows({op.getInput(), op.getRows()}))
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  Value candidates = loops.lastSize(op.getDestination());
  Value count = candidates;
  for (int64_t axis = 0; axis + 1 < typeOf(op.getInput()).getRank(); ++axis)
    count = loops.mul(count, loops.size(op.getInput(), axis));
  createRowGrid(builder, op.getLoc(), count,
                typeOf(op.getInput()).getShape().back(),
                [&](WarpRow &unit, BlockCode &code) {
                  Value number = unit.getRow(), of = code.toI32(candidates);
                  CandidateLogit(op, unit, code)
                      .build(code.udiv(number, of), code.urem(number, of));
                });
  return success();
}
