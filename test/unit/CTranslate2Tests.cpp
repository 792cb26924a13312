//===- CTranslate2Tests.cpp - CTranslate2's model.bin ---------------------===//

#include "FileBuilders.h"
#include "lib/Import/ImportModel.h"
#include "lib/Weights/CTranslate2File.h"
#include "lib/Weights/StoredTensor.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

enum Type : uint8_t { kF32, kI8, kI16, kI32, kF16, kBF16 };

struct Variable {
  std::string name;
  std::vector<uint32_t> shape;
  uint8_t type;
  std::string data;
};

std::string stringOf(const std::string &text) {
  return bytesOf(uint16_t(text.size() + 1)) + text + '\0';
}

/// A file of a version, in which element types are sizes before version 4.
std::string
build(uint32_t version, const std::vector<Variable> &variables,
      const std::vector<std::pair<std::string, std::string>> &aliases = {}) {
  constexpr uint8_t sizes[] = {4, 1, 2, 4, 2, 2};
  std::string bytes = bytesOf(version);
  if (version >= 2)
    bytes += stringOf("TransformerSpec") + bytesOf(uint32_t(7));
  bytes += bytesOf(uint32_t(variables.size()));
  for (const Variable &variable : variables) {
    bytes += stringOf(variable.name);
    bytes += char(variable.shape.size());
    bytes += bytesOf(variable.shape);
    uint8_t size = sizes[variable.type];
    bytes += char(version >= 4 ? variable.type : size);
    bytes +=
        bytesOf(uint32_t(variable.data.size() / (version >= 4 ? 1 : size)));
    bytes += variable.data;
  }
  if (version < 3)
    return bytes;
  bytes += bytesOf(uint32_t(aliases.size()));
  for (const auto &[alias, name] : aliases)
    bytes += stringOf(alias) + stringOf(name);
  return bytes;
}

llvm::Expected<CTranslate2File> read(const std::string &bytes) {
  return readCTranslate2File(makeBuffer(bytes));
}

std::string refusal(const std::string &bytes) {
  return sentenceOf(read(bytes));
}

std::vector<float> decode(const TensorFile &file, const std::string &name,
                          bool transposed = false) {
  const TensorInfo *info = file.find(name);
  llvm::SmallVector<int64_t, 4> shape(info->shape);
  if (transposed)
    std::reverse(shape.begin(), shape.end());
  auto tensor = StoredTensor::create(name, shape, *info->encoding, transposed,
                                     file, info->offset, info->multipliers);
  if (!tensor) {
    ADD_FAILURE() << llvm::toString(tensor.takeError());
    return {};
  }
  std::vector<float> values(tensor->getRows() * tensor->getColumns());
  tensor->decodeRows(0, tensor->getRows(), values);
  return values;
}

const std::string kIntegers = {127, char(-127), 1, 64, 0, char(-2)};

TEST(CTranslate2File, ReadsVariablesOfEachVersion) {
  std::vector<Variable> variables = {
      {"a", {2, 3}, kI8, kIntegers},
      {"a_scale", {2}, kF32, bytesOf<float>({2, 4})},
      {"b", {2}, kF32, bytesOf<float>({1.5f, -3})},
      {"c", {}, kI16, bytesOf(int16_t(-5))}};
  for (uint32_t version = 1; version <= 6; ++version) {
    auto file = read(build(version, variables));
    ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
    EXPECT_EQ(file->version, version);
    EXPECT_EQ(file->specification,
              version == 1 ? "TransformerBase" : "TransformerSpec");
    EXPECT_EQ(file->revision, version == 1 ? 1u : 7u);
    EXPECT_EQ(decode(file->variables, "a"),
              (std::vector<float>{63.5f, -63.5f, 0.5f, 16, 0, -0.5f}));
    EXPECT_EQ(decode(file->variables, "a", /*transposed=*/true),
              (std::vector<float>{63.5f, 16, -63.5f, 0, 0.5f, -0.5f}));
    EXPECT_EQ(decode(file->variables, "b"), (std::vector<float>{1.5f, -3}));
    EXPECT_EQ(readNumber(file->variables, *file->variables.find("c")), -5.0);
    EXPECT_EQ(readNumber(file->variables, *file->variables.find("b")),
              std::nullopt);
  }
}

TEST(CTranslate2File, WidensEachType) {
  auto file = read(
      build(6, {{"half", {1, 2}, kF16, bytesOf<uint16_t>({0x3c00, 0xc000})},
                {"brain", {1, 2}, kBF16, bytesOf<uint16_t>({0x3f80, 0xc049})},
                {"short", {1, 2}, kI16, bytesOf<int16_t>({1024, -3})},
                {"short_scale", {}, kF32, bytesOf(256.0f)}}));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(decode(file->variables, "half"), (std::vector<float>{1, -2}));
  EXPECT_EQ(decode(file->variables, "brain"),
            (std::vector<float>{1, -3.140625f}));
  EXPECT_EQ(decode(file->variables, "short"),
            (std::vector<float>{4, -3 / 256.0f}));
  // Before there was a scale it was 1000.
  auto older =
      read(build(2, {{"short", {1, 2}, kI16, bytesOf<int16_t>({500, -3})}}));
  ASSERT_TRUE(bool(older)) << llvm::toString(older.takeError());
  EXPECT_EQ(decode(older->variables, "short"),
            (std::vector<float>{0.5f, -3 / 1000.0f}));
}

