//===- AttentionTests.cpp - Attention against its formula -----------------===//
//
// Full and step forms over ragged sizes, masks and shapes of heads; and rows
// beside hostile neighbours, whose bits may not change.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
/// A mask as IR, which defines %mask, and as its definition.
struct Mask {
  std::string name, text;
  std::function<bool(int64_t i, int64_t j, int64_t length)> contains;
};

struct Heads {
  int64_t count, kvCount, keyWidth, valueWidth;
};

/// One attention op; sizes are those of its buffers.
struct Case {
  Heads heads;
  Mask mask;

  std::string name() const {
    return mask.name + "_" + std::to_string(heads.count) + "_" +
           std::to_string(heads.keyWidth) + "_" +
           std::to_string(heads.valueWidth);
  }
};

struct Sizes {
  int64_t batch, queries, keys;
};
} // namespace

static const Mask kFull = {"full", "%mask = transformer.mask.full",
                           [](int64_t, int64_t, int64_t) { return true; }};
static const Mask kCausal = {
    "causal", "%mask = transformer.mask.causal",
    [](int64_t i, int64_t j, int64_t) { return j <= i; }};
static const Mask kPadding = {
    "padding", "%mask = transformer.mask.padding %lengths : tensor<?xi32>",
    [](int64_t, int64_t j, int64_t length) { return j < length; }};
static const Mask kWindow = {
    "window", "%mask = transformer.mask.window [left = 20, right = 5]",
    [](int64_t i, int64_t j, int64_t) { return i - j <= 20 && j - i <= 5; }};
/// Several ranges, dilation, a complement.
static const Mask kMixed = {
    "mixed",
    "%w = transformer.mask.window [left = 3, right = 1, dilation = [3]]\n"
    "%p = transformer.mask.padding %lengths : tensor<?xi32>\n"
    "%n = transformer.mask.not %p\n%c = transformer.mask.causal\n"
    "%o = transformer.mask.and %n, %c\n%mask = transformer.mask.or %w, %o",
    [](int64_t i, int64_t j, int64_t length) {
      bool inWindow = (i - j) % 3 == 0 && i - j <= 9 && j - i <= 3;
      return inWindow || (j >= length && j <= i);
    }};

static std::vector<Case> cases() {
  std::vector<Case> result;
  for (const Mask &mask : {kFull, kCausal, kPadding, kWindow, kMixed})
    for (const Heads &heads : {Heads{2, 2, 32, 32}, Heads{4, 2, 24, 40}})
      result.push_back({heads, mask});
  // Widths of less than a vector, of many, and of no whole one.
  for (const Heads &heads :
       {Heads{2, 1, 8, 8}, Heads{1, 1, 256, 256}, Heads{2, 2, 12, 6},
        Heads{2, 2, 64, 64}, Heads{1, 1, 128, 128}, Heads{2, 1, 7, 9},
        Heads{1, 1, 1, 33}})
    result.push_back({heads, kCausal});
  // More values than are kept for the next block of queries.
  result.push_back({{2, 2, 32, 512}, kFull});
  return result;
}

/// The text of a case with one form's types and operands.
static std::string moduleOf(const Case &each, const std::string &text,
                            const std::string &element) {
  auto number = [](int64_t value) { return std::to_string(value); };
  const Heads &heads = each.heads;
  return fill(text, {{"NAME", each.name()},
                     {"MASK", each.mask.text},
                     {"KVHEADS", number(heads.kvCount)},
                     {"HEADS", number(heads.count)},
                     {"QWIDTH", number(heads.count * heads.keyWidth)},
                     {"KWIDTH", number(heads.kvCount * heads.keyWidth)},
                     {"VWIDTH", number(heads.kvCount * heads.valueWidth)},
                     {"YWIDTH", number(heads.count * heads.valueWidth)},
                     {"ELEMENT", element}});
}

