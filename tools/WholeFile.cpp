//===- WholeFile.cpp - A file that is there whole or not at all -----------===//
//
// The temporary file has the name of its target and an ending, or, if names
// may not be as long, the beginning of it. What a pipe receives waits in a file
// of no name, in the folder of temporary files, since it may be larger than
// memory, or in memory if that folder cannot be written.
//
//===----------------------------------------------------------------------===//

#include "tools/WholeFile.h"

#include "tools/SignalCleanup.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace heddle;

static constexpr std::string_view kEnding = ".XXXXXX";
static constexpr int kMostLinks = 40;

static Status cannotWrite(const std::string &path, const std::string &reason) {
  std::string name = path == "-" ? "standard output" : "'" + path + "'";
  return Status::error("cannot write ", name, ": ", reason);
}

std::string heddle::followLinks(std::string path) {
  for (int i = 0; i < kMostLinks; ++i) {
    char link[PATH_MAX];
    ssize_t size = readlink(path.c_str(), link, sizeof link);
    if (size <= 0 || size == sizeof link)
      break;
    std::string next(link, size_t(size));
    path = next[0] == '/' ? next : path.substr(0, path.rfind('/') + 1) + next;
  }
  return path;
}

/// The descriptor that a path stands for: -, /dev/stdout or /dev/fd/3; -1 for
/// none.
static int descriptorOf(std::string_view path) {
  if (path == "-" || path == "/dev/stdout")
    return STDOUT_FILENO;
  if (path == "/dev/stderr")
    return STDERR_FILENO;
  for (std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.substr(0, folder.size()) != folder)
      continue;
    int number = -1;
    const char *end = path.data() + path.size();
    auto [rest, error] =
        std::from_chars(path.data() + folder.size(), end, number);
    return error == std::errc() && rest == end ? number : -1;
  }
  return -1;
}

/// The name of a temporary file beside a path, for mkostemp.
static std::string temporaryFor(const std::string &path) {
  size_t name = path.rfind('/') + 1;
  size_t most = std::min<size_t>(
      NAME_MAX - kEnding.size(),
      PATH_MAX - 1 -
          std::min(PATH_MAX - 1 - kEnding.size(), name + kEnding.size()));
  size_t kept = std::min(path.size() - name, most);
  // No character is cut in two.
  while (kept > 0 && kept < path.size() - name &&
         (static_cast<unsigned char>(path[name + kept]) & 0xC0) == 0x80)
    --kept;
  return path.substr(0, name + kept).append(kEnding);
}

/// A file without a name; -1 if that fails.
static int createNameless() {
  const char *folder = getenv("TMPDIR");
  std::string name = temporaryFor(
      std::string(folder && *folder ? folder : "/tmp") + "/heddle");
  int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
    return memfd_create("heddle", MFD_CLOEXEC);
  unlink(name.c_str());
  return file;
}

Result<WholeFile> WholeFile::openDevice(const std::string &path, int open,
                                        Kind kind) {
  int file = open >= 0 ? fcntl(open, F_DUPFD_CLOEXEC, 0)
                       : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return cannotWrite(path, strerror(errno));
  WholeFile result(path, file);
  if (kind == Kind::Binary && isatty(file))
    return cannotWrite(path, "it is a terminal, expected a file or a pipe");
  return result;
}

Result<WholeFile> WholeFile::openStream(const std::string &path, int open) {
  int file = createNameless();
  if (file < 0)
    return cannotWrite(path,
                       std::string("no temporary file: ") + strerror(errno));
  WholeFile result(path, file);
  result.isStream = true;
  if (open >= 0 && (result.open = fcntl(open, F_DUPFD_CLOEXEC, 0)) < 0)
    return cannotWrite(path, strerror(errno));
  return result;
}

Result<WholeFile> WholeFile::create(const std::string &path, Kind kind,
                                    mode_t mode) {
  int open = descriptorOf(path);
  struct stat info;
  bool isThere =
      open >= 0 ? fstat(open, &info) == 0 : stat(path.c_str(), &info) == 0;
  if (open >= 0 && !isThere)
    return cannotWrite(path, strerror(errno));
  if (isThere && S_ISCHR(info.st_mode))
    return openDevice(path, open, kind);
  if (open >= 0 || (isThere && S_ISFIFO(info.st_mode)))
    return openStream(path, open);
  // Renaming over anything else would replace it.
  if (isThere && !S_ISREG(info.st_mode))
    return cannotWrite(path, "it is not a regular file");
  std::string target = followLinks(path), temporary = temporaryFor(target);
  // Links that lead nowhere else.
  if (lstat(target.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
    return cannotWrite(path, strerror(ELOOP));
  int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0)
    return cannotWrite(path, strerror(errno));
  // mkostemp's files are private; this one gets what the user's mask gives.
  mode_t mask = umask(0);
  umask(mask);
  fchmod(file, mode & ~mask);
  WholeFile result(path, file);
  result.target = std::move(target);
  result.temporary = std::move(temporary);
  return result;
}

WholeFile::WholeFile(WholeFile &&other) noexcept
    : path(std::move(other.path)), target(std::move(other.target)),
      temporary(std::exchange(other.temporary, "")),
      file(std::exchange(other.file, -1)), isStream(other.isStream),
      open(std::exchange(other.open, -1)) {}

WholeFile::~WholeFile() {
  for (int descriptor : {file, open})
    if (descriptor >= 0)
      close(descriptor);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

Status WholeFile::failure(int error) const {
  return cannotWrite(path, strerror(error));
}

/// Writes all of a text.
static bool writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(file, text.data(), text.size());
    if (written > 0)
      text.remove_prefix(size_t(written));
    else if (written == 0 || errno != EINTR)
      return false;
  }
  return true;
}

Status WholeFile::copyTo(int stream) const {
  char bytes[1 << 16];
  for (off_t at = 0;;) {
    ssize_t size = pread(file, bytes, sizeof bytes, at);
    if (size == 0)
      return Status::success();
    if (size < 0 || !writeAll(stream, {bytes, size_t(size)}))
      return failure(errno);
    at += size;
  }
}

Status WholeFile::keep() {
  if (isStream) {
    if (open < 0)
      open = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return open < 0 ? failure(errno) : copyTo(open);
  }
  // What is buffered can fail as late as here.
  if (close(std::exchange(file, -1)) != 0)
    return failure(errno);
  if (temporary.empty())
    return Status::success();
  if (rename(temporary.c_str(), target.c_str()) != 0)
    return failure(errno);
  temporary.clear();
  return Status::success();
}

Status heddle::checkWritable(const std::string &path, WholeFile::Kind kind) {
  SignalCleanup cleanup;
  return WholeFile::create(path, kind).status();
}

Status heddle::writeWholeFile(const std::string &path, std::string_view text) {
  SignalCleanup cleanup;
  Result<WholeFile> file = WholeFile::create(path);
  if (!file.ok())
    return file.status();
  cleanup.watch(file->temporaryPath());
  return writeAll(file->descriptor(), text) ? file->keep()
                                            : file->failure(errno);
}
