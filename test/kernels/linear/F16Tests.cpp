//===- F16Tests.cpp - What f16 alone is tested for ------------------------===//
//
// Attention: infinities, NaNs and values above the largest f16 reach the
// queries that see them, and no others. The tests that f16 shares with bf16 are
// in ShortTypeTests.cpp.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/linear/ShortTypeTest.h"

#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

TEST_P(F16Test, ValuesThatAreNotFiniteReachThoseWhoSeeThem) {
  constexpr int64_t width = 32, length = 150;
  const char *module = R"(
func.func @attend(
    %q: tensor<?x?x32xf32> {transformer.name = "q",
                            transformer.dims = ["batch", "target"]},
    %k: tensor<?x?x32xf32> {transformer.name = "k",
                            transformer.dims = ["batch", "target"]},
    %v: tensor<?x?x32xf32> {transformer.name = "v",
                            transformer.dims = ["batch", "target"]})
    -> (tensor<?x?x32xf32> {transformer.name = "y"}) {
  %mask = transformer.mask.causal
  %a = transformer.round %q to f16 : (tensor<?x?x32xf32>) -> tensor<?x?x32xf16>
  %b = transformer.round %k to f16 : (tensor<?x?x32xf32>) -> tensor<?x?x32xf16>
  %c = transformer.round %v to f16 : (tensor<?x?x32xf32>) -> tensor<?x?x32xf16>
  %y = transformer.attention %a, %b, %c mask(%mask) {heads = 1 : i64}
    : (tensor<?x?x32xf16>, tensor<?x?x32xf16>, tensor<?x?x32xf16>,
       !transformer.mask) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
)";
  std::vector<float> q = randomValues(length * width, 1),
                     k = randomValues(length * width, 2),
                     v = randomValues(length * width, 3);
  withCode(module, {}, [&](const EntryRunner &code) {
    auto run = [&] {
      EntryCall call =
          prepare(code, "attend", {{Dim::Batch, 1}, {Dim::Target, length}});
      call.set("q", q);
      call.set("k", k);
      call.set("v", v);
      call();
      EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
      return call.get("y");
    };
    std::vector<float> expected = run();
    const float infinity = std::numeric_limits<float>::infinity();
    struct Other {
      int64_t key, column;
      float value, seen;
    };
    // One of them is above what f16 has.
    for (const Other &other :
         {Other{5, 1, -infinity, -infinity}, Other{70, 30, 65520, infinity},
          Other{130, 2, NAN, NAN}}) {
      v[other.key * width + other.column] = other.value;
      for (int64_t i = other.key; i < length; ++i)
        expected[i * width + other.column] = other.seen;
    }
    std::vector<float> found = run();
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_TRUE(found[i] == expected[i] ||
                  (std::isnan(found[i]) && std::isnan(expected[i])))
          << "at " << i << ": " << found[i] << " for " << expected[i];
  });
}
