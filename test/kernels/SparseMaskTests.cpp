//===- SparseMaskTests.cpp - Attention under masks of the literature ------===//
//
// Windows, global tokens, blocks, segments, drawn and listed keys, and any
// predicate, alone and joined, in the full form and over a memory step by step,
// beside their definitions in Masks.td. The last sentence runs alone, too: a
// batch and its padding may not change a bit.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/DrawnBlocks.h"
#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace heddle;
using namespace heddle::test;

static constexpr int64_t kHeads = 4, kKeyHeads = 2, kWidth = 32;
static constexpr int64_t kTokens = 3, kRowsOfLists = 40, kListed = 200;
static constexpr int64_t kTableRows = 50, kTableColumns = 60;

static bool has(const std::vector<int64_t> &numbers, int64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

//===----------------------------------------------------------------------===//
// Masks and their definitions
//===----------------------------------------------------------------------===//

namespace {
/// What masks read, for a batch of sentences.
struct Tables {
  std::vector<int32_t> lengths, tokens, ids, offsets, listed, table;

  Tables(int64_t batch, int64_t positions) {
    for (int64_t b = 0; b < batch; ++b) {
      // The first sentence is full, the last one short.
      int64_t length =
          batch == 1 ? positions
                     : std::max<int64_t>(1, positions * (batch - b) / batch);
      lengths.push_back(length);
      // A filler, the first position and a late one.
      for (int64_t token : {int64_t(-1), int64_t(0), 2 + length * 2 / 3})
        tokens.push_back(token);
      // Segments of 1, 2, 3, ... positions; behind the end anything.
      int64_t id = 0, left = 1;
      for (int64_t j = 0; j < positions; ++j, --left) {
        if (left == 0)
          left = 2 + ++id;
        ids.push_back(j < length ? 3 * id : 0);
      }
    }
    // Row r lists r mod 11 numbers, 0 none.
    offsets = {0};
    for (int64_t row = 0; row < kRowsOfLists; ++row)
      offsets.push_back(offsets.back() + row % 11);
    listed.resize(kListed);
    for (int64_t row = 0; row < kRowsOfLists; ++row)
      for (int64_t at = offsets[row]; at < offsets[row + 1]; ++at)
        listed[at] = row % 3 + (at - offsets[row]) * (1 + row % 5);
    for (int64_t at = 0; at < kTableRows * kTableColumns; ++at)
      table.push_back(at % 7 == 0 || at % 11 == 3 ? 5 : 0);
  }

  bool lists(int64_t row, int64_t number) const {
    if (row >= kRowsOfLists)
      return false;
    return std::find(listed.begin() + offsets[row],
                     listed.begin() + offsets[row + 1],
                     number) != listed.begin() + offsets[row + 1];
  }
  bool hasToken(int64_t b, int64_t position) const {
    auto begin = tokens.begin() + b * kTokens;
    return std::find(begin, begin + kTokens, position) != begin + kTokens;
  }
};

struct Point {
  int64_t b, h, i, j, length, positions;
};
struct Mask {
  std::string name, text;
  std::function<bool(const Tables &, const Point &)> contains;
};
} // namespace

static bool inWindow(const Point &p, int64_t left, int64_t right) {
  return p.i - p.j <= left && p.j - p.i <= right;
}

static const std::string kPad = "%pad = transformer.mask.padding %lengths : "
                                "tensor<?xi32>\n";

static std::vector<Mask> masks() {
  return {
      {"prefix",
       "%c = transformer.mask.causal\n"
       "%p = transformer.mask.prefix [length = 11]\n"
       "%mask = transformer.mask.or %c, %p",
       [](const Tables &, const Point &p) { return p.j <= p.i || p.j < 11; }},
      {"longformer",
       kPad + "%w = transformer.mask.window [left = 6, right = 9]\n"
              "%g = transformer.mask.global [count = 2]\n"
              "%m = transformer.mask.or %w, %g\n"
              "%mask = transformer.mask.and %m, %pad",
       [](const Tables &, const Point &p) {
         return p.j < p.length && (inWindow(p, 6, 9) || p.i < 2 || p.j < 2);
       }},
      {"tokens",
       kPad + "%w = transformer.mask.window [left = 6, right = 9]\n"
              "%g = transformer.mask.global of %tokens : tensor<?x3xi32>\n"
              "%m = transformer.mask.or %w, %g\n"
              "%mask = transformer.mask.and %m, %pad",
       [](const Tables &t, const Point &p) {
         return p.j < p.length && (inWindow(p, 6, 9) || t.hasToken(p.b, p.i) ||
                                   t.hasToken(p.b, p.j));
       }},
      {"segments",
       kPad + "%s = transformer.mask.segments %ids : tensor<?x?xi32>\n"
              "%mask = transformer.mask.and %s, %pad",
       [](const Tables &t, const Point &p) {
         const int32_t *ids = &t.ids[p.b * p.positions];
         return p.j < p.length && ids[p.i] == ids[p.j];
       }},
      {"bigbird",
       kPad + "%w = transformer.mask.window [left = 8, right = 8]\n"
              "%g = transformer.mask.global [count = 3]\n"
              "%r = transformer.mask.random_blocks [block = 16, count = 3, "
              "seed = 7] of %lengths : tensor<?xi32>\n"
              "%o = transformer.mask.or %w, %g\n"
              "%m = transformer.mask.or %o, %r\n"
              "%mask = transformer.mask.and %m, %pad",
       [](const Tables &, const Point &p) {
         auto blocks = drawnBlocks(7, p.h, p.i / 16, (p.length + 15) / 16, 3);
         return p.j < p.length && (inWindow(p, 8, 8) || p.i < 3 || p.j < 3 ||
                                   has(blocks, p.j / 16));
       }},
      {"random_past",
       "%r = transformer.mask.random_blocks [block = 8, count = 20, seed = 1]\n"
       "%w = transformer.mask.window [left = 2, right = 0]\n"
       "%mask = transformer.mask.or %r, %w",
       [](const Tables &, const Point &p) {
         return has(drawnBlocks(1, p.h, p.i / 8, p.i / 8, 20), p.j / 8) ||
                inWindow(p, 2, 0);
       }},
      {"random_tokens",
       "%mask = transformer.mask.random_tokens [count = 5, seed = 3] of "
       "%lengths : tensor<?xi32>",
       [](const Tables &, const Point &p) {
         return has(drawnBlocks(3, p.h, p.i, p.length, 5), p.j);
       }},
      {"random_tokens_of_many",
       "%w = transformer.mask.window [left = 3, right = 1]\n"
       "%r = transformer.mask.random_tokens [count = 300, seed = 4294967295]\n"
       "%o = transformer.mask.or %w, %r\n"
       "%c = transformer.mask.causal\n"
       "%mask = transformer.mask.and %o, %c",
       [](const Tables &, const Point &p) {
         return p.j <= p.i && (inWindow(p, 3, 1) ||
                               has(drawnBlocks(-1, p.h, p.i, p.i, 300), p.j));
       }},
      {"blocks",
       kPad + "%m = transformer.mask.blocks %offsets, %listed [block = 4] : "
              "tensor<41xi32>, tensor<200xi32>\n"
              "%w = transformer.mask.window [left = 1, right = 1]\n"
              "%o = transformer.mask.or %w, %m\n"
              "%mask = transformer.mask.and %o, %pad",
       [](const Tables &t, const Point &p) {
         return p.j < p.length &&
                (t.lists(p.i / 4, p.j / 4) || inWindow(p, 1, 1));
       }},
      {"pairs",
       "%mask = transformer.mask.pairs %offsets, %listed : tensor<41xi32>, "
       "tensor<200xi32>",
       [](const Tables &t, const Point &p) { return t.lists(p.i, p.j); }},
      {"pairs_and_tokens",
       kPad + "%m = transformer.mask.pairs %offsets, %listed : tensor<41xi32>, "
              "tensor<200xi32>\n"
              "%r = transformer.mask.random_tokens [count = 4, seed = 0] of "
              "%lengths : tensor<?xi32>\n"
              "%w = transformer.mask.window [left = 2, right = 2]\n"
              "%o = transformer.mask.or %m, %r\n"
              "%u = transformer.mask.or %o, %w\n"
              "%mask = transformer.mask.and %u, %pad",
       [](const Tables &t, const Point &p) {
         return p.j < p.length &&
                (t.lists(p.i, p.j) || inWindow(p, 2, 2) ||
                 has(drawnBlocks(0, p.h, p.i, p.length, 4), p.j));
       }},
      {"no_pairs",
       kPad + "%m = transformer.mask.pairs %offsets, %listed : tensor<41xi32>, "
              "tensor<200xi32>\n"
              "%n = transformer.mask.not %m\n"
              "%mask = transformer.mask.and %n, %pad",
       [](const Tables &t, const Point &p) {
         return p.j < p.length && !t.lists(p.i, p.j);
       }},
      {"where",
       "%one = arith.constant 1 : i32\n"
       "%three = arith.constant 3 : i32\n"
       "%mask = transformer.mask.where within [left = 40, right = 3] {\n"
       "^bb0(%b: i32, %h: i32, %i: i32, %j: i32):\n"
       "  %s = arith.addi %i, %j : i32\n"
       "  %t = arith.addi %s, %h : i32\n"
       "  %r = arith.remui %t, %three : i32\n"
       "  %is = arith.cmpi ne, %r, %one : i32\n"
       "  transformer.yield %is : i1\n"
       "}",
       [](const Tables &, const Point &p) {
         return inWindow(p, 40, 3) && (p.i + p.j + p.h) % 3 != 1;
       }},
      {"per_head",
       "%mask = transformer.mask.window [left = [3, 7, 3, 9], right = [0, 2, "
       "0, 1], dilation = [1, 2, 1, 5]]",
       [](const Tables &, const Point &p) {
         int64_t left[] = {3, 7, 3, 9}, right[] = {0, 2, 0, 1};
         int64_t dilation[] = {1, 2, 1, 5}, d = dilation[p.h];
         return (p.i - p.j) % d == 0 &&
                inWindow(p, left[p.h] * d, right[p.h] * d);
       }},
      {"dilated",
       kPad + "%w = transformer.mask.window [left = 20, right = 20, dilation = "
              "4]\n"
              "%mask = transformer.mask.and %w, %pad",
       [](const Tables &, const Point &p) {
         return p.j < p.length && (p.i - p.j) % 4 == 0 && inWindow(p, 80, 80);
       }},
      {"table", "%mask = transformer.mask.dense %table : tensor<50x60xi32>",
       [](const Tables &t, const Point &p) {
         return p.i < kTableRows && p.j < kTableColumns &&
                t.table[p.i * kTableColumns + p.j] != 0;
       }},
      {"not_bigbird",
       kPad + "%w = transformer.mask.window [left = 8, right = 8]\n"
              "%r = transformer.mask.random_blocks [block = 5, count = 4, "
              "seed = 2] of %lengths : tensor<?xi32>\n"
              "%o = transformer.mask.or %w, %r\n"
              "%n = transformer.mask.not %o\n"
              "%mask = transformer.mask.and %n, %pad",
       [](const Tables &, const Point &p) {
         auto blocks = drawnBlocks(2, p.h, p.i / 5, (p.length + 4) / 5, 4);
         return p.j < p.length && !inWindow(p, 8, 8) && !has(blocks, p.j / 5);
       }},
  };
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static const char *const kTablesText = R"(
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]},
    %tokens: tensor<?x3xi32> {transformer.name = "tokens",
                              transformer.dims = ["batch"]},
    %ids: tensor<?x?xi32> {transformer.name = "ids",
                           transformer.dims = ["batch", "source"]},
    %offsets: tensor<41xi32> {transformer.name = "offsets"},
    %listed: tensor<200xi32> {transformer.name = "listed"},
    %table: tensor<50x60xi32> {transformer.name = "table"})";

