//===- CodeLoaderTests.cpp - Shared objects, whole and damaged ------------===//
//
// Code that has all that is relocated, mapped from a file and copied from
// memory; then the same object with false numbers, each of which is a sentence.
// Objects stand in memory of their own size, where a sanitizer watches.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ArtifactBuilder.h"

#include "runtime/artifact/MappedFile.h"
#include "runtime/code/CodeImports.h"
#include "runtime/code/CodeLoader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {

/// An object that tests change before they load it.
class Object {
public:
  explicit Object(const std::string &path) : bytes(readFile(path)) {}

  template <typename T> T &at(uint64_t offset) {
    return *reinterpret_cast<T *>(bytes.data() + offset);
  }
  Elf64_Ehdr &header() { return at<Elf64_Ehdr>(0); }
  /// The first program header that `isWanted`.
  Elf64_Phdr &segment(const std::function<bool(const Elf64_Phdr &)> &isWanted) {
    for (unsigned i = 0; i < header().e_phnum; ++i) {
      auto &segment = at<Elf64_Phdr>(header().e_phoff + i * sizeof(Elf64_Phdr));
      if (isWanted(segment))
        return segment;
    }
    ADD_FAILURE() << "no such segment";
    return at<Elf64_Phdr>(header().e_phoff);
  }
  Elf64_Phdr &segment(uint32_t type) {
    return segment([=](const Elf64_Phdr &each) { return each.p_type == type; });
  }
  Elf64_Phdr &loaded(uint32_t flags) {
    return segment([=](const Elf64_Phdr &each) {
      return each.p_type == PT_LOAD && each.p_flags == flags;
    });
  }
  Elf64_Dyn &dynamic(int64_t tag) {
    uint64_t offset = segment(PT_DYNAMIC).p_offset;
    while (at<Elf64_Dyn>(offset).d_tag != tag)
      offset += sizeof(Elf64_Dyn);
    return at<Elf64_Dyn>(offset);
  }
  /// The first relocation of a type. Tables are in the first segment, whose
  /// addresses are offsets.
  Elf64_Rela &relocation(uint32_t type) {
    auto *entry = &at<Elf64_Rela>(dynamic(DT_RELA).d_un.d_ptr);
    while (ELF64_R_TYPE(entry->r_info) != type)
      ++entry;
    return *entry;
  }

  Result<LoadedCode> load() const {
    // Exactly as many bytes, on the heap.
    std::unique_ptr<char[]> copy(new char[bytes.size()]);
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    CodeSource source;
    source.bytes = {copy.get(), bytes.size()};
    return LoadedCode::load(source);
  }
  std::string message() const {
    Result<LoadedCode> code = load();
    return code.ok() ? "loaded" : code.message();
  }

  std::string bytes;
};

Object relocated() { return Object(HEDDLE_RELOCATED_CODE); }

template <typename Function>
Function *find(const LoadedCode &code, const char *name) {
  return reinterpret_cast<Function *>(code.find(name));
}

/// What the code must do, once.
void expectWorks(const LoadedCode &code) {
  auto *call = find<int(int, int)>(code, "call");
  auto *nameOf = find<const char *(int)>(code, "nameOf");
  auto *error = find<float(float)>(code, "error");
  auto *count = find<int()>(code, "count");
  auto *sumOfZeros = find<int()>(code, "sumOfZeros");
  ASSERT_TRUE(call && nameOf && error && count && sumOfZeros);
  EXPECT_EQ(call(0, 20), 21);
  EXPECT_EQ(call(1, 20), 40);
  EXPECT_STREQ(nameOf(0), "plus one");
  EXPECT_STREQ(nameOf(1), "times two");
  EXPECT_EQ(error(0.5f), erff(0.5f));
  EXPECT_EQ(count(), 6);
  EXPECT_EQ(count(), 7);
  EXPECT_EQ(sumOfZeros(), 0);
  EXPECT_EQ(sumOfZeros(), 3 * 4096);
}

/// What the kernel says of this process's memory, or nothing without /proc.
std::vector<std::string> memoryMap() {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::string> lines;
  for (std::string line; std::getline(maps, line);)
    lines.push_back(line);
  return lines;
}

bool isMapped(const char *page) {
  unsigned char residence;
  return mincore(const_cast<char *>(page), kPageBytes, &residence) == 0;
}

} // namespace

TEST(CodeLoader, loads_from_memory) {
  for (const char *path : {HEDDLE_RELOCATED_CODE, HEDDLE_PACKED_CODE}) {
    Result<LoadedCode> code = Object(path).load();
    ASSERT_TRUE(code.ok()) << path << ": " << code.message();
    expectWorks(*code);
  }
}

