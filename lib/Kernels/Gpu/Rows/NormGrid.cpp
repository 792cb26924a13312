//===- NormGrid.cpp - Norms and quantize on a GPU, a warp a row -----------===//
//
// The row stays in registers, so a layer norm affords two passes: first the
// mean, then the mean of the squared deviations. One pass with E[x^2] - E[x]^2
// would lose precision. Deviations behind the end of the row are set to 0, as
// they would add the square of the mean. An RMS norm is the same without the
// mean.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Rows/NormGrid.h"
#include "lib/Kernels/Gpu/Rows/WarpRow.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;

static int64_t widthOf(Value rows) {
  return cast<MemRefType>(rows.getType()).getShape().back();
}

/// The rows of a norm: NormOp's formulas.
static void normalize(NormOp op, WarpRow &row, int64_t width, BlockCode &code) {
  SmallVector<Value> x = row.load(op.getInput());
  if (op.getResidual())
    for (auto [value, other] : llvm::zip(x, row.load(op.getResidual())))
      value = code.add(other, value);
  Value count = code.f32(width);
  SmallVector<Value> deviations = x;
  if (op.getKind() == NormKind::Layer) {
    Value mean = code.div(row.sum(x), count);
    deviations =
        row.mapInside(x, [&](Value value) { return code.sub(value, mean); });
  }
  Value variance = code.div(
      row.sum(row.map(deviations,
                      [&](Value value) { return code.mul(value, value); })),
      count);
  Value scale = math::SqrtOp::create(
      code.builder, code.loc,
      code.add(variance, code.f32(op.getEpsilon().convertToFloat())));
  SmallVector<Value> gamma = row.load(op.getGamma()), beta;
  if (op.getBeta())
    beta = row.load(op.getBeta());
  SmallVector<Value> y;
  for (auto [at, value] : llvm::enumerate(deviations)) {
    Value scaled = code.mul(code.div(value, scale), gamma[at]);
    y.push_back(beta.empty() ? scaled : code.add(scaled, beta[at]));
  }
  row.storeAlso(y, cast<ShortRowsOpInterface>(op.getOperation()));
}

/// A grid over the rows of `input`, where warps can take these rows.
static LogicalResult emitRows(Operation *op, Value input, ValueRange rows,
                              function_ref<void(WarpRow &, BlockCode &)> body) {
  if (cast<MemRefType>(input.getType()).getRank() != 2 || !haveWarpRows(rows))
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op->getLoc());
  createRowGrid(builder, op->getLoc(), loops.size(input, 0), widthOf(input),
                body);
  return success();
}

/// Those of some values that are rows, not a scale each.
static SmallVector<Value> rowsAmong(ValueRange values) {
  return llvm::filter_to_vector(values, [](Value value) {
    return cast<MemRefType>(value.getType()).getRank() == 2;
  });
}

LogicalResult heddle::emitGrid(NormOp op) {
  SmallVector<Value> rows = rowsAmong(op.getDestinations());
  rows.push_back(op.getInput());
  if (op.getResidual())
    rows.push_back(op.getResidual());
  return emitRows(op, op.getInput(), rows, [&](WarpRow &row, BlockCode &code) {
    normalize(op, row, widthOf(op.getInput()), code);
  });
}

LogicalResult heddle::emitGrid(NormalizeOp op) {
  Value input = op.getInput(), result = op.getDestination();
  return emitRows(
      op, input, {input, result}, [&](WarpRow &row, BlockCode &code) {
        SmallVector<Value> x = row.load(input);
        Value squares = row.sum(
            row.map(x, [&](Value value) { return code.mul(value, value); }));
        Value length =
            code.max(math::SqrtOp::create(code.builder, code.loc, squares),
                     code.f32(op.getEpsilon().convertToDouble()));
        row.store(
            row.map(x, [&](Value value) { return code.div(value, length); }),
            result);
      });
}

LogicalResult heddle::emitGrid(QuantizeOp op) {
  SmallVector<Value> rows = rowsAmong(op.getDestinations());
  rows.push_back(op.getInput());
  return emitRows(op, op.getInput(), rows, [&](WarpRow &row, BlockCode &) {
    row.quantize(row.load(op.getInput()), op.getMultiplier(),
                 op.getDestinations(), op.getRotated());
  });
}
