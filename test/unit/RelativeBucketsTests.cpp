//===- RelativeBucketsTests.cpp - Biases of distances ---------------------===//
//
// Which bucket of T5's table a distance between a key and a query belongs to.
//
//===----------------------------------------------------------------------===//

#include "FileBuilders.h"
#include "lib/Artifact/ArtifactWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

class RelativeBuckets : public testing::Test {
protected:
  static constexpr int64_t kHeads = 3;

  /// What an artifact holds as the table of distances up to `far` that is made
  /// of `rows` buckets, of which `buckets` are read: [kHeads, 2 far + 1]. The
  /// bias of bucket k and head h is k + 100 h.
  std::vector<float> spread(int64_t rows, int64_t buckets, int64_t far) {
    std::vector<float> stored;
    for (int64_t bucket = 0; bucket < rows; ++bucket)
      for (int64_t head = 0; head < kHeads; ++head)
        stored.push_back(float(bucket + 100 * head));
    std::string shape = std::to_string(rows) + ", " + std::to_string(kHeads),
                type = "tensor<" + std::to_string(rows) + "x" +
                       std::to_string(kHeads) + "xf32>",
                header = R"({"t": {"dtype": "F32", "shape": [)" + shape +
                         R"(], "data_offsets": [0, )" +
                         std::to_string(4 * stored.size()) + "]}}";
    auto file = readSafetensorsFile(llvm::MemoryBuffer::getMemBufferCopy(
        buildSafetensorsFile(header, bytesOf(stored)), "w.safetensors"));
    EXPECT_TRUE(bool(file)) << llvm::toString(file.takeError());
    WeightSource weights;
    EXPECT_EQ(sentenceOf(weights.add(std::move(*file))), "");

    mlir::MLIRContext context;
    context.loadDialect<TransformerDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "transformer.parameter @t : " + type +
            " from <\"w.safetensors\", offset = " +
            std::to_string(8 + header.size()) +
            ", encoding = f32>\n"
            "transformer.parameter @s : tensor<" +
            std::to_string(kHeads) + "x" + std::to_string(2 * far + 1) +
            "xf32> relative_buckets(" + std::to_string(buckets) + ", " +
            std::to_string(far) + ") of [@t] placed at 0",
        &context);
    EXPECT_TRUE(module);
    auto tensors = collectPlacedTensors(*module, weights);
    EXPECT_TRUE(bool(tensors)) << llvm::toString(tensors.takeError());
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    std::vector<LostWeights> lost;
    writeTensors(*tensors, stream, lost);
    EXPECT_TRUE(lost.empty());
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());

    // Any rows, as well.
    std::vector<float> last(size_t(2 * far + 1));
    tensors->front().tensor.decodeRows(kHeads - 1, 1, last);
    EXPECT_TRUE(std::equal(last.begin(), last.end(), values.end() - 2 * far - 1,
                           values.end()));
    return values;
  }

  /// Expects the table of distances in which the buckets of one direction begin
  /// at `edges`.
  void expectEdges(int64_t rows, int64_t buckets, int64_t far,
                   const std::vector<int64_t> &edges) {
    std::vector<float> found = spread(rows, buckets, far), expected;
    for (int64_t head = 0; head < kHeads; ++head)
      for (int64_t distance = -far; distance <= far; ++distance) {
        int64_t bucket =
            std::upper_bound(edges.begin(), edges.end(), std::abs(distance)) -
            edges.begin() - 1;
        if (distance > 0)
          bucket += buckets / 2;
        expected.push_back(float(bucket + 100 * head));
      }
    EXPECT_EQ(found, expected);
  }
};

// T5's and MPNet's: keys to the right of the query have buckets 17 to 31.
TEST_F(RelativeBuckets, BeginWhereThoseOfT5Do) {
  const std::vector<int64_t> edges = {0, 1,  2,  3,  4,  5,  6,  7,
                                      8, 12, 16, 23, 32, 46, 64, 91};
  expectEdges(32, 32, 128, edges);
  // What the table has beyond is not read.
  expectEdges(40, 32, 128, edges);
}

TEST_F(RelativeBuckets, MayBeFew) {
  expectEdges(12, 12, 8, {0, 1, 2, 3, 5, 6});
  expectEdges(4, 4, 2, {0, 1});
  expectEdges(8, 8, 3, {0, 1, 2, 3});
}

} // namespace
