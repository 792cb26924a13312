//===- TensorFileTests.cpp - Readers of checkpoint files ------------------===//

#include "FileBuilders.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/StoredTensor.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;
using testing::Test;

namespace {

std::string readMarian(const std::string &bytes) {
  return sentenceOf(readMarianFile(makeBuffer(bytes)));
}

std::string readSafetensors(const std::string &header,
                            const std::string &data) {
  return sentenceOf(
      readSafetensorsFile(makeBuffer(buildSafetensorsFile(header, data))));
}

TEST(MarianFile, ListsTensors) {
  std::string bytes = buildMarianFile(
      {{"Wemb", kIntGemm8, {2, 3}, std::string(6, 'x') + bytesOf(2.0f)},
       {"bias", kFloat32, {1, 2}, bytesOf<float>({1, 2}) + "padding"},
       {"special:model.yml", kInt8, {4}, "a: b"}});
  auto file = readMarianFile(makeBuffer(bytes));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  ASSERT_EQ(file->getTensors().size(), 3u);
  const TensorInfo *table = file->find("Wemb");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->encoding, Encoding::IntGemm8);
  EXPECT_EQ(table->shape, (llvm::SmallVector<int64_t, 4>{2, 3}));
  EXPECT_EQ(file->getBytes().substr(table->offset, 6), "xxxxxx");
  const TensorInfo *options = file->find("special:model.yml");
  ASSERT_NE(options, nullptr);
  EXPECT_FALSE(options->encoding);
  EXPECT_EQ(options->elementType, "0x101");
  EXPECT_EQ(file->getBytes().substr(options->offset, options->size), "a: b");
  EXPECT_EQ(file->find("bias")->size, 15u);
  EXPECT_EQ(file->find("none"), nullptr);
}

TEST(MarianFile, RefusesWhatItClaimsWrongly) {
  EXPECT_EQ(readMarian("short"),
            "'file' has 5 bytes, too few for a Marian model");
  EXPECT_EQ(readMarian(bytesOf<uint64_t>({2, 0})),
            "'file' is not a Marian model of version 1: its first number is 2");
  EXPECT_EQ(readMarian(bytesOf<uint64_t>({1, uint64_t(1) << 60})),
            "'file' announces 1152921504606846976 tensors but has only 16 "
            "bytes");
  EXPECT_EQ(readMarian(buildMarianFile({{"a", kFloat32, {1}, bytesOf(1.0f)},
                                        {"a", kFloat32, {1}, bytesOf(1.0f)}})),
            "'file' has the tensor 'a' twice");
  EXPECT_EQ(readMarian(buildMarianFile({{"a", kFloat32, {3}, bytesOf(1.0f)}})),
            "tensor 'a' of 'file' has shape [3] in float32, which takes 12 "
            "bytes, but 4 bytes of data");
  EXPECT_EQ(
      readMarian(buildMarianFile({{"a", kFloat32, {1 << 30, 1 << 30}, ""}})),
      "tensor 'a' of 'file' has the impossible shape [1073741824, "
      "1073741824]");
  EXPECT_EQ(readMarian(buildMarianFile({{"a", kFloat32, {2, -1}, ""}})),
            "tensor 'a' of 'file' has the impossible shape [2, -1]");
  std::string whole =
      buildMarianFile({{"a", kFloat32, {2}, bytesOf<float>({1, 2})}});
  EXPECT_EQ(readMarian(whole.substr(0, whole.size() - 1)),
            "tensor 'a' of 'file' takes 8 bytes from byte 65 but the file has "
            "72 bytes");
}

/// A header as numpy prints it.
std::string npyHeader(const std::string &type, const std::string &shape,
                      const std::string &order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }   \n";
}

TEST(NpzFile, ListsArraysByName) {
  auto file = readNpzFile(makeBuffer(
      buildNpzFile({{"W", npyHeader("<f4", "(2, 3)"), std::string(24, 'x')},
                    {"b", npyHeader("<f2", "(2,)"), "wxyz"},
                    {"n", npyHeader("<f4", "()"), "1234"},
                    {"special:model.yml", npyHeader("|i1", "(4,)"), "a: b"}})));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  ASSERT_EQ(file->getTensors().size(), 4u);
  EXPECT_EQ(file->find("W")->shape, (llvm::SmallVector<int64_t, 4>{2, 3}));
  EXPECT_EQ(file->find("W")->encoding, Encoding::F32);
  EXPECT_EQ(file->find("n")->shape, (llvm::SmallVector<int64_t, 4>{}));
  const TensorInfo *bias = file->find("b");
  EXPECT_EQ(bias->encoding, Encoding::F16);
  EXPECT_EQ(file->getBytes().substr(bias->offset, bias->size), "wxyz");
  const TensorInfo *options = file->find("special:model.yml");
  EXPECT_FALSE(options->encoding);
  EXPECT_EQ(file->getBytes().substr(options->offset, options->size), "a: b");
}

