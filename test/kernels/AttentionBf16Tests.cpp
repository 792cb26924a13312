//===- AttentionBf16Tests.cpp - What is rounded in attention of bf16 ------===//
//
// Weights round to bf16, and the same way wherever their exponents count from;
// what divides the sum is the total of what was rounded; a result rounds once.
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
                         testing::ValuesIn(everyCodeOfShortTypes()),
                         testing::PrintToStringParamName());

/// One head of width 2 whose scale makes exponents of base 2 of q . k, in both
/// forms, with and without `round`.
static const char *const kModule = R"(
func.func @full(
    %q: tensor<?x?x2xbf16> {transformer.name = "q",
                            transformer.dims = ["batch", "target"]},
    %k: tensor<?x?x2xbf16> {transformer.name = "k",
                            transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x3xbf16> {transformer.name = "v",
                            transformer.dims = ["batch", "source"]})
    -> (tensor<?x?x3xf32> {transformer.name = "y"},
        tensor<?x?x3xbf16> {transformer.name = "r"}) {
  %y = transformer.attention %q, %k, %v
    {heads = 1 : i64, scale = 0.693147182 : f32}
    : (tensor<?x?x2xbf16>, tensor<?x?x2xbf16>, tensor<?x?x3xbf16>)
      -> tensor<?x?x3xf32>
  %r = transformer.attention %q, %k, %v round
    {heads = 1 : i64, scale = 0.693147182 : f32}
    : (tensor<?x?x2xbf16>, tensor<?x?x2xbf16>, tensor<?x?x3xbf16>)
      -> tensor<?x?x3xbf16>
  return %y, %r : tensor<?x?x3xf32>, tensor<?x?x3xbf16>
}
func.func @step(
    %q: tensor<?x2xbf16> {transformer.name = "q",
                          transformer.dims = ["rows"]},
    %k: tensor<?x?x2xbf16> {transformer.name = "k",
                            transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x3xbf16> {transformer.name = "v",
                            transformer.dims = ["batch", "source"]},
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?x3xf32> {transformer.name = "y"},
        tensor<?x3xbf16> {transformer.name = "r"}) {
  %y = transformer.attention %q, %k, %v at %positions of %sentences shared
    {heads = 1 : i64, scale = 0.693147182 : f32}
    : (tensor<?x2xbf16>, tensor<?x?x2xbf16>, tensor<?x?x3xbf16>,
       tensor<?xi32>, tensor<?xi32>) -> tensor<?x3xf32>
  %r = transformer.attention %q, %k, %v at %positions of %sentences shared round
    {heads = 1 : i64, scale = 0.693147182 : f32}
    : (tensor<?x2xbf16>, tensor<?x?x2xbf16>, tensor<?x?x3xbf16>,
       tensor<?xi32>, tensor<?xi32>) -> tensor<?x3xbf16>
  return %y, %r : tensor<?x3xf32>, tensor<?x3xbf16>
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

/// The means of v [keys, 3], from weights that are rounded.
static std::vector<double> meansOf(const Exponents &exponents,
                                   const std::vector<float> &v) {
  double total = 0;
  std::vector<double> means(3);
  for (int64_t j = 0; j < kKeys; ++j) {
    double weight = rounded(std::exp2(Exponents::fraction(j))) *
                    std::exp2(exponents.whole(j) - exponents.whole(kKeys - 1));
    total += weight;
    for (int64_t d = 0; d < 3; ++d)
      means[d] += weight * v[3 * j + d];
  }
  for (double &mean : means)
    mean /= total;
  return means;
}

TEST_P(AttentionBf16Test, RoundsWeightsAndResults) {
  // The values of one width are 1, and so is their mean if the total is that of
  // the weights that multiply them.
  std::vector<float> v = rounded(randomValues(kKeys * 3, 1));
  for (int64_t j = 0; j < kKeys; ++j)
    v[3 * j] = 1;
  withCode(kModule, {}, [&](const EntryRunner &code) {
    // All of them are bf16.
    for (const Exponents &exponents :
         {Exponents{0, 0}, Exponents{16, 0}, Exponents{-3008, 0},
          Exponents{0, 16}, Exponents{96, 16}})
      for (const char *form : {"full", "step"}) {
        SCOPED_TRACE(std::string(form) + " from " +
                     std::to_string(exponents.offset) + " by " +
                     std::to_string(exponents.rise));
        std::vector<float> k;
        for (int64_t j = 0; j < kKeys; ++j)
          k.insert(k.end(), {Exponents::fraction(j), exponents.whole(j)});
        EntryCall call = prepare(code, form, {{Dim::Source, kKeys}});
        call.set("q", bitsOf({1, 1}));
        call.set("k", bitsOf(k));
        call.set("v", bitsOf(v));
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
