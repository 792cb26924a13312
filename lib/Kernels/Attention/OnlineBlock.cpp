//===- OnlineBlock.cpp - Attention for a block of queries -----------------===//
//
// Queries come in as rows and leave as rows: both ends transpose small squares
// in registers. Between them, the sums of P V: a tile of widths by queries in
// registers while keys pass in ascending order, one step of MultiplyAdd each,
// so that a row's sum is the same whatever the tiles are. A step of short
// floats takes two keys, the first of which is even.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/OnlineBlock.h"
#include "lib/Kernels/Attention/OnlineBlockAmx.h"
#include "lib/Kernels/Attention/OnlineState.h"
#include "lib/Kernels/Rows/RoundKernel.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "lib/Kernels/Vectors/VectorWidths.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

static ArrayRef<int64_t> shapeOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape();
}

/// Calls `body` with the first column of squares that cover `width`, and their
/// side: loops over whole vectors, then smaller powers of two.
static void forEachSquare(VectorLoops &loops, int64_t width,
                          function_ref<void(Value, int64_t)> body) {
  int64_t lanes = loops.isa.lanes, whole = width / lanes * lanes;
  if (whole > 0)
    loops.each(loops.index(0), loops.index(whole), lanes,
               [&](Value d) { body(d, lanes); });
  for (int64_t side : vectorWidths(width - whole, lanes)) {
    body(loops.index(whole), side);
    whole += side;
  }
}