TEST(NpzFile, RefusesWhatItClaimsWrongly) {
  auto read = [](const std::string &header, const std::string &data) {
    return sentenceOf(
        readNpzFile(makeBuffer(buildNpzFile({{"a", header, data}}))));
  };
  std::string array = "array 'a' of 'file' ";
  EXPECT_EQ(read(npyHeader("<f4", "(2,)"), "abcd"),
            array + "has shape [2] in <f4, which takes 8 bytes, but 4 bytes of "
                    "data");
  EXPECT_EQ(read(npyHeader("<f4", "(1,)", "True"), "abcd"),
            array + "is not stored in row-major order");
  EXPECT_EQ(read(npyHeader("<f4", "(-1,)"), ""),
            array + "has the impossible shape [-1]");
  EXPECT_EQ(read("{'descr': [('x', '<f4')], 'shape': (1,)}", ""),
            array + "has a header without element type and shape");
  EXPECT_EQ(read(npyHeader("<f4", "(1,"), "abcd"),
            array + "has a header without element type and shape");
  EXPECT_EQ(sentenceOf(readNpzFile(makeBuffer("PK"))),
            "'file' is a damaged zip archive: it has no directory");
  std::string bytes = buildNpzFile({{"a", npyHeader("<f4", "(1,)"), "abcd"}});
  bytes.replace(bytes.find("\x93NUMPY"), 6, "UMPY??");
  EXPECT_EQ(sentenceOf(readNpzFile(makeBuffer(bytes))),
            array + "is not in numpy's format");
}

/// One bit of an array flipped behind its checksum's back: only who reads the
/// array hears of it.
TEST(NpzFile, ComparesChecksumsOfWhatIsRead) {
  std::string header = npyHeader("<f4", "(1,)"),
              bytes =
                  buildNpzFile({{"a", header, "abcd"}, {"b", header, "efgh"}});
  bytes[bytes.find("abcd") + 1] ^= 1;
  auto file = readNpzFile(makeBuffer(bytes));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(sentenceOf(file->prepare(file->find("b")->offset)), "");
  std::string sentence = sentenceOf(file->prepare(file->find("a")->offset));
  EXPECT_EQ(sentence.substr(0, sentence.find("0x")),
            "'file' is a damaged zip archive: 'a.npy' has the CRC-32 ");
  EXPECT_EQ(sentenceOf(StoredTensor::create("a", {1}, Encoding::F32, false,
                                            *file, file->find("a")->offset)),
            sentence);
}

/// Deflated files are inflated, and compared, one by one.
TEST(NpzFile, InflatesWhatIsRead) {
  std::string bytes = readFile(HEDDLE_GOLDENS "/marian-npz-pre-norm/opus.spm."
                                              "transformer.model1.npz."
                                              "best-perplexity.npz");
  // The directory's checksum of one file: 16 bytes behind its header's begin,
  // 30 in front of its name.
  std::string name = "encoder_l1_self_Wq.npy";
  size_t at = bytes.rfind(name);
  ASSERT_NE(at, std::string::npos);
  bytes[at - 30] ^= 1;
  auto file = readNpzFile(makeBuffer(bytes));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  for (const TensorInfo &tensor : file->getTensors())
    EXPECT_EQ(sentenceOf(file->prepare(tensor.offset)).empty(),
              tensor.name != "encoder_l1_self_Wq")
        << tensor.name;
}

