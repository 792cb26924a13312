//===- WarpRow.cpp - A row in the registers of a warp ---------------------===//
//
// Lane l has the pieces l, l + 32, l + 64, ...: of four elements if the width
// is a multiple of four, otherwise of one. Each load of the warp is thus one
// stretch of memory. Behind the end a lane reads column 0 and takes 0 instead,
// without a branch. A sum adds the elements of a lane in ascending order, then
// the lanes in a butterfly.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Rows/WarpRow.h"
#include "lib/CodeGen/Loops/ProductLoops.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "lib/Kernels/Gpu/Linear/ProductEpilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWarps = 4;
/// Of a row, what 128 registers of each lane hold.
static constexpr int64_t kMostWidth = 128 * kWarpThreads;

/// Where a row of a memref begins; the memref, where it is one.
static Value beginOf(Value memref, Value row, BlockCode &code) {
  Value pointer = code.global(memref);
  if (cast<MemRefType>(memref.getType()).getRank() == 1)
    return pointer;
  return code.at(pointer, code.rowOffset(row, code.i32(pitchOf(memref))));
}

SmallVector<Value> WarpRow::load(Value memref) { return load(memref, row); }

SmallVector<Value> WarpRow::load(Value memref, Value row) {
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  Value zero = arith::ConstantOp::create(code.builder, code.loc,
                                         code.builder.getZeroAttr(type));
  Value first = beginOf(memref, row, code);
  SmallVector<Value> elements;
  for (int64_t piece = 0; piece < pieces(); ++piece) {
    Value column = columnOf(piece), inside;
    if (mayEnd(piece)) {
      inside = isInside(piece);
      column = code.select(inside, column, code.i32(0));
    }
    Value from = code.at(first, code.mul(column, elementBytes(memref)));
    SmallVector<Value> loaded;
    if (each == 4)
      llvm::append_range(loaded, code.loadFour(type, from));
    else
      loaded.push_back(code.loadOne(type, from));
    for (Value value : loaded)
      elements.push_back(inside ? code.select(inside, value, zero) : value);
  }
  return elements;
}

SmallVector<Value> WarpRow::columns() {
  SmallVector<Value> columns;
  for (int64_t piece = 0; piece < pieces(); ++piece)
    for (int64_t at = 0; at < each; ++at)
      columns.push_back(code.add(columnOf(piece), at));
  return columns;
}

void WarpRow::store(ArrayRef<Value> elements, Value memref) {
  Value first = beginOf(memref, row, code);
  for (int64_t piece = 0; piece < pieces(); ++piece) {
    auto storePiece = [&] {
      Value to =
          code.at(first, code.mul(columnOf(piece), elementBytes(memref)));
      ArrayRef<Value> own = elements.slice(piece * each, each);
      if (each == 4)
        code.storeFour({own[0], own[1], own[2], own[3]}, to);
      else
        code.storeOne(own[0], to);
    };
    if (mayEnd(piece))
      code.ifThen(isInside(piece), storePiece);
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
        result[at] = code.select(inside, result[at], code.f32(0));
    }
  return result;
}

/// x R: pairs at small distances are of one lane, others of two. No block is
/// longer than the pieces of a warp, and each is inside or behind the end.
SmallVector<Value> WarpRow::rotate(ArrayRef<Value> elements) {
  SmallVector<Value> x;
  int64_t block = rotationOf(width);
  for (auto [element, column] : llvm::zip_equal(elements, columns())) {
    Value place = code.bitAnd(column, code.i32(block - 1));
    Value neighbours = math::CtPopOp::create(
        code.builder, code.loc, code.bitAnd(place, code.shiftRight(place, 1)));
    Value isNegated =
        code.notEqual(code.bitAnd(neighbours, code.i32(1)), code.i32(0));
    x.push_back(code.select(
        isNegated, arith::NegFOp::create(code.builder, code.loc, element),
        element));
  }
  for (int64_t distance = 1; distance < block; distance *= 2) {
    SmallVector<Value> rotated;
    Value isSecond;
    if (distance >= each)
      isSecond = code.notEqual(
          code.bitAnd(code.lane(), code.i32(distance / each)), code.i32(0));
    for (int64_t i = 0, count = int64_t(x.size()); i < count; ++i) {
      if (distance < each) {
        rotated.push_back(i & distance ? code.sub(x[i - distance], x[i])
                                       : code.add(x[i], x[i + distance]));
        continue;
      }
      Value other = code.exchange(x[i], distance / each);
      rotated.push_back(
          code.select(isSecond, code.sub(other, x[i]), code.add(x[i], other)));
    }
    x = std::move(rotated);
  }
  return x;
}

/// QuantizeOp's formulas, of this row.
void WarpRow::quantize(ArrayRef<Value> elements, Value multiplier,
                       ValueRange destinations, bool isRotated) {
  if (isRotated)
    return quantize(rotate(elements), multiplier, destinations,
                    /*isRotated=*/false);
  Value scale;
  if (!multiplier) {
    Value most = code.f32(0);
    for (Value element : elements)
      most =
          code.max(most, math::AbsFOp::create(code.builder, code.loc, element));
    most = combine(most, [&](Value a, Value b) { return code.max(a, b); });
    scale = scaleOfLargest(most, code);
    Value scales = destinations[1];
    code.ifThen(code.equal(code.lane(), code.i32(0)), [&] {
      code.storeOne(scale,
                    code.at(code.global(scales),
                            code.rowOffset(row, code.i32(sizeof(float)))));
    });
  }
  store(map(elements,
            [&](Value x) {
              return scale ? roundToInteger(code.div(x, scale), code)
                           : quantizeValue(x, multiplier, code);
            }),
        destinations[0]);
}

void WarpRow::round(ArrayRef<Value> elements, Value destination) {
  Type element = typeOf(destination).getElementType();
  store(
      map(elements,
          [&](Value x) { return roundTo(element, code.builder, code.loc, x); }),
      destination);
}

void WarpRow::storeAlso(ArrayRef<Value> elements, ShortRowsOpInterface op) {
  OperandRange destinations =
      cast<DestinationOpInterface>(op.getOperation()).getDestinations();
  store(elements, destinations[0]);
  if (isQuantized(op.getAlso()))
    quantize(elements, op.getAlsoMultiplier(), destinations.drop_front(),
             op.getAlso() == Shortening::QuantizeRotated);
  else if (op.getAlso())
    round(elements, destinations[1]);
}

bool heddle::haveWarpRows(ValueRange rows) {
  return llvm::all_of(rows, [](Value memref) {
    int64_t width = cast<MemRefType>(memref.getType()).getShape().back();
    int64_t piece = width % 4 == 0 ? 4 : 1, pitch = pitchOf(memref);
    return pitch > 0 && width <= kMostWidth &&
           pitch % (piece * elementBytes(memref)) == 0;
  });
}

void heddle::createRowGrid(OpBuilder &builder, Location loc, Value count,
                           int64_t width,
                           function_ref<void(WarpRow &, BlockCode &)> body) {
  Loops loops(builder, loc);
  Value blocks = loops.uceilDiv(count, kWarps);
  createGrid(builder, loc, blocks, {kWarps * kWarpThreads},
             [&](BlockCode &code, Value block) {
               Value row = code.add(code.mul(block, kWarps), code.warp());
               code.ifThen(code.uless(row, code.toI32(count)), [&] {
                 WarpRow warpRow(row, width, code);
                 body(warpRow, code);
               });
             });
}
