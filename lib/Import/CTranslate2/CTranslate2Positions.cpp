//===- CTranslate2Positions.cpp - Positions that no file has --------------===//
//
// Tables are a file in memory, read as tensors of other files are.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CTranslate2/CTranslate2Positions.h"
#include "lib/Support/Error.h"
#include "llvm/Support/Endian.h"
#include <cmath>
#include <set>

using namespace llvm;

namespace heddle {

static constexpr int64_t kLeastWidth = 4, kMostWidth = 1 << 16;

std::string computedPositionsOf(int64_t width) {
  return "position_encodings_" + std::to_string(width);
}

/// The width of a side whose positions are computed; none of other sides, and
/// of damaged ones, which are refused elsewhere.
static std::optional<int64_t> widthOf(const TensorFile &network,
                                      StringRef side) {
  auto find = [&](const Twine &name) {
    return network.find((side + name).str());
  };
  const TensorInfo *table = find("/embeddings_0/weight");
  if (!table)
    table = find("/embeddings/weight");
  if (!table || table->shape.size() != 2 ||
      find("/position_encodings/encodings"))
    return std::nullopt;
  int64_t width = table->shape.back();
  if (width < kLeastWidth || width > kMostWidth || width % 2 != 0)
    return std::nullopt;
  return width;
}

/// Writes the table of a width.
static void writeSinusoids(int64_t width, char *to) {
  int64_t half = width / 2;
  float step = std::log(10000.0f) / float(half - 1);
  for (int64_t row = 0; row < kComputedPositions; ++row)
    for (int64_t k = 0; k < half; ++k) {
      float angle = float(row + 1) * std::exp(-step * float(k));
      for (auto [at, value] :
           {std::pair(k, std::sin(angle)), {k + half, std::cos(angle)}})
        support::endian::write32le(to + sizeof(float) * (row * width + at),
                                   bit_cast<uint32_t>(value));
    }
}

Error addComputedPositions(const TensorFile &network, WeightSource &weights) {
  std::set<int64_t> widths;
  for (StringRef side : {"encoder", "decoder"})
    if (std::optional<int64_t> width = widthOf(network, side))
      widths.insert(*width);
  for (int64_t width : widths) {
    TensorInfo tensor;
    tensor.name = computedPositionsOf(width);
    tensor.shape = {kComputedPositions, width};
    tensor.encoding = Encoding::F32;
    tensor.elementType = "float32";
    tensor.size = sizeof(float) * uint64_t(kComputedPositions * width);
    auto buffer =
        WritableMemoryBuffer::getNewUninitMemBuffer(tensor.size, tensor.name);
    if (!buffer)
      return makeError("no memory for " + Twine(tensor.size) +
                       " bytes of positions");
    writeSinusoids(width, buffer->getBufferStart());
    Expected<TensorFile> file =
        TensorFile::create(std::move(buffer), {std::move(tensor)});
    if (!file)
      return file.takeError();
    if (Error error = weights.add(std::move(*file)))
      return error;
  }
  return Error::success();
}

} // namespace heddle
