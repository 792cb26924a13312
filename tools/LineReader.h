//===- LineReader.h - Lines of untrusted length -----------------*- C++ -*-===//
//
// Reads lines from a file descriptor or from a list of texts, with a limit to
// a line's length and a name for each line that an error can use.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_LINEREADER_H
#define HEDDLE_TOOLS_LINEREADER_H

#include "runtime/Result.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// A file descriptor that is closed with its owner, unless it is standard
/// input; -1 for none. Move-only.
class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  Descriptor(Descriptor &&other) noexcept
      : number(std::exchange(other.number, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor();

  int get() const { return number; }

private:
  int number;
};

/// Move-only. One thread at a time, except for interrupt().
class LineReader {
public:
  /// With `keepsEnds` a line ends at "\n" alone, and "\r" in front of it is the
  /// last of its bytes.
  static Result<LineReader> standardInput(bool keepsEnds = false);
  /// The texts of a command line, one a line.
  static LineReader texts(std::vector<std::string> lines);
  static Result<LineReader> open(const std::string &path);

  /// The next line without its end ("\n" or "\r\n"); nothing behind the last.
  /// A last line needs no end. Fails if reading does, and on a line of more
  /// than a megabyte.
  Result<std::optional<std::string>> next();
  /// Whether next() failed on a line that is too long: skipLine() goes on
  /// behind it.
  bool isTooLong() const { return tooLong; }
  void skipLine();

  /// Whether next() returns without waiting for input.
  bool isReady();

  /// Ends a wait for more of standard input, now or later: what was read so far
  /// is then the whole of it. Any thread may call this.
  void interrupt() const;

  /// Names the file: "standard input", "'prefixes.txt'".
  const std::string &name() const { return fileName; }
  /// Names a line, counted from 0: "line 3 of standard input". Any thread.
  std::string nameOf(int64_t number) const;
  /// How many lines next() has returned, or skipLine() has left out.
  int64_t linesRead() const { return lineCount; }
  /// Whether a line of those lacks its end: the last one may.
  /// Any thread.
  bool lacksEnd(int64_t number) const { return number == *endless; }

private:
  LineReader(int file, std::string name)
      : file(file), fileName(std::move(name)) {}

  bool isFile() const { return file.get() >= 0; }

  bool hasInput(int timeout) const;
  bool fill();

  Descriptor file;
  /// An event that interrupt() raises, if there is something to wait for.
  Descriptor interruption;
  std::string fileName;
  std::vector<std::string> given;
  bool keepsEnds = false;
  int64_t lineCount = 0;
  std::unique_ptr<std::atomic<int64_t>> endless =
      std::make_unique<std::atomic<int64_t>>(-1);
  std::string buffer;
  size_t consumed = 0;
  /// The file has no more, or `failure` says why it cannot be read.
  bool ended = false;
  bool tooLong = false;
  Status failure = Status::success();
};

} // namespace heddle

#endif // HEDDLE_TOOLS_LINEREADER_H
