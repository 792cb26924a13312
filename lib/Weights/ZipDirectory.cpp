//===- ZipDirectory.cpp - Where the files of a zip archive are ------------===//
//
// From the end: a record that says where the directory is, in 64 bits in a
// record of its own, which a locator in front of the first one finds; in the
// directory a header for each file; in front of each file one more, whose names
// and extra fields may be longer, so that only it says where the bytes begin.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/ZipDirectory.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <zlib.h>

using namespace llvm;

namespace heddle {

static constexpr uint32_t kFileHeader = 0x04034b50, kEntryHeader = 0x02014b50,
                          kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                          kLocator64 = 0x07064b50;
static constexpr uint64_t kEndSize = 22, kLocator64Size = 20;
/// Deflating makes nothing smaller than by this factor.
static constexpr uint64_t kMostInflation = 1032;
/// A number that stands elsewhere, in 64 bits.
static constexpr uint32_t kElsewhere = 0xffffffff;

namespace {
/// Where the directory is and how many entries it has.
struct Directory {
  uint64_t offset, size, count;
};

/// The parts of an entry's header that matter here.
struct EntryHeader {
  uint16_t flags, method;
  uint32_t checksum;
  uint64_t storedSize, size, offset;
};

/// An entry and what it takes of the archive: its own header and its bytes.
struct CheckedEntry {
  ZipEntry entry;
  uint64_t begin, end;
};
} // namespace

bool isZipArchive(StringRef bytes) {
  uint32_t signature;
  return ByteReader(bytes).read(signature) && signature == kFileHeader;
}

static Error damaged(StringRef path, const Twine &part) {
  return makeError("'" + path + "' is a damaged zip archive: " + part);
}

/// Reads the number of 16 or 32 bits that stands at `at`.
template <typename Integer>
static uint64_t numberAt(StringRef header, size_t at) {
  return support::endian::read<Integer, endianness::little>(header.data() + at);
}

/// The record at the end; a comment of at most 65,535 bytes may follow it.
static std::optional<uint64_t> findEnd(StringRef bytes) {
  if (bytes.size() < kEndSize)
    return std::nullopt;
  uint64_t last = bytes.size() - kEndSize;
  for (uint64_t comment = 0; comment <= std::min<uint64_t>(last, 0xffff);
       ++comment)
    if (numberAt<uint32_t>(bytes, last - comment) == kEnd &&
        numberAt<uint16_t>(bytes, last - comment + 20) == comment)
      return last - comment;
  return std::nullopt;
}

static std::optional<Directory> findDirectory(StringRef bytes) {
  std::optional<uint64_t> end = findEnd(bytes);
  if (!end)
    return std::nullopt;
  StringRef record = bytes.substr(*end);
  Directory directory{numberAt<uint32_t>(record, 16),
                      numberAt<uint32_t>(record, 12),
                      numberAt<uint16_t>(record, 10)};
  if (*end < kLocator64Size ||
      numberAt<uint32_t>(bytes, *end - kLocator64Size) != kLocator64)
    return directory;
  uint64_t at = numberAt<uint64_t>(bytes, *end - kLocator64Size + 8);
  constexpr uint64_t recordSize = 56;
  if (at > bytes.size() || bytes.size() - at < recordSize ||
      numberAt<uint32_t>(bytes, at) != kEnd64)
    return std::nullopt;
  record = bytes.substr(at);
  return Directory{numberAt<uint64_t>(record, 48),
                   numberAt<uint64_t>(record, 40),
                   numberAt<uint64_t>(record, 32)};
}

/// Fills in the numbers that stand in the extra field of 64-bit numbers.
static bool readExtra(StringRef extra, EntryHeader &header) {
  ByteReader fields(extra);
  uint16_t id, size;
  StringRef field;
  while (fields.read(id) && fields.read(size) && fields.take(size, field)) {
    constexpr uint16_t numbersOf64Bits = 1;
    if (id != numbersOf64Bits)
      continue;
    ByteReader numbers(field);
    for (uint64_t *number : {&header.size, &header.storedSize, &header.offset})
      if (*number == kElsewhere && !numbers.read(*number))
        return false;
  }
  return true;
}

/// Reads an entry of the directory.
static bool readEntry(ByteReader &reader, EntryHeader &header,
                      StringRef &name) {
  constexpr uint64_t fixedSize = 46;
  StringRef fixed, extra, comment;
  if (!reader.take(fixedSize, fixed) ||
      numberAt<uint32_t>(fixed, 0) != kEntryHeader)
    return false;
  header = {uint16_t(numberAt<uint16_t>(fixed, 8)),
            uint16_t(numberAt<uint16_t>(fixed, 10)),
            uint32_t(numberAt<uint32_t>(fixed, 16)),
            numberAt<uint32_t>(fixed, 20),
            numberAt<uint32_t>(fixed, 24),
            numberAt<uint32_t>(fixed, 42)};
  return reader.take(numberAt<uint16_t>(fixed, 28), name) &&
         reader.take(numberAt<uint16_t>(fixed, 30), extra) &&
         reader.take(numberAt<uint16_t>(fixed, 32), comment) &&
         readExtra(extra, header);
}

/// Names go into sentences.
static bool hasControls(StringRef name) {
  return any_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

/// Where the bytes behind the header at `offset` begin; nothing if that is
/// no header of a file of this name.
static std::optional<uint64_t> findBytes(StringRef bytes, uint64_t offset,
                                         StringRef name) {
  constexpr uint64_t fixedSize = 30;
  if (offset > bytes.size() || bytes.size() - offset < fixedSize ||
      numberAt<uint32_t>(bytes, offset) != kFileHeader)
    return std::nullopt;
  uint64_t nameSize = numberAt<uint16_t>(bytes, offset + 26);
  if (bytes.substr(offset + fixedSize, nameSize) != name)
    return std::nullopt;
  return offset + fixedSize + nameSize + numberAt<uint16_t>(bytes, offset + 28);
}

static Expected<CheckedEntry> checkEntry(StringRef bytes, StringRef name,
                                         const EntryHeader &header,
                                         StringRef path) {
  constexpr uint16_t encrypted = 1;
  if (header.flags & encrypted)
    return makeError("'" + path + "' keeps '" + name + "' encrypted");
  constexpr uint16_t stored = 0, deflated = 8;
  if (header.method != stored && header.method != deflated)
    return makeError("'" + path + "' keeps '" + name +
                     "' compressed by method " + Twine(header.method) +
                     " (supported: stored, deflated)");
  std::optional<uint64_t> begin = findBytes(bytes, header.offset, name);
  if (!begin || *begin > bytes.size() ||
      header.storedSize > bytes.size() - *begin ||
      (header.method == stored && header.size != header.storedSize))
    return damaged(path, "'" + name + "' is not where its directory says");
  ZipEntry entry{name.str(), *begin, header.size};
  entry.checksum = header.checksum;
  if (header.method == deflated) {
    // Before memory is asked for: the archive may claim any size.
    if (header.size / kMostInflation > header.storedSize)
      return damaged(path, "'" + name + "' cannot have " + Twine(header.size) +
                               " bytes");
    entry.deflatedSize = header.storedSize;
  }
  return CheckedEntry{std::move(entry), header.offset,
                      *begin + header.storedSize};
}

/// Refuses files that share bytes, of which a small archive could have many.
static Error checkDisjoint(ArrayRef<CheckedEntry> entries, StringRef path) {
  std::vector<const CheckedEntry *> sorted;
  for (const CheckedEntry &entry : entries)
    sorted.push_back(&entry);
  llvm::sort(sorted, [](const CheckedEntry *a, const CheckedEntry *b) {
    return a->begin < b->begin;
  });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i]->begin < sorted[i - 1]->end)
      return damaged(path, "'" + Twine(sorted[i - 1]->entry.name) + "' and '" +
                               sorted[i]->entry.name + "' overlap at byte " +
                               Twine(sorted[i]->begin));
  return Error::success();
}

