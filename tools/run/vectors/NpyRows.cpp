//===- NpyRows.cpp - Vectors from a NumPy file ----------------------------===//
//
// The header is a Python dictionary. Its keys come in any order, as numpy.load
// takes them, and its values as Python prints them. NpyWriter.cpp has the rest
// of the format; from version 2.0 on the header's length has four bytes.
//
//===----------------------------------------------------------------------===//

#include "tools/run/vectors/NpyRows.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <sys/stat.h>
#include <vector>

using namespace heddle;

static constexpr std::string_view kMagic("\x93NUMPY", 6);

bool heddle::isNpyFile(const std::string &path) {
  constexpr std::string_view ending = ".npy";
  if (path.size() >= ending.size() &&
      path.compare(path.size() - ending.size(), ending.size(), ending) == 0)
    return true;
  // What a pipe has given is gone.
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return false;
  char bytes[kMagic.size()];
  FILE *file = fopen(path.c_str(), "re");
  bool isRead = file && fread(bytes, sizeof bytes, 1, file) == 1;
  if (file)
    fclose(file);
  return isRead && std::string_view(bytes, sizeof bytes) == kMagic;
}

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

namespace {
/// The rest of a dictionary.
class HeaderText {
public:
  explicit HeaderText(std::string_view text) : text(text) {}

  /// Takes one of these characters, behind white space; 0 if there is none.
  char take(std::string_view characters) {
    skipSpaces();
    if (text.empty() || characters.find(text.front()) == text.npos)
      return 0;
    char taken = text.front();
    text.remove_prefix(1);
    return taken;
  }
  /// Takes what stands before the next one of these characters.
  std::optional<std::string> takeUntil(std::string_view characters) {
    size_t end = text.find_first_of(characters);
    if (end == text.npos)
      return std::nullopt;
    std::string taken(text.substr(0, end));
    text.remove_prefix(end);
    return taken;
  }
  /// Takes a text in quotes.
  std::optional<std::string> takeString() {
    char quote = take("'\"");
    std::optional<std::string> taken =
        quote ? takeUntil({&quote, 1}) : std::nullopt;
    if (taken)
      text.remove_prefix(1);
    return taken;
  }
  bool isAtEnd() {
    skipSpaces();
    return text.empty();
  }

private:
  void skipSpaces() {
    text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  }

  std::string_view text;
};
} // namespace

/// Takes the value of a key; false if it is none.
static bool takeValue(HeaderText &text, const std::string &key,
                      NpyHeader &header) {
  if (key == "descr") {
    // Records are lists.
    std::optional<std::string> type = text.takeString();
    if (type)
      header.type = *type;
    return type.has_value();
  }
  if (key == "fortran_order") {
    std::optional<std::string> order = text.takeUntil(",}");
    header.isFortran = order && order->find("True") != order->npos;
    return order && (header.isFortran || order->find("False") != order->npos);
  }
  if (key != "shape" || !text.take("("))
    return false;
  std::optional<std::string> extents = text.takeUntil(")");
  header.shape = "(" + extents.value_or("") + ")";
  return extents && text.take(")");
}

Result<NpyHeader> heddle::parseNpyHeader(std::string_view bytes) {
  HeaderText text(bytes);
  NpyHeader header;
  std::vector<std::string> keys;
  bool isWhole = text.take("{");
  while (isWhole && !text.take("}")) {
    std::optional<std::string> key = text.takeString();
    isWhole = key && text.take(":") && takeValue(text, *key, header) &&
              std::count(keys.begin(), keys.end(), *key) == 0;
    if (!isWhole)
      break;
    keys.push_back(*key);
    if (text.take(","))
      continue;
    isWhole = text.take("}");
    break;
  }
  if (isWhole && keys.size() == 3 && text.isAtEnd())
    return header;
  return Status::error("expected a dictionary with the type 'descr', "
                       "'fortran_order' and 'shape'");
}

