//===- IntegerFormulas.h - Products of integers as their ops say -*- C++
//-*-===//
//
// The formulas of quantize, of the derivations of weights and of linear, each
// operation in f32.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_LINEAR_INTEGERFORMULAS_H
#define HEDDLE_TEST_KERNELS_LINEAR_INTEGERFORMULAS_H

#include <cstdint>
#include <vector>

namespace heddle::test {

/// Vectors, or the columns of a weight, as integers.
struct Integers {
  std::vector<int8_t> values;
  std::vector<float> scales;
};

Integers quantizeRows(const std::vector<float> &x, int64_t width);
Integers quantizeColumns(const std::vector<float> &w, int64_t columns);
std::vector<int8_t> quantizeAll(const std::vector<float> &x, float multiplier);

/// x R, and R^T W / b of the columns of W, with R and b of QuantizeOp.
std::vector<float> rotateRows(std::vector<float> x, int64_t width);
std::vector<float> rotateColumns(const std::vector<float> &w, int64_t columns);

/// f32(sum of (x + shift) w) * (s * w_n) + b; without s where there is none.
std::vector<float> multiply(const std::vector<int8_t> &x,
                            const std::vector<float> &s, int64_t shift,
                            const Integers &w, const std::vector<float> &b);

/// All NaNs count as one.
void expectSame(const std::vector<float> &found,
                const std::vector<float> &expected);

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_LINEAR_INTEGERFORMULAS_H
