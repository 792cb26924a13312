//===- WeightSourceTests.cpp - Decoding tensors ---------------------------===//

#include "FileBuilders.h"
#include "lib/Import/ImportModel.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/WeightSource.h"
#include <gtest/gtest.h>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {

/// Decodes a tensor at the start of `data`, row by row.
std::vector<float> decode(const std::string &data, Encoding encoding,
                          llvm::ArrayRef<int64_t> shape,
                          bool transposed = false) {
  auto file = TensorFile::create(makeBuffer(data), {});
  EXPECT_TRUE(bool(file));
  auto tensor =
      StoredTensor::create("t", shape, encoding, transposed, *file, 0);
  if (!tensor) {
    ADD_FAILURE() << llvm::toString(tensor.takeError());
    return {};
  }
  uint64_t columns = tensor->getColumns();
  std::vector<float> values(tensor->getRows() * columns);
  for (uint64_t row = 0; row < tensor->getRows(); ++row)
    tensor->decodeRows(
        row, 1, llvm::MutableArrayRef(values).slice(row * columns, columns));
  return values;
}

TEST(StoredTensor, WidensHalfPrecisionExactly) {
  // Zero, its negative, one, the largest, the smallest subnormal and normal, a
  // subnormal, infinity.
  std::vector<uint16_t> halves = {0x0000, 0x8000, 0x3c00, 0xfbff,
                                  0x0001, 0x0400, 0x83ff, 0x7c00};
  std::vector<float> values = decode(bytesOf(halves), Encoding::F16, {8});
  std::vector<float> expected = {0.0f,
                                 -0.0f,
                                 1.0f,
                                 -65504.0f,
                                 5.9604644775390625e-08f,
                                 6.103515625e-05f,
                                 -6.097555160522461e-05f,
                                 std::numeric_limits<float>::infinity()};
  EXPECT_EQ(values, expected);
  EXPECT_TRUE(std::signbit(values[1]));
  EXPECT_TRUE(
      std::isnan(decode(bytesOf(uint16_t(0x7e00)), Encoding::F16, {1})[0]));
}

TEST(StoredTensor, WidensBfloat16Exactly) {
  EXPECT_EQ(
      decode(bytesOf<uint16_t>({0x3f80, 0xc049, 0x0001}), Encoding::BF16, {3}),
      (std::vector<float>{1.0f, -3.140625f, 9.183549615799121e-41f}));
}

TEST(StoredTensor, RoundsToBfloat16) {
  // Ties to even, a denormal to a zero of its sign, the largest to infinity.
  std::string data = bytesOf<uint32_t>(
      {0x3f808000, 0x3f818000, 0x3f808001, 0x80012345, 0x7f7fffff, 0x7f800001});
  auto file = TensorFile::create(makeBuffer(data), {});
  ASSERT_TRUE(bool(file));
  auto tensor = StoredTensor::create("t", {6}, Encoding::F32, false, *file, 0);
  ASSERT_TRUE(bool(tensor));
  std::vector<float> values(6);
  tensor->rounded(StoredTensor::Rounding::BF16).decodeRows(0, 1, values);
  EXPECT_EQ(bytesOf(values),
            bytesOf<uint32_t>({0x3f800000, 0x3f820000, 0x3f810000, 0x80000000,
                               0x7f800000, 0x7fc00000}));
}

TEST(StoredTensor, RoundsToFloat16) {
  // Ties to even; the smallest, half of it and a little more; what is above the
  // largest by half a step.
  std::string data = bytesOf<float>({1 + 0x1p-11f, 1 + 0x3p-11f, 0x1p-24f,
                                     0x1p-25f, -0x1.002p-25f, 65519, 65520});
  auto file = TensorFile::create(makeBuffer(data), {});
  ASSERT_TRUE(bool(file));
  auto tensor = StoredTensor::create("t", {7}, Encoding::F32, false, *file, 0);
  ASSERT_TRUE(bool(tensor));
  std::vector<float> values(7);
  tensor->rounded(StoredTensor::Rounding::F16).decodeRows(0, 1, values);
  EXPECT_EQ(values,
            (std::vector<float>{1, 1 + 0x1p-9f, 0x1p-24f, 0, -0x1p-24f, 65504,
                                std::numeric_limits<float>::infinity()}));
}

