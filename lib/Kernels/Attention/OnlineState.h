//===- OnlineState.h - What a query remembers of its keys -------*- C++ -*-===//
//
// Agreed between the emitters of the online ops: the rows of their state, where
// exponents count from, and the mark of a probability that does not count.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_ONLINESTATE_H
#define HEDDLE_LIB_KERNELS_ATTENTION_ONLINESTATE_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Math/VectorMath.h"
#include "lib/Kernels/Vectors/VectorLoops.h"
#include <cmath>

namespace heddle {

/// Rows of the state: where exponents count from, and the total of
/// probabilities.
enum StateRow : int64_t { kOffset, kNegatedShift, kThreshold, kTotal };
/// Before the first key.
inline constexpr double kInitialState[kOnlineStateRows] = {0, 0, -INFINITY, 0};

/// Where the exponents of queries count from, near the largest score m that a
/// query follows: 2^((s - offset) factor - shift) is the probability of a score
/// s. What the reference point is cancels in the sums of a row, but it has to
/// be one for all of its scores.
///
/// Near 0 the shift is m factor, rounded, and the offset 0, so that an exponent
/// is one fused multiply-add. If that product has no more digits behind the
/// point, or overflows, the offset is m itself: differences of scores are exact
/// where they matter.
///
/// A score above the threshold asks for a closer look. The threshold is where
/// probabilities have grown by 2^8; -inf before the first key, and if the
/// offset is not 0, since such exponents are no single multiply-add.
struct ReferencePoint {
  mlir::Value offset, negatedShift, threshold;

  static ReferencePoint load(VectorLoops &loops, mlir::Value state,
                             mlir::Value column);
  void store(VectorLoops &loops, mlir::Value state, mlir::Value column) const;
};

/// The exponents of scores, wherever they count from.
mlir::Value exponent(VectorLoops &loops, mlir::Value score, double factor,
                     const ReferencePoint &point);

/// How exponents are made of scores.
struct ExponentRule {
  double factor;
  /// Whether shifts are whole numbers: probabilities that are rounded have the
  /// same digits then, wherever their exponents count from.
  bool hasWholeShifts;
};

/// How a reference point follows the largest of some new scores.
struct PointMove {
  ReferencePoint point;
  /// Lanes that have gathered something, and what to multiply it by: 1 in all
  /// others.
  mlir::Value shrinks, shrinkage;
};
PointMove followMaximum(VectorLoops &loops, const VectorMath &math,
                        mlir::Value largest, const ExponentRule &rule,
                        const ReferencePoint &from);

/// The reference point of all scores that two of them stand for, and what sums
/// of each are multiplied by: 1, or 2 to the distance.
struct PointMeeting {
  ReferencePoint point;
  mlir::Value ofFirst, ofSecond;
};
PointMeeting meet(VectorLoops &loops, const VectorMath &math, double factor,
                  const ReferencePoint &first, const ReferencePoint &second);

/// -0.0, in place of a probability: this pair is not in the mask. Probabilities
/// are -0.0 otherwise only if they are negative and round to zero, which no
/// finite value tells.
mlir::Value outsideMask(VectorLoops &loops, int64_t width);
/// The elements of `probabilities` that count.
mlir::Value insideMask(VectorLoops &loops, mlir::Value probabilities);

/// The full part of a tile [begin, end), inside of it; empty parts are brought
/// inside, too.
std::pair<mlir::Value, mlir::Value> fullPart(VectorLoops &loops,
                                             mlir::Value begin, mlir::Value end,
                                             mlir::Value fullBegin,
                                             mlir::Value fullEnd);

/// Sums divided by a total, in two steps: what is made of the total once, and
/// what is made of each sum with it. A total of 0 gives 0. Totals of softmax
/// are near 1, so that their reciprocals are ordinary numbers; others are
/// divisors.
mlir::Value prepareTotal(VectorLoops &loops, mlir::Value total,
                         Normalizer normalizer);
mlir::Value divideByTotal(VectorLoops &loops, mlir::Value sum,
                          mlir::Value prepared, Normalizer normalizer);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_ONLINESTATE_H
