//===- WholeFile.cpp - A file that is there whole or not at all -----------===//

#include "tools/WholeFile.h"

#include "tools/SignalCleanup.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;

Result<int> heddle::createTemporary(const std::string &path,
                                    std::string &temporary) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return Status::error("cannot write '", path, "': it is not a regular file");
  temporary = path + ".XXXXXX";
  int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0)
    return Status::error("cannot write '", path, "': ", strerror(errno));
  // mkostemp's files are private; this one gets what the user's mask gives.
  mode_t mask = umask(0);
  umask(mask);
  fchmod(file, 0666 & ~mask);
  return file;
}

Status heddle::checkWritable(const std::string &path) {
  SignalCleanup cleanup;
  std::string temporary;
  Result<int> file = createTemporary(path, temporary);
  if (!file.ok())
    return file.status();
  close(*file);
  unlink(temporary.c_str());
  return Status::success();
}

Status heddle::writeWholeFile(const std::string &path, std::string_view text) {
  SignalCleanup cleanup;
  std::string temporary;
  Result<int> file = createTemporary(path, temporary);
  if (!file.ok())
    return file.status();
  cleanup.watch(temporary);
  bool isWritten = true;
  while (isWritten && !text.empty()) {
    ssize_t written = write(*file, text.data(), text.size());
    if (written > 0)
      text.remove_prefix(size_t(written));
    else
      isWritten = written < 0 && errno == EINTR;
  }
  int error = errno;
  // What is buffered can fail as late as here.
  if (close(*file) != 0 && isWritten) {
    isWritten = false;
    error = errno;
  }
  if (isWritten && rename(temporary.c_str(), path.c_str()) == 0)
    return Status::success();
  if (isWritten)
    error = errno;
  unlink(temporary.c_str());
  return Status::error("cannot write '", path, "': ", strerror(error));
}
