//===- LinearCases.h - Weights and sums of linears --------------*- C++ -*-===//
//
// What tests of single linears share: parameters w and b that are named after a
// shape, whole numbers, whose sums are exact in every type and order, and the
// formula.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_LINEAR_LINEARCASES_H
#define HEDDLE_TEST_KERNELS_LINEAR_LINEARCASES_H

#include "test/kernels/LayerTest.h"

namespace heddle::test {

/// "3x8" for W [3, 8].
std::string shapeOf(int64_t depth, int64_t columns);

/// Whole numbers in [-most, most].
std::vector<float> wholeNumbers(int64_t count, unsigned seed, float most);

/// The parameters "w_3x8" and "b_3x8", in [-1, 1).
Weights weightsOf(int64_t depth, int64_t columns);
/// The same parameters in whole numbers.
Weights wholeWeightsOf(int64_t depth, int64_t columns, float mostWeight,
                       float mostBias);

/// x W + b in double, for x [rows, depth].
std::vector<double> multiply(const std::vector<float> &x,
                             const std::vector<float> &w,
                             const std::vector<float> &b);

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_LINEAR_LINEARCASES_H