/// Reads "(12, 384)"; nothing if it is no such shape.
static std::optional<std::pair<int64_t, int64_t>>
parseShape(const std::string &text) {
  long long rows, columns;
  int end = 0;
  // Longer numbers overflow.
  sscanf(text.c_str(), "(%18lld, %18lld)%n", &rows, &columns, &end);
  if (end != int(text.size()) || rows < 0 || columns < 0)
    return std::nullopt;
  return std::pair(int64_t(rows), int64_t(columns));
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// Where the parts of a file are.
struct Layout {
  size_t header, data;
};
} // namespace

static Result<Layout> findHeader(std::string_view bytes,
                                 const std::string &file) {
  if (bytes.substr(0, kMagic.size()) != kMagic)
    return Status::error(file, " does not begin as NumPy files do");
  auto byteAt = [&](size_t place) {
    return place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0u;
  };
  unsigned version = byteAt(kMagic.size());
  if (version < 1 || version > 3)
    return Status::error(file, " has version ", version,
                         " of NumPy's format (supported: 1 to 3)");
  size_t length = kMagic.size() + 2, sizeBytes = version == 1 ? 2 : 4,
         header = length + sizeBytes, size = 0;
  for (size_t i = 0; i < sizeBytes; ++i)
    size |= size_t(byteAt(length + i)) << 8 * i;
  if (header + size > bytes.size())
    return Status::error(file, " has ", bytes.size(),
                         " bytes, but its header ends at byte ", header + size);
  return Layout{header, header + size};
}

/// The formats that an error may ask for: "(lines, 384) of '<f4', ...".
static std::string describeRows(size_t width) {
  std::string rows;
  for (const VectorFormat &format : kVectorFormats)
    rows +=
        std::string(rows.empty()                                     ? ""
                    : &format == std::prev(std::end(kVectorFormats)) ? " or "
                                                                     : ", ") +
        "(lines, " + std::to_string(format.columns(width)) + ") of '" +
        format.element.name + "'";
  return rows;
}

Result<NpyRows> NpyRows::open(const std::string &path, size_t width) {
  const std::string name = "'" + path + "'";
  struct stat info;
  if (stat(path.c_str(), &info) == 0 &&
      !(S_ISREG(info.st_mode) && info.st_size > 0))
    return Status::error(name, " is ",
                         S_ISREG(info.st_mode) ? "empty" : "not a regular file",
                         ", expected a NumPy file");
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  std::string_view bytes = file->bytes();
  Result<Layout> layout = findHeader(bytes, name);
  if (!layout.ok())
    return layout.status();
  Result<NpyHeader> header = parseNpyHeader(
      bytes.substr(layout->header, layout->data - layout->header));
  if (!header.ok())
    return Status::error("the header of ", name, " cannot be read, ",
                         header.message());
  if (header->isFortran)
    return Status::error(name, " has the array in Fortran order, expected C "
                               "order (numpy.ascontiguousarray)");
  auto format =
      std::find_if(std::begin(kVectorFormats), std::end(kVectorFormats),
                   [&](const VectorFormat &each) {
                     return header->type == each.element.name;
                   });
  auto shape = parseShape(header->shape);
  if (format == std::end(kVectorFormats) || !shape ||
      shape->second != int64_t(format->columns(width)))
    return Status::error(name, " is ", header->shape, " of '", header->type,
                         "', but vectors of ", width, " numbers are ",
                         describeRows(width));
  size_t found = bytes.size() - layout->data, expected;
  if (__builtin_mul_overflow(size_t(shape->first),
                             heddle_vector_bytes(format->type, width),
                             &expected) ||
      found != expected)
    return Status::error(
        name, " has ", found, " bytes behind its header, but an array ",
        header->shape, " of '", header->type, "' has ", shape->first, " * ",
        heddle_vector_bytes(format->type, width));
  if (layout->data % size_t(format->element.bytes) != 0)
    return Status::error(name, " has its array at byte ", layout->data,
                         ", expected a multiple of ", format->element.bytes);
  const char *first = bytes.data() + layout->data;
  return NpyRows(std::move(*file), *format, shape->first, first);
}
