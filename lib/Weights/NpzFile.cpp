//===- NpzFile.cpp - Reads numpy's archives of arrays ---------------------===//
//
// A zip archive of files `NAME.npy`: "\x93NUMPY", u8 major and minor version,
// the length of a header (u16 in version 1, then u32), the header, the array.
// The header is a dictionary as Python prints it, with the keys 'descr',
// 'fortran_order' and 'shape'.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/Error.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/TensorFile.h"
#include "lib/Weights/ZipDirectory.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace heddle {

/// No array of a model has more dimensions.
static constexpr size_t kMaxRank = 8;
/// Deflating makes nothing smaller than by this factor.
static constexpr uint64_t kMostInflation = 1032;

static std::optional<Encoding> getEncoding(StringRef descr) {
  return StringSwitch<std::optional<Encoding>>(descr)
      .Case("<f4", Encoding::F32)
      .Case("<f2", Encoding::F16)
      .Default(std::nullopt);
}

/// What stands behind a key of the header.
static StringRef findValue(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "':").str());
  return at == StringRef::npos ? StringRef()
                               : header.substr(at + key.size() + 3).ltrim();
}

/// Reads "(2, 3), ...", "(5,), ..." or "(), ...".
static bool readShape(StringRef text, SmallVectorImpl<int64_t> &shape) {
  size_t end = text.find(')');
  if (!text.consume_front("(") || end == StringRef::npos)
    return false;
  SmallVector<StringRef> extents;
  text.take_front(end - 1).split(extents, ',', /*MaxSplit=*/-1,
                                 /*KeepEmpty=*/false);
  for (StringRef extent : extents) {
    extent = extent.trim();
    if (shape.size() == kMaxRank ||
        extent.getAsInteger(10, shape.emplace_back()))
      return false;
  }
  return true;
}

/// Reads the array of an entry that stands at `offset` of the file.
static Expected<TensorInfo> readArray(const ZipEntry &entry, StringRef bytes,
                                      uint64_t offset, StringRef path) {
  StringRef name = entry.name;
  name.consume_back(".npy");
  auto fail = [&](const Twine &what) {
    return makeError("array '" + name + "' of '" + path + "' " + what);
  };
  ByteReader reader(bytes);
  StringRef magic, header;
  uint8_t major, minor;
  uint16_t shortLength;
  uint32_t length;
  if (!reader.take(6, magic) || magic != "\x93NUMPY" || !reader.read(major) ||
      !reader.read(minor))
    return fail("is not in numpy's format");
  bool hasLength = major == 1 ? reader.read(shortLength) : reader.read(length);
  if (!hasLength || !reader.take(major == 1 ? shortLength : length, header))
    return fail("ends within its header");

  TensorInfo tensor;
  tensor.name = name.str();
  StringRef descr = findValue(header, "descr");
  if (!descr.consume_front("'") ||
      !readShape(findValue(header, "shape"), tensor.shape))
    return fail("has a header without element type and shape");
  tensor.elementType = descr.split('\'').first.str();
  tensor.encoding = getEncoding(tensor.elementType);
  if (!findValue(header, "fortran_order").starts_with("False"))
    return fail("is not stored row by row");
  tensor.offset = offset + reader.offset();
  tensor.size = reader.remaining();
  if (!tensor.encoding)
    return tensor;
  std::optional<uint64_t> elements = countElements(tensor.shape);
  if (!elements)
    return fail("has the impossible shape " + formatShape(tensor.shape));
  if (uint64_t needed = storedSize(*tensor.encoding, *elements);
      tensor.size != needed)
    return fail("has shape " + formatShape(tensor.shape) + " in " +
                tensor.elementType + ", which takes " + Twine(needed) +
                " bytes, but " + Twine(tensor.size) + " bytes of data");
  return tensor;
}

/// Puts the files of the archive behind each other, and says so in `entries`.
static Expected<std::unique_ptr<MemoryBuffer>>
inflate(StringRef bytes, std::vector<ZipEntry> &entries, StringRef path) {
  uint64_t size = 0;
  for (const ZipEntry &entry : entries) {
    // Before memory is asked for: the archive may claim any size.
    if (entry.deflatedSize && entry.size / kMostInflation > *entry.deflatedSize)
      return makeError("'" + path + "' is a damaged zip archive: '" +
                       entry.name + "' cannot have " + Twine(entry.size) +
                       " bytes");
    size += entry.size;
  }
  auto buffer = WritableMemoryBuffer::getNewUninitMemBuffer(size, path);
  if (!buffer)
    return makeError("'" + path + "' needs " + Twine(size) +
                     " bytes of memory");
  uint64_t offset = 0;
  for (ZipEntry &entry : entries) {
    if (Error error = extract(
            entry, bytes, buffer->getBuffer().slice(offset, entry.size), path))
      return std::move(error);
    entry.offset = offset;
    offset += entry.size;
  }
  return std::move(buffer);
}

Expected<TensorFile> readNpzFile(std::unique_ptr<MemoryBuffer> buffer) {
  std::string path = buffer->getBufferIdentifier().str();
  auto entries = readZipDirectory(buffer->getBuffer(), path);
  if (!entries)
    return entries.takeError();
  if (any_of(*entries, [](const ZipEntry &entry) {
        return entry.deflatedSize.has_value();
      })) {
    auto inflated = inflate(buffer->getBuffer(), *entries, path);
    if (!inflated)
      return inflated.takeError();
    buffer = std::move(*inflated);
  }
  std::vector<TensorInfo> tensors;
  for (const ZipEntry &entry : *entries) {
    Expected<TensorInfo> tensor =
        readArray(entry, buffer->getBuffer().substr(entry.offset, entry.size),
                  entry.offset, path);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return TensorFile::create(std::move(buffer), std::move(tensors));
}

} // namespace heddle