static const char *const kFullForm = R"(
func.func @NAME(
    %q: tensor<?x?x128xELEMENT> {transformer.name = "q",
                                 transformer.dims = ["batch", "source"]},
    %k: tensor<?x?x64xELEMENT> {transformer.name = "k",
                                transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x64xELEMENT> {transformer.name = "v",
                                transformer.dims = ["batch", "source"]},TABLES)
    -> (tensor<?x?x128xf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask)
    {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<?x?x128xELEMENT>, tensor<?x?x64xELEMENT>, tensor<?x?x64xELEMENT>,
       !transformer.mask) -> tensor<?x?x128xf32>
  return %y : tensor<?x?x128xf32>
}
)";

static const char *const kStepForm = R"(
func.func @NAME(
    %q: tensor<?x128xELEMENT> {transformer.name = "q",
                               transformer.dims = ["rows"]},
    %k: tensor<?x?x64xELEMENT> {transformer.name = "k",
                                transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x64xELEMENT> {transformer.name = "v",
                                transformer.dims = ["batch", "source"]},TABLES,
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?x128xf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask) at %positions
    of %sentences shared {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<?x128xELEMENT>, tensor<?x?x64xELEMENT>, tensor<?x?x64xELEMENT>,
       !transformer.mask, tensor<?xi32>, tensor<?xi32>) -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}
)";

