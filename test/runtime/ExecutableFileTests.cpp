//===- ExecutableFileTests.cpp - Where an executable has its model --------===//
//
// The section is found by its name wherever it stands; false numbers and all
// mutations are sentences or lie in the file. Files stand in memory of their
// own size, where a sanitizer watches.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/artifact/ExecutableFile.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <memory>
#include <random>
#include <vector>

using namespace heddle;

namespace {

constexpr uint64_t kModelAt = 64 * 1024, kModelSize = 1000;
const char kNames[] = "\0.text\0.heddle\0.shstrtab";

/// Headers of a program with a model of 'm's, and three sections before it.
struct Executable {
  Elf64_Ehdr header = {};
  std::vector<Elf64_Shdr> sections{4};

  Executable() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;
    header.e_shstrndx = 2;
    header.e_shoff = kModelAt + kModelSize;
    sections[1].sh_name = 1;
    sections[2].sh_name = 15;
    sections[2].sh_offset = 64;
    sections[2].sh_size = sizeof(kNames);
    model().sh_name = 7;
    model().sh_type = SHT_PROGBITS;
    model().sh_offset = kModelAt;
    model().sh_size = kModelSize;
  }

  Elf64_Shdr &model() { return sections[3]; }

  std::string bytes() const {
    std::string bytes(kModelAt, '\0');
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + 64, kNames, sizeof(kNames));
    bytes.append(kModelSize, 'm');
    return bytes.append(reinterpret_cast<const char *>(sections.data()),
                        sections.size() * sizeof(sections[0]));
  }
};

/// The model, or the sentence.
std::string find(const std::string &bytes) {
  std::unique_ptr<char[]> copy(new char[bytes.size()]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  Result<std::string_view> found = findArtifact({copy.get(), bytes.size()});
  return found.ok() ? std::string(*found) : found.message();
}

constexpr const char *kWithout =
    "is an executable without a model: it has no section '.heddle', which GNU "
    "strip keeps and llvm-strip removes";

} // namespace

TEST(ExecutableFile, finds_the_section) {
  EXPECT_EQ(find(Executable().bytes()), std::string(kModelSize, 'm'));
  // What is no executable is a model by itself.
  EXPECT_EQ(find("HEDDLE\r\n"), "HEDDLE\r\n");
  EXPECT_EQ(find(""), "");
}

TEST(ExecutableFile, executables_without_a_model) {
  Executable file;
  file.model().sh_name = 1;
  EXPECT_EQ(find(file.bytes()), kWithout);
  file = Executable();
  file.header.e_shnum = 3;
  EXPECT_EQ(find(file.bytes()), kWithout);
  file.header.e_shnum = file.header.e_shstrndx = 0;
  EXPECT_EQ(find(file.bytes()), kWithout);
  file = Executable();
  file.header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(find(file.bytes()), kWithout);
  EXPECT_EQ(find("\177ELF"), kWithout);
}

TEST(ExecutableFile, numbers_that_do_not_fit) {
  std::string whole = Executable().bytes();
  std::string size = std::to_string(whole.size());
  EXPECT_EQ(find(whole.substr(0, 5000)),
            "has 5000 bytes but its section table ends at byte " + size +
                ": it is truncated");
  Executable file;
  file.model().sh_offset = 8;
  EXPECT_EQ(find(file.bytes()),
            "has its model at byte 8, expected a multiple of 65536: a tool has "
            "moved it (GNU strip does not)");
  file.model().sh_offset = ~uint64_t(kModelAt - 1);
  EXPECT_EQ(
      find(file.bytes()),
      "has " + size +
          " bytes but its model takes 1000 from byte 18446744073709486080");
  file = Executable();
  file.model().sh_size = 4000;
  EXPECT_EQ(find(file.bytes()),
            "has " + size + " bytes but its model takes 4000 from byte 65536");
  file = Executable();
  file.model().sh_type = SHT_NOBITS;
  EXPECT_EQ(find(file.bytes()),
            "has " + size + " bytes but its model takes 1000 from byte 65536");
}

TEST(ExecutableFile, mutations) {
  std::mt19937 random(5);
  std::string whole = Executable().bytes();
  for (int i = 0; i < 50000; ++i) {
    std::string damaged = whole;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      size_t place =
          random() % 2 ? random() % 96 : kModelAt + kModelSize + random() % 256;
      damaged[place] = char(random());
    }
    if (random() % 8 == 0)
      damaged.resize(random() % damaged.size());
    find(damaged);
  }
}
