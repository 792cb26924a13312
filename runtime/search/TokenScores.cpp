//===- TokenScores.cpp - Log-probabilities and the best of them -----------===//
//
// Lanes of their own let the compiler use vectors: these loops read a
// vocabulary a token.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/TokenScores.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;

static constexpr int64_t kLanes = 16;
/// Values that are summed as f32, before f64 takes their sum.
static constexpr int64_t kBlock = 1024;
static constexpr float kInfinity = std::numeric_limits<float>::infinity();

float heddle::largestOf(const float *values, int64_t count) {
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, -kInfinity);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] =
          values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
  for (; i < count; ++i)
    lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  return *std::max_element(lanes, lanes + kLanes);
}

/// e^x for x <= 0: x = (n + f) ln 2 with |f| <= 1/2, and a polynomial for 2^f
/// (the Taylor series, whose next term is below 2^-26). Below the smallest
/// normal number it is 0.
static inline float exponential(float x) {
  float scaled = std::max(x * 1.44269504f, -126.0f);
  // Adding 1.5 * 2^23 rounds to the nearest integer, in the low bits.
  float shifted = scaled + 12582912.0f;
  float whole = shifted - 12582912.0f;
  float f = (scaled - whole) * 0.693147181f;
  float power = 1.0f / 5040;
  power = power * f + 1.0f / 720;
  power = power * f + 1.0f / 120;
  power = power * f + 1.0f / 24;
  power = power * f + 1.0f / 6;
  power = power * f + 0.5f;
  power = power * f + 1.0f;
  power = power * f + 1.0f;
  int32_t exponent;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  exponent = static_cast<int32_t>(static_cast<uint32_t>(exponent) << 23);
  int32_t bits;
  std::memcpy(&bits, &power, sizeof bits);
  bits += exponent;
  std::memcpy(&power, &bits, sizeof power);
  return x < -87.0f ? 0.0f : power;
}

float heddle::logSumExp(const float *values, int64_t count) {
  float most = largestOf(values, count);
  double sum = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t end = std::min(begin + kBlock, count), i = begin;
    float lanes[kLanes] = {};
    for (; i + kLanes <= end; i += kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] += exponential(values[i + lane] - most);
    for (; i < end; ++i)
      lanes[i % kLanes] += exponential(values[i] - most);
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        lanes[lane] += lanes[lane + half];
    sum += lanes[0];
  }
  return static_cast<float>(most + std::log(sum));
}

int64_t heddle::findBest(const float *values, int64_t count, int64_t most,
                         int32_t *indices) {
  int64_t found = 0;
  float bound = -kInfinity;
  // Behind all that are as large: those came before.
  auto insert = [&](int64_t index) {
    if (!(values[index] > bound))
      return;
    int64_t at = found < most ? found++ : most - 1;
    for (; at > 0 && values[indices[at - 1]] < values[index]; --at)
      indices[at] = indices[at - 1];
    indices[at] = static_cast<int32_t>(index);
    if (found == most)
      bound = values[indices[most - 1]];
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    bool isAbove = false;
    for (int64_t lane = 0; lane < kLanes; ++lane)
      isAbove |= values[i + lane] > bound;
    for (int64_t lane = 0; lane < kLanes && isAbove; ++lane)
      insert(i + lane);
  }
  for (; i < count; ++i)
    insert(i);
  return found;
}
