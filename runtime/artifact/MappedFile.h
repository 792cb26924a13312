//===- MappedFile.h - A file as read-only memory ----------------*- C++ -*-===//
//
// Maps a whole regular file, so that its pages are read when they are touched
// and shared by every process that maps them: a model of gigabytes opens in
// milliseconds.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_MAPPEDFILE_H
#define HEDDLE_RUNTIME_ARTIFACT_MAPPEDFILE_H

#include "runtime/Result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle {

/// Owns the mapping. Move-only; reading from several threads is safe. A file
/// that another process shortens while it is mapped kills the reader (SIGBUS),
/// as with any executable: replace an artifact by renaming over it.
class MappedFile {
public:
  /// Fails on whatever is not a readable, non-empty regular file; never waits
  /// for one (a FIFO without a writer).
  static Result<MappedFile> open(const std::string &path);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Page-aligned.
  std::string_view bytes() const { return {data, size}; }

  /// The open file, to map parts of it in another way.
  int descriptor() const { return file; }

private:
  MappedFile(const char *data, size_t size, int file)
      : data(data), size(size), file(file) {}

  const char *data;
  size_t size;
  int file;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_MAPPEDFILE_H
