//===- VectorTypes.cpp - Types in which vectors are stored ----------------===//
//
// NumPy's arithmetic: v.astype(float16), rint(127 * v / |v|) in float32, and
// packbits(v > 0).
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/VectorTypes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

using namespace heddle;

double heddle::lengthOf(const float *vector, size_t width) {
  double squares = 0;
  for (size_t i = 0; i < width; ++i)
    squares += double(vector[i]) * double(vector[i]);
  return std::max(std::sqrt(squares), 1e-12);
}

size_t heddle::storedBytes(VectorType type, size_t width) {
  switch (type) {
  case VectorType::Float32:
    return width * sizeof(float);
  case VectorType::Float16:
    return width * sizeof(_Float16);
  case VectorType::Int8:
    return width;
  case VectorType::Bits:
    return width / 8 + (width % 8 != 0);
  }
  return 0;
}

static void storeFloat16(const float *vector, size_t width, uint8_t *stored) {
  for (size_t i = 0; i < width; ++i) {
    auto rounded = static_cast<_Float16>(vector[i]);
    std::memcpy(stored + i * sizeof rounded, &rounded, sizeof rounded);
  }
}

/// No number is beyond 127: none of the vector is beyond its length.
static void storeInt8(const float *vector, size_t width, uint8_t *stored) {
  double length = lengthOf(vector, width);
  for (size_t i = 0; i < width; ++i) {
    float scaled = 127 * float(double(vector[i]) / length);
    stored[i] = std::isnan(scaled) ? 0 : uint8_t(std::lrint(scaled));
  }
}

static void storeBits(const float *vector, size_t width, uint8_t *stored) {
  std::memset(stored, 0, storedBytes(VectorType::Bits, width));
  for (size_t i = 0; i < width; ++i)
    if (vector[i] > 0)
      stored[i / 8] |= uint8_t(0x80 >> i % 8);
}

void heddle::storeVector(VectorType type, const float *vector, size_t width,
                         void *stored) {
  auto *bytes = static_cast<uint8_t *>(stored);
  switch (type) {
  case VectorType::Float32:
    std::copy_n(vector, width, static_cast<float *>(stored));
    return;
  case VectorType::Float16:
    return storeFloat16(vector, width, bytes);
  case VectorType::Int8:
    return storeInt8(vector, width, bytes);
  case VectorType::Bits:
    return storeBits(vector, width, bytes);
  }
}
