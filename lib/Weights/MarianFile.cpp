//===- MarianFile.cpp - Reads Marian's binary model files -----------------===//
//
// u64 version (1), u64 count, then per tensor u64 name length, element type,
// rank and byte length; the names (0-terminated); the shapes (i32); u64 padding
// and that many bytes; the data in the same order. The element types are those
// of Marian's common/types.h: class in the high byte, size in the low byte.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/TensorFile.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace heddle {

namespace {
/// The four numbers of a tensor at the front of the file.
struct TensorHead {
  uint64_t nameLength, elementType, rank, size;
};
} // namespace

/// No tensor of a model has more dimensions.
static constexpr uint64_t kMaxRank = 8;

static std::optional<Encoding> getEncoding(uint64_t elementType) {
  switch (elementType) {
  case 0x0404:
    return Encoding::F32;
  case 0x0402:
    return Encoding::F16;
  case 0x4101:
    return Encoding::IntGemm8;
  default:
    return std::nullopt;
  }
}

static std::string getElementTypeName(uint64_t elementType) {
  switch (elementType) {
  case 0x0404:
    return "float32";
  case 0x0402:
    return "float16";
  case 0x4101:
    return "intgemm8";
  default:
    return "0x" + utohexstr(elementType, /*LowerCase=*/true);
  }
}

/// Reads a name and its terminating zero.
static bool readName(ByteReader &reader, uint64_t length, std::string &name) {
  StringRef bytes;
  if (length == 0 || !reader.take(length, bytes) || bytes.back() != '\0')
    return false;
  name = bytes.drop_back().str();
  return all_of(name, [](char c) { return isPrint(c); });
}

/// Fills in the shape, which must agree with the byte length of the data.
static Error readShape(ByteReader &reader, const TensorHead &head,
                       TensorInfo &tensor, StringRef path) {
  for (uint64_t i = 0; i < head.rank; ++i) {
    int32_t extent;
    if (!reader.read(extent))
      return makeError("'" + path + "' ends within the shape of tensor '" +
                       tensor.name + "'");
    tensor.shape.push_back(extent);
  }
  std::optional<uint64_t> elements = countElements(tensor.shape);
  if (!elements)
    return makeError("tensor '" + tensor.name + "' of '" + path +
                     "' has the impossible shape " + formatShape(tensor.shape));
  if (tensor.encoding && head.size < storedSize(*tensor.encoding, *elements))
    return makeError("tensor '" + tensor.name + "' of '" + path +
                     "' has shape " + formatShape(tensor.shape) + " in " +
                     tensor.elementType + ", which takes " +
                     Twine(storedSize(*tensor.encoding, *elements)) +
                     " bytes, but " + Twine(head.size) + " bytes of data");
  return Error::success();
}

Expected<TensorFile> readMarianFile(std::unique_ptr<MemoryBuffer> buffer) {
  StringRef path = buffer->getBufferIdentifier();
  ByteReader reader(buffer->getBuffer());
  uint64_t version, count;
  if (!reader.read(version) || !reader.read(count))
    return makeError("'" + path + "' has " + Twine(buffer->getBufferSize()) +
                     " bytes, too few for a Marian model");
  if (version != 1)
    return makeError("'" + path + "' is not a Marian model of version 1: its " +
                     "first number is " + Twine(version));
  // A head takes 32 bytes: this bounds what a damaged count can allocate.
  if (count > reader.remaining() / 32)
    return makeError("'" + path + "' announces " + Twine(count) +
                     " tensors but has only " + Twine(buffer->getBufferSize()) +
                     " bytes");

  std::vector<TensorHead> heads(count);
  for (TensorHead &head : heads)
    if (!reader.read(head.nameLength) || !reader.read(head.elementType) ||
        !reader.read(head.rank) || !reader.read(head.size))
      return makeError("'" + path + "' ends within its tensor table");

  std::vector<TensorInfo> tensors(count);
  for (auto [index, head, tensor] : enumerate(heads, tensors)) {
    if (!readName(reader, head.nameLength, tensor.name))
      return makeError("tensor " + Twine(index) + " of '" + path +
                       "' has no valid name");
    if (head.rank > kMaxRank)
      return makeError("tensor '" + tensor.name + "' of '" + path + "' has " +
                       Twine(head.rank) + " dimensions (at most " +
                       Twine(kMaxRank) + ")");
    tensor.encoding = getEncoding(head.elementType);
    tensor.elementType = getElementTypeName(head.elementType);
  }
  for (auto [head, tensor] : zip_equal(heads, tensors))
    if (Error error = readShape(reader, head, tensor, path))
      return std::move(error);

  uint64_t padding;
  StringRef skipped;
  if (!reader.read(padding) || !reader.take(padding, skipped))
    return makeError("'" + path + "' ends before its data");
  for (auto [head, tensor] : zip_equal(heads, tensors)) {
    tensor.offset = reader.offset();
    tensor.size = head.size;
    if (!reader.take(head.size, skipped))
      return makeError("tensor '" + tensor.name + "' of '" + path + "' takes " +
                       Twine(head.size) + " bytes from byte " +
                       Twine(tensor.offset) + " but the file has " +
                       Twine(buffer->getBufferSize()) + " bytes");
  }
  return TensorFile::create(std::move(buffer), std::move(tensors));
}

} // namespace heddle