Error expectStored(const ZipEntry &entry, StringRef path) {
  if (!entry.deflatedSize)
    return Error::success();
  return makeError("'" + path + "' keeps '" + entry.name + "' compressed " +
                   "(supported: stored, as torch and numpy write it)");
}

/// Inflates `from` to `to`, without the header of a zlib stream, until either
/// ends. Returns how many bytes it wrote; `isWhole` says whether both ended.
static size_t inflateTo(StringRef from, MutableArrayRef<char> to,
                        bool &isWhole) {
  isWhole = false;
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return 0;
  auto *in = reinterpret_cast<const Bytef *>(from.data());
  auto *out = reinterpret_cast<Bytef *>(to.data());
  const Bytef *inEnd = in + from.size();
  Bytef *outEnd = out + to.size();
  stream.next_in = const_cast<Bytef *>(in);
  stream.next_out = out;
  int status = Z_OK;
  // Its counters have 32 bits.
  constexpr ptrdiff_t most = 1 << 30;
  while (status == Z_OK) {
    stream.avail_in = std::min(most, inEnd - stream.next_in);
    stream.avail_out = std::min(most, outEnd - stream.next_out);
    status = inflate(&stream, Z_NO_FLUSH);
  }
  isWhole = status == Z_STREAM_END && stream.next_in == inEnd &&
            stream.next_out == outEnd;
  inflateEnd(&stream);
  return stream.next_out - out;
}

