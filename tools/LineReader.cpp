//===- LineReader.cpp - Lines of untrusted length -------------------------===//
//
// A buffer over read(2): standard streams would tell less about errors.
//
//===----------------------------------------------------------------------===//

#include "tools/LineReader.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

using namespace heddle;

/// No sentence is longer; a file that is not text soon is.
static constexpr size_t kMaxLineBytes = 1 << 20;
static constexpr size_t kReadBytes = 1 << 16;

Descriptor::~Descriptor() {
  if (number > STDIN_FILENO)
    close(number);
}

Result<LineReader> LineReader::standardInput(bool keepsEnds) {
  LineReader reader(STDIN_FILENO, "standard input");
  reader.keepsEnds = keepsEnds;
  reader.interruption = Descriptor(eventfd(/*initval=*/0, EFD_CLOEXEC));
  if (reader.interruption.get() < 0)
    return Status::error("cannot wait for ", reader.fileName, ": ",
                         strerror(errno));
  return reader;
}

LineReader LineReader::texts(std::vector<std::string> lines) {
  LineReader reader(-1, "");
  reader.given = std::move(lines);
  return reader;
}

Result<LineReader> LineReader::open(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return Status::error("cannot open '", path, "': ", strerror(errno));
  return LineReader(file, "'" + path + "'");
}

void LineReader::interrupt() const {
  if (interruption.get() >= 0)
    eventfd_write(interruption.get(), 1);
}

std::string LineReader::nameOf(int64_t number) const {
  std::string counted = std::to_string(number + 1);
  return isFile() ? "line " + counted + " of " + fileName : "text " + counted;
}

/// Whether the file has more, or an end: false after `timeout` milliseconds (-1
/// waits for ever), or if interrupt() comes first. poll(2) ignores a
/// descriptor of -1.
bool LineReader::hasInput(int timeout) const {
  pollfd awaited[] = {{file.get(), POLLIN, 0}, {interruption.get(), POLLIN, 0}};
  while (poll(awaited, std::size(awaited), timeout) < 0 && errno == EINTR)
    ;
  return awaited[0].revents != 0 && awaited[1].revents == 0;
}

/// Reads more of the file; false if nothing more comes.
bool LineReader::fill() {
  if (ended || !hasInput(/*timeout=*/-1))
    return false;
  buffer.erase(0, consumed);
  consumed = 0;
  size_t size = buffer.size();
  buffer.resize(size + kReadBytes);
  ssize_t count;
  do
    count = read(file.get(), buffer.data() + size, kReadBytes);
  while (count < 0 && errno == EINTR);
  buffer.resize(size + static_cast<size_t>(count > 0 ? count : 0));
  if (count < 0)
    failure = Status::error("cannot read ", fileName, ": ", strerror(errno));
  ended = count <= 0;
  return !ended;
}

bool LineReader::isReady() {
  if (!isFile())
    return true;
  while (buffer.find('\n', consumed) == std::string::npos &&
         buffer.size() - consumed <= kMaxLineBytes) {
    if (ended)
      return true;
    if (!hasInput(/*timeout=*/0))
      return false;
    fill();
  }
  return true;
}

void LineReader::skipLine() {
  tooLong = false;
  ++lineCount;
  for (;;) {
    size_t end = buffer.find('\n', consumed);
    consumed = end == std::string::npos ? buffer.size() : end + 1;
    if (end != std::string::npos || !fill())
      return;
  }
}

Result<std::optional<std::string>> LineReader::next() {
  if (!isFile())
    return size_t(lineCount) == given.size()
               ? std::optional<std::string>()
               : std::optional<std::string>(given[size_t(lineCount++)]);
  size_t scanned = 0;
  for (;;) {
    size_t end = buffer.find('\n', consumed + scanned);
    size_t length = (end == std::string::npos ? buffer.size() : end) - consumed;
    tooLong = length > kMaxLineBytes;
    if (tooLong)
      return Status::error(nameOf(lineCount), " is longer than ", kMaxLineBytes,
                           " bytes");
    bool atEnd = false;
    if (end == std::string::npos) {
      scanned = length;
      if (fill())
        continue;
      if (!failure.ok())
        return failure;
      atEnd = true;
    }
    if (atEnd && length == 0)
      return std::optional<std::string>();
    std::string line = buffer.substr(consumed, length);
    consumed += length + (atEnd ? 0 : 1);
    if (atEnd)
      *endless = lineCount;
    ++lineCount;
    if (!keepsEnds && !line.empty() && line.back() == '\r')
      line.pop_back();
    return std::optional<std::string>(std::move(line));
  }
}