TEST(NpzFile, RefusesFilesThatShareBytes) {
  std::string header = npyHeader("<f4", "(1,)"),
              bytes =
                  buildNpzFile({{"a", header, "abcd"}, {"b", header, "efgh"}});
  // The directory's second entry gets the place, and then the name, of the
  // first, too: where the file stands is 4 bytes in front of its name.
  std::string same = bytes;
  same.replace(same.rfind("b.npy") - 4, 4, bytesOf<uint32_t>(0));
  EXPECT_EQ(sentenceOf(readNpzFile(makeBuffer(same))),
            "'file' is a damaged zip archive: 'b.npy' is not where its "
            "directory says");
  same[same.rfind("b.npy")] = 'a';
  EXPECT_EQ(sentenceOf(readNpzFile(makeBuffer(same))),
            "'file' is a damaged zip archive: 'a.npy' and 'a.npy' overlap at "
            "byte 0");
}

/// numpy, torch and safetensors write such; a model has no use for them.
TEST(TensorFile, ListsTensorsWithoutElements) {
  auto npz = readNpzFile(
      makeBuffer(buildNpzFile({{"a", npyHeader("<f4", "(0, 5)"), ""}})));
  ASSERT_TRUE(bool(npz)) << llvm::toString(npz.takeError());
  EXPECT_EQ(npz->find("a")->shape, (llvm::SmallVector<int64_t, 4>{0, 5}));
  auto safetensors = readSafetensorsFile(makeBuffer(buildSafetensorsFile(
      R"({"a": {"dtype": "F32", "shape": [0, 5], "data_offsets": [0, 0]},
          "b": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})",
      "abcd")));
  ASSERT_TRUE(bool(safetensors)) << llvm::toString(safetensors.takeError());
  EXPECT_EQ(safetensors->find("a")->size, 0u);
  auto marian =
      readMarianFile(makeBuffer(buildMarianFile({{"a", kFloat32, {0}, ""}})));
  EXPECT_TRUE(bool(marian)) << llvm::toString(marian.takeError());
  // No parameter is empty.
  EXPECT_EQ(sentenceOf(StoredTensor::create("a", {0, 5}, Encoding::F32, false,
                                            *npz, npz->find("a")->offset)),
            "parameter 'a' has the impossible shape [0, 5]");
}

TEST(StoredTensor, RotatesBlocksFromAnyRowOn) {
  // Three blocks of 64 rows; a row alone and rows of two blocks are parts of
  // all of them.
  constexpr uint64_t rows = 192, columns = 3;
  std::vector<float> values(rows * columns), all(rows * columns);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(int(i * 37 % 101) - 50);
  StoredTensor rotated = StoredTensor::fromValues(values, rows).rotated();
  rotated.decodeRows(0, rows, all);
  for (auto [first, count] :
       {std::pair<uint64_t, uint64_t>(63, 1), {5, 130}, {64, 64}, {191, 1}}) {
    std::vector<float> some(count * columns);
    rotated.decodeRows(first, count, some);
    EXPECT_TRUE(std::equal(some.begin(), some.end(),
                           all.begin() + int64_t(first * columns)));
  }
  // R^T w / b: of the first row the sum of a block with the signs of R.
  double sum = 0;
  for (uint64_t row = 0; row < 64; ++row)
    sum += (isNegatedByRotation(int64_t(row)) ? -1.0 : 1.0) *
           double(values[row * columns]);
  EXPECT_FLOAT_EQ(all[0], float(sum / 64));
  EXPECT_EQ(rotationOf(192), 64);
  EXPECT_EQ(rotationOf(3072), 128);
  EXPECT_EQ(rotationOf(7), 1);
}

/// save_model of safetensors.torch stores tensors that are one once.
TEST(SafetensorsFile, KnowsAliases) {
  auto file = readSafetensorsFile(makeBuffer(buildSafetensorsFile(
      R"({"__metadata__": {"format": "pt", "head": "table", "table": "b",
                           "none": "missing"},
          "b": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]},
          "table": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})",
      std::string(12, 'x'))));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  ASSERT_EQ(file->getTensors().size(), 3u);
  ASSERT_NE(file->find("head"), nullptr);
  EXPECT_EQ(file->find("head")->offset, file->find("table")->offset);
  EXPECT_EQ(file->find("table")->shape, (llvm::SmallVector<int64_t, 4>{2}));
}

