//===- LineReader.h - Lines of untrusted length -----------------*- C++ -*-===//
//
// Reads lines from a file descriptor or from a list of texts, with a limit to
// a line's length and a name for each line that an error can use.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_LINEREADER_H
#define HEDDLE_TOOLS_LINEREADER_H

#include "runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Owns its descriptor, unless that is standard input. Move-only.
class LineReader {
public:
  static LineReader standardInput();
  /// The texts of a command line, one a line.
  static LineReader texts(std::vector<std::string> lines);
  static Result<LineReader> open(const std::string &path);

  LineReader(LineReader &&other) noexcept;
  LineReader &operator=(LineReader &&other) = delete;
  ~LineReader();

  /// The next line without its end ("\n" or "\r\n"); nothing behind the last.
  /// A last line needs no end. Fails where reading does, and on a line of more
  /// than a megabyte.
  Result<std::optional<std::string>> next();

  /// Names the line that next() returned: "line 3 of standard input".
  std::string where() const;

private:
  LineReader(int file, std::string name) : file(file), name(std::move(name)) {}

  /// Reads more of the file; false at its end.
  Result<bool> fill();

  int file;
  std::string name;
  std::vector<std::string> given;
  int64_t lineNumber = 0;
  std::string buffer;
  size_t consumed = 0;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_LINEREADER_H
