// Rows that an op writes in fewer bits beside f32 against a quantize or round
// behind it: the same bits. Each module is compiled twice, once without
// fuse-short-rows.

#include "test/kernels/LayerTest.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class ShortRowsTest : public LayerTest {};

/// %h of %x, %r or %ids, and what a product reads of it.
struct Line {
  const char *name, *text;
};
} // namespace

/// Levels differ in vectors and in tiles here, not in how they multiply.
static std::vector<CodeChoice> codes() {
  std::vector<CodeChoice> sample;
  for (CodeChoice code : everyCodeOfInt8())
    if (runsEveryCell() || code.target == "x86-64-v3" ||
        code.target.find("bf16") != std::string::npos)
      sample.push_back(code);
  return sample;
}

INSTANTIATE_TEST_SUITE_P(, ShortRowsTest, testing::ValuesIn(codes()),
                         testing::PrintToStringParamName());

/// Below a vector, whole ones, one that no level keeps in registers, and one
/// whose weights the L2 cache does not hold.
static constexpr int64_t kWidths[] = {9, 32, 300, 520};
static constexpr int64_t kRows = 43;

static const Line kSources[] = {
    {"norm", R"(
  %h = transformer.norm layer %r, %g, %b residual(%x) {epsilon = 0.5 : f32}
    : (tensor<?xDxf32>, tensor<Dxf32>, tensor<Dxf32>, tensor<?xDxf32>)
      -> tensor<?xDxf32>)"},
    {"linear", R"(
  %h = transformer.linear %r, %w, %b residual(%x) norm(rms, %g, 0.5)
    : (tensor<?xDxf32>, tensor<DxDxf32>, tensor<Dxf32>, tensor<?xDxf32>,
       tensor<Dxf32>) -> tensor<?xDxf32>)"},
    {"ffn", R"(
  %h = transformer.ffn %r, %w, %b, %w, %b activation(relu) residual(%x)
    : (tensor<?xDxf32>, tensor<DxDxf32>, tensor<Dxf32>, tensor<DxDxf32>,
       tensor<Dxf32>, tensor<?xDxf32>) -> tensor<?xDxf32>)"},
    {"embedding", R"(
  %h = transformer.embedding %ids, %w {scale = 3.0 : f32}
    : (tensor<?xi32>, tensor<DxDxf32>) -> tensor<?xDxf32>)"},
    {"learned", R"(
  %h = transformer.embedding %ids, %w positions(learned, %w, 0) at %at
    : (tensor<?xi32>, tensor<DxDxf32>, tensor<DxDxf32>, tensor<?xi32>)
      -> tensor<?xDxf32>)"},
};

static const Line kReaders[] = {
    {"scales", R"(
  %q, %s = transformer.quantize %h
    : (tensor<?xDxf32>) -> (tensor<?xDxi8>, tensor<?xf32>)
  %y = transformer.linear %q scales(%s), %i scales(%t) residual(%h)
    : (tensor<?xDxi8>, tensor<?xf32>, tensor<DxDxi8>, tensor<Dxf32>,
       tensor<?xDxf32>) -> tensor<?xDxf32>)"},
    {"rotated", R"(
  %q, %s = transformer.quantize %h rotated
    : (tensor<?xDxf32>) -> (tensor<?xDxi8>, tensor<?xf32>)
  %y = transformer.linear %q scales(%s), %i scales(%t) residual(%h)
    : (tensor<?xDxi8>, tensor<?xf32>, tensor<DxDxi8>, tensor<Dxf32>,
       tensor<?xDxf32>) -> tensor<?xDxf32>)"},
    {"multiplier", R"(
  %m = transformer.weight @m_D : tensor<1xf32>
  %q = transformer.quantize %h multiplier(%m)
    : (tensor<?xDxf32>, tensor<1xf32>) -> tensor<?xDxi8>
  %y = transformer.linear %q, %i scales(%t) residual(%h)
    : (tensor<?xDxi8>, tensor<DxDxi8>, tensor<Dxf32>, tensor<?xDxf32>)
      -> tensor<?xDxf32>)"},
    {"round", R"(
  %q = transformer.round %h : (tensor<?xDxf32>) -> tensor<?xDxbf16>
  %y = transformer.linear %q, %u residual(%h)
    : (tensor<?xDxbf16>, tensor<DxDxbf16>, tensor<?xDxf32>)
      -> tensor<?xDxf32>)"},
};

static std::string entryName(const Line &source, const Line &reader,
                             int64_t width) {
  return std::string(source.name) + "_" + reader.name + "_" +
         std::to_string(width);
}

