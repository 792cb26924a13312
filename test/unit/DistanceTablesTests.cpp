//===- DistanceTablesTests.cpp - Tables of distances ----------------------===//
//
// What parameters hold that are made of others by distances between queries and
// keys: biases by T5's buckets, and vectors by DeBERTa's, which are products of
// norms.
//
//===----------------------------------------------------------------------===//

#include "FileBuilders.h"
#include "lib/Artifact/ArtifactWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <map>

using namespace heddle;
using namespace heddle::test;

namespace {
/// A tensor of f32 that a file has, and the parameter of its name.
struct StoredFloats {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};
} // namespace

/// What an artifact holds as the parameter that `declarations`, behind those of
/// `stored`, place at 0.
static std::vector<float> derivedValues(const std::vector<StoredFloats> &stored,
                                        const std::string &declarations) {
  std::string header, data;
  for (const StoredFloats &each : stored) {
    size_t begin = data.size();
    data += bytesOf(each.values);
    header += (header.empty() ? "{\"" : ", \"") + each.name +
              R"(": {"dtype": "F32", "shape": [)" +
              llvm::join(llvm::map_range(
                             each.shape,
                             [](int64_t size) { return std::to_string(size); }),
                         ", ") +
              "], \"data_offsets\": [" + std::to_string(begin) + ", " +
              std::to_string(data.size()) + "]}";
  }
  header += header.empty() ? "{}" : "}";
  std::string module;
  size_t offset = 8 + header.size();
  for (const StoredFloats &each : stored) {
    module += "transformer.parameter @" + each.name + " : tensor<";
    for (int64_t size : each.shape)
      module += std::to_string(size) + "x";
    module +=
        "f32> from <\"w.safetensors\", offset = " + std::to_string(offset) +
        ", encoding = f32>\n";
    offset += each.values.size() * sizeof(float);
  }
  auto file = readSafetensorsFile(llvm::MemoryBuffer::getMemBufferCopy(
      buildSafetensorsFile(header, data), "w.safetensors"));
  EXPECT_TRUE(bool(file)) << llvm::toString(file.takeError());
  WeightSource weights;
  EXPECT_EQ(sentenceOf(weights.add(std::move(*file))), "");

  mlir::MLIRContext context;
  context.loadDialect<TransformerDialect>();
  auto parsed =
      mlir::parseSourceString<mlir::ModuleOp>(module + declarations, &context);
  EXPECT_TRUE(parsed);
  auto tensors = collectPlacedTensors(*parsed, weights);
  EXPECT_TRUE(bool(tensors)) << llvm::toString(tensors.takeError());
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  std::vector<LostWeights> lost;
  writeTensors(*tensors, stream, lost);
  EXPECT_TRUE(lost.empty());
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());

  // Any rows, as well.
  const StoredTensor &tensor = tensors->front().tensor;
  std::vector<float> last(tensor.getColumns());
  tensor.decodeRows(tensor.getRows() - 1, 1, last);
  EXPECT_TRUE(std::equal(last.begin(), last.end(),
                         values.end() - std::ptrdiff_t(last.size())));
  return values;
}

namespace {

class RelativeBuckets : public testing::Test {
protected:
  static constexpr int64_t kHeads = 3;

  /// What an artifact holds as the table of distances up to `far` that is made
  /// of `rows` buckets, of which `buckets` are read: [kHeads, 2 far + 1]. The
  /// bias of bucket k and head h is k + 100 h.
  std::vector<float> spread(int64_t rows, int64_t buckets, int64_t far,
                            bool isCausal) {
    std::vector<float> stored;
    for (int64_t bucket = 0; bucket < rows; ++bucket)
      for (int64_t head = 0; head < kHeads; ++head)
        stored.push_back(float(bucket + 100 * head));
    return derivedValues(
        {{"t", {rows, kHeads}, stored}},
        "transformer.parameter @s : tensor<" + std::to_string(kHeads) + "x" +
            std::to_string(2 * far + 1) + "xf32> relative_buckets(" +
            std::to_string(buckets) + ", " + std::to_string(far) +
            (isCausal ? ", 1" : "") + ") of [@t] placed at 0");
  }

