//===- PanelLayout.cpp - From columns and depth to panels -----------------===//
//
// The columns of each part are rounded up to whole panels, so that a part of a
// fused weight begins with a panel of its own. Rows are groups of inputs, and
// for i8 one more row in front. depthOf reads a shape backwards and gives the
// depth rounded up to whole groups. It computes the shape of that depth again
// and compares all of it, so that one rule decides what a packed weight looks
// like.
//
//===----------------------------------------------------------------------===//

#include "dialect/linear/PanelLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

PanelLayout::PanelLayout(int64_t elementBytes, ArrayRef<int64_t> parts)
    : elementBytes(elementBytes) {
  assert(
      (elementBytes == 1 || elementBytes == 2 || elementBytes == 4) &&
      "groups fill four bytes; ops refuse elements of 4 bits by their types");
  for (int64_t columns : parts)
    panelCount += llvm::divideCeil(columns, kPanelColumns);
}

PanelLayout::PanelLayout(Type element, ArrayRef<int64_t> parts)
    : PanelLayout(element.getIntOrFloatBitWidth() / 8, parts) {}

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
