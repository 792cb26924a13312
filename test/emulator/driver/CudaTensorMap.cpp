//===- CudaTensorMap.cpp - cuTensorMapEncodeTiled -------------------------===//
//
// The limits are those that the documentation of the function names; what
// breaks one is told in a sentence.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "test/emulator/memory/TensorMap.h"

#include <cstring>

using namespace heddle::emulator;

namespace {

/// The arguments of the function.
struct Request {
  unsigned type, rank;
  uint64_t address;
  const uint64_t *dims, *strides;
  const uint32_t *box, *elementStrides;
  int interleave, swizzle, fill;
};

} // namespace

/// By CUtensorMapDataType: u8, u16, u32, i32, u64, i64, f16, f32, f64, bf16,
/// and three more of f32.
static constexpr uint8_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2,
                                            4, 8, 2, 4, 4, 4};

/// What is wrong with a request; empty if nothing is.
static std::string problemOf(const Request &request) {
  auto number = [](const char *what, unsigned i, uint64_t value) {
    return std::string(what) + " " + std::to_string(i) + " is " +
           std::to_string(value);
  };
  if (request.type >= sizeof(kElementBytes))
    return "the type is " + std::to_string(request.type) + ", expected 0 to 12";
  if (request.rank < 1 || request.rank > 5)
    return "the rank is " + std::to_string(request.rank) + ", expected 1 to 5";
  if (request.interleave)
    return "an interleaved layout, which is not emulated";
  if (request.swizzle < 0 || request.swizzle > 3)
    return "the swizzle is " + std::to_string(request.swizzle) +
           ", expected 0 to 3";
  if (request.address % 16)
    return "the address is not a multiple of 16";
  uint64_t size = kElementBytes[request.type];
  for (unsigned i = 0; i < request.rank; ++i) {
    if (!request.dims[i] || request.dims[i] > 1ull << 32)
      return number("dimension", i, request.dims[i]) + ", expected 1 to 2^32";
    if (!request.box[i] || request.box[i] > 256)
      return number("box dimension", i, request.box[i]) + ", expected 1 to 256";
    if (request.elementStrides[i] != 1)
      return number("element stride", i, request.elementStrides[i]) +
             ", only 1 is emulated";
    if (i && (request.strides[i - 1] % 16 || request.strides[i - 1] >> 40))
      return number("stride", i - 1, request.strides[i - 1]) +
             ", expected a multiple of 16 below 2^40";
  }
  uint64_t row = request.box[0] * size;
  if (row % 16)
    return "a row of the box has " + std::to_string(row) +
           " bytes, expected a multiple of 16";
  if (request.swizzle && row > 16u << request.swizzle)
    return "a row of the box has " + std::to_string(row) +
           " bytes, more than the swizzle's " +
           std::to_string(16 << request.swizzle);
  return {};
}

HEDDLE_CUDA CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, unsigned type, uint32_t rank, void *address,
    const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
    const uint32_t *elementStrides, int interleave, int swizzle,
    int l2Promotion, int fill) {
  return Driver::call("cuTensorMapEncodeTiled", [&](Driver &driver) {
    if (driver.settings.major < 9)
      return CUDA_ERROR_NOT_SUPPORTED;
    Request request{type,
                    rank,
                    reinterpret_cast<uint64_t>(address),
                    dims,
                    strides,
                    box,
                    elementStrides,
                    interleave,
                    swizzle,
                    fill};
    std::string problem = problemOf(request);
    if (problem.empty() && reinterpret_cast<uint64_t>(map) % 64)
      problem = "the tensor map is not at a multiple of 64";
    if (!problem.empty()) {
      Driver::log("cuTensorMapEncodeTiled: " + problem);
      return CUDA_ERROR_INVALID_VALUE;
    }
    TensorMap encoded;
    encoded.rank = static_cast<uint8_t>(rank);
    encoded.elementBytes = kElementBytes[type];
    encoded.swizzleBytes = static_cast<uint8_t>(swizzle ? 16 << swizzle : 0);
    encoded.fillsWithNan = fill != 0;
    encoded.address = request.address;
    for (unsigned i = 0; i < rank; ++i) {
      encoded.lastIndex[i] = static_cast<uint32_t>(dims[i] - 1);
      encoded.box[i] = static_cast<uint16_t>(box[i]);
      encoded.elementStrides[i] = 1;
      if (i)
        encoded.strides[i - 1] = strides[i - 1];
    }
    std::memcpy(map, &encoded, sizeof(encoded));
    return CUDA_SUCCESS;
  });
}
