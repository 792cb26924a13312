//===- LogitError.h - How far logits are from others ------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_CALIBRATION_LOGITERROR_H
#define HEDDLE_TOOLS_CALIBRATION_LOGITERROR_H

#include "llvm/ADT/ArrayRef.h"
#include <cmath>
#include <vector>

namespace heddle {

/// Logits of a position in f32, and what every comparison with them needs.
struct ExpectedRow {
  explicit ExpectedRow(llvm::ArrayRef<float> values);

  std::vector<float> logits;
  double mean, squares;
  /// The next token.
  size_t largest;
};

/// How far logits are from those in f32. What is common to all tokens of a
/// position changes no probability, and is left out.
struct LogitError {
  double squares = 0, squaresOfF32 = 0;
  double largest = 0;
  int64_t positions = 0, changed = 0;

  void add(llvm::ArrayRef<float> found, const ExpectedRow &expected);
  /// Root mean square, of that of the logits.
  double relative() const {
    return squaresOfF32 > 0 ? std::sqrt(squares / squaresOfF32) : 0;
  }
  double changedShare() const {
    return positions ? double(changed) / double(positions) : 0;
  }
};

} // namespace heddle

#endif // HEDDLE_TOOLS_CALIBRATION_LOGITERROR_H