static std::string moduleOf(const std::string &form,
                            const std::string &element) {
  std::string module;
  for (const Mask &mask : masks())
    module += fill(form, {{"NAME", mask.name},
                          {"MASK", mask.text},
                          {"TABLES", kTablesText},
                          {"ELEMENT", element}});
  return module;
}

namespace {
class SparseMaskTest : public LayerTest {
protected:
  /// As of AttentionTests.cpp.
  static double tolerance() { return 5e-5 + (isOfBf16() ? 0x1p-7 : 0); }

  /// Queries, keys and values of a batch.
  struct Inputs {
    std::vector<float> q, k, v;

    Inputs(int64_t batch, int64_t positions)
        : q(inType(randomValues(batch * positions * kHeads * kWidth, 1, 2))),
          k(inType(randomValues(batch * positions * kKeyHeads * kWidth, 2, 2))),
          v(inType(randomValues(batch * positions * kKeyHeads * kWidth, 3))) {}
  };

  static void setInputs(EntryCall &call, const Inputs &inputs,
                        const Tables &tables) {
    setInType(call, "k", inputs.k);
    setInType(call, "v", inputs.v);
    call.set("lengths", tables.lengths);
    call.set("tokens", tables.tokens);
    call.set("ids", tables.ids);
    call.set("offsets", tables.offsets);
    call.set("listed", tables.listed);
    call.set("table", tables.table);
  }