TEST(StoredTensor, DividesIntegersByTheMultiplier) {
  std::string data = {char(127), char(-127), 1, 0};
  EXPECT_EQ(decode(data + bytesOf(3.0f), Encoding::IntGemm8, {2, 2}),
            (std::vector<float>{127 / 3.0f, -127 / 3.0f, 1 / 3.0f, 0}));
  auto file = TensorFile::create(makeBuffer(data + bytesOf(0.0f)), {});
  ASSERT_TRUE(bool(file));
  EXPECT_EQ(sentenceOf(StoredTensor::create("t", {2, 2}, Encoding::IntGemm8,
                                            false, *file, 0)),
            "parameter 't' of 'file' has the quantisation multiplier 0.000000 "
            "(expected a positive number)");
}

TEST(StoredTensor, TransposesAcrossTiles) {
  // Larger than a tile on both sides, a multiple of it on neither.
  constexpr int64_t rows = 70, columns = 131;
  std::vector<float> stored(rows * columns), expected(rows * columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      expected[r * columns + c] = stored[c * rows + r] = r * 1000 + c;
  std::string data = bytesOf(stored);
  EXPECT_EQ(decode(data, Encoding::F32, {rows, columns}, true), expected);

  auto file = TensorFile::create(makeBuffer(data), {});
  ASSERT_TRUE(bool(file));
  auto tensor = StoredTensor::create("t", {rows, columns}, Encoding::F32,
                                     /*transposed=*/true, *file, 0);
  ASSERT_TRUE(bool(tensor));
  std::vector<float> block(66 * columns);
  tensor->decodeRows(3, 66, block);
  EXPECT_TRUE(
      std::equal(block.begin(), block.end(), expected.begin() + 3 * columns));
}

TEST(StoredTensor, StaysInsideTheFile) {
  auto file = TensorFile::create(makeBuffer(std::string(16, 'x')), {});
  ASSERT_TRUE(bool(file));
  auto open = [&](llvm::ArrayRef<int64_t> shape, uint64_t offset) {
    return sentenceOf(
        StoredTensor::create("t", shape, Encoding::F32, false, *file, offset));
  };
  EXPECT_EQ(open({4}, 0), "");
  EXPECT_EQ(open({4}, 4), "parameter 't' takes 16 bytes from byte 4 of 'file' "
                          "but the file has 16 bytes");
  EXPECT_EQ(open({1}, ~uint64_t(0)),
            "parameter 't' takes 4 bytes from byte 18446744073709551615 of "
            "'file' but the file has 16 bytes");
}

const char *const kHeader =
    R"({"NAME": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";

std::string shard(const std::string &name) {
  return buildSafetensorsFile(std::string(kHeader).replace(2, 4, name),
                              bytesOf(1.0f));
}

TEST(WeightSource, ReadsShards) {
  TemporaryFolder folder;
  folder.write("x-1.safetensors", shard("a"));
  folder.write("x-2.safetensors", shard("b"));
  folder.write("model.safetensors.index.json",
               R"({"weight_map": {"a": "x-1.safetensors",
                                  "b": "x-2.safetensors"}})");
  WeightSource weights;
  EXPECT_EQ(sentenceOf(weights.addHuggingFaceFolder(folder.path())), "");
  ASSERT_TRUE(weights.find("b").has_value());
  EXPECT_EQ(weights.find("b")->file, "x-2.safetensors");
}

TEST(WeightSource, ReadsPickles) {
  TemporaryFolder folder;
  auto find = [&](const char *tensor) -> std::string {
    WeightSource weights;
    if (llvm::Error error = weights.addHuggingFaceFolder(folder.path()))
      return llvm::toString(std::move(error));
    auto entry = weights.find(tensor);
    return entry ? entry->file.str() : "none";
  };
  std::string goldens = HEDDLE_GOLDENS "/torch/";
  EXPECT_EQ(find("a"),
            "'" + folder.path() +
                "' has no weights: neither model.safetensors nor "
                "pytorch_model.bin, whole or in parts with an index");
  folder.write("x-1.bin", readFile(goldens + "archive.bin"));
  folder.write("x-2.bin", readFile(goldens + "bart-one-layer.bin"));
  folder.write("pytorch_model.bin.index.json",
               R"({"weight_map": {"table": "x-1.bin", "window": "x-1.bin",
                                  "model.shared.weight": "x-2.bin"}})");
  EXPECT_EQ(find("table"), "x-1.bin");
  EXPECT_EQ(find("window"), "x-1.bin (packed)");
  EXPECT_EQ(find("model.shared.weight"), "x-2.bin");
  // A whole file wins over parts, safetensors over pickles.
  folder.write("pytorch_model.bin", readFile(goldens + "sequence.bin"));
  EXPECT_EQ(find("table"), "pytorch_model.bin");
  folder.write("model.safetensors", shard("a"));
  EXPECT_EQ(find("a"), "model.safetensors");
  EXPECT_EQ(find("table"), "none");
}

