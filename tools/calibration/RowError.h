//===- RowError.h - How far rows of numbers are from others -----*- C++ -*-===//

#ifndef HEDDLE_TOOLS_CALIBRATION_ROWERROR_H
#define HEDDLE_TOOLS_CALIBRATION_ROWERROR_H

#include "llvm/ADT/ArrayRef.h"
#include <cmath>
#include <vector>

namespace heddle {

/// What a row says. Of Logits the largest is chosen, and what is common to all
/// of them changes no probability; each of Labels is chosen by itself if it is
/// above 0, and a number of one row alone stands for itself; a Vector points
/// somewhere.
enum class RowKind { Logits, Labels, Vector };

/// A row in f32, and what every comparison with it needs.
struct ExpectedRow {
  ExpectedRow(llvm::ArrayRef<float> values, RowKind kind);

  std::vector<float> values;
  RowKind kind;
  /// What is common to all, if it is left out, and the sum of squares without
  /// it.
  double mean, squares;
  /// Of Logits the choice.
  size_t largest;
};

/// How far rows are from those in f32.
struct RowError {
  double squares = 0, squaresOfF32 = 0;
  double largest = 0;
  int64_t rows = 0, changed = 0;
  /// Of vectors: the sum of their cosines, and the least one.
  double cosines = 0, leastCosine = 1;

  void add(llvm::ArrayRef<float> found, const ExpectedRow &expected);
  /// Root mean square, of that of the rows.
  double relative() const {
    return squaresOfF32 > 0 ? std::sqrt(squares / squaresOfF32) : 0;
  }
  /// Rows whose choice is another one.
  double changedShare() const { return rows ? double(changed) / rows : 0; }
  double meanCosine() const { return rows ? cosines / double(rows) : 1; }

private:
  void addCosine(llvm::ArrayRef<float> found, const ExpectedRow &expected);
};

} // namespace heddle

#endif // HEDDLE_TOOLS_CALIBRATION_ROWERROR_H
