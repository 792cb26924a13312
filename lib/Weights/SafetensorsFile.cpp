//===- SafetensorsFile.cpp - Reads safetensors files ----------------------===//
//
// u64 length of a JSON header, the header, the data. The header maps each name
// to {"dtype", "shape", "data_offsets": [begin, end]}, offsets counted from the
// start of the data. Gaps between tensors are harmless and accepted, overlaps
// are a sign of damage. "__metadata__" is free text, in which save_model of
// safetensors.torch writes {"other name": "name"} for tensors that are one.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/TensorFile.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

using namespace llvm;

namespace heddle {

/// The format's own limit for the header.
static constexpr uint64_t kMaxHeaderSize = 100'000'000;

static std::optional<Encoding> getEncoding(StringRef dtype) {
  return StringSwitch<std::optional<Encoding>>(dtype)
      .Case("F32", Encoding::F32)
      .Case("F16", Encoding::F16)
      .Case("BF16", Encoding::BF16)
      .Default(std::nullopt);
}

/// Reads a JSON array of non-negative integers.
static bool readIntegers(const json::Array *array,
                         SmallVectorImpl<int64_t> &integers) {
  if (!array)
    return false;
  for (const json::Value &element : *array) {
    std::optional<int64_t> integer = element.getAsInteger();
    if (!integer || *integer < 0)
      return false;
    integers.push_back(*integer);
  }
  return true;
}

/// Reads one entry of the header; the data starts at `dataBegin`.
static Expected<TensorInfo> readEntry(StringRef name, const json::Value &entry,
                                      uint64_t dataBegin, uint64_t fileSize,
                                      StringRef path) {
  std::string subject = ("tensor '" + name + "' of '" + path + "'").str();
  const json::Object *object = entry.getAsObject();
  std::optional<StringRef> dtype =
      object ? object->getString("dtype") : std::nullopt;
  TensorInfo tensor;
  SmallVector<int64_t, 2> offsets;
  if (!dtype || !readIntegers(object->getArray("shape"), tensor.shape) ||
      !readIntegers(object->getArray("data_offsets"), offsets) ||
      offsets.size() != 2 || offsets[1] < offsets[0])
    return makeError(subject + " does not have the form {\"dtype\", \"shape\", "
                               "\"data_offsets\": [begin, end]}");

  tensor.name = name.str();
  tensor.encoding = getEncoding(*dtype);
  tensor.elementType = dtype->str();
  uint64_t dataSize = fileSize - dataBegin;
  if (uint64_t(offsets[1]) > dataSize)
    return makeError(subject + " ends at byte " +
                     Twine(dataBegin + uint64_t(offsets[1])) +
                     " but the file has " + Twine(fileSize) + " bytes");
  tensor.offset = dataBegin + offsets[0];
  tensor.size = offsets[1] - offsets[0];
  if (!tensor.encoding)
    return tensor;

  std::optional<uint64_t> elements = countElements(tensor.shape);
  if (!elements)
    return makeError(subject + " has the impossible shape " +
                     formatShape(tensor.shape));
  uint64_t expected = storedSize(*tensor.encoding, *elements);
  if (tensor.size != expected)
    return makeError(subject + " has shape " + formatShape(tensor.shape) +
                     " in " + tensor.elementType + ", which takes " +
                     Twine(expected) + " bytes, but " + Twine(tensor.size) +
                     " bytes of data");
  return tensor;
}

/// Refuses tensors that share bytes; `tensors` are sorted by offset.
static Error checkDisjoint(ArrayRef<TensorInfo> tensors, StringRef path) {
  for (size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i].offset < tensors[i - 1].offset + tensors[i - 1].size)
      return makeError("tensors '" + tensors[i - 1].name + "' and '" +
                       tensors[i].name + "' of '" + path +
                       "' overlap at byte " + Twine(tensors[i].offset));
  return Error::success();
}

/// Appends the other names that the metadata has of tensors.
static void addAliases(const json::Object &header,
                       std::vector<TensorInfo> &tensors) {
  const json::Object *metadata = header.getObject("__metadata__");
  if (!metadata)
    return;
  StringMap<size_t> indices;
  for (auto [index, tensor] : enumerate(tensors))
    indices[tensor.name] = index;
  // The object's order is that of a hash table.
  std::map<StringRef, size_t> aliases;
  for (const auto &[other, value] : *metadata)
    if (std::optional<StringRef> name = value.getAsString();
        name && indices.contains(*name) && !indices.contains(other))
      aliases[other] = indices[*name];
  for (auto [other, index] : aliases) {
    TensorInfo alias = tensors[index];
    alias.name = other.str();
    tensors.push_back(std::move(alias));
  }
}

Expected<TensorFile> readSafetensorsFile(std::unique_ptr<MemoryBuffer> buffer) {
  StringRef path = buffer->getBufferIdentifier();
  ByteReader reader(buffer->getBuffer());
  uint64_t headerSize;
  StringRef header;
  if (!reader.read(headerSize))
    return makeError("'" + path + "' has " + Twine(buffer->getBufferSize()) +
                     " bytes, too few for a safetensors file");
  if (headerSize > kMaxHeaderSize || !reader.take(headerSize, header))
    return makeError("'" + path + "' announces a header of " +
                     Twine(headerSize) + " bytes but has " +
                     Twine(reader.remaining()) + " bytes after the length");
  Expected<json::Object> object = parseJsonObject(header, path);
  if (!object)
    return object.takeError();

  std::vector<TensorInfo> tensors;
  for (const auto &[key, entry] : *object) {
    StringRef name = key;
    if (name == "__metadata__")
      continue;
    Expected<TensorInfo> tensor =
        readEntry(name, entry, reader.offset(), buffer->getBufferSize(), path);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  // The object's order is that of a hash table; the file's order is stable.
  llvm::sort(tensors, [](const TensorInfo &a, const TensorInfo &b) {
    return std::tie(a.offset, a.size, a.name) <
           std::tie(b.offset, b.size, b.name);
  });
  if (Error error = checkDisjoint(tensors, path))
    return std::move(error);
  uint64_t end = reader.offset();
  for (const TensorInfo &tensor : tensors)
    end = std::max(end, tensor.offset + tensor.size);
  if (end != buffer->getBufferSize())
    return makeError("the tensors of '" + path + "' end at byte " + Twine(end) +
                     " but the file has " + Twine(buffer->getBufferSize()) +
                     " bytes");
  addAliases(*object, tensors);
  return TensorFile::create(std::move(buffer), std::move(tensors));
}

} // namespace heddle