/// A fused linear: its rows are several parameters.
TEST(CTranslate2File, RowsHaveTheirMultipliers) {
  auto file = read(build(6, {{"a", {2, 3}, kI8, kIntegers},
                             {"a_scale", {2}, kF32, bytesOf<float>({2, 4})}}));
  ASSERT_TRUE(bool(file));
  const TensorInfo *info = file->variables.find("a");
  auto second = StoredTensor::create("a", {3, 1}, Encoding::Int8Rows, true,
                                     file->variables, info->offset + 3,
                                     info->multipliersFrom(1));
  ASSERT_TRUE(bool(second));
  std::vector<float> values(3);
  second->decodeRows(0, 3, values);
  EXPECT_EQ(values, (std::vector<float>{16, 0, -0.5f}));
  using Axis = StoredTensor::Axis;
  EXPECT_EQ(second->storedScales(Axis::Columns), (std::vector<float>{0.25f}));
  EXPECT_EQ(second->storedScales(Axis::Rows), std::nullopt);
  // With its own scales the integers come back, also in a row without 127.
  second->quantizedBy({0.25f}, Axis::Columns).decodeRows(0, 3, values);
  EXPECT_EQ(values, (std::vector<float>{64, 0, -2}));
}

TEST(CTranslate2File, AliasesShareBytesAndMultipliers) {
  auto file = read(build(6,
                         {{"a", {2, 3}, kI8, kIntegers},
                          {"a_scale", {2}, kF32, bytesOf<float>({2, 4})}},
                         {{"z", "a"}, {"y", "z"}}));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(decode(file->variables, "y"), decode(file->variables, "a"));
}

TEST(CTranslate2File, RefusesWhatItClaimsWrongly) {
  std::string data = bytesOf<float>({1, 2});
  EXPECT_EQ(refusal("abc"),
            "'file' has 3 bytes, too few for a model of CTranslate2");
  EXPECT_EQ(refusal(bytesOf(uint32_t(7))),
            "'file' has the binary version 7 (supported: 1 to 6)");
  EXPECT_EQ(refusal(bytesOf(uint32_t(0))),
            "'file' has the binary version 0 (supported: 1 to 6)");
  EXPECT_EQ(refusal(bytesOf(uint32_t(6)) + bytesOf(uint16_t(0))),
            "'file' has no name of a specification at byte 4");
  EXPECT_EQ(refusal(bytesOf(uint32_t(6)) + bytesOf(uint16_t(2)) + "ab"),
            "'file' has no name of a specification at byte 4");
  EXPECT_EQ(refusal(bytesOf(uint32_t(1)) + bytesOf(uint32_t(1 << 30))),
            "'file' announces 1073741824 variables but has only 8 bytes");
  EXPECT_EQ(refusal(build(6, {{"", {2}, kF32, data}})),
            "variable 0 of 'file' has no valid name");
  EXPECT_EQ(refusal(build(6, {{"a\xff", {2}, kF32, data}})),
            "variable 0 of 'file' has no valid name");
  EXPECT_EQ(refusal(build(6, {{"a", std::vector<uint32_t>(9, 1), kF32, data}})),
            "variable 'a' of 'file' has 9 dimensions (at most 8)");
  EXPECT_EQ(refusal(build(6, {{"a", {3}, kF32, data}})),
            "variable 'a' of 'file' has shape [3] in float32 but 8 bytes of "
            "data");
  EXPECT_EQ(refusal(build(
                6, {{"a", {0xffffffff, 0xffffffff, 0xffffffff}, kF32, data}})),
            "variable 'a' of 'file' has shape [4294967295, 4294967295, "
            "4294967295] in float32 but 8 bytes of data");
  EXPECT_EQ(refusal(build(6, {{"a", {2}, kF32, data}, {"a", {2}, kF32, data}})),
            "'file' has the variable 'a' twice");
  EXPECT_EQ(refusal(build(6, {{"a", {1, 8}, kI8, data}})),
            "variable 'a' of 'file' is int8 but there is no 'a_scale'");
  EXPECT_EQ(refusal(build(6, {{"a", {1, 4}, kI16, data}})),
            "variable 'a' of 'file' is int16 but there is no 'a_scale'");
  EXPECT_EQ(
      refusal(
          build(6, {{"a", {1, 8}, kI8, data}, {"a_scale", {2}, kF32, data}})),
      "variable 'a_scale' of 'file' is float32 of shape [2], expected float32 "
      "with 1 elements");
  EXPECT_EQ(refusal(build(6, {{"a", {2}, kF32, data}}, {{"b", "c"}})),
            "alias 'b' of 'file' stands for 'c', which is no variable");
  std::string whole = build(6, {{"a", {2}, kF32, data}}, {{"b", "a"}});
  EXPECT_EQ(refusal(whole + "x"), "'file' has 1 bytes behind its last entry");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
  std::string typed = build(6, {{"a", {2}, kF32, data}});
  typed[typed.find(data) - 5] = 6;
  EXPECT_EQ(refusal(typed), "variable 'a' of 'file' has the element type 6 "
                            "(supported: 0 to 5)");
  std::string sized = build(2, {{"a", {2}, kF32, data}});
  sized[sized.find(data) - 5] = 8;
  EXPECT_EQ(refusal(sized), "variable 'a' of 'file' has the element size 8 "
                            "(supported: 1, 2, 4)");
}

TEST(CTranslate2File, RefusesMultipliersThatAreNone) {
  for (float bad : {0.0f, -1.0f, 1 / 0.0f}) {
    auto file =
        read(build(6, {{"a", {2, 3}, kI8, kIntegers},
                       {"a_scale", {2}, kF32, bytesOf<float>({2, bad})}}));
    ASSERT_TRUE(bool(file));
    const TensorInfo *info = file->variables.find("a");
    EXPECT_EQ(sentenceOf(StoredTensor::create("a", {2, 3}, *info->encoding,
                                              false, file->variables,
                                              info->offset, info->multipliers)),
              "parameter 'a' of 'file' has the quantisation multiplier " +
                  std::to_string(bad) + " (expected a positive number)");
  }
}

} // namespace