namespace {
/// queries[d, column] = scale rows[first + column, d], in words of 32 bits:
/// f32, or pairs of short floats. Rows of either become queries of f32.
class BlockInit {
public:
  BlockInit(OnlineInitOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        element(elementOf(op.getQueries())), product(loops, element),
        group(product.group()), queries(product.flatten(op.getQueries())),
        columns(shapeOf(op.getQueries())[1]) {}

  void build();

private:
  Value words(Value row, Value word, int64_t count);
  void square(Value word, int64_t side, function_ref<Value(Value)> wordsOfRow);

  OnlineInitOp op;
  VectorLoops loops;
  Type element;
  MultiplyAdd product;
  int64_t group;
  Value queries;
  int64_t columns;
};
} // namespace

Value BlockInit::words(Value row, Value word, int64_t count) {
  Value elements = loops.loadVector(op.getRows(), {row, loops.mul(word, group)},
                                    group * count);
  if (group > 1)
    return loops.bitcast(elements, loops.builder.getI32Type());
  if (isShortFloat(elementOf(op.getRows())))
    elements = loops.widen(elements);
  float scale = op.getScale().convertToFloat();
  return loops.mul(elements, loops.f32(scale, count));
}

/// `side` words of all rows, from `word` on, become as many rows of columns.
void BlockInit::square(Value word, int64_t side,
                       function_ref<Value(Value)> wordsOfRow) {
  Value last = loops.add(loops.size(op.getRows(), 0), -1);
  for (int64_t column = 0; column < columns; column += side) {
    SmallVector<Value> rows;
    for (int64_t r = 0; r < side; ++r)
      rows.push_back(
          wordsOfRow(loops.min(loops.add(op.getFirst(), column + r), last)));
    for (auto [k, vector] : llvm::enumerate(loops.transpose(rows)))
      loops.storeVector(group == 1 ? vector : loops.bitcast(vector, element),
                        queries,
                        {loops.add(word, k), loops.index(column * group)});
  }
}

void BlockInit::build() {
  int64_t width = shapeOf(op.getRows())[1], wholeWords = width / group;
  forEachSquare(loops, wholeWords, [&](Value word, int64_t side) {
    square(word, side, [&](Value row) { return words(row, word, side); });
  });
  // The odd end, with a zero behind it.
  if (wholeWords * group < width)
    square(loops.index(wholeWords), 1, [&](Value row) {
      Value end = product.broadcast(op.getRows(), {row, loops.index(width - 1)},
                                    /*lanes=*/1, /*isWhole=*/false);
      return loops.bitcast(end, loops.builder.getI32Type());
    });
  auto fill = [&](Value memref, Value row, double value) {
    for (int64_t column = 0; column < columns; column += loops.isa.lanes)
      loops.storeVector(loops.f32(value, loops.isa.lanes), memref,
                        {row, loops.index(column)});
  };
  loops.each(loops.index(0), loops.index(shapeOf(op.getSums())[0]), 1,
             [&](Value d) { fill(op.getSums(), d, 0); });
  for (auto [row, value] : llvm::enumerate(kInitialState))
    fill(op.getState(), loops.index(row), value);
}

void heddle::emitBlock(OnlineInitOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  BlockInit(op, builder, isa).build();
}

void heddle::emitPairs(OnlinePairsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  Type element = elementOf(op.getPairs());
  Value pairs = MultiplyAdd(loops, element).flatten(op.getPairs());
  Value rowCount = loops.size(op.getValues(), 0);
  auto load = [&](Value key, Value d, int64_t count, bool exists) {
    Value row = exists ? key : loops.min(key, loops.add(rowCount, -1));
    Value values = loops.loadVector(op.getValues(), {row, d}, count);
    if (exists)
      return values;
    Value bits = loops.bitcast(values, builder.getI16Type());
    Value zeros = loops.constant(0, bits);
    return loops.bitcast(loops.select(loops.less(key, rowCount), bits, zeros),
                         element);
  };
  auto pass = [&](Value from, Value to, bool exists) {
    loops.each(from, to, 2, [&](Value key) {
      Value pair = loops.udiv(loops.sub(key, op.getBegin()), 2);
      forEachSquare(loops, shapeOf(op.getValues())[1],
                    [&](Value d, int64_t count) {
                      Value first = load(key, d, count, exists);
                      Value second = load(loops.add(key, 1), d, count, exists);
                      loops.storeVector(loops.interleave(first, second), pairs,
                                        {pair, loops.mul(d, 2)});
                    });
    });
  };
  Value count = loops.sub(loops.min(op.getEnd(), rowCount), op.getBegin());
  Value middle = loops.add(op.getBegin(),
                           loops.floorTo(loops.max(count, loops.index(0)), 2));
  pass(op.getBegin(), middle, /*exists=*/true);
  pass(middle, op.getEnd(), /*exists=*/false);
}

void heddle::emitWiden(OnlineWidenOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  Value end = loops.min(op.getEnd(), loops.size(op.getValues(), 0));
  loops.each(op.getBegin(), end, 1, [&](Value key) {
    Value row = loops.sub(key, op.getBegin());
    forEachSquare(loops, shapeOf(op.getCopy())[1], [&](Value d, int64_t count) {
      Value values =
          asF32(loops, loops.loadVector(op.getValues(), {key, d}, count));
      Value scale = scaleOf(loops, op.getScales(), key, count);
      loops.storeVector(loops.mul(values, scale), op.getCopy(), {row, d});
    });
  });
}

namespace {
/// sums[d + r, column] += P V for some widths and all columns.
class BlockUpdate {
public:
  BlockUpdate(OnlineUpdateOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        product(loops, elementOf(op.getProbabilities())),
        group(product.group()), vectors(shapeOf(op.getSums())[1] / isa.lanes),
        probabilities(product.flatten(op.getProbabilities())),
        values(product.flatten(op.getValues())) {
    setBounds();
  }

  void build();

private:
  void setBounds();
  SmallVector<Value> widenedAt(Value row, ArrayRef<Value> widths);
  void widths(Value d, int64_t count);
  SmallVector<Value> addKeys(Value key, ArrayRef<Value> widths, ValueRange sums,
                             bool isPartial);

  OnlineUpdateOp op;
  VectorLoops loops;
  MultiplyAdd product;
  /// Keys of a step.
  int64_t group;
  int64_t vectors;
  Value probabilities, values;
  Value end, fullBegin, fullEnd;
};
} // namespace

void BlockUpdate::setBounds() {
  end = op.getEnd();
  // Pairs hold zeros behind the last row.
  if (group == 1) {
    Value behind = loops.size(op.getValues(), 0);
    if (op.getOrigin())
      behind = loops.add(op.getOrigin(), behind);
    end = loops.min(end, behind);
  }
  std::tie(fullBegin, fullEnd) =
      fullPart(loops, op.getBegin(), end, op.getFullBegin(), op.getFullEnd());
  if (group == 1)
    return;
  fullBegin = loops.floorTo(loops.add(fullBegin, group - 1), group);
  fullEnd = loops.max(fullBegin, loops.floorTo(fullEnd, group));
}

/// The elements of a row of f16 at these widths, which follow each other: as
/// f32, each in every lane. They are widened at once.
SmallVector<Value> BlockUpdate::widenedAt(Value row, ArrayRef<Value> widths) {
  SmallVector<Value> spread;
  for (int64_t part : vectorWidths(widths.size(), loops.isa.lanes)) {
    Value first = widths[spread.size()];
    Value wide = loops.widen(loops.loadVector(values, {row, first}, part));
    for (int64_t r = 0; r < part; ++r)
      spread.push_back(loops.broadcast(
          vector::ExtractOp::create(loops.builder, loops.loc, wide, r),
          loops.isa.lanes));
  }
  return spread;
}

/// Adds the keys of a step, from `key` on.
SmallVector<Value> BlockUpdate::addKeys(Value key, ArrayRef<Value> widths,
                                        ValueRange sums, bool isPartial) {
  int64_t lanes = loops.isa.lanes, elements = lanes * group;
  SmallVector<Value> factors, inside, result;
  Value row = loops.udiv(loops.sub(key, op.getBegin()), group);
  Value valueRow = group == 1 ? key : row;
  if (op.getOrigin())
    valueRow = loops.sub(key, op.getOrigin());
  for (int64_t v = 0; v < vectors; ++v) {
    factors.push_back(loops.loadVector(
        probabilities, {row, loops.index(v * elements)}, elements));
    if (isPartial)
      inside.push_back(insideMask(loops, factors.back()));
  }
  SmallVector<Value> widened;
  if (elementOf(values) != elementOf(probabilities))
    widened = widenedAt(valueRow, widths);
  for (auto [r, d] : llvm::enumerate(widths)) {
    Value value =
        widened.empty()
            ? product.broadcast(values, {valueRow, loops.mul(d, group)}, lanes)
            : widened[r];
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum = sums[r * vectors + v];
      result.push_back(isPartial ? product.multiplyAddInside(value, factors[v],
                                                             sum, inside[v])
                                 : product.multiplyAdd(value, factors[v], sum));
    }
  }
  return result;
}

void BlockUpdate::widths(Value d, int64_t count) {
  int64_t lanes = loops.isa.lanes;
  SmallVector<Value> widths, sums;
  for (int64_t r = 0; r < count; ++r) {
    widths.push_back(loops.add(d, r));
    for (int64_t v = 0; v < vectors; ++v)
      sums.push_back(loops.loadVector(
          op.getSums(), {widths[r], loops.index(v * lanes)}, lanes));
  }
  auto pass = [&](Value from, Value to, int64_t together, bool isPartial) {
    sums = loops.carry(
        from, to, together * group, sums, [&](Value key, ValueRange carried) {
          SmallVector<Value> next(carried);
          for (int64_t u = 0; u < together; ++u)
            next = addKeys(loops.add(key, u * group), widths, next, isPartial);
          return next;
        });
  };
  // Several steps an iteration where no mask has to be looked at.
  constexpr int64_t kTogether = 4;
  Value whole = loops.floorTo(loops.sub(fullEnd, fullBegin), kTogether * group);
  Value middle = loops.add(fullBegin, whole);
  pass(op.getBegin(), fullBegin, 1, /*isPartial=*/true);
  pass(fullBegin, middle, kTogether, /*isPartial=*/false);
  pass(middle, fullEnd, 1, /*isPartial=*/false);
  pass(fullEnd, end, 1, /*isPartial=*/true);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      loops.storeVector(sums[r * vectors + v], op.getSums(),
                        {widths[r], loops.index(v * lanes)});
}

void BlockUpdate::build() {
  // Two vectors of probabilities and one of a value beside the sums, which take
  // half of the registers.
  int64_t together =
      std::max<int64_t>(1, loops.isa.vectorRegisters / 2 / vectors);
  int64_t width = shapeOf(op.getSums())[0], whole = width / together * together;
  if (whole > 0)
    loops.each(loops.index(0), loops.index(whole), together,
               [&](Value d) { widths(d, together); });
  if (whole < width)
    widths(loops.index(whole), width - whole);
}

void heddle::emitBlock(OnlineUpdateOp op, const IsaLevel &isa) {
  if (op.getColumns())
    return emitAmxUpdate(op, isa);
  OpBuilder builder(op);
  BlockUpdate(op, builder, isa).build();
}

void heddle::emitBlock(OnlineFinishOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  int64_t columns = shapeOf(op.getSums())[1];
  // Totals are no more needed: their row keeps what is made of them.
  Value totals = loops.index(kTotal);
  for (int64_t column = 0; column < columns; column += isa.lanes) {
    Value at = loops.index(column);
    Value total = loops.loadVector(op.getState(), {totals, at}, isa.lanes);
    loops.storeVector(prepareTotal(loops, total, op.getNormalizer()),
                      op.getState(), {totals, at});
  }
  Value rowCount = loops.size(op.getRows(), 0);
  Type element = elementOf(op.getRows());
  VectorMath math(builder, op.getLoc(), isa);
  forEachSquare(loops, shapeOf(op.getRows())[1], [&](Value d, int64_t side) {
    for (int64_t column = 0; column < columns; column += side) {
      Value at = loops.index(column);
      Value total = loops.loadVector(op.getState(), {totals, at}, side);
      SmallVector<Value> rows;
      for (int64_t k = 0; k < side; ++k)
        rows.push_back(divideByTotal(
            loops, loops.loadVector(op.getSums(), {loops.add(d, k), at}, side),
            total, op.getNormalizer()));
      for (auto [r, vector] : llvm::enumerate(loops.transpose(rows))) {
        Value row = loops.add(op.getFirst(), column + r);
        loops.ifThen(loops.less(row, rowCount), [&, vector = vector] {
          loops.storeVector(element.isF32() ? vector
                                            : roundTo(element, vector, math),
                            op.getRows(), {row, d});
        });
      }
    }
  });
}
