//===- Bf16Numbers.h - bf16 as tests know them ------------------*- C++ -*-===//
//
// Rounding to bf16 from its definition, without a shift or an addition that
// kernels use: the nearer of two neighbours, whose distances are taken in
// double.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_BF16NUMBERS_H
#define HEDDLE_TEST_KERNELS_BF16NUMBERS_H

#include <cstdint>
#include <vector>

namespace heddle::test {

uint32_t bitsOf(float x);
float floatOf(uint32_t bits);

/// The upper half of the bits of the nearest bf16, of two the even one. Of a
/// NaN a quiet one, of a denormal a zero.
uint16_t roundedBits(float x);

/// What these bits are worth.
float rounded(float x);
std::vector<float> rounded(std::vector<float> values);

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_BF16NUMBERS_H
