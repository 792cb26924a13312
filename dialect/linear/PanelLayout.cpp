//===- PanelLayout.cpp - From columns and depth to panels -----------------===//
//
// The columns of each part are rounded up to whole panels, so that a part of a
// fused weight begins with a panel of its own. Rows are groups of inputs, and
// for Integers one more row in front. depthOf reads a shape backwards and gives
// the depth rounded up to whole groups. It computes the shape of that depth
// again and compares all of it, so that one rule decides what a packed weight
// looks like.
//
//===----------------------------------------------------------------------===//

#include "dialect/linear/PanelLayout.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

WeightFormat heddle::weightFormatOf(Type weight, bool isScaled) {
  if (weight.isInteger(8))
    return isScaled ? WeightFormat::ScaledIntegers : WeightFormat::Integers;
  return weight.isF32() ? WeightFormat::F32 : WeightFormat::ShortFloats;
}

WeightFormat heddle::weightFormatOf(Value input, Value weight) {
  return weightFormatOf(getElementTypeOrSelf(weight),
                        isa<FloatType>(getElementTypeOrSelf(input)));
}

namespace {
/// A row of the table in the header.
struct FormatRow {
  int64_t elementBytes, group;
  bool hasStarts = false;
  int64_t scaleRows = 0;
};
} // namespace

static FormatRow rowOf(WeightFormat format) {
  switch (format) {
  case WeightFormat::F32:
    return {4, 1};
  case WeightFormat::ShortFloats:
    return {2, 2};
  case WeightFormat::Integers:
    return {1, 4, /*hasStarts=*/true};
  case WeightFormat::ScaledIntegers:
    return {1, 1, /*hasStarts=*/false, /*scaleRows=*/2};
  }
  llvm_unreachable("no format");
}

PanelLayout::PanelLayout(WeightFormat format, ArrayRef<int64_t> parts) {
  FormatRow row = rowOf(format);
  elementBytes = row.elementBytes;
  inputs = row.group;
  hasStarts = row.hasStarts;
  scaleRows = row.scaleRows;
  for (int64_t columns : parts)
    panelCount += llvm::divideCeil(columns, kPanelColumns);
}

int64_t PanelLayout::rows(int64_t depth) const {
  if (hasScales())
    return llvm::divideCeil(depth, kScaledInputs) * rowsOfScale();
  return firstRow() + llvm::divideCeil(depth, group());
}

SmallVector<int64_t> PanelLayout::shape(int64_t depth) const {
  SmallVector<int64_t> shape = {panels(), rows(depth), kPanelColumns};
  if (group() > 1)
    shape.push_back(group());
  return shape;
}

std::string PanelLayout::describe() const {
  std::string rows = hasScales() ? "34 in / 32" : "in", last;
  if (group() > 1) {
    rows += " / " + std::to_string(group());
    last = ", " + std::to_string(group());
  }
  if (hasStarts)
    rows += " + " + std::to_string(firstRow());
  return "[" + std::to_string(panels()) + ", " + rows + ", " +
         std::to_string(kPanelColumns) + last + "]";
}

std::optional<int64_t> PanelLayout::depthOf(ArrayRef<int64_t> found) const {
  if (found.size() < 3 || found[1] < firstRow())
    return std::nullopt;
  int64_t depth = hasScales() ? found[1] / rowsOfScale() * kScaledInputs
                              : (found[1] - firstRow()) * group();
  if (ArrayRef<int64_t>(shape(depth)) != found)
    return std::nullopt;
  return depth;
}
