//===- Panels.cpp - From rows of a weight to a panel ----------------------===//
//
// The weight is read row by row, as it stands in memory, and each element goes
// where PanelLayout places it. The panel starts as zeros: they remain behind
// the last column and in the last group of inputs. A panel of Integers begins
// with -128 times the sum of each column, computed here once instead of in
// every kernel.
//
//===----------------------------------------------------------------------===//

#include "lib/Artifact/Panels.h"
#include "dialect/linear/PanelLayout.h"
#include <cstring>
#include <type_traits>

using namespace llvm;

namespace heddle {

/// What sums of a column start with, see PanelLayout.h.
static void writeStarts(const WeightMatrix<int8_t> &weight, int64_t first,
                        int64_t count, char *panel) {
  for (int64_t c = 0; c < count; ++c) {
    int32_t start = 0;
    for (int64_t k = 0; k < weight.depth; ++k)
      start -= 128 * weight.values[k * weight.columns + first + c];
    std::memcpy(panel + c * sizeof(start), &start, sizeof(start));
  }
}

/// The scales of each block of inputs, in front of it.
static void writeScales(const WeightMatrix<int8_t> &weight, int64_t first,
                        int64_t count, const PanelLayout &layout, char *panel) {
  for (int64_t k = 0; k < weight.depth; k += kScaledInputs) {
    const float *row =
        &weight.scales[k / kScaledInputs * weight.columns + first];
    char *to = panel + k / kScaledInputs * layout.rowsOfScale() * kPanelColumns;
    for (int64_t c = 0; c < count; ++c) {
      uint16_t bits = bit_cast<uint32_t>(row[c]) >> 16;
      std::memcpy(to + c * sizeof(bits), &bits, sizeof(bits));
    }
  }
}

template <typename Element>
SmallVector<char, 0> packPanel(const WeightMatrix<Element> &weight,
                               WeightFormat format, int64_t first,
                               int64_t count) {
  const PanelLayout layout(format, count);
  SmallVector<char, 0> panel(layout.panelBytes(weight.depth), '\0');
  auto *elements = reinterpret_cast<Element *>(panel.data());
  for (int64_t k = 0; k < weight.depth; ++k) {
    const Element *row = &weight.values[k * weight.columns + first];
    Element *to = elements + layout.placeOf(k, 0);
    for (int64_t c = 0; c < count; ++c)
      to[c * layout.group()] = row[c];
  }
  if constexpr (std::is_same_v<Element, int8_t>) {
    if (layout.hasScales())
      writeScales(weight, first, count, layout, panel.data());
    else
      writeStarts(weight, first, count, panel.data());
  }
  return panel;
}

template SmallVector<char, 0> packPanel(const WeightMatrix<float> &,
                                        WeightFormat, int64_t, int64_t);
template SmallVector<char, 0> packPanel(const WeightMatrix<uint16_t> &,
                                        WeightFormat, int64_t, int64_t);
template SmallVector<char, 0> packPanel(const WeightMatrix<_Float16> &,
                                        WeightFormat, int64_t, int64_t);
template SmallVector<char, 0> packPanel(const WeightMatrix<int8_t> &,
                                        WeightFormat, int64_t, int64_t);

} // namespace heddle
