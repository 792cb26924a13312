//===- PanelLayout.h - How a packed weight stands in memory -----*- C++ -*-===//
//
// A weight W [in, out] is cut into panels of 32 columns: two vectors of 16
// lanes or four of 8, so that one packing serves every ISA level. A panel has
// its columns side by side for one input after the other. How many bytes an
// input takes of a column is the format's:
//
//   format          W          x       group
//   F32             f32        f32         1
//   ShortFloats     bf16, f16  as W        2
//   Integers        i8         i8          4   begins with a row of starts
//   ScaledIntegers  i8         f32, bf16   1   with scales of 32 inputs each
//
// Instructions that multiply short elements sum the products of four bytes into
// a lane of 32 bits: inputs stand in groups of as many as four bytes hold,
// [panels, in / g, 32, g], filled up with zeros. (Tiles of AMX read that, too,
// with rows 128 bytes apart.)
//
// Kernels make f32 of ScaledIntegers (`int8w`) a vector of columns at a time,
// or bf16 of a panel, in groups of two (linear.unpack). Each 32 inputs of a
// panel, the last ones filled up with zeros, stand behind two rows with the
// scales of their columns in bf16: [panels, 34 in / 32, 32].
//
// A panel of Integers begins with one more row, of an i32 a column: -128 times
// the sum of the column. VNNI multiplies u8 by i8, and if the kernel takes x +
// 128 for x, sums that start there end as those of x.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_LINEAR_PANELLAYOUT_H
#define HEDDLE_DIALECT_LINEAR_PANELLAYOUT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace heddle {

inline constexpr int64_t kPanelColumns = 32;

/// Behind the name of a parameter that is packed.
inline constexpr llvm::StringLiteral kPackedSuffix = ".packed";

/// What a product multiplies with a weight, see above.
enum class WeightFormat { F32, ShortFloats, Integers, ScaledIntegers };

/// Inputs of a column of ScaledIntegers that share a scale.
inline constexpr int64_t kScaledInputs = 32;

/// That of a weight of that type, whose integers may be those that have scales
/// within the column.
WeightFormat weightFormatOf(mlir::Type weight, bool isScaled);
/// That of a weight [in, out] beside x; both are memrefs or tensors.
WeightFormat weightFormatOf(mlir::Value input, mlir::Value weight);

/// The panels of a weight of a format, for any depth. One of several parts side
/// by side has each part in panels of its own.
class PanelLayout {
public:
  /// Of parts of these columns each.
  PanelLayout(WeightFormat format, llvm::ArrayRef<int64_t> parts);

  /// Inputs of a group.
  int64_t group() const { return inputs; }
  /// The row of a panel that has the first group: behind what sums start with,
  /// or the first scales.
  int64_t firstRow() const { return hasStarts ? 1 : scaleRows; }
  /// Whether there are scales within a column; rows that they take in front of
  /// kScaledInputs inputs, which are as many rows.
  bool hasScales() const { return scaleRows > 0; }
  int64_t rowsOfScale() const { return scaleRows + kScaledInputs; }
  int64_t panels() const { return panelCount; }

  /// [panels, rows, 32], and the group behind it if that is more than one.
  llvm::SmallVector<int64_t> shape(int64_t depth) const;
  /// The same in words, without a depth.
  std::string describe() const;
  /// The most inputs that panels of this shape have room for; none if the
  /// shape is not that of these panels.
  std::optional<int64_t> depthOf(llvm::ArrayRef<int64_t> shape) const;

  int64_t rows(int64_t depth) const;
  int64_t panelBytes(int64_t depth) const {
    return rows(depth) * kPanelColumns * group() * elementBytes;
  }
  int64_t byteSize(int64_t depth) const { return panels() * panelBytes(depth); }
  /// Where W[k, column] stands in the panel of the column, in elements, for
  /// column < 32.
  int64_t placeOf(int64_t k, int64_t column) const {
    int64_t row = firstRow() + k / group();
    if (hasScales())
      row += k / kScaledInputs * scaleRows;
    return (row * kPanelColumns + column) * group() + k % group();
  }

private:
  int64_t elementBytes, inputs, scaleRows, panelCount = 0;
  bool hasStarts;
};

} // namespace heddle

#endif // HEDDLE_DIALECT_LINEAR_PANELLAYOUT_H
