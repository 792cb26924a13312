//===- ArtifactWriterTests.cpp - The bytes of an artifact -----------------===//

#include "FileBuilders.h"
#include "lib/Artifact/ArtifactWriter.h"
#include "mlir/Parser/Parser.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

/// Two parameters over one file: a vector, and a transposed matrix of more than
/// one checksum chunk.
class ArtifactWriter : public testing::Test {
protected:
  static constexpr int64_t kRows = 200, kColumns = 150;

  void SetUp() override {
    std::vector<float> stored = {1, 2, 3};
    for (int64_t i = 0; i < kRows * kColumns; ++i)
      stored.push_back(float(i));
    std::string header =
        R"({"v": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
            "m": {"dtype": "F32", "shape": [150, 200],
                  "data_offsets": [12, 120012]}})";
    dataOffset = 8 + header.size();
    auto file = readSafetensorsFile(llvm::MemoryBuffer::getMemBufferCopy(
        buildSafetensorsFile(header, bytesOf(stored)), "w.safetensors"));
    ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
    ASSERT_EQ(sentenceOf(weights.add(std::move(*file))), "");
  }

  llvm::Expected<std::vector<PlacedTensor>> place(int64_t v, int64_t m) {
    context.loadDialect<TransformerDialect>();
    std::string source = "from <\"w.safetensors\", offset = ";
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "transformer.parameter @m : tensor<200x150xf32> " + source +
            std::to_string(dataOffset + 12) +
            ", encoding = f32> transposed placed at " + std::to_string(m) +
            "\ntransformer.parameter @v : tensor<3xf32> " + source +
            std::to_string(dataOffset) + ", encoding = f32> placed at " +
            std::to_string(v),
        &context);
    EXPECT_TRUE(module);
    return collectPlacedTensors(*module, weights);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightSource weights;
  uint64_t dataOffset = 0;
};

TEST_F(ArtifactWriter, StreamsTensorsToTheirPlaces) {
  auto tensors = place(0, 64);
  ASSERT_TRUE(bool(tensors)) << llvm::toString(tensors.takeError());
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  std::vector<LostWeights> lost;
  std::vector<uint64_t> checksums = writeTensors(*tensors, stream, lost);
  EXPECT_TRUE(lost.empty());
  ASSERT_EQ(bytes.size(), getSectionSize(*tensors));
  ASSERT_EQ(bytes.size(), 64u + 4 * kRows * kColumns);

  std::string expected = bytesOf<float>({1, 2, 3}) + std::string(52, '\0');
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < kColumns; ++c)
      expected += bytesOf(float(c * kRows + r));
  EXPECT_TRUE(bytes == expected);
  ASSERT_EQ(checksums.size(), 2u);
  llvm::StringRef view = bytes;
  EXPECT_EQ(checksums[0],
            llvm::xxh3_64bits(view.take_front(format::kWeightsChunk)));
  EXPECT_EQ(checksums[1],
            llvm::xxh3_64bits(view.drop_front(format::kWeightsChunk)));
}

TEST_F(ArtifactWriter, StreamsTensorsMadeOfOthers) {
  // Rows interleave a scaled transposed part, zeros and a part within a part;
  // 600 columns of 200 rows are no whole number of blocks.
  context.loadDialect<TransformerDialect>();
  std::string stored =
      "from <\"w.safetensors\", offset = " + std::to_string(dataOffset + 12) +
      ", encoding = f32> transposed";
  module = mlir::parseSourceString<mlir::ModuleOp>(
      "transformer.parameter @m : tensor<200x150xf32> " + stored +
          "\ntransformer.parameter @none : tensor<200x150xf32> zeros"
          "\ntransformer.parameter @half : tensor<200x150xf32>"
          "  columns of [@m] scaled by 0.5"
          "\ntransformer.parameter @all : tensor<200x600xf32>"
          "  columns of [@half, @none, @m, @half] scaled by 4.0 placed at 0",
      &context);
  ASSERT_TRUE(module);
  auto tensors = collectPlacedTensors(*module, weights);
  ASSERT_TRUE(bool(tensors)) << llvm::toString(tensors.takeError());
  ASSERT_EQ(tensors->size(), 1u);
  std::string bytes, expected;
  llvm::raw_string_ostream stream(bytes);
  std::vector<LostWeights> lost;
  writeTensors(*tensors, stream, lost);
  for (int64_t r = 0; r < kRows; ++r)
    for (float factor : {2.0f, 0.0f, 4.0f, 2.0f})
      for (int64_t c = 0; c < kColumns; ++c)
        expected += bytesOf(factor * (c * kRows + r));
  EXPECT_TRUE(bytes == expected);

  // Any rows, as a pass that packs them asks for.
  std::vector<float> row(600);
  tensors->front().tensor.decodeRows(7, 1, row);
  EXPECT_EQ(row[3], 2.0f * (3 * kRows + 7));
}

