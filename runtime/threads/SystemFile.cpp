//===- SystemFile.cpp - Reading until the end -----------------------------===//
//
// Files of /proc report a size of 0, so a file is read until nothing comes any
// more. A read that a signal interrupts is repeated. A file that cannot be
// opened is an empty string.
//
//===----------------------------------------------------------------------===//

#include "runtime/threads/SystemFile.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

std::string heddle::readSystemFile(const std::string &path) {
  std::string content;
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return content;
  char buffer[4096];
  for (;;) {
    ssize_t count = read(file, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    content.append(buffer, size_t(count));
  }
  close(file);
  return content;
}
