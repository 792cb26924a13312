#include "lib/Kernels/Gpu/RowGrid.h"
#include "lib/CodeGen/ProductLoops.h"
#include "lib/CodeGen/RoundToBf16.h"
#include "lib/Kernels/Gpu/ProductEnds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWarps = 4;
/// Of a row, what 128 registers of each lane hold.
static constexpr int64_t kMostWidth = 128 * kWarpThreads;

static int64_t widthOf(Value rows) {
  return cast<MemRefType>(rows.getType()).getShape().back();
}
static int64_t elementBytes(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementTypeBitWidth() / 8;
}

namespace {
/// A row of f32, spread over the lanes of a warp: lane l has piece l of every
/// 32. Elements that a lane has behind the end are 0.
class WarpRow {
public:
  /// Pieces have four elements where rows are made of such.
  WarpRow(Value row, int64_t width, BlockCode &code)
      : row(row), width(width), each(width % 4 == 0 ? 4 : 1), code(code) {}

  /// The elements of a memref [rows, width] of f32; of one [width] that every
  /// row reads.
  SmallVector<Value> load(Value memref);
  /// Stores elements, of any type, as the row of a memref.
  void store(ArrayRef<Value> elements, Value memref);
  Value sum(ArrayRef<Value> elements);
  /// y(x) of each element.
  SmallVector<Value> map(ArrayRef<Value> elements,
                         function_ref<Value(Value)> y);
  /// The same, 0 of what stands behind the end.
  SmallVector<Value> mapInside(ArrayRef<Value> elements,
                               function_ref<Value(Value)> y);
  /// Writes the row in fewer bits.
  void quantize(ArrayRef<Value> elements, Value multiplier,
                ValueRange destinations);
  void round(ArrayRef<Value> elements, Value destination);

private:
  int64_t pieces() const {
    return llvm::divideCeil(width, each * kWarpThreads);
  }
  bool mayEnd(int64_t piece) const {
    return (piece + 1) * each * kWarpThreads > width;
  }
  Value columnOf(int64_t piece) {
    return code.times(code.plus(code.lane(), piece * kWarpThreads), each);
  }
  Value isInside(int64_t piece) {
    return code.isLess(columnOf(piece), code.i32(width));
  }
  Value begin(Value memref);
  Value combine(Value value, function_ref<Value(Value, Value)> of);

  Value row;
  int64_t width, each;
  BlockCode &code;
};
} // namespace

Value WarpRow::begin(Value memref) {
  Value pointer = code.global(memref);
  if (cast<MemRefType>(memref.getType()).getRank() == 1)
    return pointer;
  return code.at(pointer, code.rowOffset(row, code.i32(pitchOf(memref))));
}

SmallVector<Value> WarpRow::load(Value memref) {
  Type f32 = code.builder.getF32Type();
  Value first = begin(memref);
  SmallVector<Value> elements;
  for (int64_t piece = 0; piece < pieces(); ++piece) {
    Value column = columnOf(piece), inside;
    if (mayEnd(piece)) {
      inside = isInside(piece);
      column = code.choose(inside, column, code.i32(0));
    }
    Value from = code.at(first, code.times(column, sizeof(float)));
    SmallVector<Value> loaded;
    if (each == 4)
      llvm::append_range(loaded, code.loadFour(f32, from));
    else
      loaded.push_back(code.loadOne(f32, from));
    for (Value value : loaded)
      elements.push_back(inside ? code.choose(inside, value, code.f32(0))
                                : value);
  }
  return elements;
}

void WarpRow::store(ArrayRef<Value> elements, Value memref) {
  Value first = begin(memref);
  for (int64_t piece = 0; piece < pieces(); ++piece) {
    auto storePiece = [&] {
      Value to =
          code.at(first, code.times(columnOf(piece), elementBytes(memref)));
      ArrayRef<Value> own = elements.slice(piece * each, each);
      if (each == 4)
        code.storeFour({own[0], own[1], own[2], own[3]}, to);
      else
        code.storeOne(own[0], to);
    };
    if (mayEnd(piece))
      code.when(isInside(piece), storePiece);
    else
      storePiece();
  }
}

Value WarpRow::combine(Value value, function_ref<Value(Value, Value)> of) {
  return code.combineLanes(value, [&](ValueRange mine, ValueRange other) {
    return SmallVector<Value>{of(mine[0], other[0])};
  })[0];
}

