//===- AttentionBf16Tests.cpp - What is rounded in attention of bf16 ------===//
//
// Weights round to bf16, and the same way wherever their exponents count from;
// what divides the sum is the total of what was rounded; a result rounds once.
// What tiles multiply adds up to the same, numbers or not.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/Bf16Numbers.h"
#include "test/kernels/LayerTest.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
class AttentionBf16Test : public LayerTest {};
} // namespace

INSTANTIATE_TEST_SUITE_P(, AttentionBf16Test,
                         testing::ValuesIn(andHopper(everyCodeOfShortTypes())),
                         testing::PrintToStringParamName());

/// One head of width 2 whose scale makes exponents of base 2 of q . k, in both
/// forms, with and without `round`.
static const char *const kModule = R"(
func.func @full(
    %q: tensor<?x?xQWIDTHxbf16> {transformer.name = "q",
                            transformer.dims = ["batch", "target"]},
    %k: tensor<?x?xQWIDTHxbf16> {transformer.name = "k",
                            transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVWIDTHxbf16> {transformer.name = "v",
                            transformer.dims = ["batch", "source"]})
    -> (tensor<?x?xVWIDTHxf32> {transformer.name = "y"},
        tensor<?x?xVWIDTHxbf16> {transformer.name = "r"}) {
  %y = transformer.attention %q, %k, %v
    {heads = 1 : i64, scale = 0.693147182 : f32}
    : (tensor<?x?xQWIDTHxbf16>, tensor<?x?xQWIDTHxbf16>, tensor<?x?xVWIDTHxbf16>)
      -> tensor<?x?xVWIDTHxf32>
  %r = transformer.attention %q, %k, %v round
    {heads = 1 : i64, scale = 0.693147182 : f32}
    : (tensor<?x?xQWIDTHxbf16>, tensor<?x?xQWIDTHxbf16>, tensor<?x?xVWIDTHxbf16>)
      -> tensor<?x?xVWIDTHxbf16>
  return %y, %r : tensor<?x?xVWIDTHxf32>, tensor<?x?xVWIDTHxbf16>
}
func.func @step(
    %q: tensor<?xQWIDTHxbf16> {transformer.name = "q",
                          transformer.dims = ["rows"]},
    %k: tensor<?x?xQWIDTHxbf16> {transformer.name = "k",
                            transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVWIDTHxbf16> {transformer.name = "v",
                            transformer.dims = ["batch", "source"]},
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?xVWIDTHxf32> {transformer.name = "y"},
        tensor<?xVWIDTHxbf16> {transformer.name = "r"}) {
  %y = transformer.attention %q, %k, %v at %positions of %sentences shared
    {heads = 1 : i64, scale = 0.693147182 : f32}
    : (tensor<?xQWIDTHxbf16>, tensor<?x?xQWIDTHxbf16>, tensor<?x?xVWIDTHxbf16>,
       tensor<?xi32>, tensor<?xi32>) -> tensor<?xVWIDTHxf32>
  %r = transformer.attention %q, %k, %v at %positions of %sentences shared round
    {heads = 1 : i64, scale = 0.693147182 : f32}
    : (tensor<?xQWIDTHxbf16>, tensor<?x?xQWIDTHxbf16>, tensor<?x?xVWIDTHxbf16>,
       tensor<?xi32>, tensor<?xi32>) -> tensor<?xVWIDTHxbf16>
  return %y, %r : tensor<?xVWIDTHxf32>, tensor<?xVWIDTHxbf16>
}
)";

static std::vector<uint16_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint16_t> bits;
  for (float value : values)
    bits.push_back(roundedBits(value));
  return bits;
}

/// Keys that no tile divides.
static constexpr int64_t kKeys = 37;

namespace {
/// The exponent of key j: eighths in [-7, 0], whose powers of 2 are nowhere
/// near the middle between two bf16, and a whole number that may rise from key
/// to key so that each exceeds all before it.
struct Exponents {
  float offset, rise;

  static float fraction(int64_t j) { return -float(j * 5 % 57) / 8; }
  float whole(int64_t j) const { return offset + rise * float(j); }
};
} // namespace

