//===- ArtifactTests.cpp - Damaged and foreign files ----------------------===//
//
// Whatever happens to a file, loading it is a sentence and never a crash.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/session/Model.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <memory>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {

class ArtifactTest : public ToyModelTest {
protected:
  /// The sentence about a file of these bytes, without the file's name.
  static std::string messageOf(const std::string &bytes) {
    TemporaryFile file(bytes);
    return messageOfPath(file.path());
  }
  static std::string messageOfPath(const std::string &path) {
    Result<Model> model = Model::load(path);
    if (model.ok())
      return "loaded";
    std::string message = model.message();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_NE(message.back(), '.') << message;
    size_t name = message.find(path);
    return name == std::string::npos ? message
                                     : message.replace(name, path.size(), "F");
  }
  static std::string valid() { return toyArtifact(toyManifest()).build(); }
};

} // namespace

TEST_F(ArtifactTest, a_valid_file_loads) {
  EXPECT_EQ(messageOf(valid()), "loaded");
  TemporaryFile file(valid());
  LoadOptions options;
  options.verify = true;
  EXPECT_TRUE(Model::load(file.path(), options).ok());
}

TEST_F(ArtifactTest, files_that_are_no_artifacts) {
  EXPECT_EQ(messageOf(""), "'F' is empty, expected an artifact");
  EXPECT_EQ(messageOf("hello"),
            "'F' is not an artifact of heddle-compile (its first bytes are not "
            "the format's magic)");
  EXPECT_EQ(messageOf("HEDDLE\r\n"),
            "'F' ends at byte 8 but the header has 64 bytes");
  EXPECT_EQ(messageOfPath("/nonexistent/x"),
            "cannot open 'F': No such file or directory");
  EXPECT_EQ(messageOfPath("/"), "'F' is a directory, expected an artifact");
  EXPECT_EQ(messageOfPath("/dev/null"),
            "'F' is not a regular file, expected an artifact");
  std::string fifo = testing::TempDir() + "heddle-fifo";
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(messageOfPath(fifo),
            "'F' is not a regular file, expected an artifact");
  unlink(fifo.c_str());
}

TEST_F(ArtifactTest, every_truncation_is_refused) {
  std::string bytes = valid();
  TemporaryFile file(bytes);
  std::mt19937 random(1);
  for (size_t size = bytes.size() - 1; size > 0;
       size -= size < 600 ? 1 : 1 + random() % 500) {
    std::filesystem::resize_file(file.path(), size);
    std::string message = messageOfPath(file.path());
    EXPECT_EQ(message.find("'F' "), 0u) << size << ": " << message;
  }
  EXPECT_EQ(messageOf(bytes.substr(0, bytes.size() - 1)),
            "'F' has " + std::to_string(bytes.size() - 1) +
                " bytes but its header says " + std::to_string(bytes.size()) +
                ": it is truncated or altered");
  EXPECT_EQ(messageOf(bytes + "x").find("'F' has "), 0u);
}

TEST_F(ArtifactTest, every_altered_byte_is_found) {
  std::string original = valid();
  // Header and table byte by byte, then one byte at random places; then every
  // run of padding, at its ends and in its middle.
  std::vector<size_t> places;
  for (size_t i = 0; i < 64 + 5 * 64; ++i)
    places.push_back(i);
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i)
    places.push_back(random() % original.size());
  size_t end = 64 + 5 * 64;
  for (size_t i = 0; i < 5; ++i) {
    format::Section section = tableEntry(original, i);
    if (end < section.offset)
      for (size_t place :
           {end, (end + section.offset) / 2, size_t(section.offset) - 1})
        places.push_back(place);
    end = section.offset + section.size;
  }
  LoadOptions options;
  options.verify = true;
  TemporaryFile file(original);
  for (size_t place : places) {
    file.put(place, char(original[place] ^ (1 << (random() % 8))));
    bool loaded = Model::load(file.path(), options).ok();
    file.put(place, original[place]);
    EXPECT_FALSE(loaded) << "byte " << place;
  }
}

