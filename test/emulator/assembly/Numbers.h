//===- Numbers.h - bf16, half and tf32 as f32 -------------------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_ASSEMBLY_NUMBERS_H
#define HEDDLE_TEST_EMULATOR_ASSEMBLY_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace heddle::emulator {

template <typename To, typename From> To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

inline float fromBf16(uint16_t bits) {
  return bitsAs<float>(static_cast<uint32_t>(bits) << 16);
}

/// To the nearest, ties to even; NaNs become one.
inline uint16_t toBf16(float value) {
  uint32_t bits = bitsAs<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float fromHalf(uint16_t bits) {
  uint32_t sign = (bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 31;
  uint32_t fraction = bits & 1023;
  if (exponent == 31)
    return bitsAs<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0)
    return bitsAs<float>(
        sign | bitsAs<uint32_t>(static_cast<float>(fraction) * 0x1p-24f));
  return bitsAs<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

/// To the nearest, ties to even.
inline uint16_t toHalf(float value) {
  uint32_t bits = bitsAs<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7fff;
  if (magnitude >= 0x47800000)
    return sign | 0x7c00;
  if (magnitude < 0x38800000)
    return sign | static_cast<uint16_t>(
                      std::nearbyint(bitsAs<float>(magnitude) * 0x1p24f));
  magnitude += 0xfff + ((magnitude >> 13) & 1);
  uint32_t half = (magnitude >> 13) - (112 << 10);
  return sign | static_cast<uint16_t>(half);
}

/// The tensor cores read the upper 19 bits.
inline float fromTf32(uint32_t bits) {
  return bitsAs<float>(bits & 0xffffe000);
}

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_ASSEMBLY_NUMBERS_H