TEST(CodeLoader, maps_text_from_the_file) {
  // Behind something else, as in an artifact.
  Object object = relocated();
  TemporaryFile path(std::string(2 * kPageBytes, 'x') + object.bytes);
  Result<MappedFile> file = MappedFile::open(path.path());
  ASSERT_TRUE(file.ok()) << file.message();
  CodeSource source;
  source.bytes = file->bytes().substr(2 * kPageBytes);
  source.file = file->descriptor();
  source.offset = 2 * kPageBytes;
  Result<LoadedCode> first = LoadedCode::load(source);
  ASSERT_TRUE(first.ok()) << first.message();
  expectWorks(*first);
  // Another one has data of its own.
  Result<LoadedCode> second = LoadedCode::load(source);
  ASSERT_TRUE(second.ok()) << second.message();
  expectWorks(*second);
  EXPECT_NE(first->base(), second->base());
  // The file is as it was.
  EXPECT_EQ(readFile(path.path()).substr(2 * kPageBytes), object.bytes);

  size_t texts = 0;
  for (const std::string &line : memoryMap()) {
    EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
    EXPECT_EQ(line.find(" -wx"), std::string::npos) << line;
    texts += line.find(" r-xp ") != std::string::npos &&
             line.find(path.path()) != std::string::npos;
  }
  if (!memoryMap().empty()) {
    EXPECT_EQ(texts, 2u);
  }
}

TEST(CodeLoader, gives_memory_back) {
  std::optional<Result<LoadedCode>> code = relocated().load();
  ASSERT_TRUE(code->ok());
  const char *base = (*code)->base();
  EXPECT_TRUE(isMapped(base));
  LoadedCode moved = std::move(**code);
  EXPECT_EQ(moved.base(), base);
  code.reset();
  EXPECT_TRUE(isMapped(base));
  expectWorks(moved);
  moved = std::move(*relocated().load());
  EXPECT_NE(moved.base(), base);
  expectWorks(moved);
}

TEST(CodeLoader, finds_functions_alone) {
  Result<LoadedCode> code = relocated().load();
  ASSERT_TRUE(code.ok());
  for (const char *name : {"", "cal", "callx", "memset", "erff", "counter"})
    EXPECT_EQ(code->find(name), nullptr) << name;
}

TEST(CodeLoader, imports_are_a_fixed_table) {
  EXPECT_EQ(findCodeImport("expf"),
            reinterpret_cast<void *>(static_cast<float (*)(float)>(expf)));
  auto *power =
      reinterpret_cast<double (*)(double, double)>(findCodeImport("pow"));
  EXPECT_EQ(power(2, 10), 1024);
  auto *toInteger =
      reinterpret_cast<float (*)(float, int)>(findCodeImport("__powisf2"));
  EXPECT_EQ(toInteger(3, 4), 81);
  for (const char *name : {"", "system", "malloc", "exp ", "expl"})
    EXPECT_EQ(findCodeImport(name), nullptr) << name;
}

TEST(CodeLoader, imports_that_nobody_has) {
  Object object = relocated();
  size_t place = object.bytes.find(std::string("\0erff\0", 6));
  ASSERT_NE(place, std::string::npos);
  object.bytes.replace(place + 1, 4, "abort", 4);
  EXPECT_EQ(object.message(),
            "calls 'abor', which this runtime does not offer");
}

TEST(CodeLoader, things_that_are_refused_by_name) {
  auto messageWith = [](const std::function<void(Object &)> &change) {
    Object object = relocated();
    change(object);
    return object.message();
  };
  EXPECT_EQ(messageWith([](Object &) {}), "loaded");
  auto withDynamic = [&](int64_t tag) {
    return messageWith(
        [=](Object &object) { object.dynamic(DT_FLAGS_1).d_tag = tag; });
  };
  EXPECT_EQ(withDynamic(DT_NEEDED),
            "needs a library (DT_NEEDED), which is not supported");
  for (int64_t tag : {DT_INIT, DT_INIT_ARRAY, DT_PREINIT_ARRAY})
    EXPECT_EQ(withDynamic(tag), "has constructors, which are not supported");
  for (int64_t tag : {DT_FINI, DT_FINI_ARRAY})
    EXPECT_EQ(withDynamic(tag), "has destructors, which are not supported");
  EXPECT_EQ(withDynamic(DT_TEXTREL),
            "has text that is relocated, which is not supported");
  EXPECT_EQ(withDynamic(DT_REL), "has relocations without addends (DT_REL), "
                                 "which are not supported");
  std::string threadLocal = "has thread-local storage, which is not supported";
  EXPECT_EQ(messageWith([](Object &object) {
              object.segment(PT_GNU_STACK).p_type = PT_TLS;
            }),
            threadLocal);
  EXPECT_EQ(messageWith([](Object &object) {
              object.dynamic(DT_FLAGS).d_un.d_val |= DF_STATIC_TLS;
            }),
            threadLocal);
  EXPECT_EQ(messageWith([](Object &object) {
              object.segment(PT_GNU_STACK).p_flags |= PF_X;
            }),
            "asks for an executable stack");
  EXPECT_EQ(messageWith([](Object &object) {
              object.segment(PT_GNU_STACK).p_type = PT_INTERP;
            }),
            "is a program, expected a shared object");
  EXPECT_EQ(messageWith([](Object &object) {
              object.loaded(PF_R | PF_X).p_flags |= PF_W;
            }),
            "has a segment that is writable and executable");
  EXPECT_EQ(messageWith([](Object &object) {
              object.dynamic(DT_HASH).d_tag = DT_DEBUG;
            }),
            "has no table of symbols by their names (DT_HASH)");
  auto withRelocation = [&](uint32_t type) {
    return messageWith([=](Object &object) {
      auto &entry = object.relocation(R_X86_64_RELATIVE);
      entry.r_info = ELF64_R_INFO(ELF64_R_SYM(entry.r_info), type);
    });
  };
  EXPECT_EQ(withRelocation(R_X86_64_IRELATIVE),
            "chooses a function while it is loaded, which is not supported");
  EXPECT_EQ(withRelocation(R_X86_64_TPOFF64), threadLocal);
  EXPECT_EQ(withRelocation(R_X86_64_COPY),
            "has a relocation of type 5, which is not supported");
}