static const char *const kFullForm = R"(
func.func @NAME(
    %q: tensor<?x?xQWIDTHxELEMENT> {transformer.name = "q",
                                transformer.dims = ["batch", "target"]},
    %k: tensor<?x?xKWIDTHxELEMENT> {transformer.name = "k",
                                transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVWIDTHxELEMENT> {transformer.name = "v",
                                transformer.dims = ["batch", "source"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]})
    -> (tensor<?x?xYWIDTHxf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask)
    {heads = HEADS : i64, kv_heads = KVHEADS : i64}
    : (tensor<?x?xQWIDTHxELEMENT>, tensor<?x?xKWIDTHxELEMENT>, tensor<?x?xVWIDTHxELEMENT>,
       !transformer.mask) -> tensor<?x?xYWIDTHxf32>
  return %y : tensor<?x?xYWIDTHxf32>
}
)";

static const char *const kStepForm = R"(
func.func @NAME(
    %q: tensor<?xQWIDTHxELEMENT> {transformer.name = "q",
                              transformer.dims = ["rows"]},
    %k: tensor<?x?xKWIDTHxELEMENT> {transformer.name = "k",
                                transformer.dims = ["LEADING"]},
    %v: tensor<?x?xVWIDTHxELEMENT> {transformer.name = "v",
                                transformer.dims = ["LEADING"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]},
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?xYWIDTHxf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask) at %positions
    of %sentences SHARED {heads = HEADS : i64, kv_heads = KVHEADS : i64}
    : (tensor<?xQWIDTHxELEMENT>, tensor<?x?xKWIDTHxELEMENT>, tensor<?x?xVWIDTHxELEMENT>,
       !transformer.mask, tensor<?xi32>, tensor<?xi32>)
      -> tensor<?xYWIDTHxf32>
  return %y : tensor<?xYWIDTHxf32>
}
)";

/// y of one query, from its rows of keys and values for the positions
/// [0, count) that `allowed` holds.
static void attend(const Heads &heads, const float *q, const float *k,
                   const float *v, int64_t count,
                   const std::function<bool(int64_t)> &allowed,
                   std::vector<double> &y) {
  int64_t group = heads.count / heads.kvCount;
  for (int64_t h = 0; h < heads.count; ++h) {
    std::vector<double> sums(heads.valueWidth);
    std::vector<std::pair<int64_t, double>> scores;
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    for (int64_t j = 0; j < count; ++j) {
      if (!allowed(j))
        continue;
      double score = 0;
      for (int64_t d = 0; d < heads.keyWidth; ++d)
        score += double(q[h * heads.keyWidth + d]) *
                 k[(j * heads.kvCount + h / group) * heads.keyWidth + d];
      scores.push_back({j, score / std::sqrt(double(heads.keyWidth))});
      largest = std::max(largest, scores.back().second);
    }
    for (auto [j, score] : scores) {
      double weight = std::exp(score - largest);
      total += weight;
      for (int64_t d = 0; d < heads.valueWidth; ++d)
        sums[d] +=
            weight * v[(j * heads.kvCount + h / group) * heads.valueWidth + d];
    }
    for (double sum : sums)
      y.push_back(scores.empty() ? 0 : sum / total);
  }
}

namespace {
/// What a call of the full form reads.
struct Inputs {
  std::vector<float> q, k, v;
  std::vector<int32_t> lengths;

  Inputs(const Heads &heads, const Sizes &sizes)
      : q(randomValues(
            sizes.batch * sizes.queries * heads.count * heads.keyWidth, 1, 2)),
        k(randomValues(
            sizes.batch * sizes.keys * heads.kvCount * heads.keyWidth, 2, 2)),
        v(randomValues(
            sizes.batch * sizes.keys * heads.kvCount * heads.valueWidth, 3)) {
    // The first sentence is full, the last has no key.
    for (int64_t b = 0; b < sizes.batch; ++b)
      lengths.push_back(sizes.batch == 1 ? sizes.keys
                                         : sizes.keys * (sizes.batch - 1 - b) /
                                               (sizes.batch - 1));
  }
};

class AttentionTest : public LayerTest {
protected:
  /// Scores of up to 30 from sums of up to 256 products, with an error of 256
  /// half units of the last place at worst. Weights w_j of bf16 have one of up
  /// to 2^-8 w_j, which moves the mean of the values v_j, all in [-1, 1], by at
  /// most 2^-8 sum w_j |v_j - y| / sum w_j.
  static double tolerance() { return 5e-5 + (isOfBf16() ? 0x1p-7 : 0); }