Value WarpRow::sum(ArrayRef<Value> elements) {
  Value sum = elements.front();
  for (Value element : elements.drop_front())
    sum = code.add(sum, element);
  return combine(sum, [&](Value a, Value b) { return code.add(a, b); });
}

SmallVector<Value> WarpRow::map(ArrayRef<Value> elements,
                                function_ref<Value(Value)> y) {
  return llvm::map_to_vector(elements, y);
}

SmallVector<Value> WarpRow::mapInside(ArrayRef<Value> elements,
                                      function_ref<Value(Value)> y) {
  SmallVector<Value> result = map(elements, y);
  for (int64_t piece = 0; piece < pieces(); ++piece)
    if (mayEnd(piece)) {
      Value inside = isInside(piece);
      for (int64_t at = piece * each; at < (piece + 1) * each; ++at)
        result[at] = code.choose(inside, result[at], code.f32(0));
    }
  return result;
}

/// QuantizeOp's formulas, of this row.
void WarpRow::quantize(ArrayRef<Value> elements, Value multiplier,
                       ValueRange destinations) {
  Value scale;
  if (!multiplier) {
    Value most = code.f32(0);
    for (Value element : elements)
      most =
          code.max(most, math::AbsFOp::create(code.builder, code.loc, element));
    most = combine(most, [&](Value a, Value b) { return code.max(a, b); });
    scale = scaleOfLargest(most, code);
    Value scales = destinations[1];
    code.when(code.isSame(code.lane(), code.i32(0)),
              [&] { code.store(scale, scales, code.toIndex(row)); });
  }
  store(map(elements,
            [&](Value x) {
              return scale ? roundToInteger(code.div(x, scale), code)
                           : quantizeValue(x, multiplier, code);
            }),
        destinations[0]);
}

void WarpRow::round(ArrayRef<Value> elements, Value destination) {
  store(map(elements,
            [&](Value x) { return roundToBf16(code.builder, code.loc, x); }),
        destination);
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
  OperandRange destinations = op.getDestinations();
  row.store(y, destinations[0]);
  if (op.getAlso() == Shortening::Quantize)
    row.quantize(y, op.getAlsoMultiplier(), destinations.drop_front());
  else if (op.getAlso() == Shortening::Round)
    row.round(y, destinations[1]);
}

/// Whether a warp can take rows of a memref, in pieces of its elements.
static bool hasRows(Value rows) {
  int64_t width = widthOf(rows), pitch = pitchOf(rows);
  int64_t piece = width % 4 == 0 ? 4 : 1;
  return pitch > 0 && pitch % (piece * elementBytes(rows)) == 0;
}

static LogicalResult
emitRows(Operation *op, Value input, ValueRange rows,
         function_ref<void(WarpRow &, BlockCode &)> build) {
  bool isRead = cast<MemRefType>(input.getType()).getRank() == 2 &&
                widthOf(input) <= kMostWidth;
  if (!isRead || !llvm::all_of(rows, hasRows))
    return failure();
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Loops loops(builder, loc);
  Value count = loops.size(input, 0);
  Value blocks =
      arith::CeilDivUIOp::create(builder, loc, count, loops.index(kWarps));
  createGrid(builder, loc, blocks, {kWarps * kWarpThreads},
             [&](BlockCode &code, Value block) {
               Value row = code.plus(code.times(block, kWarps), code.warp());
               code.when(code.isLess(row, code.toI32(count)), [&] {
                 WarpRow warpRow(row, widthOf(input), code);
                 build(warpRow, code);
               });
             });
  return success();
}

/// Those of some values that are rows, not a scale each.
static SmallVector<Value> rowsAmong(ValueRange values) {
  return llvm::filter_to_vector(values, [](Value value) {
    return cast<MemRefType>(value.getType()).getRank() == 2;
  });
}

LogicalResult heddle::emitRowGrid(NormOp op) {
  SmallVector<Value> rows = rowsAmong(op.getDestinations());
  rows.push_back(op.getInput());
  if (op.getResidual())
    rows.push_back(op.getResidual());
  return emitRows(op, op.getInput(), rows, [&](WarpRow &row, BlockCode &code) {
    normalize(op, row, widthOf(op.getInput()), code);
  });
}

LogicalResult heddle::emitRowGrid(QuantizeOp op) {
  SmallVector<Value> rows = rowsAmong(op.getDestinations());
  rows.push_back(op.getInput());
  return emitRows(op, op.getInput(), rows, [&](WarpRow &row, BlockCode &) {
    row.quantize(row.load(op.getInput()), op.getMultiplier(),
                 op.getDestinations());
  });
}
