//===- PositionKernels.cpp - Kernels of positions -------------------------===//
//
// Frequencies of sinusoids are constants of the program. A pair of elements
// takes one product, one reduction of the angle and two polynomials, all in
// f64: in f32, an angle of a position in the thousands has no correct
// fractional digit. Rotary angles are f32 by definition; all heads share their
// sines and cosines.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/PositionKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

/// 10000^(-k / timescales) for k < count, then zeros up to whole vectors: a
/// constant of the module, made at its first use.
static Value frequenciesOf(RowKernel &kernel, ModuleOp module,
                           int64_t timescales, int64_t count) {
  OpBuilder &builder = kernel.loops.builder;
  Location loc = kernel.loops.loc;
  int64_t padded = llvm::alignTo(count, kernel.isa.lanes);
  auto type = MemRefType::get(padded, builder.getF64Type());
  std::string name =
      "frequencies_" + std::to_string(timescales) + "_" + std::to_string(count);
  if (!module.lookupSymbol(name)) {
    SmallVector<double> values(padded, 0);
    for (int64_t k = 0; k < count; ++k)
      values[k] = std::exp(-std::log(10000.0) / timescales * k);
    auto tensor = RankedTensorType::get(padded, builder.getF64Type());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    memref::GlobalOp::create(
        builder, loc, name, builder.getStringAttr("private"), type,
        DenseElementsAttr::get(tensor, ArrayRef<double>(values)),
        /*constant=*/true, builder.getI64IntegerAttr(64));
  }
  return memref::GetGlobalOp::create(builder, loc, type, name);
}

void heddle::forEachPosition(RowKernel &kernel, Value count, Value leading,
                             Value positions, int64_t rowWork,
                             function_ref<void(Value, Value)> body) {
  Loops &loops = kernel.loops;
  Value length = positions ? Value() : loops.size(leading, 1);
  kernel.forEachRow(count, rowWork, [&](Value row) {
    if (positions)
      return body(row, loops.toIndex(loops.load(positions, row)));
    body(row, loops.urem(row, length));
  });
}

Sinusoids::Sinusoids(RowKernel &kernel, ModuleOp module, int64_t timescales,
                     PositionLayout layout, int64_t width)
    : kernel(kernel), layout(layout), width(width),
      frequencies(frequenciesOf(kernel, module, timescales, width / 2)) {}

/// Sines and cosines of half a vector of angles, from angle `first` on, in f32:
/// as many f64 as fit a vector.
std::pair<Value, Value> Sinusoids::at(Value number, Value first) const {
  OpBuilder &builder = kernel.loops.builder;
  Location loc = kernel.loops.loc;
  int64_t lanes = kernel.isa.lanes / 2;
  Slice slice{first, lanes, Value()};
  Value angles = kernel.loops.mul(kernel.broadcast(number, slice),
                                  kernel.load(frequencies, {}, slice));
  auto [sines, cosines] = kernel.math.sinCos(angles);
  auto round = [&](Value wide) -> Value {
    return arith::TruncFOp::create(
        builder, loc, VectorType::get(lanes, builder.getF32Type()), wide);
  };
  return {round(sines), round(cosines)};
}

void Sinusoids::addTo(Value position, function_ref<Value(const Slice &)> input,
                      function_ref<void(Value, const Slice &)> output) const {
  Loops &loops = kernel.loops;
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), position);
  Value number =
      arith::SIToFPOp::create(builder, loc, builder.getF64Type(), integer);
  auto add = [&](Value term, const Slice &slice) {
    output(loops.add(input(slice), term), slice);
  };
  if (layout == PositionLayout::Halves) {
    Value half = loops.index(width / 2);
    kernel.forEachSlice(
        builder.getIndexAttr(width / 2),
        [&](const Slice &slice) {
          auto [sines, cosines] = at(number, slice.column);
          add(sines, slice);
          Slice behind = slice;
          behind.column = loops.add(slice.column, half);
          add(cosines, behind);
        },
        kernel.isa.lanes / 2);
    return;
  }
  kernel.forEachSlice(builder.getIndexAttr(width), [&](const Slice &slice) {
    Value first = loops.udiv(slice.column, 2);
    auto [sines, cosines] = at(number, first);
    add(vector::InterleaveOp::create(builder, loc, sines, cosines), slice);
  });
}

void heddle::emitKernel(SinusoidalPositionsOp op, RowKernel &kernel) {
  Value input = kernel.rowsOf(op.getInput());
  Value output = kernel.rowsOf(op.getDestination());
  int64_t width = cast<MemRefType>(input.getType()).getDimSize(1);
  Sinusoids sinusoids(kernel, op->getParentOfType<ModuleOp>(),
                      op.getTimescales(), op.getLayout(), width);
  forEachPosition(
      kernel, kernel.loops.size(input, 0), op.getInput(), op.getPositions(),
      kSinusoidWork * width, [&](Value row, Value position) {
        sinusoids.addTo(
            position,
            [&](const Slice &slice) { return kernel.load(input, row, slice); },
            [&](Value y, const Slice &slice) {
              kernel.store(y, output, row, slice);
            });
      });
}

