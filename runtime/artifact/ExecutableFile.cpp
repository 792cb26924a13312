//===- ExecutableFile.cpp - The section with the artifact -----------------===//
//
// A file that is no ELF is an artifact itself. Otherwise the sections are
// searched by name. The file is untrusted: each range is compared with the size
// of the file before it is read, in a way that cannot overflow, and structures
// are copied out of it, since they may stand unaligned. A model whose place is
// no multiple of a page is refused: its parts could not be mapped as they are.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/ExecutableFile.h"

#include "runtime/artifact/ArtifactFormat.h"

#include <cstring>
#include <elf.h>

using namespace heddle;

/// Whether [offset, offset + size) lies in a file.
static bool isWithin(std::string_view file, uint64_t offset, uint64_t size) {
  return offset <= file.size() && size <= file.size() - offset;
}

static Elf64_Shdr sectionAt(std::string_view file, uint64_t offset) {
  Elf64_Shdr section;
  std::memcpy(&section, file.data() + offset, sizeof(section));
  return section;
}

/// The name of a section; empty if it has none in the file.
static std::string_view nameOf(std::string_view file, const Elf64_Shdr &names,
                               const Elf64_Shdr &section) {
  if (!isWithin(file, names.sh_offset, names.sh_size) ||
      section.sh_name >= names.sh_size)
    return "";
  std::string_view name = file.substr(names.sh_offset + section.sh_name,
                                      names.sh_size - section.sh_name);
  return name.substr(0, name.find('\0'));
}

static Status withoutModel() {
  return Status::error("is an executable without a model: it has no section '",
                       format::kExecutableSection,
                       "', which GNU strip keeps and llvm-strip removes");
}

Result<std::string_view> heddle::findArtifact(std::string_view file) {
  if (file.substr(0, SELFMAG) != ELFMAG)
    return file;
  Elf64_Ehdr header;
  if (file.size() < sizeof(header))
    return withoutModel();
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum)
    return withoutModel();
  if (!isWithin(file, header.e_shoff,
                uint64_t(header.e_shnum) * sizeof(Elf64_Shdr)))
    return Status::error(
        "has ", file.size(), " bytes but its section table ends ", "at byte ",
        header.e_shoff + uint64_t(header.e_shnum) * sizeof(Elf64_Shdr),
        ": it is truncated");
  auto section = [&](uint64_t index) {
    return sectionAt(file, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  Elf64_Shdr names = section(header.e_shstrndx);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr each = section(i);
    if (nameOf(file, names, each) != format::kExecutableSection)
      continue;
    if (each.sh_type != SHT_PROGBITS ||
        !isWithin(file, each.sh_offset, each.sh_size))
      return Status::error("has ", file.size(), " bytes but its model takes ",
                           each.sh_size, " from byte ", each.sh_offset);
    if (each.sh_offset % format::kCodeAlignment != 0)
      return Status::error("has its model at byte ", each.sh_offset,
                           ", expected a multiple of ", format::kCodeAlignment,
                           ": a tool has moved it (GNU strip does not)");
    return file.substr(each.sh_offset, each.sh_size);
  }
  return withoutModel();
}
