//===- HistoryTests.cpp - Steps over caches that rows share ---------------===//
//
// A row that reads each position of its past from another row's cache gets the
// bits that a copy of that past would give, and so does one whose cache is not
// that of its own number. What a chunk leaves is what steps would have written.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
struct Past {
  std::string name, mask;
  int64_t pinned;
};

struct Sizes {
  int64_t positions, slots;
};

class HistoryTest : public LayerTest {};
} // namespace

HEDDLE_FOR_EVERY_CODE_AND_TYPE(HistoryTest);

static constexpr int64_t kRows = 7, kCaches = 9;
static constexpr int64_t kQueryWidth = 4 * 24, kKeyWidth = 2 * 24,
                         kValueWidth = 2 * 40;

/// What is pinned lies outside of the ring, and nothing is between.
static const Past kPasts[] = {
    {"causal", "%m = transformer.mask.causal", 0},
    {"pinned",
     "%w = transformer.mask.window [left = 4, right = 0]\n"
     "%g = transformer.mask.global columns [count = 3]\n"
     "%m = transformer.mask.or %w, %g",
     3},
    {"window",
     "%m = transformer.mask.window [left = 3, right = 0, dilation = [2]]", 0},
    {"tokens", "%m = transformer.mask.random_tokens [count = 6, seed = 3]", 0},
};

/// The step form that finds its keys by `how`, which `operands` declare.
static std::string formOf(const Past &past, const std::string &element,
                          const std::string &how, const std::string &caches,
                          const std::string &operands,
                          const std::string &type) {
  return fill(R"(
func.func @NAME_HOW(
    %q: tensor<?x96xELEMENT> {transformer.name = "q",
                              transformer.dims = ["rows"]},
    %k: tensor<?x?x48xELEMENT> {transformer.name = "k",
                                transformer.dims = ["CACHES", "capacity"]},
    %v: tensor<?x?x80xELEMENT> {transformer.name = "v",
                                transformer.dims = ["CACHES", "capacity"]},
    OPERANDS
    %at: tensor<?xi32> {transformer.name = "positions",
                        transformer.dims = ["rows"]},
    %of: tensor<?xi32> {transformer.name = "sentences",
                        transformer.dims = ["rows"]})
    -> (tensor<?x160xf32> {transformer.name = "y"}) {
  MASK
  %causal = transformer.mask.causal
  %mask = transformer.mask.and %m, %causal
  %y = transformer.attention %q, %k, %v mask(%mask) at %at of %of HOW
    {heads = 4 : i64, kv_heads = 2 : i64, pinned = PINNED : i64}
    : (tensor<?x96xELEMENT>, tensor<?x?x48xELEMENT>, tensor<?x?x80xELEMENT>,
       !transformer.mask, tensor<?xi32>, tensor<?xi32>TYPE) -> tensor<?x160xf32>
  return %y : tensor<?x160xf32>
}
)",
              {{"NAME_HOW", past.name + "_" + (how.empty() ? "copied" : how)},
               {"ELEMENT", element},
               {"CACHES", caches},
               {"OPERANDS", operands},
               {"MASK", past.mask},
               {"HOW", how.empty() ? "" : how + " %" + how},
               {"PINNED", std::to_string(past.pinned)},
               {"TYPE", type}});
}

static std::string moduleOf(const std::string &element) {
  std::string module;
  for (const Past &past : kPasts) {
    module += formOf(past, element, "", "rows", "", "");
    module += formOf(past, element, "in", "caches",
                     R"(%in: tensor<?xi32> {transformer.name = "caches",
                                            transformer.dims = ["rows"]},)",
                     ", tensor<?xi32>");
    module += formOf(past, element, "through", "caches",
                     R"(%through: tensor<?x?xi32> {transformer.name = "history",
                    transformer.dims = ["rows", "target"]},)",
                     ", tensor<?x?xi32>");
  }
  return module;
}

static int64_t slotOf(int64_t position, const Past &past, int64_t slots) {
  if (past.pinned == 0)
    return position % slots;
  return position < past.pinned
             ? position
             : past.pinned + (position - past.pinned) % (slots - past.pinned);
}

TEST_P(HistoryTest, HasTheBitsOfACopy) {
  withCode(moduleOf(elementType()), {}, [&](const EntryRunner &code) {
    for (const Past &past : kPasts)
      for (Sizes sizes : {Sizes{1, 8},
                          {7, 8},
                          {40, 40},
                          {300, 300},
                          {70, 8},
                          {600, 260},
                          {1300, 1050}}) {
        int64_t positions = sizes.positions, slots = sizes.slots;
        SCOPED_TRACE(past.name + " " + std::to_string(positions) + " in " +
                     std::to_string(slots));
        auto q = randomValues(kRows * kQueryWidth, 1, 2);
        auto k = randomValues(kCaches * slots * kKeyWidth, 2, 2);
        auto v = randomValues(kCaches * slots * kValueWidth, 3);
        auto random = randomValues(kRows * positions, 4, 1000);
        std::vector<int32_t> history, own;
        for (float number : random)
          history.push_back(int32_t(number + 1000) % kCaches);
        for (int64_t row = 0; row < kRows; ++row)
          own.push_back((5 * row + 2) % kCaches);

        /// Each row's past as it would be copied: position j of row r stands in
        /// cache `cacheOf(r, j)`.
        auto copied = [&](const std::vector<float> &all, int64_t width,
                          auto cacheOf) {
          std::vector<float> copy(kRows * slots * width,
                                  std::numeric_limits<float>::quiet_NaN());
          for (int64_t row = 0; row < kRows; ++row)
            for (int64_t j = 0; j < positions; ++j) {
              int64_t slot = slotOf(j, past, slots);
              std::copy_n(&all[(cacheOf(row, j) * slots + slot) * width], width,
                          &copy[(row * slots + slot) * width]);
            }
          return copy;
        };
        auto run = [&](const std::string &how, const std::vector<float> &keys,
                       const std::vector<float> &values) {
          EntryCall call = prepare(code, past.name + "_" + how,
                                   {{Dim::Rows, kRows},
                                    {Dim::Caches, kCaches},
                                    {Dim::Target, positions},
                                    {Dim::Capacity, slots}});
          setInType(call, "q", q);
          setInType(call, "k", keys);
          setInType(call, "v", values);
          call.set("positions", std::vector<int32_t>(kRows, positions - 1));
          call.set("sentences", std::vector<int32_t>(kRows));
          if (how == "through")
            call.set("history", history);
          if (how == "in")
            call.set("caches", own);
          call();
          Status status = call.checkGuards();
          EXPECT_TRUE(status.ok()) << status.message();
          return call.get("y");
        };
        auto ofHistory = [&](int64_t row, int64_t j) {
          return history[row * positions + j];
        };
        EXPECT_EQ(run("through", k, v),
                  run("copied", copied(k, kKeyWidth, ofHistory),
                      copied(v, kValueWidth, ofHistory)));
        auto ofRow = [&](int64_t row, int64_t) { return own[row]; };
        EXPECT_EQ(run("in", k, v), run("copied", copied(k, kKeyWidth, ofRow),
                                       copied(v, kValueWidth, ofRow)));
      }
  });
}
