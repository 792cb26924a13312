//===- CTranslate2File.cpp - Reads CTranslate2's model.bin ----------------===//
//
//   u32 version
//   string specification, u32 revision        version >= 2
//   u32 count, then variables by name:
//     string name, u8 rank, u32 extents
//     u8 type, u32 bytes, data                version >= 4
//     u8 bytes of an element, u32 elements, data  before
//   u32 count, then aliases:                  version >= 3
//     string alias, string variable
//
// A string is u16 length, counting the zero at its end, and bytes. Versions 5
// and 6 changed what int8 was rounded by and where options stand, not the
// layout. NAME_scale has the multipliers of NAME, of its aliases, too.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/CTranslate2File.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/StoredTensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;
using namespace llvm::support;

namespace heddle {

static constexpr uint32_t kNewestVersion = 6;

/// No variable of a model has more dimensions.
static constexpr uint8_t kMaxRank = 8;

namespace {
struct ElementType {
  StringLiteral name;
  uint64_t size;
  /// None if integers need multipliers, or mean nothing as a parameter.
  std::optional<Encoding> encoding = std::nullopt;
};
} // namespace

/// By their numbers in the file.
static constexpr ElementType kTypes[] = {{"float32", 4, Encoding::F32},
                                         {"int8", 1},
                                         {"int16", 2},
                                         {"int32", 4},
                                         {"float16", 2, Encoding::F16},
                                         {"bfloat16", 2, Encoding::BF16}};

static constexpr StringLiteral kScaleSuffix = "_scale";

/// Before version 4 the size of an element is all that a file says.
static const ElementType *findType(uint32_t version, uint8_t code) {
  if (version >= 4)
    return code < std::size(kTypes) ? &kTypes[code] : nullptr;
  switch (code) {
  case 4:
    return &kTypes[0];
  case 2:
    return &kTypes[2];
  case 1:
    return &kTypes[1];
  default:
    return nullptr;
  }
}

static bool readString(ByteReader &reader, std::string &text) {
  uint16_t length;
  StringRef bytes;
  if (!reader.read(length) || length == 0 || !reader.take(length, bytes) ||
      bytes.back() != '\0')
    return false;
  text = bytes.drop_back().str();
  const auto *begin = reinterpret_cast<const UTF8 *>(text.data());
  return !text.empty() &&
         none_of(text, [](char c) { return uint8_t(c) < 0x20; }) &&
         isLegalUTF8String(&begin, begin + text.size());
}

bool looksLikeCTranslate2(StringRef bytes) {
  ByteReader reader(bytes);
  uint32_t version;
  std::string specification;
  constexpr uint32_t unlikely = 1 << 16;
  return reader.read(version) && version > 1 && version < unlikely &&
         readString(reader, specification) && isAlpha(specification.front()) &&
         all_of(specification, [](char c) { return isAlnum(c); });
}

namespace {
/// Reads one file. `buffer` is given away at the end.
class Reader {
public:
  explicit Reader(std::unique_ptr<MemoryBuffer> buffer)
      : buffer(std::move(buffer)), path(this->buffer->getBufferIdentifier()),
        bytes(this->buffer->getBuffer()) {}

  Expected<CTranslate2File> read();

private:
  Error readHead();
  Error readVariables();
  Error readVariable(uint32_t index);
  Error readAliases();
  Error findMultipliers(TensorInfo &tensor);
  Error endsWithin(const Twine &what) const {
    return makeError("'" + path + "' ends within " + what + ": it has " +
                     Twine(buffer->getBufferSize()) + " bytes");
  }
  const TensorInfo *find(StringRef name) const {
    auto entry = indices.find(name);
    return entry == indices.end() ? nullptr : &tensors[entry->second];
  }
  Error add(TensorInfo tensor) {
    if (!indices.try_emplace(tensor.name, tensors.size()).second)
      return makeError("'" + path + "' has the variable '" + tensor.name +
                       "' twice");
    tensors.push_back(std::move(tensor));
    return Error::success();
  }

