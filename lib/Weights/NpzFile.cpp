//===- NpzFile.cpp - Reads numpy's archives of arrays ---------------------===//
//
// A zip archive of files `NAME.npy`: "\x93NUMPY", u8 major and minor version,
// the length of a header (u16 in version 1, then u32), the header, the array.
// The header is a dictionary as Python prints it, with the keys 'descr',
// 'fortran_order' and 'shape'. Here headers alone are read; ArchiveBytes has
// the arrays.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Error.h"
#include "lib/Weights/ArchiveBytes.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/TensorFile.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace heddle {

/// No array of a model has more dimensions.
static constexpr size_t kMaxRank = 8;
/// What is read of a file to see its header, which takes some 120 bytes: all
/// that version 1 can say.
static constexpr uint64_t kStartSize = 1 << 16;

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

/// Reads the header of an entry that stands at `offset` of the table's bytes;
/// `start` is what the entry begins with.
static Expected<TensorInfo> readHeader(const ZipEntry &entry, StringRef start,
                                       uint64_t offset, StringRef path) {
  StringRef name = entry.name;
  name.consume_back(".npy");
  auto fail = [&](const Twine &what) {
    return makeError("array '" + name + "' of '" + path + "' " + what);
  };
  ByteReader reader(start);
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
    return fail("is not stored in row-major order");
  tensor.offset = offset + reader.offset();
  tensor.size = entry.size - reader.offset();
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

Expected<TensorFile> readNpzFile(std::unique_ptr<MemoryBuffer> buffer) {
  std::string path = buffer->getBufferIdentifier().str();
  auto entries = readZipDirectory(buffer->getBuffer(), path);
  if (!entries)
    return entries.takeError();
  bool inflates = any_of(*entries, [](const ZipEntry &entry) {
    return entry.deflatedSize.has_value();
  });
  std::vector<TensorInfo> tensors;
  uint64_t size = 0;
  for (const ZipEntry &entry : *entries) {
    Expected<TensorInfo> tensor =
        readHeader(entry, extractStart(entry, buffer->getBuffer(), kStartSize),
                   inflates ? size : entry.offset, path);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
    size += entry.size;
  }

  std::shared_ptr<ArchiveBytes> files;
  if (inflates) {
    // Pages that nobody touches take no memory.
    auto target = WritableMemoryBuffer::getNewUninitMemBuffer(size, path);
    if (!target)
      return makeError("'" + path + "' needs " + Twine(size) +
                       " bytes of memory");
    files =
        std::make_shared<ArchiveBytes>(std::move(buffer), std::move(*entries),
                                       Checksums::Always, target->getBuffer());
    buffer = std::move(target);
  } else {
    files = std::make_shared<ArchiveBytes>(
        buffer->getBuffer(), std::move(*entries), Checksums::Always, path);
  }
  return TensorFile::create(
      std::move(buffer), std::move(tensors),
      [files](uint64_t offset) { return files->prepare(offset); });
}

} // namespace heddle
