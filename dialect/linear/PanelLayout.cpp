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

WeightFormat heddle::weightFormatOf(Type weight, bool isWidened) {
  if (weight.isInteger(8))
    return isWidened ? WeightFormat::WidenedIntegers : WeightFormat::Integers;
  return weight.isF32() ? WeightFormat::F32 : WeightFormat::ShortFloats;
}

WeightFormat heddle::weightFormatOf(Value input, Value weight) {
  return weightFormatOf(getElementTypeOrSelf(weight),
                        getElementTypeOrSelf(input).isF32());
}

namespace {
/// A row of the table in the header.
struct FormatRow {
  int64_t elementBytes, group;
  bool hasStarts;
};
} // namespace

static FormatRow rowOf(WeightFormat format) {
  switch (format) {
  case WeightFormat::F32:
    return {4, 1, false};
  case WeightFormat::ShortFloats:
    return {2, 2, false};
  case WeightFormat::Integers:
    return {1, 4, true};
  case WeightFormat::WidenedIntegers:
    return {1, 1, false};
  }
  llvm_unreachable("no format");
}

PanelLayout::PanelLayout(WeightFormat format, ArrayRef<int64_t> parts) {
  FormatRow row = rowOf(format);
  elementBytes = row.elementBytes;
  inputs = row.group;
  hasStarts = row.hasStarts;
  for (int64_t columns : parts)
    panelCount += llvm::divideCeil(columns, kPanelColumns);
}

int64_t PanelLayout::rows(int64_t depth) const {
  return firstRow() + llvm::divideCeil(depth, group());
}

SmallVector<int64_t> PanelLayout::shape(int64_t depth) const {
  SmallVector<int64_t> shape = {panels(), rows(depth), kPanelColumns};
  if (group() > 1)
    shape.push_back(group());
  return shape;
}

std::string PanelLayout::describe() const {
  std::string rows = "in", last;
  if (group() > 1) {
    rows += " / " + std::to_string(group());
    last = ", " + std::to_string(group());
  }
  if (firstRow() > 0)
    rows += " + " + std::to_string(firstRow());
  return "[" + std::to_string(panels()) + ", " + rows + ", " +
         std::to_string(kPanelColumns) + last + "]";
}

std::optional<int64_t> PanelLayout::depthOf(ArrayRef<int64_t> found) const {
  if (found.size() < 3 || found[1] < firstRow())
    return std::nullopt;
  int64_t depth = (found[1] - firstRow()) * group();
  if (ArrayRef<int64_t>(shape(depth)) != found)
    return std::nullopt;
  return depth;
}
