//===- OutputWriter.cpp - Standard output that notices errors -------------===//
//
// write(2) until all is written. The tool ignores SIGPIPE, so that a closed
// pipe arrives here as an error.
//
//===----------------------------------------------------------------------===//

#include "tools/run/OutputWriter.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace heddle;

Status OutputWriter::flush() {
  std::string_view rest = buffer;
  while (!rest.empty()) {
    ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) {
      gone = errno == EPIPE;
      return Status::error("cannot write standard output: ", strerror(errno));
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer.clear();
  return Status::success();
}