/// The means of v [keys, width], from weights that are rounded.
static std::vector<double> meansOf(const Exponents &exponents,
                                   const std::vector<float> &v) {
  double total = 0;
  int64_t width = v.size() / kKeys;
  std::vector<double> means(width);
  for (int64_t j = 0; j < kKeys; ++j) {
    double weight = rounded(std::exp2(Exponents::fraction(j))) *
                    std::exp2(exponents.whole(j) - exponents.whole(kKeys - 1));
    total += weight;
    for (int64_t d = 0; d < width; ++d)
      means[d] += weight * v[width * j + d];
  }
  for (double &mean : means)
    mean /= total;
  return means;
}

namespace {
/// Of a head: narrow, and as tiles multiply it; and with values that are fewer
/// than what copies them.
struct Widths {
  int64_t ofKeys, ofValues;
};
} // namespace
static constexpr Widths kWidths[] = {{2, 3}, {32, 32}, {128, 16}};

static std::string moduleOf(const Widths &widths) {
  return fill(kModule, {{"QWIDTH", std::to_string(widths.ofKeys)},
                        {"VWIDTH", std::to_string(widths.ofValues)}});
}

/// Rows of `width` that begin with the two numbers of `row`, zeros behind them.
static void addRow(std::vector<float> &rows, std::pair<float, float> row,
                   int64_t width) {
  rows.insert(rows.end(), {row.first, row.second});
  rows.resize(rows.size() + width - 2);
}

/// One query, whose scores are the exponents.
static void setInputs(EntryCall &call, const Widths &widths,
                      const Exponents &exponents, const std::vector<float> &v) {
  std::vector<float> q, k;
  addRow(q, {1, 1}, widths.ofKeys);
  for (int64_t j = 0; j < kKeys; ++j)
    addRow(k, {Exponents::fraction(j), exponents.whole(j)}, widths.ofKeys);
  call.set("q", bitsOf(q));
  call.set("k", bitsOf(k));
  call.set("v", bitsOf(v));
}

TEST_P(AttentionBf16Test, RoundsWeightsAndResults) {
  for (const Widths &widths : kWidths)
    withCode(moduleOf(widths), {}, [&](const EntryRunner &code) {
      // The values of one width are 1, and so is their mean if the total is
      // that of the weights that multiply them.
      std::vector<float> v = rounded(randomValues(kKeys * widths.ofValues, 1));
      for (int64_t j = 0; j < kKeys; ++j)
        v[widths.ofValues * j] = 1;
      // All of them are bf16.
      for (const Exponents &exponents :
           {Exponents{0, 0}, Exponents{16, 0}, Exponents{-3008, 0},
            Exponents{0, 16}, Exponents{96, 16}})
        for (const char *form : {"full", "step"}) {
          SCOPED_TRACE(std::string(form) + " from " +
                       std::to_string(exponents.offset) + " by " +
                       std::to_string(exponents.rise));
          EntryCall call = prepare(code, form, {{Dim::Source, kKeys}});
          setInputs(call, widths, exponents, v);
          if (form == std::string("step"))
            call.set("positions", std::vector<int32_t>{kKeys - 1});
          call();
          EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
          std::vector<float> y = call.get("y");
          // Scores of up to 3015 within a unit of 2^-12, and so weights.
          expectNear(y, meansOf(exponents, v), 0x1p-12);
          // Sums of 37 terms that differ in their order alone.
          EXPECT_NEAR(y[0], 1, 37 * 0x1p-24);
          EXPECT_EQ(call.get<uint16_t>("r"), bitsOf(y));
        }
    });
}

TEST_P(AttentionBf16Test, ValuesThatAreNotFiniteReachTheirWidth) {
  for (const Widths &widths : kWidths)
    withCode(moduleOf(widths), {}, [&](const EntryRunner &code) {
      std::vector<float> v = rounded(randomValues(kKeys * widths.ofValues, 1));
      auto run = [&] {
        EntryCall call = prepare(code, "full", {{Dim::Source, kKeys}});
        setInputs(call, widths, {0, 0}, v);
        call();
        return call.get("y");
      };
      std::vector<float> expected = run();
      // In a whole group of keys and behind the last one.
      expected[1] = v[5 * widths.ofValues + 1] = -INFINITY;
      v[36 * widths.ofValues + 2] = NAN;
      std::vector<float> found = run();
      EXPECT_TRUE(std::isnan(found[2]));
      found[2] = expected[2];
      EXPECT_EQ(found, expected);
    });
}
