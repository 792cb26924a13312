//===- NpyWriter.h - Vectors as a NumPy file --------------------*- C++ -*-===//
//
// Writes an array in NumPy's format, version 1.0: float32 cells of three
// dimensions in any order, or rows of two, as many as come. The file gets its
// name only when all of it stands: a failed run leaves nothing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_VECTORS_NPYWRITER_H
#define HEDDLE_TOOLS_RUN_VECTORS_NPYWRITER_H

#include "runtime/Result.h"
#include "tools/WholeFile.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace heddle {

/// The type of an array's elements.
struct NpyType {
  /// Its name in headers.
  const char *name = "<f4";
  int64_t bytes = sizeof(float);
};

/// Move-only; several threads may write cells at the same time.
class NpyWriter {
public:
  /// For an array of `shape`, C order.
  static Result<NpyWriter> create(const std::string &path,
                                  std::array<int64_t, 3> shape);
  /// For an array [rows, width], to be appended.
  static Result<NpyWriter> createRows(const std::string &path, int64_t width,
                                      NpyType type = {});

  /// What a signal has to remove until commit; empty for nothing.
  const std::string &temporaryPath() const { return file.temporaryPath(); }

  /// Writes the cells array[row, column : column + count, :].
  Status write(int64_t row, int64_t column, const float *values,
               int64_t count = 1);
  /// Fills the cells array[row, column:, :] with NaN.
  Status writeMissing(int64_t row, int64_t column);
  /// Appends a row of elements.
  Status append(const void *row);
  /// Gives the file its name. Every cell has been written.
  Status commit();

private:
  NpyWriter(WholeFile file, std::array<int64_t, 3> shape, bool isOfRows)
      : file(std::move(file)), shape(shape), isOfRows(isOfRows) {}

  Status writeHeader();
  Status writeAt(int64_t offset, const void *bytes, size_t size);

  WholeFile file;
  /// Of rows the second extent is 1.
  std::array<int64_t, 3> shape;
  bool isOfRows;
  NpyType type = {};
};

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_VECTORS_NPYWRITER_H
