//===- ArtifactCache.cpp - Artifacts by a digest of their inputs ----------===//
//
// Each compiler has a folder of its own inside the cache's, so that its
// artifacts go together when another one comes. A digest covers the length of
// every part, so that no two lists of parts have the same bytes.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/ArtifactCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <elf.h>
#include <filesystem>
#include <fstream>
#include <link.h>
#include <sstream>

using namespace heddle;
using namespace heddle::test;
namespace fs = std::filesystem;

/// The build id among notes, in hexadecimal digits.
static std::string buildIdIn(std::string_view notes) {
  auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t(3); };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    memcpy(&note, notes.data(), sizeof note);
    uint64_t name = sizeof note, text = name + padded(note.n_namesz);
    if (text + note.n_descsz > notes.size())
      break;
    if (note.n_type == NT_GNU_BUILD_ID &&
        notes.substr(name, note.n_namesz) == std::string_view("GNU\0", 4))
      return llvm::toHex(notes.substr(text, note.n_descsz));
    notes.remove_prefix(
        std::min<uint64_t>(notes.size(), text + padded(note.n_descsz)));
  }
  return "";
}

std::string test::buildIdOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header = {};
  file.read(reinterpret_cast<char *>(&header), sizeof header);
  for (int i = 0; file && i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    file.seekg(header.e_phoff + i * sizeof segment);
    file.read(reinterpret_cast<char *>(&segment), sizeof segment);
    if (!file || segment.p_type != PT_NOTE)
      continue;
    std::string notes(segment.p_filesz, '\0');
    file.seekg(segment.p_offset);
    file.read(notes.data(), notes.size());
    if (std::string id = file ? buildIdIn(notes) : ""; !id.empty())
      return id;
  }
  return "";
}

/// Appends the name and the build id of a shared library that this process has
/// loaded.
static int addLibrary(dl_phdr_info *library, size_t, void *ids) {
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE || !*library->dlpi_name)
      continue;
    std::string id = buildIdIn(
        {reinterpret_cast<const char *>(library->dlpi_addr + segment.p_vaddr),
         segment.p_memsz});
    if (!id.empty())
      static_cast<std::string *>(ids)->append(library->dlpi_name) += id;
  }
  return 0;
}

static std::string digest(const std::vector<std::string_view> &parts) {
  llvm::SHA256 digest;
  for (std::string_view part : parts) {
    digest.update(std::to_string(part.size()) + ":");
    digest.update(llvm::StringRef(part));
  }
  return llvm::toHex(digest.final(), /*LowerCase=*/true);
}

ArtifactCache::ArtifactCache(std::string root, std::string_view compiler) {
  if (compiler.empty())
    return;
  std::string name = digest({compiler});
  std::error_code failure;
  for (const fs::directory_entry &other : fs::directory_iterator(root, failure))
    if (other.path().filename() != name)
      fs::remove_all(other.path(), failure);
  fs::create_directories(root + "/" + name, failure);
  if (!failure)
    folder = root + "/" + name;
}

const ArtifactCache &ArtifactCache::ofBuild() {
  static const ArtifactCache cache(HEDDLE_ARTIFACTS, [] {
    std::string ids = buildIdOf(HEDDLE_COMPILE);
    if (!ids.empty())
      dl_iterate_phdr(addLibrary, &ids);
    return ids;
  }());
  return cache;
}

Result<std::string> ArtifactCache::find(
    const std::vector<std::string_view> &parts, const std::string &unkept,
    const std::function<Status(const std::string &)> &make) const {
  std::string path =
      folder.empty() ? unkept : folder + "/" + digest(parts) + ".heddle";
  if (fs::exists(path))
    return path;
  if (Status status = make(path); !status.ok())
    return status;
  return path;
}
