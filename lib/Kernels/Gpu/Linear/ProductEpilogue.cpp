//===- ProductEpilogue.cpp - From sums of products to x W + b -------------===//
//
// finish() follows the formula of LinearOp, f32(S + shift sum_k W) * (s * w) +
// b, with each operation rounded by itself, so that i8 has the bits of a CPU.
// The sums of W over k come from the artifact. Scales, shifts and bias depend
// on the column alone: a thread loads them once for all of its rows. If all
// widths are multiples of four, four columns are one load.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/ProductEpilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kFloatBytes = sizeof(float);

int64_t heddle::pitchOf(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if (type.getLayout().isIdentity() && type.getRank() > 1 &&
      !ShapedType::isDynamic(type.getShape().back()))
    return type.getShape().back() * bytes;
  auto [strides, offset] = type.getStridesAndOffset();
  if (strides.size() != 2 || strides[1] != 1 ||
      ShapedType::isDynamic(strides[0]))
    return 0;
  return strides[0] * bytes;
}

/// Elements of a vector [out] at four columns.
FourWords ProductEpilogue::loadColumns(Value memref, Value column,
                                       const ColumnRange &range,
                                       BlockCode &code) const {
  Value pointer =
      code.at(code.global(memref), code.mul(range.firstColumn, kFloatBytes));
  Type f32 = code.builder.getF32Type();
  if (hasWholePieces)
    return code.loadFour(f32, code.at(pointer, code.mul(column, kFloatBytes)));
  FourWords words;
  for (auto [number, word] : llvm::enumerate(words)) {
    Value at =
        code.umin(code.add(column, number), code.sub(range.width, code.i32(1)));
    word = code.loadOne(f32, code.at(pointer, code.mul(at, kFloatBytes)));
  }
  return words;
}

/// The sum of the integers of a column of W: the first row of its panel is
/// -128 times that.
Value ProductEpilogue::columnSum(Value column, const ColumnRange &range,
                                 BlockCode &code) const {
  PanelLayout layout(WeightFormat::Integers, widths);
  Value panel = code.add(range.firstPanel, code.udiv(column, kPanelColumns));
  Value first =
      code.at(code.global(weight),
              code.rowOffset(panel, code.i32(layout.panelBytes(depth))));
  Value sum = code.loadOne(
      code.builder.getI32Type(),
      code.at(first, code.mul(code.urem(column, kPanelColumns), 4)));
  return arith::DivSIOp::create(code.builder, code.loc, sum, code.i32(-128));
}

ProductEpilogue::Columns ProductEpilogue::load(Value column,
                                               const ColumnRange &range,
                                               BlockCode &code) const {
  Columns columns = {};
  if (weightScales)
    columns.scales = loadColumns(weightScales, column, range, code);
  if (weightScales && shift != 0)
    for (auto [number, value] : llvm::enumerate(columns.shifts))
      value = code.mul(columnSum(code.add(column, number), range, code), shift);
  if (bias)
    columns.bias = loadColumns(bias, column, range, code);
  return columns;
}

/// f32(S + shift sum_k W) * (s * w) + b.
FourWords ProductEpilogue::finish(const FourWords &sums, Value inputScale,
                                  const Columns &columns,
                                  BlockCode &code) const {
  FourWords y = sums;
  for (int64_t number = 0; number < 4; ++number) {
    if (weightScales) {
      Value sum = sums[number], scale = columns.scales[number];
      if (shift != 0)
        sum = code.add(sum, columns.shifts[number]);
      if (inputScale)
        scale = code.mul(inputScale, scale);
      Value real = arith::SIToFPOp::create(code.builder, code.loc,
                                           code.builder.getF32Type(), sum);
      y[number] = code.mul(real, scale);
    }
    if (bias)
      y[number] = code.add(y[number], columns.bias[number]);
  }
  return y;
}