void heddle::emitKernel(LearnedPositionsOp op, RowKernel &kernel) {
  Loops &loops = kernel.loops;
  Value input = kernel.rowsOf(op.getInput());
  Value output = kernel.rowsOf(op.getDestination());
  OpFoldResult width = kernel.widthOf(input);
  forEachPosition(
      kernel, loops.size(input, 0), op.getInput(), op.getPositions(),
      *getConstantIntValue(width), [&](Value row, Value position) {
        Value learned = loops.add(position, op.getOffset());
        kernel.forEachSlice(width, [&](const Slice &slice) {
          kernel.store(loops.add(kernel.load(input, row, slice),
                                 kernel.load(op.getTable(), learned, slice)),
                       output, row, slice);
        });
      });
}

namespace {
/// Turns the heads of rows by what positions.rotary says.
class Rotation {
public:
  Rotation(RotaryPositionsOp op, RowKernel &kernel)
      : op(op), kernel(kernel), input(kernel.rowsOf(op.getInput())),
        output(kernel.rowsOf(op.getDestination())),
        pairs(cast<MemRefType>(op.getFrequencies().getType()).getDimSize(0)),
        heads(int64_t(op.getHeads())),
        width(cast<MemRefType>(input.getType()).getDimSize(1) / heads) {}

  Value countRows() { return kernel.loops.size(input, 0); }
  /// Of a row, in elements.
  int64_t work() const { return kSinusoidWork * pairs + width * heads; }
  void apply(Value row, Value position);

private:
  using Pair = std::pair<Value, Value>;
  Pair sineAndCosine(Value number, const Slice &slice);
  void rotate(Value row, const Slice &slice, Pair turn);
  void copyRest(Value row);
  void forEachHead(function_ref<void(Value first)> body);
  static Slice behind(const Slice &slice, Value columns, Loops &loops);

  RotaryPositionsOp op;
  RowKernel &kernel;
  Value input, output;
  int64_t pairs, heads, width;
};
} // namespace

/// body(first column) for each head.
void Rotation::forEachHead(function_ref<void(Value)> body) {
  Loops &loops = kernel.loops;
  loops.loop(loops.index(heads),
             [&](Value head) { body(loops.mul(head, width)); });
}

/// The slice so many columns further on.
Slice Rotation::behind(const Slice &slice, Value columns, Loops &loops) {
  Slice moved = slice;
  moved.column = loops.add(slice.column, columns);
  return moved;
}

/// Of the angles of a position, f32, at a slice of frequencies that fills half
/// a vector: as many f64 fill one.
Rotation::Pair Rotation::sineAndCosine(Value number, const Slice &slice) {
  OpBuilder &builder = kernel.loops.builder;
  Location loc = kernel.loops.loc;
  auto f32 = VectorType::get(slice.lanes, builder.getF32Type());
  auto f64 = VectorType::get(slice.lanes, builder.getF64Type());
  Value angles = kernel.loops.mul(kernel.broadcast(number, slice),
                                  kernel.load(op.getFrequencies(), {}, slice));
  auto [sines, cosines] =
      kernel.math.sinCos(arith::ExtFOp::create(builder, loc, f64, angles));
  auto round = [&](Value wide) {
    return kernel.loops.mul(
        arith::TruncFOp::create(builder, loc, f32, wide),
        kernel.loops.f32(op.getScale().convertToDouble(), slice.lanes));
  };
  return {round(sines), round(cosines)};
}

/// The pairs of a slice, in all heads.
void Rotation::rotate(Value row, const Slice &slice, Pair turn) {
  Loops &loops = kernel.loops;
  Value sine = turn.first, cosine = turn.second;
  forEachHead([&](Value head) {
    Slice low = behind(slice, head, loops);
    Slice high = behind(low, loops.index(pairs), loops);
    Value x = kernel.load(input, row, low), y = kernel.load(input, row, high);
    kernel.store(loops.sub(loops.mul(x, cosine), loops.mul(y, sine)), output,
                 row, low);
    kernel.store(loops.add(loops.mul(y, cosine), loops.mul(x, sine)), output,
                 row, high);
  });
}

/// What is behind the pairs, in all heads.
void Rotation::copyRest(Value row) {
  int64_t rest = width - 2 * pairs;
  if (rest == 0)
    return;
  Loops &loops = kernel.loops;
  forEachHead([&](Value head) {
    kernel.forEachSlice(
        loops.builder.getIndexAttr(rest), [&](const Slice &slice) {
          Value first = loops.add(head, 2 * pairs);
          Slice place = behind(slice, first, loops);
          kernel.store(kernel.load(input, row, place), output, row, place);
        });
  });
}

void Rotation::apply(Value row, Value position) {
  Loops &loops = kernel.loops;
  OpBuilder &builder = loops.builder;
  Value number = arith::SIToFPOp::create(
      builder, loops.loc, builder.getF32Type(), loops.toI32(position));
  kernel.forEachSlice(
      builder.getIndexAttr(pairs),
      [&](const Slice &slice) {
        rotate(row, slice, sineAndCosine(number, slice));
      },
      kernel.isa.lanes / 2);
  copyRest(row);
}

void heddle::emitKernel(RotaryPositionsOp op, RowKernel &kernel) {
  Rotation rotation(op, kernel);
  forEachPosition(
      kernel, rotation.countRows(), op.getInput(), op.getPositions(),
      rotation.work(),
      [&](Value row, Value position) { rotation.apply(row, position); });
}
