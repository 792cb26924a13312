//===- CodeLibrary.cpp - The compiled code of an artifact -----------------===//
//
// What the machine has and the user wishes, a file in memory, the dynamic
// loader.
//
//===----------------------------------------------------------------------===//

#include "runtime/CodeLibrary.h"

#include "runtime/IsaLevels.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

// Absent from the headers of Linux before 6.3: the memory file will be mapped
// as code, which a hardened system refuses to files that do not say so.
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

using namespace heddle;

/// "'a', 'b'".
static std::string quoted(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

/// The level to load: see CodeLibrary::load.
static Result<std::string> chooseIsa(const Artifact &artifact,
                                     const std::vector<std::string> &isas) {
  std::vector<std::string> runnable;
  for (const std::string &isa : isas)
    if (rankOfIsa(isa) > 0)
      runnable.push_back(isa);
  if (runnable.empty())
    return Status::error("'", artifact.path(), "' has code for ", quoted(isas),
                         " but this machine runs none of them");
  const char *forced = getenv("HEDDLE_ISA");
  if (!forced || !*forced)
    return *std::max_element(runnable.begin(), runnable.end(),
                             [](const std::string &a, const std::string &b) {
                               return rankOfIsa(a) < rankOfIsa(b);
                             });
  if (!std::count(isas.begin(), isas.end(), forced))
    return Status::error("HEDDLE_ISA is '", forced, "' but '", artifact.path(),
                         "' has code for ", quoted(isas));
  if (!std::count(runnable.begin(), runnable.end(), forced))
    return Status::error("HEDDLE_ISA is '", forced, "' but of the code in '",
                         artifact.path(), "' this machine runs ",
                         quoted(runnable));
  return std::string(forced);
}

/// A look at the ELF header, for a better sentence than the loader's.
static bool isSharedObjectForThisMachine(std::string_view code) {
  Elf64_Ehdr header;
  if (code.size() < sizeof(header))
    return false;
  std::memcpy(&header, code.data(), sizeof(header));
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_DYN &&
         header.e_machine == EM_X86_64;
}

namespace {
/// A file that the loader can open; the descriptor belongs to the caller.
struct CodeFile {
  int descriptor;
  std::string path;
  /// Whether `path` is a name in a folder, to be removed once it is loaded.
  bool isNamed;
};
} // namespace

/// A memory file, or a temporary one where /proc, through which the loader
/// opens memory files, is not mounted.
static Result<CodeFile> createCodeFile() {
  if (access("/proc/self/fd", X_OK) == 0) {
    int file = memfd_create("heddle-code", MFD_CLOEXEC | MFD_EXEC);
    if (file < 0 && errno == EINVAL) // A kernel that does not know MFD_EXEC.
      file = memfd_create("heddle-code", MFD_CLOEXEC);
    if (file < 0)
      return Status::error("cannot create a memory file for compiled code: ",
                           strerror(errno));
    return CodeFile{file, "/proc/self/fd/" + std::to_string(file), false};
  }
  const char *folder = getenv("TMPDIR");
  std::string path =
      std::string(folder && *folder ? folder : "/tmp") + "/heddle-code-XXXXXX";
  int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0)
    return Status::error("cannot create the temporary file '", path,
                         "' for compiled code: ", strerror(errno));
  return CodeFile{file, path, true};
}

static Status writeCode(int file, std::string_view code) {
  while (!code.empty()) {
    ssize_t written = write(file, code.data(), code.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return Status::error("cannot copy ", code.size(),
                           " bytes of compiled code: ", strerror(errno));
    code.remove_prefix(static_cast<size_t>(written));
  }
  return Status::success();
}

Result<CodeLibrary> CodeLibrary::load(const Artifact &artifact,
                                      const std::vector<std::string> &isas) {
  Result<std::string> isa = chooseIsa(artifact, isas);
  if (!isa.ok())
    return isa.status();
  std::string_view code = artifact.section("code." + *isa).value_or("");
  if (!isSharedObjectForThisMachine(code))
    return Status::error("'", artifact.path(), "' has a section 'code.", *isa,
                         "' that is not an x86-64 shared object");
  Result<CodeFile> file = createCodeFile();
  if (!file.ok())
    return file.status();
  Status loaded = writeCode(file->descriptor, code);

  // Compiled code calls expf and its like without naming the library they are
  // in: this puts it in sight of every library that is loaded later.
  dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
  void *handle =
      loaded.ok() ? dlopen(file->path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (loaded.ok() && !handle)
    loaded = Status::error("cannot load the compiled code of '",
                           artifact.path(), "': ", dlerror());
  if (file->isNamed)
    unlink(file->path.c_str());
  if (!loaded.ok()) {
    close(file->descriptor);
    return loaded;
  }
  return CodeLibrary(*isa, file->descriptor, handle);
}

Result<void *> CodeLibrary::find(const std::string &symbol) const {
  void *address = dlsym(handle, symbol.c_str());
  if (!address)
    return Status::error("the compiled code for '", level,
                         "' has no function '", symbol, "'");
  return address;
}

CodeLibrary::CodeLibrary(CodeLibrary &&other) noexcept
    : level(std::move(other.level)),
      memoryFile(std::exchange(other.memoryFile, -1)),
      handle(std::exchange(other.handle, nullptr)) {}

CodeLibrary &CodeLibrary::operator=(CodeLibrary &&other) noexcept {
  std::swap(level, other.level);
  std::swap(memoryFile, other.memoryFile);
  std::swap(handle, other.handle);
  return *this;
}

CodeLibrary::~CodeLibrary() {
  if (handle)
    dlclose(handle);
  if (memoryFile >= 0)
    close(memoryFile);
}