  std::unique_ptr<MemoryBuffer> buffer;
  std::string path;
  ByteReader bytes;
  uint32_t version = 0, revision = 1;
  std::string specification = "TransformerBase";
  std::vector<TensorInfo> tensors;
  StringMap<size_t> indices;
};
} // namespace

Error Reader::readHead() {
  if (!bytes.read(version))
    return makeError("'" + path + "' has " + Twine(buffer->getBufferSize()) +
                     " bytes, too few for a model of CTranslate2");
  if (version == 0 || version > kNewestVersion)
    return makeError("'" + path + "' has the binary version " + Twine(version) +
                     " (supported: 1 to " + Twine(kNewestVersion) + ")");
  if (version == 1)
    return Error::success();
  if (!readString(bytes, specification))
    return makeError("'" + path + "' has no name of a specification at byte 4");
  if (!bytes.read(revision))
    return endsWithin("its head");
  return Error::success();
}

Error Reader::readVariable(uint32_t index) {
  TensorInfo tensor;
  uint8_t rank, code;
  if (!readString(bytes, tensor.name))
    return makeError("variable " + Twine(index) + " of '" + path +
                     "' has no valid name");
  std::string what = "variable '" + tensor.name + "'";
  if (!bytes.read(rank))
    return endsWithin(what);
  if (rank > kMaxRank)
    return makeError(what + " of '" + path + "' has " + Twine(int(rank)) +
                     " dimensions (at most " + Twine(int(kMaxRank)) + ")");
  for (uint8_t axis = 0; axis < rank; ++axis) {
    uint32_t extent;
    if (!bytes.read(extent))
      return endsWithin("the shape of " + what);
    tensor.shape.push_back(extent);
  }
  uint32_t given;
  if (!bytes.read(code) || !bytes.read(given))
    return endsWithin(what);
  const ElementType *type = findType(version, code);
  if (!type)
    return makeError(what + " of '" + path + "' has the element " +
                     (version >= 4 ? "type " : "size ") + Twine(int(code)) +
                     " (supported: " + (version >= 4 ? "0 to 5" : "1, 2, 4") +
                     ")");
  tensor.encoding = type->encoding;
  tensor.elementType = type->name.str();
  tensor.size = uint64_t(given) * (version >= 4 ? 1 : type->size);
  std::optional<uint64_t> elements = countElements(tensor.shape);
  if (!elements || *elements * type->size != tensor.size)
    return makeError(what + " of '" + path + "' has shape " +
                     formatShape(tensor.shape) + " in " + tensor.elementType +
                     " but " + Twine(tensor.size) + " bytes of data");
  tensor.offset = bytes.offset();
  StringRef skipped;
  if (!bytes.take(tensor.size, skipped))
    return makeError(what + " of '" + path + "' takes " + Twine(tensor.size) +
                     " bytes from byte " + Twine(tensor.offset) +
                     " but the file has " + Twine(buffer->getBufferSize()) +
                     " bytes");
  return add(std::move(tensor));
}

Error Reader::readVariables() {
  uint32_t count;
  if (!bytes.read(count))
    return endsWithin("its head");
  // A variable takes ten bytes: this bounds what a damaged count can allocate.
  if (count > bytes.remaining() / 10)
    return makeError("'" + path + "' announces " + Twine(count) +
                     " variables but has only " +
                     Twine(buffer->getBufferSize()) + " bytes");
  for (uint32_t index = 0; index < count; ++index)
    if (Error error = readVariable(index))
      return error;
  return Error::success();
}

/// Integers of matrices become parameters if they have multipliers.
Error Reader::findMultipliers(TensorInfo &tensor) {
  bool isInt8 = tensor.elementType == "int8";
  if ((!isInt8 && tensor.elementType != "int16") || tensor.shape.size() < 2)
    return Error::success();
  const TensorInfo *scale = find(tensor.name + kScaleSuffix.str());
  if (!scale) {
    // What wrote such files had one multiplier for all that is 16 bits.
    if (!isInt8 && version < 4) {
      tensor.encoding = Encoding::Int16;
      return Error::success();
    }
    return makeError("variable '" + tensor.name + "' of '" + path + "' is " +
                     tensor.elementType + " but there is no '" + tensor.name +
                     kScaleSuffix + "'");
  }
  uint64_t count = isInt8 ? uint64_t(tensor.shape.front()) : 1;
  if (scale->encoding != Encoding::F32 || countElements(scale->shape) != count)
    return makeError("variable '" + scale->name + "' of '" + path + "' is " +
                     scale->elementType + " of shape " +
                     formatShape(scale->shape) + ", expected float32 with " +
                     Twine(count) + " elements");
  tensor.encoding = isInt8 ? Encoding::Int8Rows : Encoding::Int16;
  tensor.multipliers = scale->offset;
  return Error::success();
}

Error Reader::readAliases() {
  uint32_t count;
  if (!bytes.read(count))
    return endsWithin("its variables");
  for (uint32_t index = 0; index < count; ++index) {
    std::string alias, name;
    if (!readString(bytes, alias) || !readString(bytes, name))
      return makeError("alias " + Twine(index) + " of '" + path +
                       "' has no valid names");
    const TensorInfo *variable = find(name);
    if (!variable)
      return makeError("alias '" + alias + "' of '" + path + "' stands for '" +
                       name + "', which is no variable");
    TensorInfo copy = *variable;
    copy.name = std::move(alias);
    if (Error error = add(std::move(copy)))
      return error;
  }
  return Error::success();
}

Expected<CTranslate2File> Reader::read() {
  if (Error error = readHead())
    return std::move(error);
  if (Error error = readVariables())
    return std::move(error);
  for (TensorInfo &tensor : tensors)
    if (Error error = findMultipliers(tensor))
      return std::move(error);
  if (version >= 3)
    if (Error error = readAliases())
      return std::move(error);
  if (bytes.remaining() != 0)
    return makeError("'" + path + "' has " + Twine(bytes.remaining()) +
                     " bytes behind its last entry");
  Expected<TensorFile> variables =
      TensorFile::create(std::move(buffer), std::move(tensors));
  if (!variables)
    return variables.takeError();
  return CTranslate2File{version, std::move(specification), revision,
                         std::move(*variables)};
}

Expected<CTranslate2File>
readCTranslate2File(std::unique_ptr<MemoryBuffer> buffer) {
  return Reader(std::move(buffer)).read();
}

std::optional<double> readNumber(const TensorFile &file,
                                 const TensorInfo &variable) {
  if (countElements(variable.shape) != 1)
    return std::nullopt;
  const char *data = file.getBytes().data() + variable.offset;
  StringRef type = variable.elementType;
  if (type == "float32")
    return double(bit_cast<float>(endian::read32le(data)));
  if (type == "int8")
    return double(static_cast<signed char>(*data));
  if (type == "int16")
    return double(int16_t(endian::read16le(data)));
  if (type == "int32")
    return double(int32_t(endian::read32le(data)));
  auto stored =
      StoredTensor::create(variable.name, variable.shape, *variable.encoding,
                           /*transposed=*/false, file, variable.offset);
  if (!stored) {
    consumeError(stored.takeError());
    return std::nullopt;
  }
  float value;
  stored->decodeRows(0, 1, value);
  return double(value);
}

} // namespace heddle