TEST(WeightSource, RefusesWrongIndices) {
  TemporaryFolder folder;
  folder.write("x-1.safetensors", shard("a"));
  auto read = [&](const std::string &map) {
    folder.write("model.safetensors.index.json",
                 "{\"weight_map\": " + map + "}");
    WeightSource weights;
    std::string sentence =
        sentenceOf(weights.addHuggingFaceFolder(folder.path()));
    size_t at;
    while ((at = sentence.find(folder.path())) != std::string::npos)
      sentence.replace(at, folder.path().size(), "F");
    return sentence;
  };
  EXPECT_EQ(read(R"({"b": "x-1.safetensors"})"),
            "'F/x-1.safetensors' has no tensor 'b', which "
            "'F/model.safetensors.index.json' puts there");
  EXPECT_EQ(read(R"({"b": "../x-1.safetensors"})"),
            "'F/model.safetensors.index.json' puts tensor 'b' into "
            "\"../x-1.safetensors\" (expected a file *.safetensors of the same "
            "folder)");
  EXPECT_EQ(read(R"({"b": "y.safetensors"})"),
            "cannot read 'F/y.safetensors': No such file or directory");
  EXPECT_EQ(read("3"), "'F/model.safetensors.index.json' has no object "
                       "\"weight_map\"");
}

TEST(WeightSource, RefusesTensorsInTwoFiles) {
  WeightSource weights;
  TemporaryFolder folder;
  for (const char *name : {"1.safetensors", "2.safetensors"}) {
    auto buffer = mapFile(folder.write(name, shard("a")));
    ASSERT_TRUE(bool(buffer));
    auto file = readSafetensorsFile(std::move(*buffer));
    ASSERT_TRUE(bool(file));
    std::string sentence = sentenceOf(weights.add(std::move(*file)));
    EXPECT_EQ(sentence.empty(), name[0] == '1') << sentence;
  }
}

TEST(MappedFile, RefusesWhatIsNoFile) {
  EXPECT_EQ(sentenceOf(mapFile("/dev/null")),
            "'/dev/null' is not a regular file");
  EXPECT_EQ(sentenceOf(mapFile("/")), "'/' is not a regular file");
  TemporaryFolder folder;
  std::string pointer =
      folder.write("w.bin", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_EQ(
      sentenceOf(mapFile(pointer)),
      "'" + pointer +
          "' is only a pointer to the file, which 'git lfs pull' fetches");
  EXPECT_EQ(sentenceOf(mapFile("/none")),
            "cannot read '/none': No such file or directory");
}

/// The element [row, column] of a parameter.
float elementOf(const ImportedModel &model, llvm::StringRef name, uint64_t row,
                uint64_t column) {
  auto parameter = mlir::SymbolTable(*model.module).lookup<ParameterOp>(name);
  EXPECT_TRUE(parameter) << name.str();
  auto tensor = model.weights.open(parameter);
  EXPECT_TRUE(bool(tensor));
  std::vector<float> values(tensor->getColumns());
  tensor->decodeRows(row, 1, values);
  return values[column];
}

TEST(WeightSource, DecodesTheModelInTheRepository) {
  mlir::MLIRContext context;
  auto model = importModel(HEDDLE_MODELS "/bergamot-en-pt", context, {});
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  // From numpy: int8.astype(float32) / float32, to the last bit.
  EXPECT_EQ(elementOf(*model, "Wemb", 5, 7), -0.026002727448940277f);
  EXPECT_EQ(elementOf(*model, "Wemb", 31999, 255), -0.25352659821510315f);
  EXPECT_EQ(elementOf(*model, "Wemb.transposed", 7, 5), -0.026002727448940277f);
  EXPECT_EQ(elementOf(*model, "encoder_l1_self_Wq", 3, 200),
            0.025831647217273712f);
  EXPECT_EQ(elementOf(*model, "encoder_l1_ffn_W1", 255, 1535),
            0.041711971163749695f);
  EXPECT_EQ(elementOf(*model, "encoder_l6_ffn_W2", 1000, 17),
            0.042169880121946335f);
  EXPECT_EQ(elementOf(*model, "decoder_ff_logit_out_b", 0, 12345),
            -3.821058511734009f);
}

} // namespace
