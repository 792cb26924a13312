//===- ModelSeeds.cpp - Small files of models that fuzzers begin with -----===//
//
//   model-seeds FOLDER
//     Writes files that the readers of lib/ take, and the tables that become of
//     them, into the folders of their fuzzers in FOLDER.
//
//===----------------------------------------------------------------------===//

#include "../unit/FileBuilders.h"
#include "../unit/tokenizers/SentencePieceSamples.h"
#include "lib/Import/Marian/Shortlist.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

#include <filesystem>
#include <fstream>

using namespace heddle;
using namespace heddle::test;

static std::string root;

static std::string write(const std::string &fuzzer, const std::string &name,
                         const std::string &bytes) {
  std::filesystem::create_directories(root + "/" + fuzzer);
  std::string path = root + "/" + fuzzer + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// A model and the stages that it becomes, with numbers of its own and with
/// those of a vocabulary of all pieces but every fifth.
static void writePieces(const std::string &name, const std::string &model) {
  auto read = llvm::cantFail(
      readSentencePieceModel(write("sentencepiece", name, model)));
  StageList plain, numbered;
  addSentencePieceCutter(read, StageList::kBothSides, plain);
  addSentencePieceJoiner(read, /*numbers=*/nullptr, plain);
  write("stages", name, plain.build());
  std::vector<std::string> pieces;
  for (size_t i = 0; i < read.pieces.size(); ++i)
    if (i % 5 != 3)
      pieces.push_back(read.pieces[i].text);
  PieceNumbers numbers{pieces, /*unknown=*/0};
  numbered.add(format::kVocabulary, StageList::kBothSides,
               buildVocabulary(pieces));
  numbered.addHeader(format::kFindLanguageCode, StageList::kBothSides,
                     format::CodesHeader{});
  addSentencePieceCutter(read, StageList::kBothSides, numbered);
  addPieceNumbers(read, numbers, StageList::kBothSides, numbered);
  addSentencePieceJoiner(read, &numbers, numbered);
  write("stages", name + "-numbered", numbered.build());
}

/// The stages of a folder.
static void writeFolder(const std::string &name, const std::string &folder,
                        const char *className) {
  auto read = llvm::cantFail(readFolderTokenizer(
      HEDDLE_GOLDENS "/" + folder, className, /*vocabulary=*/701));
  for (const auto &[section, bytes] : read.sections)
    write("stages", name, bytes);
}

/// The same of a tokenizer.json among the goldens of components.
static void writeComponents(const std::string &name) {
  TemporaryFolder folder;
  folder.write("tokenizer.json",
               readFile(HEDDLE_GOLDENS "/components/" + name + ".json"));
  auto read = llvm::cantFail(
      readFolderTokenizer(folder.path(), "PreTrainedTokenizer", 1));
  write("stages", name, read.sections.front().bytes);
}

static void writeTokenizers() {
  for (const char *name : {"bert", "words", "replaced", "split-contiguous",
                           "pairs-fallback", "pairs-prefix", "pairs-suffix",
                           "unigram", "unigram-fallback", "whole-words"})
    writeComponents(name);
  std::string rules =
      write("rules", "tsv", "61\t41 20 62\n2E\t\n20 7A\t7A\nE4\t61 65\n");
  // Without the rules of NFKC, which are larger than all else.
  std::string small = " --vocab_size=260 --normalization_rule_name=identity ";
  std::string symbols = " --user_defined_symbols=<sep>,the,\xE2\x96\x81of ";
  writePieces("unigram", trainSentencePiece(small + symbols));
  writePieces("merges",
              trainSentencePiece(small + symbols + "--model_type=bpe"));
  writePieces("unused",
              markUnused(trainSentencePiece(small + "--model_type=bpe")));
  std::string bytes = "--vocab_size=400 --byte_fallback=true ";
  writePieces("rules",
              trainSentencePiece(bytes + "--normalization_rule_tsv=" + rules +
                                 " --treat_whitespace_as_suffix=true"));
  writePieces("back", trainSentencePiece(bytes +
                                         "--normalization_rule_name=identity "
                                         "--remove_extra_whitespaces=false "
                                         "--denormalization_rule_tsv=" +
                                         rules));
  std::filesystem::remove_all(root + "/rules");
  writeFolder("pairs", "byte-level", "BartTokenizer");
}

static void writeShortlists() {
  std::vector<uint64_t> offsets = {0, 2, 2, 3};
  while (offsets.size() < 17)
    offsets.push_back(3);
  std::string lists =
      bytesOf<uint64_t>({0xF11A48D5013417F5, 0, 1, 50, offsets.size(), 3}) +
      bytesOf(offsets) + bytesOf<uint32_t>({1, 2, 0});
  write("shortlist", "marian", lists);
  write("shortlist", "section",
        llvm::cantFail(convertShortlist(lists, "lists", 16, 16)));
}

static void writeWeights() {
  std::string options = "type: transformer\ndim-emb: 4\nenc-depth: 1\n"
                        "tied-embeddings-all: true\nversion: 1.9.0\n";
  options += '\0';
  std::string integers = std::string(6, 'x') + bytesOf(2.0f);
  write(
      "marian", "small",
      buildMarianFile(
          {{"Wemb", kIntGemm8, {2, 3}, integers},
           {"halves", 0x402, {1, 2}, "abcd"},
           {"doubles", 0x408, {1}, "abcdefgh"},
           {"bias", kFloat32, {1, 2}, bytesOf<float>({1, 2})},
           {"special:model.yml", kInt8, {int32_t(options.size())}, options}}));
  auto header = [](const std::string &type, const std::string &shape) {
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
           shape + "), }\n";
  };
  write("npz", "small",
        buildNpzFile(
            {{"a", header("<f4", "2,"), bytesOf<float>({1, 2})},
             {"b", header("<f2", "2, 1"), "abcd"},
             {"special:model.yml",
              header("|i1", std::to_string(options.size()) + ","), options}}));
  write("safetensors", "small",
        buildSafetensorsFile(
            R"({"__metadata__":{"format":"pt"},)"
            R"("a":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]},)"
            R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]},)"
            R"("c":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
            std::string(12, 'x')));
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: model-seeds FOLDER\n");
    return 2;
  }
  root = arguments[1];
  writeTokenizers();
  writeShortlists();
  writeWeights();
  return 0;
}
