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
