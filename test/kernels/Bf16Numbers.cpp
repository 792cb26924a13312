#include "test/kernels/Bf16Numbers.h"

#include <cmath>
#include <cstring>

using namespace heddle;

uint32_t test::bitsOf(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

float test::floatOf(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

uint16_t test::roundedBits(float x) {
  uint32_t below = bitsOf(x) >> 16;
  if (std::isnan(x))
    return uint16_t(below | 0x40);
  if (std::isinf(x))
    return uint16_t(below);
  if (std::fpclassify(x) == FP_SUBNORMAL)
    return uint16_t(below & 0x8000);
  uint32_t above = below + 1;
  // The candidates on both sides and their distances, in double. Behind the
  // largest comes what would be 2^128.
  double magnitude = std::abs(double(x));
  double low = std::abs(double(floatOf(below << 16)));
  double high = (above & 0x7fff) == 0x7f80
                    ? 0x1p128
                    : std::abs(double(floatOf(above << 16)));
  double toLow = magnitude - low, toHigh = high - magnitude;
  bool takesHigh = toHigh < toLow || (toHigh == toLow && below % 2 == 1);
  return uint16_t(takesHigh ? above : below);
}

float test::rounded(float x) { return floatOf(uint32_t(roundedBits(x)) << 16); }

std::vector<float> test::rounded(std::vector<float> values) {
  for (float &value : values)
    value = rounded(value);
  return values;
}
