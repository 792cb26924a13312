#include "test/kernels/attention/AttentionCases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;
using namespace heddle::test;

const Mask test::kFull = {"full", "%mask = transformer.mask.full",
                          [](int64_t, int64_t, int64_t) { return true; }};
const Mask test::kCausal = {
    "causal", "%mask = transformer.mask.causal",
    [](int64_t i, int64_t j, int64_t) { return j <= i; }};
const Mask test::kPadding = {
    "padding", "%mask = transformer.mask.padding %lengths : tensor<?xi32>",
    [](int64_t, int64_t j, int64_t length) { return j < length; }};
const Mask test::kWindow = {
    "window", "%mask = transformer.mask.window [left = 20, right = 5]",
    [](int64_t i, int64_t j, int64_t) { return i - j <= 20 && j - i <= 5; }};
const Mask test::kMixed = {
    "mixed",
    "%w = transformer.mask.window [left = 3, right = 1, dilation = [3]]\n"
    "%p = transformer.mask.padding %lengths : tensor<?xi32>\n"
    "%n = transformer.mask.not %p\n%c = transformer.mask.causal\n"
    "%o = transformer.mask.and %n, %c\n%mask = transformer.mask.or %w, %o",
    [](int64_t i, int64_t j, int64_t length) {
      bool inWindow = (i - j) % 3 == 0 && i - j <= 9 && j - i <= 3;
      return inWindow || (j >= length && j <= i);
    }};

std::vector<Mask> test::masksOfSentences() {
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

std::string test::moduleOf(const Case &each, const std::string &text,
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

const char *const test::kFullForm = R"(
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

void test::attend(const Heads &heads, const float *q, const float *k,
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

Inputs::Inputs(const Heads &heads, const Sizes &sizes)
    : q(randomValues(sizes.batch * sizes.queries * heads.count * heads.keyWidth,
                     1, 2)),
      k(randomValues(sizes.batch * sizes.keys * heads.kvCount * heads.keyWidth,
                     2, 2)),
      v(randomValues(
          sizes.batch * sizes.keys * heads.kvCount * heads.valueWidth, 3)) {
  for (int64_t b = 0; b < sizes.batch; ++b)
    lengths.push_back(sizes.batch == 1 ? sizes.keys
                                       : sizes.keys * (sizes.batch - 1 - b) /
                                             (sizes.batch - 1));
}

RaggedRows::RaggedRows(const std::vector<int64_t> &all) {
  for (size_t i = 0; i < all.size(); ++i) {
    auto start = int32_t(positions.size());
    lengths.push_back(int32_t(all[i]));
    for (int32_t at = 0; at < lengths.back(); ++at) {
      positions.push_back(at);
      sequences.push_back(int32_t(i));
      if (at % HEDDLE_QUERY_BLOCK == 0)
        blocks.push_back(start + at);
    }
  }
}

std::vector<std::pair<Dim, int64_t>> RaggedRows::dims() const {
  return {{Dim::Batch, int64_t(lengths.size())},
          {Dim::Tokens, int64_t(positions.size())},
          {Dim::Blocks, int64_t(blocks.size())}};
}

void RaggedRows::setOn(EntryCall &call) const {
  call.set("lengths", lengths);
  call.set("positions", positions);
  call.set("sequences", sequences);
  call.set("blocks", blocks);
}

std::vector<float> AttentionCaseTest::run(const EntryRunner &code,
                                          const Case &each, const Sizes &sizes,
                                          const Inputs &inputs) {
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

void AttentionCaseTest::expectFormula(const std::vector<Case> &cases,
                                      const std::vector<Sizes> &all) {
  std::string module;
  for (const Case &each : cases)
    module += moduleOf(each, kFullForm, elementType());
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Case &each : cases)
      for (const Sizes &sizes : all) {
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

void AttentionCaseTest::expectBitsBesideHostileRows(
    const std::vector<Case> &cases, const Sizes &sizes, int64_t firstKey) {
  std::string module;
  for (const Case &each : cases)
    module += moduleOf(each, kFullForm, elementType());
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Case &each : cases) {
      SCOPED_TRACE(each.name());
      const Heads &heads = each.heads;
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
      int64_t first = each.mask.name == "causal" ? firstKey : sizes.keys;
      for (int64_t j = first; j < sizes.keys; ++j) {
        spoil(hostile.k, j, j % 2 ? 1e4f : kNaN);
        spoil(hostile.v, j, j % 3 ? kNaN : kInfinity);
      }
      std::vector<float> after = run(code, each, sizes, hostile);
      int64_t width = heads.count * heads.valueWidth;
      for (int64_t b = 0; b < sizes.batch; ++b)
        for (int64_t i = 0; i < std::min(first, sizes.queries); ++i)
          if (i != 20 && i != 21)
            EXPECT_EQ(std::memcmp(&before[(b * sizes.queries + i) * width],
                                  &after[(b * sizes.queries + i) * width],
                                  sizeof(float) * width),
                      0)
                << "query " << i << " of sentence " << b;
    }
  });
}

void AttentionCaseTest::expectBitsInPadding(
    const std::vector<Case> &cases, const std::vector<int64_t> &lengths) {
  std::string module;
  for (const Case &each : cases)
    module += moduleOf(each, kFullForm, elementType());
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Case &each : cases)
      for (int64_t length : lengths) {
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