  /// Expects the table of distances in which the buckets of one direction begin
  /// at `edges`. If there is no other, keys to the right have the first of
  /// them.
  void expectEdges(int64_t rows, int64_t buckets, int64_t far,
                   const std::vector<int64_t> &edges, bool isCausal = false) {
    std::vector<float> found = spread(rows, buckets, far, isCausal), expected;
    for (int64_t head = 0; head < kHeads; ++head)
      for (int64_t distance = -far; distance <= far; ++distance) {
        int64_t away =
            isCausal ? std::max(-distance, int64_t(0)) : std::abs(distance);
        int64_t bucket = std::upper_bound(edges.begin(), edges.end(), away) -
                         edges.begin() - 1;
        if (distance > 0 && !isCausal)
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

// Those of T5's decoders.
TEST_F(RelativeBuckets, MayHaveOneDirection) {
  const std::vector<int64_t> edges = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
      16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  expectEdges(32, 32, 128, edges, /*isCausal=*/true);
  expectEdges(40, 32, 128, edges, /*isCausal=*/true);
  expectEdges(6, 6, 12, {0, 1, 2, 3, 5, 8}, /*isCausal=*/true);
  expectEdges(2, 2, 3, {0, 1}, /*isCausal=*/true);
}

TEST(SplitPairs, PutsEvenElementsInFrontOfOddOnes) {
  std::vector<float> stored;
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 10; ++column)
      stored.push_back(float(100 * row + column));
  auto of = [&](const char *numbers) {
    return derivedValues({{"t", {2, 10}, stored}},
                         std::string("transformer.parameter @s : "
                                     "tensor<2x10xf32> split_pairs") +
                             numbers + " of [@t] placed at 0");
  };
  EXPECT_EQ(of("(5, 2)"), (std::vector<float>{0,   2,   1,   3,   4,   5,   7,
                                              6,   8,   9,   100, 102, 101, 103,
                                              104, 105, 107, 106, 108, 109}));
  EXPECT_EQ(
      of("(10, 5)"),
      (std::vector<float>{0,   2,   4,   6,   8,   1,   3,   5,   7,   9,
                          100, 102, 104, 106, 108, 101, 103, 105, 107, 109}));
  EXPECT_EQ(derivedValues({{"t", {4}, {1, 2, 3, 4}}},
                          "transformer.parameter @s : tensor<4xf32> "
                          "split_pairs(4, 2) of [@t] placed at 0"),
            (std::vector<float>{1, 3, 2, 4}));
}

TEST(AlibiSlopes, AreThoseOfTwoPowersOfHeads) {
  auto of = [](const std::string &rest) {
    return derivedValues({},
                         "transformer.parameter @s : " + rest + " placed at 0");
  };
  EXPECT_EQ(of("tensor<4xf32> alibi_slopes"),
            (std::vector<float>{0x1p-2f, 0x1p-4f, 0x1p-6f, 0x1p-8f}));
  // Of two heads, and the first and the third of four.
  EXPECT_EQ(of("tensor<3xf32> alibi_slopes"),
            (std::vector<float>{0x1p-4f, 0x1p-8f, 0x1p-2f}));
  EXPECT_EQ(of("tensor<3xf32> alibi_slopes scaled by 0.5"),
            (std::vector<float>{0x1p-5f, 0x1p-9f, 0x1p-3f}));
}

TEST(Shifted, AddsANumber) {
  EXPECT_EQ(derivedValues({{"t", {3}, {0.5f, -1, 2}}},
                          "transformer.parameter @s : tensor<3xf32> "
                          "shifted(1) of [@t] scaled by 2.0 placed at 0"),
            (std::vector<float>{3, 0, 6}));
}

} // namespace

/// The row of a table of 2 `span` that each distance from -far to far has.
static std::vector<float> rowsOfDistances(int64_t span, int64_t buckets,
                                          int64_t most, int64_t far) {
  std::vector<float> rows;
  for (int64_t row = 0; row < 2 * span; ++row)
    rows.insert(rows.end(), {float(row), float(row + 1000)});
  std::vector<float> found =
      derivedValues({{"t", {2 * span, 2}, rows}},
                    "transformer.parameter @s : tensor<2x" +
                        std::to_string(2 * far + 1) + "xf32> log_buckets(" +
                        std::to_string(buckets) + ", " + std::to_string(most) +
                        ", " + std::to_string(far) + ") of [@t] placed at 0");
  std::vector<float> first(found.begin(), found.begin() + 2 * far + 1);
  // Elements of a vector stand below each other.
  for (int64_t column = 0; column <= 2 * far; ++column)
    EXPECT_EQ(found[2 * far + 1 + column], first[column] + 1000);
  return first;
}

// make_log_bucket_position(r, 256, 512) of transformers 4.57.6 for some r, the
// distances at which its buckets begin among them.
TEST(RelativeVectors, HaveTheBucketsOfDeberta) {
  const std::map<int64_t, int64_t> buckets = {
      {0, 0},     {1, 1},     {127, 127}, {128, 128}, {129, 129}, {130, 130},
      {131, 131}, {200, 169}, {256, 192}, {257, 192}, {300, 207}, {400, 233},
      {505, 254}, {506, 255}, {511, 255}, {512, 256}, {700, 284}};
  constexpr int64_t span = 256, far = 700;
  std::vector<float> rows = rowsOfDistances(span, 256, 512, far);
  for (auto [distance, bucket] : buckets) {
    EXPECT_EQ(rows[far + distance],
              float(std::min(span + bucket, 2 * span - 1)))
        << distance;
    EXPECT_EQ(rows[far - distance], float(std::max(span - bucket, int64_t(0))))
        << -distance;
  }
}

TEST(RelativeVectors, MayHaveABucketForEachDistance) {
  EXPECT_EQ(rowsOfDistances(3, 0, 3, 5),
            (std::vector<float>{0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5}));
}

TEST(RelativeVectors, AreProductsOfNorms) {
  std::vector<float> found = derivedValues(
      {{"x", {2, 3}, {1, 2, 6, -4, 0, 1}},
       {"g", {3}, {1, 2, 0.5}},
       {"c", {3}, {0, 1, -1}},
       {"w", {3, 2}, {1, -1, 2, 0, 0.5, 3}},
       {"b", {2}, {10, 20}}},
      "transformer.parameter @n : tensor<2x3xf32> row_norms(0.25) of "
      "[@x, @g, @c]\n"
      "transformer.parameter @p : tensor<2x2xf32> product of [@n, @w, @b] "
      "placed at 0");
  std::vector<float> expected;
  for (std::vector<double> x :
       {std::vector<double>{1, 2, 6}, std::vector<double>{-4, 0, 1}}) {
    double mean = (x[0] + x[1] + x[2]) / 3, squares = 0;
    for (double each : x)
      squares += (each - mean) * (each - mean);
    double scale = 1 / std::sqrt(squares / 3 + 0.25);
    double n[] = {double(float((x[0] - mean) * scale)),
                  double(float((x[1] - mean) * scale * 2 + 1)),
                  double(float((x[2] - mean) * scale * 0.5 - 1))};
    expected.push_back(float(10 + n[0] + 2 * n[1] + 0.5 * n[2]));
    expected.push_back(float(20 - n[0] + 3 * n[2]));
  }
  ASSERT_EQ(found.size(), expected.size());
  // Half a unit of the last place: sums may be added in another order.
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 2e-6);
}