  static std::vector<float> run(const EntryRunner &code, const Case &each,
                                const Sizes &sizes, const Inputs &inputs) {
    EntryCall call = prepare(code, each.name(),
                             {{Dim::Batch, sizes.batch},
                              {Dim::Target, sizes.queries},
                              {Dim::Source, sizes.keys}});
    setInType(call, "q", inputs.q);
    setInType(call, "k", inputs.k);
    setInType(call, "v", inputs.v);
    call.set("lengths", inputs.lengths);
    call();
    Status status = call.checkGuards();
    EXPECT_TRUE(status.ok()) << status.message();
    return call.get("y");
  }
};
} // namespace

HEDDLE_FOR_EVERY_CODE_AND_TYPE(AttentionTest);

TEST_P(AttentionTest, FullForm) {
  std::string module;
  for (const Case &each : cases())
    module += moduleOf(each, kFullForm, elementType());
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Case &each : cases())
      for (const Sizes &sizes :
           {Sizes{1, 1, 1}, Sizes{2, 7, 7}, Sizes{3, 33, 33}, Sizes{1, 40, 300},
            Sizes{2, 65, 17}, Sizes{2, 40, 600},
            // Blocks enough for a copy of a head's values.
            Sizes{2, 257, 300}}) {
        SCOPED_TRACE(each.name() + " " + std::to_string(sizes.queries) + " x " +
                     std::to_string(sizes.keys));
        const Heads &heads = each.heads;
        Inputs inputs(heads, sizes);
        for (std::vector<float> *values : {&inputs.q, &inputs.k, &inputs.v})
          *values = inType(*values);
        std::vector<double> expected;
        for (int64_t b = 0; b < sizes.batch; ++b)
          for (int64_t i = 0; i < sizes.queries; ++i)
            attend(
                heads,
                &inputs
                     .q[(b * sizes.queries + i) * heads.count * heads.keyWidth],
                &inputs.k[b * sizes.keys * heads.kvCount * heads.keyWidth],
                &inputs.v[b * sizes.keys * heads.kvCount * heads.valueWidth],
                sizes.keys,
                [&](int64_t j) {
                  return each.mask.contains(i, j, inputs.lengths[b]);
                },
                expected);
        expectNear(run(code, each, sizes, inputs), expected, tolerance());
      }
  });
}

TEST_P(AttentionTest, RowsKeepTheirBitsBesideHostileOnes) {
  std::vector<Case> all = cases();
  std::string module;
  for (const Case &each : all)
    module += moduleOf(each, kFullForm, elementType());
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Case &each : all) {
      SCOPED_TRACE(each.name());
      const Heads &heads = each.heads;
      Sizes sizes = {3, 50, 50};
      Inputs inputs(heads, sizes);
      std::vector<float> before = run(code, each, sizes, inputs);
      // Queries 20 and 21 of every sentence; and what no earlier query sees of
      // keys and values under causal masks.
      Inputs hostile = inputs;
      auto spoil = [&](std::vector<float> &values, int64_t row, float value) {
        int64_t width = values.size() / (sizes.batch * sizes.queries);
        for (int64_t b = 0; b < sizes.batch; ++b)
          std::fill_n(&values[(b * sizes.queries + row) * width], width, value);
      };
      spoil(hostile.q, 20, kNaN);
      spoil(hostile.q, 21, 1e4f);
      int64_t firstKey = each.mask.name == "causal" ? 22 : 50;
      for (int64_t j = firstKey; j < sizes.keys; ++j) {
        spoil(hostile.k, j, j % 2 ? 1e4f : kNaN);
        spoil(hostile.v, j, j % 3 ? kNaN : kInfinity);
      }
      std::vector<float> after = run(code, each, sizes, hostile);
      int64_t width = heads.count * heads.valueWidth;
      for (int64_t b = 0; b < sizes.batch; ++b)
        for (int64_t i = 0; i < std::min(firstKey, sizes.queries); ++i)
          if (i != 20 && i != 21)
            EXPECT_EQ(std::memcmp(&before[(b * sizes.queries + i) * width],
                                  &after[(b * sizes.queries + i) * width],
                                  sizeof(float) * width),
                      0)
                << "query " << i << " of sentence " << b;
    }
  });
}

