//===- PlacedTensors.cpp - The weights section of an artifact -------------===//
//
// The stream is cut into chunks for their checksums while it passes; chunks
// know nothing of tensors.
//
//===----------------------------------------------------------------------===//

#include "lib/Artifact/PlacedTensors.h"
#include "dialect/Transformer.h"
#include "lib/Artifact/Panels.h"
#include "lib/Support/Error.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

static_assert(endianness::native == endianness::little,
              "artifacts are written in the byte order of this machine");

namespace heddle {

using mlir::Type;

/// Elements that are decoded at a time: a few rows, or part of a wide matrix's.
static constexpr uint64_t kBlockElements = 1 << 18;

static PlacedElement placedElement(Type type) {
  if (type.isInteger(8))
    return PlacedElement::I8;
  if (type.isF16())
    return PlacedElement::F16;
  return type.isBF16() ? PlacedElement::BF16 : PlacedElement::F32;
}

static uint64_t bytesOf(PlacedElement element) {
  switch (element) {
  case PlacedElement::F32:
    return 4;
  case PlacedElement::BF16:
  case PlacedElement::F16:
    return 2;
  case PlacedElement::I8:
    return 1;
  }
  llvm_unreachable("all elements are covered");
}

static uint64_t getByteSize(const PlacedTensor &placed) {
  uint64_t rows = placed.tensor.getRows(), bytes = bytesOf(placed.element);
  if (placed.packed.empty())
    return rows * placed.tensor.getColumns() * bytes;
  return PanelLayout(placed.format, placed.packed).byteSize(rows);
}

/// Appends the names, in the model, of those that are not made of others.
static void collectSources(ParameterOp parameter,
                           std::vector<std::string> &names) {
  SmallVector<ParameterOp, 0> parts = parameter.getPartOps();
  StringRef name = parameter.getSymName();
  if (parameter.getPacked())
    name = name.split(kPackedSuffix).first;
  if (parts.empty() && !is_contained(names, name))
    names.push_back(name.str());
  for (ParameterOp part : parts)
    collectSources(part, names);
}

Expected<std::vector<PlacedTensor>>
collectPlacedTensors(ModuleOp module, const WeightSource &weights) {
  std::vector<PlacedTensor> tensors;
  mlir::DenseSet<Operation *> parts;
  for (auto parameter : module.getOps<ParameterOp>())
    for (ParameterOp part : parameter.getPartOps())
      parts.insert(part);
  for (auto parameter : module.getOps<ParameterOp>()) {
    std::optional<uint64_t> offset = parameter.getPlaced();
    if (!offset && parts.contains(parameter))
      continue;
    if (!offset)
      return makeError("parameter '" + parameter.getSymName() +
                       "' has no place");
    Expected<StoredTensor> tensor = weights.open(parameter);
    if (!tensor)
      return tensor.takeError();
    ArrayRef<int64_t> packed =
        parameter.getPacked().value_or(ArrayRef<int64_t>());
    PlacedTensor &placed = tensors.emplace_back(PlacedTensor{
        parameter.getSymName().str(),
        {},
        *offset,
        *tensor,
        packed.vec(),
        parameter.getWeightFormat(),
        placedElement(parameter.getTensorType().getElementType())});
    if (placed.format == WeightFormat::ScaledIntegers) {
      Expected<StoredTensor> scales =
          weights.open(parameter.getPartOps().back());
      if (!scales)
        return scales.takeError();
      placed.scales = *scales;
    }
    collectSources(parameter, placed.sources);
  }
  llvm::sort(tensors, [](const PlacedTensor &a, const PlacedTensor &b) {
    return std::tie(a.offset, a.name) < std::tie(b.offset, b.name);
  });
  uint64_t end = 0;
  for (const PlacedTensor &placed : tensors) {
    if (placed.offset < end || placed.offset % format::kTensorAlignment != 0)
      return makeError("parameter '" + placed.name + "' is placed at byte " +
                       Twine(placed.offset) + ", expected a multiple of " +
                       Twine(format::kTensorAlignment) + " from byte " +
                       Twine(end));
    end = placed.offset + getByteSize(placed);
  }
  return tensors;
}

uint64_t getSectionSize(ArrayRef<PlacedTensor> tensors) {
  if (tensors.empty())
    return 0;
  return tensors.back().offset + getByteSize(tensors.back());
}

namespace {
/// Passes bytes on and hashes each chunk.
class ChunkHasher {
public:
  explicit ChunkHasher(raw_ostream &stream) : stream(stream) {
    chunk.reserve(format::kWeightsChunk);
  }

  uint64_t getPosition() const {
    return checksums.size() * format::kWeightsChunk + chunk.size();
  }

  void write(ArrayRef<char> bytes) {
    while (!bytes.empty()) {
      size_t count =
          std::min<size_t>(bytes.size(), format::kWeightsChunk - chunk.size());
      chunk.append(bytes.begin(), bytes.begin() + count);
      bytes = bytes.drop_front(count);
      if (chunk.size() == format::kWeightsChunk)
        flush();
    }
  }

  void padTo(uint64_t position) {
    SmallVector<char> zeros(position - getPosition(), '\0');
    write(zeros);
  }

  std::vector<uint64_t> finish() {
    if (!chunk.empty())
      flush();
    return std::move(checksums);
  }

private:
  void flush() {
    stream << StringRef(chunk.data(), chunk.size());
    checksums.push_back(xxh3_64bits(StringRef(chunk.data(), chunk.size())));
    chunk.clear();
  }

