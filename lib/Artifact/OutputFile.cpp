//===- OutputFile.cpp - A file that is there whole or not at all ----------===//
//
// The temporary file has the name of its target and an ending, or, where names
// may not be as long, the beginning of it. What a pipe receives waits in a file
// of no name, in the folder of temporary files: it may be larger than memory.
//
//===----------------------------------------------------------------------===//

#include "lib/Artifact/OutputFile.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kEnding = ".XXXXXX";
static constexpr int kMostLinks = 40;

Error cannotWrite(StringRef path, const Twine &reason) {
  return makeError("cannot write " +
                   (path == "-" ? "standard output" : "'" + path + "'") + ": " +
                   reason);
}

static Error cannotWrite(StringRef path, int error) {
  return cannotWrite(path, std::generic_category().message(error));
}

std::string followLinks(StringRef path) {
  std::string place = path.str();
  for (int i = 0; i < kMostLinks; ++i) {
    char link[PATH_MAX];
    ssize_t size = readlink(place.c_str(), link, sizeof(link));
    if (size <= 0 || size == sizeof(link))
      break;
    std::string next(link, size);
    place =
        next[0] == '/' ? next : place.substr(0, place.rfind('/') + 1) + next;
  }
  return place;
}

/// The descriptor that a path stands for: -, /dev/stdout or /dev/fd/3; -1 for
/// none.
static int descriptorOf(StringRef path) {
  if (path == "-" || path == "/dev/stdout")
    return STDOUT_FILENO;
  if (path == "/dev/stderr")
    return STDERR_FILENO;
  int number;
  if ((path.consume_front("/dev/fd/") ||
       path.consume_front("/proc/self/fd/")) &&
      !path.getAsInteger(10, number))
    return number;
  return -1;
}

/// Creates a file of its own for a pattern with an ending, whose name is in
/// `name` afterwards; -1 where that fails. As long as a signal comes at a bad
/// moment only, it leaves nothing.
static int createTemporary(std::string &name) {
  int file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0)
    sys::RemoveFileOnSignal(name);
  return file;
}

/// The pattern of a temporary file beside a path.
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
  return path.substr(0, name + kept) + kEnding.str();
}

/// A file without a name.
static int createNameless() {
  SmallString<128> folder;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  std::string name = temporaryFor((folder + "/heddle").str());
  int file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0)
    unlink(name.c_str());
  return file;
}

Expected<OutputFile> OutputFile::create(StringRef path, Kind kind,
                                        unsigned mode) {
  int open = descriptorOf(path);
  struct stat info;
  bool isThere = open >= 0 ? fstat(open, &info) == 0
                           : stat(path.str().c_str(), &info) == 0;
  if (open >= 0 && !isThere)
    return cannotWrite(path, errno);
  if (isThere && S_ISCHR(info.st_mode)) {
    int file = open >= 0 ? fcntl(open, F_DUPFD_CLOEXEC, 0)
                         : ::open(path.str().c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
      return cannotWrite(path, errno);
    OutputFile result(path.str(), file);
    if (kind == Kind::Binary && isatty(file))
      return cannotWrite(path, "it is a terminal, expected a file or a pipe");
    return result;
  }
  if (open >= 0 || (isThere && S_ISFIFO(info.st_mode))) {
    int file = createNameless();
    if (file < 0)
      return cannotWrite(path, "no temporary file: " +
                                   std::generic_category().message(errno));
    OutputFile result(path.str(), file);
    result.isStream = true;
    if (open >= 0 && (result.open = fcntl(open, F_DUPFD_CLOEXEC, 0)) < 0)
      return cannotWrite(path, errno);
    return result;
  }
  // Renaming over anything else would replace it.
  if (isThere && !S_ISREG(info.st_mode))
    return cannotWrite(path, "it is not a regular file");
  std::string target = followLinks(path), temporary = temporaryFor(target);
  // Links that lead nowhere else.
  if (lstat(target.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
    return cannotWrite(path, ELOOP);
  int file = createTemporary(temporary);
  if (file < 0)
    return cannotWrite(path, errno);
  // mkostemp's files are private.
  mode_t mask = umask(0);
  umask(mask);
  fchmod(file, mode & ~mask);
  OutputFile result(path.str(), file);
  result.target = std::move(target);
  result.temporary = std::move(temporary);
  return result;
}

OutputFile::OutputFile(OutputFile &&other)
    : path(std::move(other.path)), target(std::move(other.target)),
      temporary(std::exchange(other.temporary, "")),
      file(std::exchange(other.file, -1)), isStream(other.isStream),
      open(std::exchange(other.open, -1)) {}

OutputFile::~OutputFile() {
  for (int descriptor : {file, open})
    if (descriptor >= 0)
      close(descriptor);
  if (temporary.empty())
    return;
  unlink(temporary.c_str());
  sys::DontRemoveFileOnSignal(temporary);
}

Error OutputFile::copyTo(int stream) const {
  char bytes[1 << 16];
  for (off_t at = 0;;) {
    ssize_t size = pread(file, bytes, sizeof(bytes), at);
    if (size < 0)
      return cannotWrite(path, errno);
    if (size == 0)
      return Error::success();
    for (ssize_t done = 0; done < size;) {
      ssize_t written = write(stream, bytes + done, size - done);
      if (written <= 0 && errno != EINTR)
        return cannotWrite(path, errno);
      done += std::max<ssize_t>(written, 0);
    }
    at += size;
  }
}

Error OutputFile::keep() {
  if (isStream) {
    if (open < 0)
      open = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return open < 0 ? cannotWrite(path, errno) : copyTo(open);
  }
  // What is buffered can fail as late as here.
  if (close(std::exchange(file, -1)) != 0)
    return cannotWrite(path, errno);
  if (temporary.empty())
    return Error::success();
  if (rename(temporary.c_str(), target.c_str()) != 0)
    return cannotWrite(path, errno);
  sys::DontRemoveFileOnSignal(std::exchange(temporary, ""));
  return Error::success();
}

} // namespace heddle