/// Masks of sentences: rows behind the last one allow nothing. Where the ranges
/// of keys begin and end depends on queries, in all but the first.
static std::vector<Mask> masksOfSentences() {
  std::string text = "%p = transformer.mask.padding %lengths : tensor<?xi32>\n"
                     "%w = transformer.mask.window [left = 30, right = 0]\n"
                     "%c = transformer.mask.causal\n"
                     "%n = transformer.mask.not %w\n";
  auto inWindow = [](int64_t i, int64_t j) { return i >= j && i - j <= 30; };
  return {kPadding,
          {"outside", text + "%mask = transformer.mask.and %p, %n",
           [=](int64_t i, int64_t j, int64_t length) {
             return j < length && !inWindow(i, j);
           }},
          {"everywhere",
           text + "%o = transformer.mask.or %w, %n\n"
                  "%mask = transformer.mask.and %p, %o",
           kPadding.contains},
          {"past",
           text + "%f = transformer.mask.and %c, %n\n"
                  "%o = transformer.mask.or %f, %w\n"
                  "%mask = transformer.mask.and %p, %o",
           [](int64_t i, int64_t j, int64_t length) {
             return j < length && j <= i;
           }}};
}

TEST_P(AttentionTest, PaddingChangesNoBits) {
  std::vector<Case> all;
  std::string module;
  for (const Mask &mask : masksOfSentences())
    for (const Heads &heads : {Heads{4, 4, 32, 24}, Heads{2, 1, 32, 64}}) {
      all.push_back({heads, mask});
      module += moduleOf(all.back(), kFullForm, elementType());
    }
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Case &each : all)
      // The last block of queries has one, half of what a block takes, all.
      for (int64_t length : {1, 37, 48, 64, 300}) {
        SCOPED_TRACE(each.name() + " of " + std::to_string(length));
        const Heads &heads = each.heads;
        Inputs inputs(heads, {1, length, length});
        // Scores so far apart that maxima move in later tiles, too.
        for (float &q : inputs.q)
          q *= 8;
        std::vector<float> alone = run(code, each, {1, length, length}, inputs);
        // The second of two sentences, behind it NaNs.
        constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
        int64_t longest = length + 52;
        Sizes sizes = {2, longest, longest};
        Inputs padded(heads, sizes);
        padded.lengths = {int32_t(longest), int32_t(length)};
        auto place = [&](const std::vector<float> &from,
                         std::vector<float> &to) {
          std::fill(to.begin() + to.size() / 2, to.end(), kNaN);
          std::copy(from.begin(), from.end(), to.begin() + to.size() / 2);
        };
        place(inputs.q, padded.q);
        place(inputs.k, padded.k);
        place(inputs.v, padded.v);
        std::vector<float> together = run(code, each, sizes, padded);
        EXPECT_EQ(std::memcmp(alone.data(), &together[together.size() / 2],
                              sizeof(float) * alone.size()),
                  0);
      }
  });
}