TEST_F(ArtifactTest, weights_are_checked_on_request) {
  std::string bytes = valid();
  uint64_t place = tableEntry(bytes, 2).offset + format::kWeightsChunk + 5;
  bytes[place] ^= 1;
  EXPECT_EQ(messageOf(bytes), "loaded");
  TemporaryFile file(bytes);
  LoadOptions options;
  options.verify = true;
  Result<Model> model = Model::load(file.path(), options);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.message(), "'" + file.path() +
                                 "' is altered: the checksum of the weights "
                                 "from byte 65536 of their section differs");
}

TEST_F(ArtifactTest, padding_is_checked_on_request) {
  auto messageWith = [](auto change) {
    std::string bytes = valid();
    change(bytes);
    TemporaryFile file(bytes);
    EXPECT_TRUE(Model::load(file.path()).ok());
    LoadOptions options;
    options.verify = true;
    Result<Model> model = Model::load(file.path(), options);
    return model.ok() ? "loaded"
                      : model.message().substr(2 + file.path().size());
  };
  EXPECT_EQ(messageWith([](std::string &bytes) { bytes[4095] = 1; }),
            " is altered: byte 4095, between its sections, is not zero");
  // Behind the last section.
  std::string size = std::to_string(valid().size());
  EXPECT_EQ(messageWith([](std::string &bytes) {
              bytes += 'x';
              reinterpret_cast<format::Header *>(bytes.data())->fileSize += 1;
            }),
            " is altered: byte " + size +
                ", between its sections, is not zero");
}

TEST_F(ArtifactTest, headers_from_the_future_or_the_forge) {
  auto header = [](std::string &bytes) -> format::Header & {
    return *reinterpret_cast<format::Header *>(bytes.data());
  };
  std::string bytes = valid();
  // Of another version nothing but the number is believed.
  bytes.resize(64);
  std::fill(bytes.begin() + 12, bytes.end(), 'x');
  header(bytes).version = format::kVersion + 1;
  EXPECT_EQ(messageOf(bytes),
            "'F' has format version 31 but this runtime reads version 30: it "
            "needs a newer runtime");
  header(bytes).version = format::kVersion - 1;
  EXPECT_EQ(messageOf(bytes),
            "'F' has format version 29 but this runtime reads version 30: its "
            "model must be compiled again");
  bytes = valid();
  header(bytes).sectionCount = 0xFFFFFFFF;
  EXPECT_EQ(messageOf(bytes),
            "'F' has " + std::to_string(bytes.size()) +
                " bytes but its section table has 4294967295 entries of 64 "
                "bytes");
  bytes = valid();
  header(bytes).reserved[2] = 1;
  EXPECT_EQ(messageOf(bytes), "'F' is altered: the reserved bytes of its "
                              "header are not zero");
}

TEST_F(ArtifactTest, sealed_tables_with_false_entries) {
  auto messageWith = [](auto change) {
    std::string bytes = valid();
    change(bytes);
    sealTable(bytes);
    return messageOf(bytes);
  };
  std::string size = std::to_string(valid().size());
  EXPECT_EQ(messageWith([](std::string &bytes) {
              tableEntry(bytes, 1).offset = uint64_t(1) << 62;
            }).find("'F' has " + size + " bytes but section 'code.x86-64-v3'"),
            0u);
  EXPECT_EQ(messageWith([](std::string &bytes) {
              tableEntry(bytes, 1).size = ~uint64_t(0);
            }).find("'F' has " + size + " bytes but section 'code.x86-64-v3'"),
            0u);
  // A page of x86-64 is not enough for code, but for the manifest it is.
  EXPECT_EQ(messageWith([](std::string &bytes) {
              tableEntry(bytes, 1).offset += 4096;
            }),
            "'F' has section 'code.x86-64-v3' at byte 69632, expected a "
            "multiple of 65536");
  EXPECT_EQ(
      messageWith([](std::string &bytes) { tableEntry(bytes, 0).offset += 8; }),
      "'F' has section 'manifest' at byte 4104, expected a multiple of "
      "4096");
  EXPECT_EQ(
      messageWith([](std::string &bytes) { tableEntry(bytes, 0).offset = 0; }),
      "'F' has section 'manifest' at byte 0 but the section table ends "
      "at byte 384");
  EXPECT_EQ(messageWith([](std::string &bytes) {
              tableEntry(bytes, 0).offset = tableEntry(bytes, 1).offset;
            })
                .find("'F' has section 'code.x86-64-v3' at byte 65536 but "
                      "section 'manifest' ends at byte "),
            0u);
  EXPECT_EQ(messageWith([](std::string &bytes) {
              tableEntry(bytes, 1) = tableEntry(bytes, 0);
            }),
            "'F' has two sections 'manifest'");
  EXPECT_EQ(messageWith([](std::string &bytes) {
              std::fill_n(tableEntry(bytes, 1).name, 32, 'x');
            }),
            "'F' has no valid name for section 1");
}

