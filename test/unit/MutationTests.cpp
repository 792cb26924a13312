//===- MutationTests.cpp - Damaged files end in a sentence ----------------===//
//
// Files are cut and their bytes changed, at every place of small files and at
// random places (of a fixed seed) of real ones. A reader may accept the result
// or refuse it with a sentence; what it must not do - crash, hang, allocate
// without bound, read past the end - shows as the death of this test.
//
//===----------------------------------------------------------------------===//

#include "FileBuilders.h"
#include "lib/Import/ImportModel.h"
#include "lib/Import/Marian/Shortlist.h"
#include "lib/Import/Marian/Yaml.h"
#include "lib/Import/PickledOptions.h"
#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Weights/CTranslate2File.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/TorchCheckpoint.h"
#include "mlir/IR/MLIRContext.h"
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace heddle;
using namespace heddle::test;

namespace {

using Reader = std::function<std::string(const std::string &)>;

void expectSentence(const std::string &sentence) {
  EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  EXPECT_TRUE(sentence.empty() || sentence.back() != '.') << sentence;
}

/// Cuts the file everywhere and sets each byte to telling values.
void mutateEverywhere(const std::string &bytes, const Reader &read) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    expectSentence(read(bytes.substr(0, i)));
    for (unsigned char value :
         {0x00, 0x01, 0x7f, 0x80, 0xff, '"' + 0, '[' + 0}) {
      std::string mutated = bytes;
      mutated[i] = char(value);
      expectSentence(read(mutated));
    }
  }
}

/// Changes a few bytes at random within the first `range`, `count` times.
void mutateAtRandom(const std::string &bytes, size_t range, int count,
                    const Reader &read) {
  std::mt19937 random(20);
  for (int i = 0; i < count; ++i) {
    std::string mutated = bytes;
    for (int change = 0; change < 1 + i % 4; ++change)
      mutated[random() % std::min(range, bytes.size())] = char(random());
    if (i % 8 == 0)
      mutated.resize(random() % mutated.size());
    expectSentence(read(mutated));
  }
}

/// Reads a table and decodes every tensor that it lists.
std::string readTensors(const TensorFile &file) {
  for (const TensorInfo &tensor : file.getTensors()) {
    if (!tensor.encoding)
      continue;
    auto stored =
        StoredTensor::create(tensor.name, tensor.shape, *tensor.encoding, false,
                             file, tensor.offset, tensor.multipliers);
    if (!stored)
      return llvm::toString(stored.takeError());
    std::vector<float> row(stored->getColumns());
    stored->decodeRows(stored->getRows() - 1, 1, row);
  }
  return "";
}
std::string readTensors(llvm::Expected<TensorFile> file) {
  return file ? readTensors(*file) : llvm::toString(file.takeError());
}

std::string readMarian(const std::string &bytes) {
  return readTensors(readMarianFile(makeBuffer(bytes)));
}

std::string readSafetensors(const std::string &bytes) {
  return readTensors(readSafetensorsFile(makeBuffer(bytes)));
}

TEST(Mutation, MarianFile) {
  mutateEverywhere(
      buildMarianFile(
          {{"Wemb", kIntGemm8, {2, 3}, std::string(6, 'x') + bytesOf(2.0f)},
           {"bias", kFloat32, {1, 2}, bytesOf<float>({1, 2})}}),
      readMarian);
  std::string real =
      readFile(HEDDLE_MODELS "/bergamot-en-pt/model.enpt.intgemm.alphas.bin");
  // The tables stand in the first 12 KB; the cut keeps copies small.
  mutateAtRandom(real.substr(0, 20000), 12400, 2000, readMarian);
}

TEST(Mutation, CTranslate2File) {
  auto read = [](const std::string &bytes) -> std::string {
    auto file = readCTranslate2File(makeBuffer(bytes));
    return file ? readTensors(std::move(file->variables))
                : llvm::toString(file.takeError());
  };
  for (const char *name : {"marian-int8", "version-1", "version-3-int8"}) {
    std::string bytes = readFile(HEDDLE_GOLDENS "/ctranslate2/" +
                                 std::string(name) + "/model.bin");
    mutateAtRandom(bytes, bytes.size(), 1000, read);
  }
}

TEST(Mutation, TorchCheckpoint) {
  auto read = [](const std::string &bytes) -> std::string {
    auto checkpoint = TorchCheckpoint::read(makeBuffer(bytes));
    if (!checkpoint)
      return llvm::toString(checkpoint.takeError());
    const PickleValue *args = checkpoint->getRoot().find("args"),
                      *model = checkpoint->getRoot().find("model");
    if (args)
      readPickledOptions(*args);
    if (!model)
      return "";
    auto files = checkpoint->takeTensors({{model, ""}});
    return files ? readTensors(files->front())
                 : llvm::toString(files.takeError());
  };
  std::string bytes =
      readFile(HEDDLE_GOLDENS "/fairseq/oldest/checkpoint_best.pt");
  mutateAtRandom(bytes, bytes.size(), 3000, read);
}

