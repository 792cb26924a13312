//===- IntegerFormulas.cpp - Products of integers as their ops say --------===//

#include "test/kernels/linear/IntegerFormulas.h"

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::test;

static int8_t round(float x) {
  return std::isnan(x) ? 0 : std::clamp(std::nearbyint(x), -127.0f, 127.0f);
}

/// max |x| / 127 of `count` values, `stride` apart.
static float scaleOf(const float *x, int64_t count, int64_t stride = 1) {
  float most = 0;
  for (int64_t i = 0; i < count; ++i)
    if (!(std::abs(x[i * stride]) <= most) && !std::isnan(most))
      most = std::abs(x[i * stride]);
  return most == 0 ? 1 : most / 127;
}

Integers test::quantizeRows(const std::vector<float> &x, int64_t width) {
  Integers result;
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % width == 0)
      result.scales.push_back(scaleOf(&x[i], width));
    result.values.push_back(round(x[i] / result.scales.back()));
  }
  return result;
}

static int64_t blockOf(int64_t width) {
  return std::min<int64_t>(128, width & -width);
}
/// An element of R.
static int sign(int64_t i, int64_t j) {
  return __builtin_parityll(uint64_t(i & (i >> 1))) !=
                 __builtin_parityll(uint64_t(i & j))
             ? -1
             : 1;
}
std::vector<float> test::rotateRows(std::vector<float> x, int64_t width) {
  int64_t block = blockOf(width);
  for (auto begin = x.begin(); begin != x.end(); begin += block) {
    for (int64_t i = 0; i < block; ++i)
      begin[i] *= float(sign(i, 0));
    // The order of sums is that of pairs.
    for (int64_t distance = 1; distance < block; distance *= 2)
      for (int64_t i = 0; i < block; ++i)
        if ((i & distance) == 0) {
          float a = begin[i], b = begin[i + distance];
          begin[i] = a + b;
          begin[i + distance] = a - b;
        }
  }
  return x;
}
std::vector<float> test::rotateColumns(const std::vector<float> &w,
                                       int64_t columns) {
  int64_t depth = int64_t(w.size()) / columns, block = blockOf(depth);
  std::vector<float> rotated(w.size()), column(size_t(depth), 0.0f);
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t k = 0; k < depth; ++k)
      column[size_t(k)] = w[size_t(k * columns + c)];
    column = rotateRows(column, depth);
    for (int64_t k = 0; k < depth; ++k)
      rotated[size_t(k * columns + c)] = column[size_t(k)] / float(block);
  }
  return rotated;
}

Integers test::quantizeColumns(const std::vector<float> &w, int64_t columns) {
  Integers result;
  for (int64_t c = 0; c < columns; ++c)
    result.scales.push_back(scaleOf(&w[c], w.size() / columns, columns));
  for (size_t i = 0; i < w.size(); ++i)
    result.values.push_back(round(w[i] / result.scales[i % columns]));
  return result;
}

std::vector<int8_t> test::quantizeAll(const std::vector<float> &x,
                                      float multiplier) {
  std::vector<int8_t> result;
  for (float each : x)
    result.push_back(round(each * multiplier));
  return result;
}

std::vector<float> test::multiply(const std::vector<int8_t> &x,
                                  const std::vector<float> &s, int64_t shift,
                                  const Integers &w,
                                  const std::vector<float> &b) {
  int64_t columns = w.scales.size(), depth = w.values.size() / columns;
  std::vector<float> y;
  for (size_t row = 0; row < x.size() / depth; ++row)
    for (int64_t c = 0; c < columns; ++c) {
      int64_t sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += (x[row * depth + k] + shift) * w.values[k * columns + c];
      float scale = s.empty() ? w.scales[c] : s[row] * w.scales[c];
      float product = float(sum) * scale;
      y.push_back(product + b[c]);
    }
  return y;
}

void test::expectSame(const std::vector<float> &found,
                      const std::vector<float> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    if (!std::isnan(found[i]) || !std::isnan(expected[i]))
      ASSERT_EQ(found[i], expected[i]) << "at " << i;
}

TEST(RotationTest, KeepsProducts) {
  for (int64_t width : {1, 3, 6, 96, 384}) {
    std::vector<float> x = randomValues(width, 3), w = randomValues(width, 4);
    std::vector<float> y = rotateRows(x, width), v = rotateColumns(w, 1);
    double product = 0, rotated = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      product += double(x[k]) * w[k];
      rotated += double(y[k]) * v[k];
    }
    EXPECT_NEAR(product, rotated, 1e-5 * std::sqrt(double(width)));
    // Each element by the matrix itself.
    int64_t block = blockOf(width);
    for (int64_t j = 0; j < width; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < block; ++i)
        sum += sign(i, j % block) * double(x[size_t(j / block * block + i)]);
      EXPECT_NEAR(y[size_t(j)], sum, 1e-5 * std::sqrt(double(block)));
    }
  }
}
