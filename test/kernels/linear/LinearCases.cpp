//===- LinearCases.cpp - Weights and sums of linears ----------------------===//
//
// Each sum adds its terms in the order of the depth, for all columns of a row
// at once: the weight is read as it lies in memory.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/linear/LinearCases.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

std::string test::shapeOf(int64_t depth, int64_t columns) {
  return std::to_string(depth) + "x" + std::to_string(columns);
}

std::vector<float> test::wholeNumbers(int64_t count, unsigned seed,
                                      float most) {
  std::vector<float> values = randomValues(count, seed, most);
  for (float &value : values)
    value = std::nearbyint(value);
  return values;
}

Weights test::weightsOf(int64_t depth, int64_t columns) {
  std::string shape = shapeOf(depth, columns);
  return {{"w_" + shape, {{depth, columns}, randomValues(depth * columns, 1)}},
          {"b_" + shape, {{columns}, randomValues(columns, 2)}}};
}

Weights test::wholeWeightsOf(int64_t depth, int64_t columns, float mostWeight,
                             float mostBias) {
  std::string shape = shapeOf(depth, columns);
  return {{"w_" + shape,
           {{depth, columns}, wholeNumbers(depth * columns, 1, mostWeight)}},
          {"b_" + shape, {{columns}, wholeNumbers(columns, 2, mostBias)}}};
}

std::vector<double> test::multiply(const std::vector<float> &x,
                                   const std::vector<float> &w,
                                   const std::vector<float> &b) {
  size_t columns = b.size(), depth = w.size() / columns;
  std::vector<double> y;
  for (size_t row = 0; row < x.size() / depth; ++row) {
    std::vector<double> sums(b.begin(), b.end());
    for (size_t k = 0; k < depth; ++k)
      for (size_t c = 0; c < columns; ++c)
        sums[c] += double(x[row * depth + k]) * w[k * columns + c];
    y.insert(y.end(), sums.begin(), sums.end());
  }
  return y;
}