TEST(Mutation, NpzFile) {
  auto read = [](const std::string &bytes) {
    return readTensors(readNpzFile(makeBuffer(bytes)));
  };
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  mutateEverywhere(buildNpzFile({{"a", header, bytesOf<float>({1, 2})}}), read);
  for (const char *name :
       {"recurrent/model.npz", "pre-norm/opus.spm.transformer.model1.npz."
                               "best-perplexity.npz"}) {
    std::string bytes =
        readFile(HEDDLE_GOLDENS "/marian-npz-" + std::string(name));
    mutateAtRandom(bytes, bytes.size(), 1000, read);
  }
}

TEST(Mutation, SafetensorsFile) {
  mutateEverywhere(
      buildSafetensorsFile(
          R"({"a":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]},)"
          R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
          std::string(8, 'x')),
      readSafetensors);
  mutateAtRandom(readFile(HEDDLE_GOLDENS "/bart-one-layer/model.safetensors"),
                 4000, 2000, readSafetensors);
}

TEST(Mutation, TorchFile) {
  auto read = [](const std::string &bytes) -> std::string {
    auto files = readTorchFile(makeBuffer(bytes));
    if (!files)
      return llvm::toString(files.takeError());
    for (const TensorFile &file : *files)
      if (std::string sentence = readTensors(file); !sentence.empty())
        return sentence;
    return "";
  };
  for (const char *name : {"archive.bin", "sequence.bin", "protocol-5.bin"}) {
    std::string bytes = readFile(HEDDLE_GOLDENS "/torch/" + std::string(name));
    mutateEverywhere(bytes, read);
    mutateAtRandom(bytes, bytes.size(), 20000, read);
  }
}

TEST(Mutation, Shortlist) {
  std::string bytes = bytesOf<uint64_t>({0xF11A48D5013417F5, 0, 1, 50, 4, 3}) +
                      bytesOf<uint64_t>({0, 2, 2, 3}) +
                      bytesOf<uint32_t>({1, 2, 0});
  mutateEverywhere(bytes, [](const std::string &mutated) {
    return sentenceOf(convertShortlist(mutated, "lex.bin", 3, 3));
  });
}

TEST(Mutation, Yaml) {
  std::string config = readFile(HEDDLE_MODELS "/bergamot-en-pt/config.yml");
  auto read = [](const std::string &text) {
    return sentenceOf(parseYaml(text, "file"));
  };
  mutateEverywhere(config, read);
  mutateAtRandom(config, config.size(), 20000, read);
}

TEST(Mutation, SentencePieceModel) {
  TemporaryFolder folder;
  mutateEverywhere(readFile(HEDDLE_GOLDENS "/marian-npz-pre-norm/source.spm"),
                   [&](const std::string &mutated) {
                     return sentenceOf(readSentencePieceModel(
                         folder.write("small.spm", mutated)));
                   });
  std::string bytes = readFile(HEDDLE_MODELS "/bergamot-en-pt/vocab.enpt.spm");
  mutateAtRandom(bytes, bytes.size(), 100, [&](const std::string &mutated) {
    return sentenceOf(
        readSentencePieceModel(folder.write("vocab.spm", mutated)));
  });
}

/// Damages one file of a folder and imports the folder.
void mutateFolder(const std::string &original, const std::string &file,
                  llvm::ArrayRef<std::string> others, int count) {
  TemporaryFolder folder;
  for (const std::string &other : others)
    folder.write(other, readFile(original + "/" + other));
  std::string bytes = readFile(original + "/" + file);
  ASSERT_FALSE(bytes.empty());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mutateAtRandom(bytes, 4000, count, [&](const std::string &mutated) {
    folder.write(file, mutated);
    return sentenceOf(importModel(folder.path(), context, {}));
  });
}

TEST(Mutation, HuggingFaceFolder) {
  std::string folder = HEDDLE_GOLDENS "/bart-generation-config";
  std::vector<std::string> files = {"config.json", "generation_config.json",
                                    "model.safetensors"};
  for (const std::string &file : files)
    mutateFolder(folder, file, files, 300);
}

TEST(Mutation, Module) {
  TemporaryFolder folder;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto model = importModel(HEDDLE_GOLDENS "/bart-one-layer", context, {});
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  std::string text;
  llvm::raw_string_ostream(text) << *model->module;
  ImportOptions options;
  options.weights = HEDDLE_GOLDENS "/bart-one-layer/model.safetensors";
  auto read = [&](const std::string &mutated) {
    return sentenceOf(
        importModel(folder.write("m.mlir", mutated), context, options));
  };
  EXPECT_EQ(read(text), "");
  mutateAtRandom(text, text.size(), 300, read);
}

} // namespace