TEST_F(ArtifactWriter, StreamsBfloat16) {
  // Columns of a rounded transposed matrix, in rows.
  context.loadDialect<TransformerDialect>();
  module = mlir::parseSourceString<mlir::ModuleOp>(
      "transformer.parameter @m : tensor<200x150xf32>"
      "  from <\"w.safetensors\", offset = " +
          std::to_string(dataOffset + 12) +
          ", encoding = f32> transposed"
          "\ntransformer.parameter @r : tensor<200x150xbf16> rounded of [@m]"
          "\ntransformer.parameter @rr : tensor<200x300xbf16>"
          "  columns of [@r, @r] placed at 0",
      &context);
  ASSERT_TRUE(module);
  auto tensors = collectPlacedTensors(*module, weights);
  ASSERT_TRUE(bool(tensors)) << llvm::toString(tensors.takeError());
  std::string bytes, expected;
  llvm::raw_string_ostream stream(bytes);
  std::vector<LostWeights> lost;
  writeTensors(*tensors, stream, lost);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < 2 * kColumns; ++c) {
      // Ties go to the even one; whole numbers have no denormals.
      float value = float(c % kColumns * kRows + r);
      auto bits = llvm::bit_cast<uint32_t>(value);
      expected += bytesOf(uint16_t((bits + 0x7fff + (bits >> 16) % 2) >> 16));
    }
  EXPECT_TRUE(bytes == expected);
}

TEST_F(ArtifactWriter, StreamsFloat16) {
  context.loadDialect<TransformerDialect>();
  module = mlir::parseSourceString<mlir::ModuleOp>(
      "transformer.parameter @m : tensor<200x150xf32>"
      "  from <\"w.safetensors\", offset = " +
          std::to_string(dataOffset + 12) +
          ", encoding = f32> transposed"
          "\ntransformer.parameter @r : tensor<200x150xf16>"
          "  rounded_to_f16 of [@m] placed at 0",
      &context);
  ASSERT_TRUE(module);
  auto tensors = collectPlacedTensors(*module, weights);
  ASSERT_TRUE(bool(tensors)) << llvm::toString(tensors.takeError());
  std::string bytes, expected;
  llvm::raw_string_ostream stream(bytes);
  std::vector<LostWeights> lost;
  writeTensors(*tensors, stream, lost);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < kColumns; ++c)
      expected += bytesOf(_Float16(float(c * kRows + r)));
  EXPECT_TRUE(bytes == expected);
}

TEST_F(ArtifactWriter, RefusesPlacesThatOverlap) {
  EXPECT_EQ(sentenceOf(place(120000, 64)),
            "parameter 'v' is placed at byte 120000, expected a multiple of 64 "
            "from byte 120064");
  EXPECT_EQ(sentenceOf(place(0, 0)),
            "parameter 'v' is placed at byte 0, expected a multiple of 64 from "
            "byte 120000");
}

/// The bytes of a section, by the description in ArtifactFormat.h.
llvm::StringRef sectionOf(const std::string &file, llvm::StringRef name,
                          uint64_t &checksum) {
  format::Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  for (uint32_t i = 0; i < header.sectionCount; ++i) {
    format::Section section;
    std::memcpy(&section, file.data() + sizeof(header) + i * sizeof(section),
                sizeof(section));
    if (name != section.name)
      continue;
    EXPECT_EQ(section.offset % format::alignmentOf(section.name), 0u);
    checksum = section.checksum;
    return llvm::StringRef(file).substr(section.offset, section.size);
  }
  ADD_FAILURE() << "no section " << name.str();
  return "";
}

TEST_F(ArtifactWriter, WritesTheFormat) {
  auto tensors = place(0, 64);
  ASSERT_TRUE(bool(tensors)) << llvm::toString(tensors.takeError());
  std::vector<ImportedSection> imported = {{"shortlist", "lists"}};
  ArtifactContents contents{
      "{}", {{"code.x86-64-v3", "machine code"}}, *tensors, imported};
  std::string file = writeArtifact(contents);
  format::Header header;
  ASSERT_GE(file.size(), sizeof(header));
  std::memcpy(&header, file.data(), sizeof(header));
  EXPECT_EQ(std::memcmp(header.magic, format::kMagic, sizeof(header.magic)), 0);
  EXPECT_EQ(header.version, format::kVersion);
  EXPECT_EQ(header.sectionCount, 5u);
  EXPECT_EQ(header.fileSize, file.size());
  EXPECT_EQ(header.tableChecksum,
            llvm::xxh3_64bits(llvm::StringRef(file).substr(
                sizeof(header), 5 * sizeof(format::Section))));

  uint64_t checksum = 0;
  EXPECT_EQ(sectionOf(file, "manifest", checksum), "{}");
  EXPECT_EQ(checksum, llvm::xxh3_64bits(llvm::StringRef("{}")));
  EXPECT_EQ(sectionOf(file, "code.x86-64-v3", checksum), "machine code");
  EXPECT_EQ(sectionOf(file, "shortlist", checksum), "lists");
  llvm::StringRef checksums = sectionOf(file, "weights.checksums", checksum);
  EXPECT_EQ(checksum, llvm::xxh3_64bits(checksums));
  EXPECT_EQ(sectionOf(file, "weights", checksum).size(),
            getSectionSize(*tensors));
  EXPECT_EQ(checksum, llvm::xxh3_64bits(checksums));

  EXPECT_TRUE(writeArtifact(contents) == file) << "equal contents, equal bytes";
}

} // namespace