  raw_ostream &stream;
  SmallVector<char> chunk;
  std::vector<uint64_t> checksums;
};
} // namespace

static uint64_t countNonFinite(ArrayRef<float> values) {
  return count_if(values, [](float value) { return !std::isfinite(value); });
}

/// Values as the elements that stand for them: f32, f16, integers of 8 bits, or
/// uint16_t for bf16, the upper half of f32 that is rounded to them.
template <typename Element>
static std::vector<Element> toElements(ArrayRef<float> values) {
  std::vector<Element> elements(values.size());
  llvm::transform(values, elements.begin(), [](float value) -> Element {
    if constexpr (std::is_same_v<Element, uint16_t>)
      return bit_cast<uint32_t>(value) >> 16;
    else
      return value;
  });
  return elements;
}

/// Rows of a matrix, in blocks. Returns how many elements are not finite.
template <typename Element>
static uint64_t writeRows(const StoredTensor &tensor, ChunkHasher &hasher) {
  uint64_t nonFinite = 0;
  std::vector<float> block;
  uint64_t columns = tensor.getColumns(), rows = tensor.getRows();
  uint64_t rowsPerBlock = std::max<uint64_t>(1, kBlockElements / columns);
  for (uint64_t row = 0; row < rows; row += rowsPerBlock) {
    uint64_t count = std::min(rowsPerBlock, rows - row);
    block.resize(count * columns);
    tensor.decodeRows(row, count, block);
    nonFinite += countNonFinite(block);
    std::vector<Element> elements = toElements<Element>(block);
    hasher.write({reinterpret_cast<const char *>(elements.data()),
                  elements.size() * sizeof(Element)});
  }
  return nonFinite;
}

/// Panels of a weight [in, out], see ParameterOp. All of the weight is decoded
/// first: a panel takes a little of each of its rows. Returns how many elements
/// are not finite.
template <typename Element>
static uint64_t writePanels(const PlacedTensor &placed, ChunkHasher &hasher) {
  int64_t rows = placed.tensor.getRows(), columns = placed.tensor.getColumns();
  std::vector<float> matrix(rows * columns);
  placed.tensor.decodeRows(0, rows, matrix);
  std::vector<Element> elements = toElements<Element>(matrix);
  std::vector<float> scales;
  if (placed.scales) {
    scales.resize(placed.scales->getRows() * columns);
    placed.scales->decodeRows(0, placed.scales->getRows(), scales);
  }
  int64_t first = 0;
  for (int64_t part : placed.packed) {
    for (int64_t column = 0; column < part; column += kPanelColumns)
      hasher.write(packPanel<Element>({elements, rows, columns, scales},
                                      placed.format, first + column,
                                      std::min(kPanelColumns, part - column)));
    first += part;
  }
  return countNonFinite(matrix);
}

template <typename Element>
static uint64_t writeTensorOf(const PlacedTensor &placed, ChunkHasher &hasher) {
  return placed.packed.empty() ? writeRows<Element>(placed.tensor, hasher)
                               : writePanels<Element>(placed, hasher);
}

/// Why elements of a tensor are not finite: `count` of those that are written.
static LostWeights explainLost(const PlacedTensor &placed, uint64_t count) {
  LostWeights weights{placed.element, placed.sources, 0, 0, 0, 0.0f};
  StoredTensor stored = placed.tensor.unrounded();
  std::vector<float> row(stored.getColumns());
  for (uint64_t i = 0; i < stored.getRows(); ++i) {
    stored.decodeRows(i, 1, row);
    for (float value : row)
      if (!std::isfinite(value))
        ++weights.stored;
      else
        weights.largest = std::max(weights.largest, std::fabs(value));
  }
  weights.overflowed = count - weights.stored;
  return weights;
}

/// LostWeights::vanished of a tensor.
static uint64_t countVanished(const PlacedTensor &placed) {
  // Half of the least f16, which is the even 0.
  constexpr float kLargest = 0x1p-25f;
  constexpr uint64_t kOneIn = 1000;
  if (placed.element != PlacedElement::F16)
    return 0;
  StoredTensor stored = placed.tensor.unrounded();
  std::vector<float> row(stored.getColumns());
  uint64_t vanished = 0, nonZero = 0;
  bool losesRow = false;
  for (uint64_t i = 0; i < stored.getRows(); ++i) {
    stored.decodeRows(i, 1, row);
    uint64_t lost = 0, present = 0;
    for (float value : row) {
      present += value != 0;
      lost += value != 0 && std::fabs(value) <= kLargest;
    }
    losesRow |= lost > 0 && lost == present;
    vanished += lost;
    nonZero += present;
  }
  return losesRow || vanished * kOneIn > nonZero ? vanished : 0;
}

/// Returns how many elements are not finite.
static uint64_t writeTensor(const PlacedTensor &placed, ChunkHasher &hasher) {
  switch (placed.element) {
  case PlacedElement::F32:
    return writeTensorOf<float>(placed, hasher);
  case PlacedElement::BF16:
    return writeTensorOf<uint16_t>(placed, hasher);
  case PlacedElement::F16:
    return writeTensorOf<_Float16>(placed, hasher);
  case PlacedElement::I8:
    return writeTensorOf<int8_t>(placed, hasher);
  }
  llvm_unreachable("all elements are covered");
}

std::vector<uint64_t> writeTensors(ArrayRef<PlacedTensor> tensors,
                                   raw_ostream &stream,
                                   std::vector<LostWeights> &lost) {
  ChunkHasher hasher(stream);
  for (const PlacedTensor &placed : tensors) {
    hasher.padTo(placed.offset);
    uint64_t nonFinite = writeTensor(placed, hasher);
    uint64_t vanished = countVanished(placed);
    if (nonFinite == 0 && vanished == 0)
      continue;
    lost.push_back(explainLost(placed, nonFinite));
    lost.back().vanished = vanished;
  }
  return hasher.finish();
}

} // namespace heddle
