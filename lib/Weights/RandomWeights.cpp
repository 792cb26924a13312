//===- RandomWeights.cpp - Numbers in place of trained weights ------------===//
//
// See the header. The file is made as a whole and then read like any other, so
// that what is written for others is what is compiled.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/RandomWeights.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cmath>

using namespace llvm;

namespace heddle {

using Block = std::array<uint32_t, 4>;

static uint64_t hashName(StringRef name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : name)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

/// Ten rounds, each with a key of its own.
static Block philox(Block counter, uint64_t seed) {
  uint32_t key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xd2511f53) * counter[0],
             odd = uint64_t(0xcd9e8d57) * counter[2];
    counter = {uint32_t(odd >> 32) ^ counter[1] ^ key0, uint32_t(odd),
               uint32_t(even >> 32) ^ counter[3] ^ key1, uint32_t(even)};
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  return counter;
}

void drawNormal(uint64_t seed, StringRef name, double deviation,
                MutableArrayRef<float> elements) {
  uint64_t hash = hashName(name);
  auto uniform = [](uint32_t bits) { return (bits + 0.5) * 0x1p-32; };
  for (uint64_t first = 0; first < elements.size(); first += 4) {
    uint64_t block = first / 4;
    Block bits = philox({uint32_t(block), uint32_t(block >> 32), uint32_t(hash),
                         uint32_t(hash >> 32)},
                        seed);
    for (uint64_t pair : {0, 2}) {
      double radius = deviation * std::sqrt(-2 * std::log(uniform(bits[pair])));
      double angle = 2 * numbers::pi * uniform(bits[pair + 1]);
      if (first + pair < elements.size())
        elements[first + pair] = float(radius * std::cos(angle));
      if (first + pair + 1 < elements.size())
        elements[first + pair + 1] = float(radius * std::sin(angle));
    }
  }
}

/// The header of a safetensors file, filled up with spaces so that the data
/// behind it is aligned.
static std::string makeHeader(ArrayRef<RandomTensor> tensors) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  raw_string_ostream stream(header);
  uint64_t offset = 0;
  for (const RandomTensor &tensor : tensors) {
    uint64_t size = *countElements(tensor.shape) * sizeof(float);
    stream << "," << json::Value(tensor.name) << ":"
           << json::Value(json::Object{
                  {"dtype", "F32"},
                  {"shape", json::Array(tensor.shape)},
                  {"data_offsets",
                   json::Array{int64_t(offset), int64_t(offset + size)}}});
    offset += size;
  }
  header += "}";
  return header + std::string(offsetToAlignment(header.size(), Align(8)), ' ');
}

Expected<TensorFile> makeRandomFile(ArrayRef<RandomTensor> tensors,
                                    uint64_t seed, StringRef name) {
  std::string header = makeHeader(tensors);
  uint64_t size = sizeof(uint64_t) + header.size();
  for (const RandomTensor &tensor : tensors)
    size += *countElements(tensor.shape) * sizeof(float);
  auto buffer = WritableMemoryBuffer::getNewUninitMemBuffer(size, name);
  if (!buffer)
    return makeError("there is no room for " + Twine(size) +
                     " bytes of random weights");
  char *at = buffer->getBufferStart();
  support::endian::write64le(at, header.size());
  at = llvm::copy(header, at + sizeof(uint64_t));
  for (const RandomTensor &tensor : tensors) {
    MutableArrayRef elements(reinterpret_cast<float *>(at),
                             *countElements(tensor.shape));
    if (tensor.deviation > 0)
      drawNormal(seed, tensor.name, tensor.deviation, elements);
    else
      fill(elements, tensor.constant);
    if (tensor.zeroRow && *tensor.zeroRow < tensor.shape[0]) {
      size_t width = elements.size() / tensor.shape[0];
      fill(elements.slice(*tensor.zeroRow * width, width), 0.0f);
    }
    at += elements.size() * sizeof(float);
  }
  return readSafetensorsFile(std::move(buffer));
}

} // namespace heddle
