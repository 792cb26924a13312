//===- ExecutableWriter.cpp - A runner around an artifact -----------------===//
//
// The runner's section headers and their names move behind the artifact, with
// one of each more; the old ones stay where they are, read by nobody.
//
//===----------------------------------------------------------------------===//

#include "lib/Artifact/ExecutableWriter.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Alignment.h"
#include <cassert>
#include <cstring>
#include <string>
#include <vector>

using namespace llvm;

namespace heddle {

template <typename T> static StringRef bytesOf(const T &value) {
  return StringRef(reinterpret_cast<const char *>(&value), sizeof(value));
}

uint64_t writeRunner(StringRef runner, raw_pwrite_stream &stream) {
  size_t role = runner.find(format::kRunnerAlone);
  assert(role != StringRef::npos &&
         runner.find(format::kRunnerAlone, role + 1) == StringRef::npos &&
         "heddle-run says once that it is alone");
  StringRef carrier = format::kRunnerWithModel;
  stream << runner.take_front(role) << carrier
         << runner.drop_front(role + carrier.size());
  stream.write_zeros(
      offsetToAlignment(stream.tell(), Align(format::kCodeAlignment)));
  return stream.tell();
}

void writeRunnerSections(StringRef runner, uint64_t begin,
                         raw_pwrite_stream &stream) {
  uint64_t size = stream.tell() - begin;
  ELF::Elf64_Ehdr header;
  std::memcpy(&header, runner.data(), sizeof(header));
  std::vector<ELF::Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), runner.data() + header.e_shoff,
              sections.size() * sizeof(sections[0]));

  ELF::Elf64_Shdr &names = sections[header.e_shstrndx];
  ELF::Elf64_Shdr artifact = {};
  artifact.sh_name = names.sh_size;
  artifact.sh_type = ELF::SHT_PROGBITS;
  artifact.sh_offset = begin;
  artifact.sh_size = size;
  artifact.sh_addralign = format::kCodeAlignment;
  std::string text = runner.substr(names.sh_offset, names.sh_size).str();
  text.append(format::kExecutableSection, sizeof(format::kExecutableSection));
  names.sh_offset = stream.tell();
  names.sh_size = text.size();
  sections.push_back(artifact);

  stream << text;
  stream.write_zeros(
      offsetToAlignment(stream.tell(), Align(alignof(ELF::Elf64_Shdr))));
  header.e_shoff = stream.tell();
  header.e_shnum = sections.size();
  for (const ELF::Elf64_Shdr &section : sections)
    stream << bytesOf(section);
  StringRef written = bytesOf(header);
  stream.pwrite(written.data(), written.size(), 0);
}

} // namespace heddle