  static std::vector<float> runFull(const EntryRunner &code, const Mask &mask,
                                    int64_t batch, int64_t positions,
                                    const Inputs &inputs,
                                    const Tables &tables) {
    EntryCall call = prepare(code, mask.name,
                             {{Dim::Batch, batch}, {Dim::Source, positions}});
    setInType(call, "q", inputs.q);
    setInputs(call, inputs, tables);
    call();
    Status status = call.checkGuards();
    EXPECT_TRUE(status.ok()) << status.message();
    return call.get("y");
  }

  /// y of the query at i of sentence b.
  static void attend(const Mask &mask, const Tables &tables,
                     const Inputs &inputs, int64_t b, int64_t i,
                     int64_t positions, std::vector<double> &y) {
    for (int64_t h = 0; h < kHeads; ++h) {
      int64_t g = h / (kHeads / kKeyHeads);
      const float *q = &inputs.q[((b * positions + i) * kHeads + h) * kWidth];
      std::vector<double> sums(kWidth);
      double total = 0;
      for (int64_t j = 0; j < positions; ++j) {
        if (!mask.contains(tables, {b, h, i, j, tables.lengths[b], positions}))
          continue;
        int64_t at = ((b * positions + j) * kKeyHeads + g) * kWidth;
        double score = 0;
        for (int64_t d = 0; d < kWidth; ++d)
          score += double(q[d]) * inputs.k[at + d];
        double weight = std::exp(score / std::sqrt(double(kWidth)));
        total += weight;
        for (int64_t d = 0; d < kWidth; ++d)
          sums[d] += weight * inputs.v[at + d];
      }
      for (double sum : sums)
        y.push_back(total > 0 ? sum / total : 0);
    }
  }
};
} // namespace

HEDDLE_FOR_EVERY_CODE_AND_TYPE(SparseMaskTest);