TEST(CodeLoader, numbers_that_do_not_fit) {
  auto messageWith = [](const std::function<void(Object &)> &change) {
    Object object = relocated();
    change(object);
    return object.message();
  };
  std::string size = std::to_string(relocated().bytes.size());
  EXPECT_EQ(messageWith([](Object &object) {
              object.header().e_phoff = ~uint64_t(0);
            }).find("has " + size + " bytes but "),
            0u);
  EXPECT_EQ(messageWith([](Object &object) {
              object.loaded(PF_R).p_offset = uint64_t(1) << 63;
            }).find("has " + size + " bytes but a segment of "),
            0u);
  EXPECT_EQ(messageWith([](Object &object) {
              object.loaded(PF_R | PF_W).p_memsz = uint64_t(1) << 32;
            }).find("has a segment of 4294967296 bytes at address "),
            0u);
  EXPECT_EQ(messageWith([](Object &object) {
              object.loaded(PF_R | PF_W).p_vaddr = 0;
            }).find("has a segment at address 0"),
            0u);
  EXPECT_EQ(messageWith([](Object &object) {
              object.relocation(R_X86_64_RELATIVE).r_offset = 0;
            }),
            "has a relocation at address 0, which is in no writable segment");
  EXPECT_EQ(messageWith([](Object &object) {
              object.relocation(R_X86_64_RELATIVE).r_addend = -1;
            }).find("has a relocation to address 18446744073709551615 but "),
            0u);
  EXPECT_EQ(messageWith([](Object &object) {
              object.relocation(R_X86_64_64).r_info =
                  ELF64_R_INFO(1000, R_X86_64_64);
            }).find("has "),
            0u);
  for (int64_t tag : {DT_HASH, DT_SYMTAB, DT_STRTAB, DT_RELA})
    EXPECT_NE(messageWith([=](Object &object) {
                object.dynamic(tag).d_un.d_ptr = ~uint64_t(0) - 16;
              }).find("which are in no segment"),
              std::string::npos)
        << tag;
  EXPECT_EQ(messageWith([](Object &object) {
              object.dynamic(DT_RELASZ).d_un.d_val -= 1;
            }).find("has "),
            0u);
}

TEST(CodeLoader, every_truncation) {
  Object object = relocated();
  for (size_t size = 0; size < object.bytes.size();
       size += size < 700 ? 1 : 97) {
    Object cut = object;
    cut.bytes.resize(size);
    // Sections, which stand at the end, are not needed.
    if (Result<LoadedCode> code = cut.load(); code.ok())
      EXPECT_NE(code->find("call"), nullptr);
  }
}

TEST(CodeLoader, mutations) {
  // A sentence, or code of which functions can be found; none is run.
  std::mt19937 random(3);
  for (const char *path : {HEDDLE_RELOCATED_CODE, HEDDLE_PACKED_CODE}) {
    Object object(path);
    uint64_t tables = object.loaded(PF_R).p_filesz;
    uint64_t dynamic = object.segment(PT_DYNAMIC).p_offset;
    int loaded = 0, refused = 0;
    for (int i = 0; i < 20000; ++i) {
      Object damaged = object;
      for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
        // Headers, dynamic section, symbols and relocations.
        uint64_t place = random() % 3 == 0
                             ? dynamic + random() % 320
                             : random() % (random() % 2 ? 600 : tables);
        damaged.bytes[place % damaged.bytes.size()] =
            random() % 2 ? char(random())
                         : char(damaged.bytes[place] ^ (1 << random() % 8));
      }
      Result<LoadedCode> code = damaged.load();
      ++(code.ok() ? loaded : refused);
      if (code.ok()) {
        for (const char *name : {"call", "nameOf", "sumOfZeros", "nothing"})
          code->find(name);
      } else {
        EXPECT_FALSE(code.message().empty());
      }
    }
    EXPECT_GT(loaded, 1000);
    EXPECT_GT(refused, 1000);
  }
}
