//===- NpyRows.h - Vectors from a NumPy file --------------------*- C++ -*-===//
//
// Reads what NpyWriter writes, and numpy.save: an array of two dimensions in C
// order, whose rows are vectors of a model. The file is mapped.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_VECTORS_NPYROWS_H
#define HEDDLE_TOOLS_RUN_VECTORS_NPYROWS_H

#include "runtime/Result.h"
#include "runtime/artifact/MappedFile.h"
#include "tools/run/vectors/VectorFormats.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace heddle {

/// Whether a file is to be read as NumPy's: it says so, by its first bytes or
/// by the end of its name.
bool isNpyFile(const std::string &path);

/// What a header says.
struct NpyHeader {
  /// The type of elements, as NumPy writes it: "<f4".
  std::string type;
  bool isFortran = false;
  /// As NumPy writes it: "(2, 384)".
  std::string shape;
};

/// Reads the dictionary of a header. Fails, without a sentence that names the
/// file, if it is no dictionary of these three.
Result<NpyHeader> parseNpyHeader(std::string_view text);

/// Move-only; reading from several threads is safe.
class NpyRows {
public:
  /// Opens a file of vectors of `width` numbers, in any type. Fails if the file
  /// is another one, or is not whole.
  static Result<NpyRows> open(const std::string &path, size_t width);

  const VectorFormat &format() const { return *rowFormat; }
  int64_t count() const { return rows; }
  /// All rows, one behind the other.
  const char *data() const { return first; }

private:
  NpyRows(MappedFile file, const VectorFormat &format, int64_t rows,
          const char *first)
      : file(std::move(file)), rowFormat(&format), rows(rows), first(first) {}

  MappedFile file;
  const VectorFormat *rowFormat;
  int64_t rows;
  const char *first;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_VECTORS_NPYROWS_H