TEST_P(SparseMaskTest, FullForm) {
  withCode(
      moduleOf(kFullForm, elementType()), {}, [&](const EntryRunner &code) {
        for (const Mask &mask : masks())
          for (auto [batch, positions] : {std::pair<int64_t, int64_t>(1, 1),
                                          {2, 31},
                                          {3, 33},
                                          {2, 100},
                                          {1, 300}}) {
            SCOPED_TRACE(mask.name + " " + std::to_string(positions));
            Tables tables(batch, positions);
            Inputs inputs(batch, positions);
            std::vector<double> expected;
            for (int64_t b = 0; b < batch; ++b)
              for (int64_t i = 0; i < positions; ++i)
                attend(mask, tables, inputs, b, i, positions, expected);
            std::vector<float> found =
                runFull(code, mask, batch, positions, inputs, tables);
            // Queries behind the end of a sentence mean nothing.
            for (int64_t b = 0; b < batch; ++b)
              for (int64_t at =
                       (b * positions + tables.lengths[b]) * kHeads * kWidth;
                   at < (b + 1) * positions * kHeads * kWidth; ++at)
                expected[at] = found[at];
            expectNear(found, expected, tolerance());
          }
      });
}

TEST_P(SparseMaskTest, StepForm) {
  constexpr int64_t kRows = 7, kBatch = 2;
  withCode(moduleOf(kStepForm, elementType()), {},
           [&](const EntryRunner &code) {
             for (const Mask &mask : masks())
               for (int64_t positions : {1, 33, 600}) {
                 SCOPED_TRACE(mask.name + " " + std::to_string(positions));
                 Tables tables(kBatch, positions);
                 Inputs inputs(kBatch, positions);
                 EntryCall call = prepare(code, mask.name,
                                          {{Dim::Rows, kRows},
                                           {Dim::Batch, kBatch},
                                           {Dim::Source, positions}});
                 std::vector<int32_t> at, of;
                 std::vector<float> q;
                 std::vector<double> expected;
                 for (int64_t row = 0; row < kRows; ++row) {
                   int64_t b = row % kBatch;
                   int64_t i = (tables.lengths[b] - 1) * row / (kRows - 1);
                   at.push_back(i);
                   of.push_back(b);
                   auto begin =
                       inputs.q.begin() + (b * positions + i) * kHeads * kWidth;
                   q.insert(q.end(), begin, begin + kHeads * kWidth);
                   attend(mask, tables, inputs, b, i, positions, expected);
                 }
                 setInType(call, "q", q);
                 setInputs(call, inputs, tables);
                 call.set("positions", at);
                 call.set("sentences", of);
                 call();
                 Status status = call.checkGuards();
                 EXPECT_TRUE(status.ok()) << status.message();
                 expectNear(call.get("y"), expected, tolerance());
               }
           });
}

TEST_P(SparseMaskTest, PaddingChangesNoBits) {
  withCode(
      moduleOf(kFullForm, elementType()), {}, [&](const EntryRunner &code) {
        for (const Mask &mask : masks())
          for (int64_t length : {1, 33, 100}) {
            SCOPED_TRACE(mask.name + " " + std::to_string(length));
            // Without padding keys behind the end belong to a mask.
            bool sees = mask.text.find(kPad) == std::string::npos &&
                        mask.text.find("of %lengths") == std::string::npos;
            bool seesPast = mask.name == "prefix" && length >= 11;
            seesPast |= mask.name.rfind("random", 0) == 0;
            if (sees && !seesPast)
              continue;
            int64_t longest = length + 52;
            Tables alone(1, length), both(2, longest);
            both.lengths = {int32_t(longest), int32_t(length)};
            std::copy(alone.tokens.begin(), alone.tokens.end(),
                      both.tokens.begin() + kTokens);
            std::copy(alone.ids.begin(), alone.ids.end(),
                      both.ids.begin() + longest);
            Inputs own(1, length), padded(2, longest);
            auto place = [&](const std::vector<float> &from,
                             std::vector<float> &to) {
              std::fill(to.begin() + to.size() / 2, to.end(), NAN);
              std::copy(from.begin(), from.end(), to.begin() + to.size() / 2);
            };
            place(own.q, padded.q);
            place(own.k, padded.k);
            place(own.v, padded.v);
            auto before = runFull(code, mask, 1, length, own, alone);
            auto after = runFull(code, mask, 2, longest, padded, both);
            EXPECT_EQ(std::memcmp(before.data(), &after[after.size() / 2],
                                  sizeof(float) * before.size()),
                      0);
          }
      });
}