TEST_F(ArtifactTest, sections_that_are_missing_or_foreign) {
  std::string manifest = toyManifest().dump();
  std::string kernel = readFile(HEDDLE_TOY_KERNEL);
  EXPECT_EQ(messageOf(ArtifactBuilder().build()),
            "'F' has no section 'manifest'");
  EXPECT_EQ(messageOf(ArtifactBuilder().add("manifest", "{").build()),
            "'F': manifest: it is not valid JSON");
  EXPECT_EQ(messageOf(ArtifactBuilder().add("manifest", manifest).build()),
            "'F' has no section 'code.x86-64-v3', which its manifest lists");
  auto withCode = [&](const std::string &code) {
    return messageOf(ArtifactBuilder()
                         .add("manifest", manifest)
                         .add("code.x86-64-v3", code)
                         .build());
  };
  std::string section = "'F': section 'code.x86-64-v3' ";
  std::string notCode = section + "is not an x86-64 shared object";
  EXPECT_EQ(withCode(""), notCode);
  EXPECT_EQ(withCode("int main() {}"), notCode);
  std::string otherMachine = kernel;
  otherMachine[18] = 40; // e_machine: ARM
  EXPECT_EQ(withCode(otherMachine), notCode);
  EXPECT_EQ(
      withCode(kernel.substr(0, 200)).find(section + "has 200 bytes but "), 0u);
  // Without weights and shortlist it is a model all the same.
  EXPECT_EQ(withCode(kernel), "loaded");
}

TEST_F(ArtifactTest, code_for_another_machine_never_runs) {
  nlohmann::json manifest = toyManifest();
  manifest["isas"] = {"x86-64-v9", "armv9"};
  EXPECT_EQ(messageOf(ArtifactBuilder()
                          .add("manifest", manifest.dump())
                          .add("code.x86-64-v9", "not even code")
                          .add("code.armv9", "not even code")
                          .build()),
            "'F' has code for 'x86-64-v9', 'armv9' but this machine runs none "
            "of them");
  // The one it can run is chosen whatever the order.
  manifest["isas"] = {"x86-64-v9", "x86-64-v3"};
  EXPECT_EQ(messageOf(ArtifactBuilder()
                          .add("manifest", manifest.dump())
                          .add("code.x86-64-v9", "not even code")
                          .add("code.x86-64-v3", readFile(HEDDLE_TOY_KERNEL))
                          .build()),
            "loaded");
}

TEST_F(ArtifactTest, loading_runs_no_code) {
  std::string kernel = readFile(HEDDLE_TOY_KERNEL);
  Elf64_Ehdr header;
  std::memcpy(&header, kernel.data(), sizeof(header));
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, &kernel[header.e_phoff + i * sizeof(segment)],
                sizeof(segment));
    // A breakpoint in place of each byte.
    if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
      std::fill_n(&kernel[segment.p_offset], segment.p_filesz, '\xCC');
  }
  EXPECT_EQ(messageOf(ArtifactBuilder()
                          .add("manifest", toyManifest().dump())
                          .add("code.x86-64-v3", kernel)
                          .build()),
            "loaded");
}

