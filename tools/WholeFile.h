//===- WholeFile.h - A file that is there whole or not at all ---*- C++ -*-===//
//
// Bytes are written to a temporary file beside a path, in any order, and get
// its name when they are whole. Links are followed: the file that they lead to
// is replaced, and no link. What nothing may replace, a device, a pipe or an
// open file (/dev/stdout), receives the bytes instead.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_WHOLEFILE_H
#define HEDDLE_TOOLS_WHOLEFILE_H

#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace heddle {

/// Move-only. One that is not kept leaves nothing.
class WholeFile {
public:
  /// The file that `path` names is readable for whom the process's umask
  /// admits.
  static Result<WholeFile> create(const std::string &path);

  WholeFile(WholeFile &&other) noexcept;
  WholeFile &operator=(WholeFile &&other) = delete;
  ~WholeFile();

  /// For pwrite(2).
  int descriptor() const { return file; }
  /// What a signal has to remove until keep(); empty for nothing.
  const std::string &temporaryPath() const { return temporary; }
  /// Gives the file its name, or a pipe the bytes.
  Status keep();
  /// "cannot write 'x': " and what the system says.
  Status failure(int error) const;

private:
  WholeFile(std::string path, int file) : path(std::move(path)), file(file) {}

  Status copyTo(int stream) const;

  std::string path;
  /// Through links, the file that is replaced; empty for none.
  std::string target;
  std::string temporary;
  int file;
  /// What receives the bytes at the end, unless a file is replaced or `file`
  /// is a device: an open file, or else `path`.
  bool isStream = false;
  int open = -1;
};

/// Whether a file could be written, before the work whose result it is to hold.
Status checkWritable(const std::string &path);

/// Writes `text`. A signal leaves nothing that is not whole.
Status writeWholeFile(const std::string &path, std::string_view text);

} // namespace heddle

#endif // HEDDLE_TOOLS_WHOLEFILE_H