static const char *const kParameters = R"(
transformer.parameter @w_D : tensor<DxDxf32>
transformer.parameter @b_D : tensor<Dxf32>
transformer.parameter @g_D : tensor<Dxf32>
transformer.parameter @m_D : tensor<1xf32>
transformer.parameter @i_D : tensor<DxDxi8> column_integers of [@w_D]
transformer.parameter @t_D : tensor<Dxf32> column_scales of [@w_D]
transformer.parameter @u_D : tensor<DxDxbf16> rounded of [@w_D]
)";

static const char *const kEntry = R"((
    %x: tensor<?xDxf32> {transformer.name = "x", transformer.dims = ["rows"]},
    %r: tensor<?xDxf32> {transformer.name = "r", transformer.dims = ["rows"]},
    %ids: tensor<?xi32> {transformer.name = "ids", transformer.dims = ["rows"]},
    %at: tensor<?xi32> {transformer.name = "positions",
                        transformer.dims = ["rows"]})
    -> (tensor<?xDxf32> {transformer.name = "y"}) {
  %w = transformer.weight @w_D : tensor<DxDxf32>
  %b = transformer.weight @b_D : tensor<Dxf32>
  %g = transformer.weight @g_D : tensor<Dxf32>
  %i = transformer.weight @i_D : tensor<DxDxi8>
  %t = transformer.weight @t_D : tensor<Dxf32>
  %u = transformer.weight @u_D : tensor<DxDxbf16>)";

/// Large weights matter to a linear alone, whose rows all wait for its norm.
static std::vector<Line> sourcesOf(int64_t width) {
  if (width > 300)
    return {kSources[1]};
  return {std::begin(kSources), std::end(kSources)};
}

static std::string moduleOf(int64_t width) {
  std::string text = kParameters;
  for (const Line &source : sourcesOf(width))
    for (const Line &reader : kReaders)
      text += "func.func @" + entryName(source, reader, width) + kEntry +
              source.text + reader.text +
              "\n  return %y : tensor<?xDxf32>\n}\n";
  std::string size = std::to_string(width);
  return fill(
      text,
      {{"DxD", size + "x" + size}, {"Dx", size + "x"}, {"_D", "_" + size}});
}

static bool haveSameBits(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

static Weights weightsOf(int64_t width) {
  std::string size = std::to_string(width);
  return {{"w_" + size, {{width, width}, randomValues(width * width, 1)}},
          {"b_" + size, {{width}, randomValues(width, 2)}},
          {"g_" + size, {{width}, randomValues(width, 3)}},
          {"m_" + size, {{1}, {35.0f}}}};
}

/// Beside ordinary rows zeros, an infinity and what is no number.
static Values valuesOf(int64_t width) {
  std::vector<float> x = randomValues(kRows * width, 4);
  std::vector<float> r = randomValues(kRows * width, 5);
  std::fill_n(x.begin() + 2 * width, width, 0.0f);
  std::fill_n(r.begin() + 2 * width, width, 0.0f);
  x[5 * width] = std::numeric_limits<float>::infinity();
  x[9 * width + 1] = std::numeric_limits<float>::quiet_NaN();
  return {{"x", x}, {"r", r}};
}

TEST_P(ShortRowsTest, AreThoseOfAnOpOfTheirOwn) {
  CodeChoice apart = GetParam();
  apart.flags = "--no-fuse fuse-short-rows";
  for (int64_t width : kWidths) {
    // The one that no level keeps in registers.
    if (runsOneCell() && width != 300)
      continue;
    std::string module = moduleOf(width);
    Weights weights = weightsOf(width);
    Values values = valuesOf(width);
    std::vector<int32_t> ids;
    for (int64_t row = 0; row < kRows; ++row)
      ids.push_back(int32_t(row % width));
    Ids rows = {{"ids", ids}, {"positions", ids}};
    Result<EntryRunner> expected = EntryRunner::compile(module, weights, apart);
    ASSERT_TRUE(expected.ok()) << expected.message();
    withCode(module, weights, [&](const EntryRunner &code) {
      for (const Line &source : sourcesOf(width))
        for (const Line &reader : kReaders) {
          std::string entry = entryName(source, reader, width);
          SCOPED_TRACE(entry);
          std::vector<float> same =
              runRows(*expected, entry, 0, kRows, values, rows);
          std::vector<float> found =
              runInBatches(code, entry, kRows, values, rows);
          EXPECT_TRUE(std::equal(found.begin(), found.end(), same.begin(),
                                 same.end(), haveSameBits));
        }
    });
  }
}