TEST_F(ArtifactTest, symbols_that_the_code_lacks) {
  nlohmann::json manifest = toyManifest();
  manifest["entries"][1]["symbol"] = "nowhere";
  EXPECT_EQ(messageOf(toyArtifact(manifest).build()),
            "'F': the compiled code for 'x86-64-v3' has no function "
            "'nowhere'");
}

TEST_F(ArtifactTest, two_models_keep_their_own_code) {
  TemporaryFile file(valid());
  Result<Model> a = Model::load(file.path());
  Result<Model> b = Model::load(file.path());
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(a->entryPoint(Role::Encode)->run, b->entryPoint(Role::Encode)->run);
}

TEST_F(ArtifactTest, bytes_in_memory) {
  std::string bytes = valid();
  struct Free {
    void operator()(char *memory) const { free(memory); }
  };
  std::unique_ptr<char, Free> memory(static_cast<char *>(
      aligned_alloc(4096, (bytes.size() + 2 * 4096) & ~size_t(4095))));
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  auto messageOfBytes = [&](size_t size) {
    Result<Artifact> artifact =
        Artifact::fromMemory("the model", {memory.get(), size});
    if (!artifact.ok())
      return artifact.message();
    LoadOptions options;
    options.verify = true;
    Result<Model> model = Model::load(std::move(*artifact), options);
    return model.ok() ? "loaded" : model.message();
  };
  EXPECT_EQ(messageOfBytes(bytes.size()), "loaded");
  EXPECT_EQ(messageOfBytes(0), "'the model' is empty, expected an artifact");
  EXPECT_EQ(messageOfBytes(bytes.size() - 1),
            "'the model' has " + std::to_string(bytes.size() - 1) +
                " bytes but its header says " + std::to_string(bytes.size()) +
                ": it is truncated or altered");
  std::memmove(memory.get() + 8, memory.get(), bytes.size());
  EXPECT_EQ(
      Artifact::fromMemory("m", {memory.get() + 8, bytes.size()}).message(),
      "'m' begins at an address that is no multiple of 64");
}

TEST_F(ArtifactTest, false_shortlists) {
  auto messageWith = [](std::vector<uint64_t> words, size_t cut = 0) {
    std::string bytes(reinterpret_cast<const char *>(words.data()),
                      words.size() * sizeof(uint64_t) - cut);
    return messageOf(ArtifactBuilder()
                         .add("manifest", toyManifest().dump())
                         .add("code.x86-64-v3", readFile(HEDDLE_TOY_KERNEL))
                         .add("shortlist", bytes)
                         .build());
  };
  uint64_t ids = 3 | (uint64_t(4) << 32);
  EXPECT_EQ(messageWith({2, 1, 2, 0, 2, ids}), "loaded");
  EXPECT_EQ(messageWith({2, 1, 2, 0, 2, ids}, 4),
            "'F': section 'shortlist' has 44 bytes but its header says 1 "
            "lists of 2 ids");
  EXPECT_EQ(messageWith({2, 1}),
            "'F': section 'shortlist' has 16 bytes but its header has 24");
  EXPECT_EQ(messageWith({2, ~uint64_t(0), 2, 0, 2, ids}),
            "'F': section 'shortlist' has 48 bytes but its header says "
            "18446744073709551615 lists of 2 ids");
  EXPECT_EQ(messageWith({12, 1, 2, 0, 2, ids}),
            "'F': section 'shortlist' admits the first 12 ids, expected from 1 "
            "to the vocabulary's 11");
  EXPECT_EQ(messageWith({2, 1, 2, 2, 0, ids}),
            "'F': section 'shortlist' has a list of source id 0 that ends at 0 "
            "before it begins at 2");
  EXPECT_EQ(messageWith({2, 1, 2, 0, 3, ids}),
            "'F': section 'shortlist' has 2 ids but its last list ends at 3");
  EXPECT_EQ(messageWith({2, 1, 2, 0, 2, 11}),
            "'F': section 'shortlist' has the id 11 but the target vocabulary "
            "has 11");
}
