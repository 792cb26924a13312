//===- MappedFile.cpp - A file as read-only memory ------------------------===//
//
// open, fstat, mmap, with a sentence for each way in which they fail.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace heddle;

Result<MappedFile> MappedFile::open(const std::string &path) {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return Status::error("cannot open '", path, "': ", strerror(errno));
  struct stat info;
  if (fstat(file, &info) != 0) {
    Status status =
        Status::error("cannot inspect '", path, "': ", strerror(errno));
    close(file);
    return status;
  }
  if (!S_ISREG(info.st_mode)) {
    close(file);
    return Status::error("'", path, "' is ",
                         S_ISDIR(info.st_mode) ? "a directory"
                                               : "not a regular file",
                         ", expected an artifact");
  }
  size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) {
    close(file);
    return Status::error("'", path, "' is empty, expected an artifact");
  }
  void *data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) {
    Status status = Status::error("cannot map the ", size, " bytes of '", path,
                                  "' into memory: ", strerror(errno));
    close(file);
    return status;
  }
  return MappedFile(static_cast<const char *>(data), size, file);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data(std::exchange(other.data, nullptr)),
      size(std::exchange(other.size, 0)), file(std::exchange(other.file, -1)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data, other.data);
  std::swap(size, other.size);
  std::swap(file, other.file);
  return *this;
}

MappedFile::~MappedFile() {
  if (data)
    munmap(const_cast<char *>(data), size);
  if (file >= 0)
    close(file);
}
