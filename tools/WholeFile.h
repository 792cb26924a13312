//===- WholeFile.h - A file that is there whole or not at all ---*- C++ -*-===//
//
// Bytes are written to a temporary file beside a path, in any order, and get
// its name when they are whole. Links are followed: the file that they lead to
// is replaced, and no link. What nothing may replace, a device, a pipe,
// standard output or another open file (/dev/fd/3), receives the bytes instead.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_WHOLEFILE_H
#define HEDDLE_TOOLS_WHOLEFILE_H

#include "runtime/Result.h"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace heddle {

/// Move-only. One that is not kept leaves nothing.
class WholeFile {
public:
  enum class Kind { Text, Binary };

  /// "-" is standard output. `mode` is what a file may be used for, less what
  /// the umask takes away. A terminal shows text alone.
  static Result<WholeFile> create(const std::string &path,
                                  Kind kind = Kind::Text, mode_t mode = 0666);

  WholeFile(WholeFile &&other) noexcept;
  WholeFile &operator=(WholeFile &&other) = delete;
  ~WholeFile();

  /// For write(2) and pwrite(2).
  int descriptor() const { return file; }
  /// What a signal has to remove until keep(); empty for nothing.
  const std::string &temporaryPath() const { return temporary; }
  /// Gives the file its name, or a pipe the bytes.
  Status keep();
  /// "cannot write 'x': no space", or "cannot write standard output: ...".
  Status failure(int error) const;

private:
  WholeFile(std::string path, int file) : path(std::move(path)), file(file) {}

  static Result<WholeFile> openDevice(const std::string &path, int open,
                                      Kind kind);
  static Result<WholeFile> openStream(const std::string &path, int open);
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

/// The file that a path names through links, whether it is there or not.
std::string followLinks(std::string path);

/// An error if a file cannot be written: better known before the work.
Status checkWritable(const std::string &path,
                     WholeFile::Kind kind = WholeFile::Kind::Text);

/// Writes `text`. A signal leaves nothing that is not whole.
Status writeWholeFile(const std::string &path, std::string_view text);

} // namespace heddle

#endif // HEDDLE_TOOLS_WHOLEFILE_H