TEST_P(AttentionTest, StepForm) {
  for (bool shared : {false, true}) {
    std::string module;
    for (const Case &each : cases())
      module += fill(
          moduleOf(each, kStepForm, elementType()),
          {{"LEADING", shared ? "batch\", \"source" : "rows\", \"capacity"},
           {"SHARED", shared ? "shared" : ""}});
    withCode(module, {}, [&](const EntryRunner &code) {
      for (const Case &each : cases())
        for (auto sizes : {std::pair<int64_t, int64_t>(1, 1),
                           {16, 16},
                           {30, 30},
                           {300, 300},
                           {40, 7},
                           {600, 256},
                           // More than a GPU's block takes.
                           {1200, 1200},
                           {1500, 1100}}) {
          int64_t positions = sizes.first, slots = sizes.second;
          if (shared && slots != positions)
            continue;
          SCOPED_TRACE(each.name() + " " + std::to_string(positions) + " in " +
                       std::to_string(slots));
          const Heads &heads = each.heads;
          constexpr int64_t kRows = 5, kBatch = 3;
          int64_t sets = shared ? kBatch : kRows;
          EntryCall call = prepare(code, each.name(),
                                   {{Dim::Rows, kRows},
                                    {Dim::Batch, kBatch},
                                    {Dim::Source, positions},
                                    {Dim::Capacity, slots}});
          // All positions; a ring holds the latest ones.
          int64_t keyWidth = heads.kvCount * heads.keyWidth;
          int64_t valueWidth = heads.kvCount * heads.valueWidth;
          auto q =
              inType(randomValues(kRows * heads.count * heads.keyWidth, 1, 2));
          auto k = inType(randomValues(sets * positions * keyWidth, 2, 2));
          auto v = inType(randomValues(sets * positions * valueWidth, 3));
          std::vector<int32_t> lengths = {int32_t(positions),
                                          int32_t(positions / 2), 0};
          std::vector<int32_t> at, of;
          for (int64_t row = 0; row < kRows; ++row) {
            at.push_back((positions - 1) * row / (kRows - 1));
            of.push_back(row % kBatch);
          }
          auto setRing = [&](const char *name, const std::vector<float> &all,
                             int64_t width) {
            std::vector<float> ring(sets * slots * width,
                                    std::numeric_limits<float>::quiet_NaN());
            for (int64_t set = 0; set < sets; ++set) {
              int64_t last = shared ? positions - 1 : at[set];
              for (int64_t j = std::max<int64_t>(0, last + 1 - slots);
                   j <= last; ++j)
                std::copy_n(&all[(set * positions + j) * width], width,
                            &ring[(set * slots + j % slots) * width]);
            }
            setInType(call, name, ring);
          };
          setInType(call, "q", q);
          setRing("k", k, keyWidth);
          setRing("v", v, valueWidth);
          call.set("lengths", lengths);
          call.set("positions", at);
          call.set("sentences", of);
          call();
          Status status = call.checkGuards();
          EXPECT_TRUE(status.ok()) << status.message();
          std::vector<double> expected;
          for (int64_t row = 0; row < kRows; ++row) {
            int64_t set = shared ? of[row] : row;
            attend(
                heads, &q[row * heads.count * heads.keyWidth],
                &k[set * positions * keyWidth],
                &v[set * positions * valueWidth], positions,
                [&](int64_t j) {
                  return each.mask.contains(at[row], j, lengths[of[row]]) &&
                         (shared || (j <= at[row] && j > at[row] - slots));
                },
                expected);
          }
          expectNear(call.get("y"), expected, tolerance());
        }
    });
  }
}

TEST(AttentionPtxTest, Assembles) {
  if (!EntryRunner::canAssemble())
    GTEST_SKIP() << "there is no ptxas: see test/README.md";
  for (const char *element : {"bf16", "f32"}) {
    SCOPED_TRACE(element);
    std::string whole, steps;
    for (int64_t width : {32, 64, 128, 256}) {
      Case each = {{2, 1, width, width}, kMixed};
      whole += moduleOf(each, kFullForm, element);
      steps += fill(moduleOf(each, kStepForm, element),
                    {{"LEADING", "rows\", \"capacity"}, {"SHARED", ""}});
    }
    for (const std::string &module : {whole, steps}) {
      Status status = EntryRunner::assemble(module, {}, "sm_80", "sm_80 sm_90");
      EXPECT_TRUE(status.ok()) << status.message();
    }
  }
}
