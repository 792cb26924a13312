//===- MatrixNumbers.h - Elements of matrices in registers ------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_WARPS_MATRIXNUMBERS_H
#define HEDDLE_TEST_EMULATOR_WARPS_MATRIXNUMBERS_H

#include "test/emulator/Operations.h"
#include "test/emulator/assembly/Numbers.h"

#include <type_traits>

namespace heddle::emulator {

inline int elementBytes(NumberKind kind) {
  return kind == kTf32 ? 4 : kind == kS8 || kind == kU8 ? 1 : 2;
}
inline int elementsPerWord(NumberKind kind) { return 4 / elementBytes(kind); }

/// Element i of a register of 32 bits.
template <typename Number>
Number element(NumberKind kind, uint64_t word, int i) {
  if constexpr (std::is_integral_v<Number>) {
    auto byte = static_cast<uint8_t>(word >> 8 * i);
    return kind == kS8 ? static_cast<int8_t>(byte) : Number(byte);
  } else {
    if (kind == kTf32)
      return fromTf32(static_cast<uint32_t>(word));
    auto half = static_cast<uint16_t>(word >> 16 * i);
    return kind == kBf16 ? fromBf16(half) : fromHalf(half);
  }
}

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_WARPS_MATRIXNUMBERS_H
