//===- Panels.h - The bytes of a panel of a weight --------------*- C++ -*-===//

#ifndef HEDDLE_LIB_ARTIFACT_PANELS_H
#define HEDDLE_LIB_ARTIFACT_PANELS_H

#include "dialect/linear/PanelLayout.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace heddle {

/// W [depth, columns], row-major; a view.
template <typename Element> struct WeightMatrix {
  llvm::ArrayRef<Element> values;
  int64_t depth, columns;
  /// Of ScaledIntegers: a value of bf16 for each kScaledInputs elements of a
  /// column, [depth / kScaledInputs, columns].
  llvm::ArrayRef<float> scales = {};
};

/// The panel of the columns [first, first + count) of W, count <= 32, as
/// PanelLayout says of `format`. Element is float, uint16_t for the bits of
/// bf16, _Float16, or int8_t.
template <typename Element>
llvm::SmallVector<char, 0> packPanel(const WeightMatrix<Element> &weight,
                                     WeightFormat format, int64_t first,
                                     int64_t count);

} // namespace heddle

#endif // HEDDLE_LIB_ARTIFACT_PANELS_H