/// Compares a file with its checksum.
static Error checkSum(const ZipEntry &entry, StringRef file,
                      Checksums checksums, StringRef path) {
  if (checksums == Checksums::UnlessZero && entry.checksum == 0)
    return Error::success();
  uint32_t sum =
      crc32_z(0, reinterpret_cast<const Bytef *>(file.data()), file.size());
  if (sum == entry.checksum)
    return Error::success();
  return damaged(path, "'" + Twine(entry.name) + "' has the CRC-32 0x" +
                           utohexstr(sum, /*LowerCase=*/true, /*Width=*/8) +
                           " (expected 0x" +
                           utohexstr(entry.checksum, /*LowerCase=*/true,
                                     /*Width=*/8) +
                           ")");
}

Error checkStored(const ZipEntry &entry, StringRef bytes, Checksums checksums,
                  StringRef path) {
  return checkSum(entry, bytes.substr(entry.offset, entry.size), checksums,
                  path);
}

Error extract(const ZipEntry &entry, StringRef bytes,
              MutableArrayRef<char> file, Checksums checksums, StringRef path) {
  bool isWhole = true;
  if (entry.deflatedSize)
    inflateTo(bytes.substr(entry.offset, *entry.deflatedSize), file, isWhole);
  else
    llvm::copy(bytes.substr(entry.offset, entry.size), file.begin());
  if (!isWhole)
    return damaged(path, "'" + Twine(entry.name) + "' does not inflate to " +
                             Twine(entry.size) + " bytes");
  return checkSum(entry, StringRef(file.data(), file.size()), checksums, path);
}

std::string extractStart(const ZipEntry &entry, StringRef bytes,
                         uint64_t size) {
  size = std::min(size, entry.size);
  if (!entry.deflatedSize)
    return bytes.substr(entry.offset, size).str();
  std::string start(size, '\0');
  bool isWhole;
  start.resize(inflateTo(bytes.substr(entry.offset, *entry.deflatedSize),
                         {start.data(), start.size()}, isWhole));
  return start;
}

Expected<std::vector<ZipEntry>> readZipDirectory(StringRef bytes,
                                                 StringRef path) {
  std::optional<Directory> directory = findDirectory(bytes);
  if (!directory || directory->offset > bytes.size() ||
      directory->size > bytes.size() - directory->offset)
    return damaged(path, "it has no directory");
  ByteReader reader(bytes.substr(directory->offset, directory->size));
  std::vector<CheckedEntry> checked;
  for (uint64_t i = 0; i < directory->count; ++i) {
    EntryHeader header;
    StringRef name;
    if (!readEntry(reader, header, name) || hasControls(name))
      return damaged(path, "entry " + Twine(i) + " of its directory");
    Expected<CheckedEntry> entry = checkEntry(bytes, name, header, path);
    if (!entry)
      return entry.takeError();
    checked.push_back(std::move(*entry));
  }
  if (Error error = checkDisjoint(checked, path))
    return std::move(error);
  std::vector<ZipEntry> entries;
  for (CheckedEntry &each : checked)
    entries.push_back(std::move(each.entry));
  return entries;
}

} // namespace heddle
