//===- ArtifactSeeds.cpp - Small artifacts that fuzzers begin with --------===//
//
//   artifact-seeds FOLDER CODE...
//     Writes artifacts, the manifests that they may have and the shared objects
//     CODE into the folders of their fuzzers in FOLDER. Tokenizers are those
//     that model-seeds wrote there.
//
//===----------------------------------------------------------------------===//

#include "../runtime/ToyModel.h"
#include "../runtime/ToyTokenizer.h"

#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace heddle::test;
using nlohmann::json;
namespace fs = std::filesystem;

static fs::path root;

static void write(const std::string &fuzzer, const std::string &name,
                  const std::string &bytes) {
  fs::create_directories(root / fuzzer);
  std::ofstream(root / fuzzer / name, std::ios::binary) << bytes;
}

/// Sections by their names.
using Sections = std::vector<std::pair<std::string, std::string>>;

/// A manifest, and an artifact around it.
static std::string writeBoth(const std::string &name, const json &manifest,
                             const Sections &sections = {}) {
  write("manifest", name, manifest.dump());
  ArtifactBuilder artifact;
  artifact.add("manifest", manifest.dump())
      .add("code.x86-64-v3", "")
      .addWeights(std::string(100, 'w'));
  for (const auto &[section, bytes] : sections)
    artifact.add(section, bytes);
  write("artifact", name, artifact.build());
  return artifact.build();
}

/// The least that is an executable with a model.
static std::string executableOf(const std::string &artifact) {
  constexpr uint64_t modelAt = heddle::format::kCodeAlignment;
  const char names[] = "\0.heddle\0.shstrtab";
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = modelAt;
  sections[1].sh_size = artifact.size();
  sections[2].sh_name = 9;
  sections[2].sh_offset = sizeof(Elf64_Ehdr);
  sections[2].sh_size = sizeof(names);
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  header.e_shoff = modelAt + artifact.size();
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  bytes.append(names, sizeof(names)).resize(modelAt);
  bytes += artifact;
  return bytes.append(reinterpret_cast<const char *>(sections),
                      sizeof(sections));
}

int main(int count, char **arguments) {
  if (count < 3) {
    std::cerr << "usage: artifact-seeds FOLDER CODE...\n";
    return 2;
  }
  root = arguments[1];
  for (int i = 2; i < count; ++i)
    write("code", fs::path(arguments[i]).filename(), readFile(arguments[i]));

  json toy = toyManifest();
  write("artifact", "executable",
        executableOf(writeBoth("greedy", withGreedyStep(toy))));
  writeBoth("best", withBestStep(toy));
  writeBoth("chunk", withBestStepAndChunk(toy));
  writeBoth("global", withGlobalTokens(toy));
  writeBoth("labels", withLabels(withEmbedding(toy)));
  // Three lists of two, one and no ids.
  std::string lists;
  for (uint64_t word : {1, 3, 3, 0, 2, 3, 3})
    lists.append(reinterpret_cast<const char *>(&word), sizeof(word));
  for (uint32_t id : {1, 2, 0})
    lists.append(reinterpret_cast<const char *>(&id), sizeof(id));
  writeBoth("shortlist", toy, {{"shortlist", lists}});

  json settings = toy;
  settings["tasks"]["generate"].update(json::parse(R"({
    "suppress": [3], "begin_suppress": [4], "bad_words": [[1, 2], [3]],
    "forced_bos": 3, "forced_eos": 2, "min_length": 5, "min_new_tokens": 4,
    "beams": 4, "length_penalty": 1.5, "word_penalty": 0.5,
    "early_stopping": "never",
    "no_repeat_ngram": 3, "repetition_penalty": 1.1, "renormalize": 1,
    "temperature": 0.5, "top_k": 50, "top_p": 0.9, "min_p": 0.1, "length_factor": 2.5,
    "max_source_length": 1000, "max_target": 512})"));
  settings["source"]["positions"] = 512;
  settings["kernel_types"] = {"i8", "f32", "bf16"};
  writeBoth("settings", settings);

  json characters = toy;
  characters["tokenizer"] = {
      {"kind", "characters"}, {"unknown", 3}, {"bos", 1}, {"eos", 2}};
  writeBoth("characters", characters,
            {{"tokenizer", buildToyTokenizer("____abcde", "____abcdefg", 3, 4,
                                             {{1}, {2}})}});
  toy["source"]["vocabulary"] = toy["tasks"]["generate"]["vocabulary"] = 1000;
  toy["tokenizer"] = {{"kind", "sentencepiece"},
                      {"bos", 4},
                      {"eos", 2},
                      {"language", 5},
                      {"unknown", 0},
                      {"special", {1, 2}},
                      {"clean_up", 1}};
  for (const fs::directory_entry &stages :
       fs::directory_iterator(root / "stages"))
    writeBoth("stages-" + stages.path().filename().string(), toy,
              {{"tokenizer", readFile(stages.path())}});
  return 0;
}
