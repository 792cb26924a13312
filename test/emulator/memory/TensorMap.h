//===- TensorMap.h - What cuTensorMapEncodeTiled says -----------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_MEMORY_TENSORMAP_H
#define HEDDLE_TEST_EMULATOR_MEMORY_TENSORMAP_H

#include <cstdint>
#include <string>

namespace heddle::emulator {

/// The 128 bytes behind a CUtensorMap: of the fake driver's own layout.
struct TensorMap {
  static constexpr uint32_t kMagic = 0x48544d41;

  uint32_t magic = kMagic;
  uint8_t rank = 0;
  uint8_t elementBytes = 0;
  /// A row of the swizzle's atom: 0, 32, 64 or 128 bytes.
  uint8_t swizzleBytes = 0;
  uint8_t fillsWithNan = 0;
  uint64_t address = 0;
  /// Innermost first; dims less one, so that 2^32 has a place.
  uint32_t lastIndex[5] = {};
  uint16_t box[5] = {};
  uint16_t elementStrides[5] = {};
  /// Of dimensions 1 to 4, in bytes.
  uint64_t strides[4] = {};
  uint8_t unused[40] = {};

  uint64_t dim(unsigned i) const { return uint64_t(lastIndex[i]) + 1; }
  uint64_t boxBytes() const {
    uint64_t bytes = elementBytes;
    for (unsigned i = 0; i < rank; ++i)
      bytes *= box[i];
    return bytes;
  }
  /// Bytes from the first to behind the last element.
  uint64_t extent() const {
    uint64_t bytes = dim(0) * elementBytes;
    for (unsigned i = 1; i < rank; ++i)
      bytes += lastIndex[i] * strides[i - 1];
    return bytes;
  }
};
static_assert(sizeof(TensorMap) == 128);

/// Where a byte of shared memory stands in an atom of that swizzle.
inline uint64_t swizzled(uint64_t address, unsigned swizzleBytes) {
  return address ^ ((address >> 7) & (swizzleBytes / 16 - 1)) << 4;
}

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_MEMORY_TENSORMAP_H