TEST(SafetensorsFile, ListsTensorsInFileOrder) {
  auto file = readSafetensorsFile(makeBuffer(buildSafetensorsFile(
      R"({"__metadata__": {"format": "pt"},
          "b": {"dtype": "BF16", "shape": [2], "data_offsets": [8, 12]},
          "c": {"dtype": "I64", "shape": [1], "data_offsets": [12, 20]},
          "a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}})",
      std::string(20, 'x'))));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  ASSERT_EQ(file->getTensors().size(), 3u);
  EXPECT_EQ(file->getTensors()[0].name, "a");
  EXPECT_EQ(file->getTensors()[1].name, "b");
  EXPECT_EQ(file->getTensors()[1].encoding, Encoding::BF16);
  EXPECT_EQ(file->getTensors()[2].elementType, "I64");
  EXPECT_FALSE(file->getTensors()[2].encoding);
  EXPECT_EQ(file->getTensors()[1].offset, file->getTensors()[0].offset + 8);
}

TEST(SafetensorsFile, RefusesWhatItClaimsWrongly) {
  EXPECT_EQ(sentenceOf(readSafetensorsFile(makeBuffer("abc"))),
            "'file' has 3 bytes, too few for a safetensors file");
  EXPECT_EQ(sentenceOf(readSafetensorsFile(makeBuffer(bytesOf(~uint64_t(0))))),
            "'file' announces a header of 18446744073709551615 bytes but has 0 "
            "bytes after the length");
  EXPECT_EQ(readSafetensors("[]", ""), "'file' is not a JSON object");
  EXPECT_EQ(readSafetensors(R"({"a": 1})", ""),
            "tensor 'a' of 'file' does not have the form {\"dtype\", "
            "\"shape\", \"data_offsets\": [begin, end]}");
  EXPECT_EQ(
      readSafetensors(
          R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})",
          "abc"),
      "tensor 'a' of 'file' ends at byte 73 but the file has 72 bytes");
  EXPECT_EQ(
      readSafetensors(
          R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})",
          "abcd"),
      "tensor 'a' of 'file' has shape [2] in F32, which takes 8 bytes, but 4 "
      "bytes of data");
  EXPECT_EQ(
      readSafetensors(
          R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},)"
          R"("b": {"dtype": "F16", "shape": [1], "data_offsets": [2, 4]}})",
          "abcd"),
      "tensors 'a' and 'b' of 'file' overlap at byte 131");
  EXPECT_EQ(readSafetensors(
                R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
              "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})",
                "abcd"),
            "'file' has the key 'a' twice");
}

TEST(Json, RefusesNestingThatWouldOverflowTheStack) {
  std::string deep(1 << 20, '[');
  EXPECT_EQ(sentenceOf(parseJsonObject(deep, "file")),
            "'file' nests deeper than 64 levels");
  EXPECT_EQ(
      sentenceOf(parseJsonObject("{\"a\": \"[[[\\\"{{\", \"b\": []}", "file")),
      "");
  EXPECT_EQ(sentenceOf(parseJsonObject("{\"a", "file")).substr(0, 24),
            "'file' is not valid JSON");
}

// LLVM's parser reads U+14DA9 and U+10000 of the first two.
TEST(Json, ReadsCharactersOfTwoEscapes) {
  auto object = parseJsonObject(
      R"({"\ud853\uDDA9": "\uD840\udc00\\ud840\udc00", "a": "\ud83d\ude00x\ud840"})",
      "file");
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  EXPECT_EQ(object->getString("\U00024DA9"), "\U00020000\\ud840\uFFFD");
  EXPECT_EQ(object->getString("a"), "\U0001F600x\uFFFD");
  EXPECT_EQ(listJsonKeys(R"({"\ud840\udc00": 1})"),
            std::vector<std::string>{"\U00020000"});
  EXPECT_EQ(sentenceOf(parseJsonObject("{\"\\ud840\\u", "file")).substr(0, 24),
            "'file' is not valid JSON");
}

TEST(Json, ListsKeysInTheOrderOfTheText) {
  using Keys = std::vector<std::string>;
  std::string text = R"({"z": {"b": 1, "a": {"c": "x:"}, "\u0041": [{"d": 1}]},
                         "y": [{"e": 1}], "a" : "z\": {", "x": {"z": 1}})";
  EXPECT_EQ(listJsonKeys(text), (Keys{"z", "y", "a", "x"}));
  EXPECT_EQ(listJsonKeys(text, "z"), (Keys{"b", "a", "A"}));
  EXPECT_EQ(listJsonKeys(text, "y"), Keys());
  EXPECT_EQ(listJsonKeys(text, "none"), Keys());
}

} // namespace
