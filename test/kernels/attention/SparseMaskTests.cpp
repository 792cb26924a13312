//===- SparseMaskTests.cpp - Attention under masks of the literature ------===//
//
// In the full form and over a memory step by step, beside the definitions of
// masks. The last sentence runs alone, too: a batch and its padding may not
// change a bit.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"
#include "test/kernels/attention/SparseMasks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace heddle;
using namespace heddle::test;

static constexpr int64_t kHeads = 4, kKeyHeads = 2, kWidth = 32;

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
    %q: tensor<?x?xQWIDTHxELEMENT> {transformer.name = "q",
                                 transformer.dims = ["batch", "source"]},
    %k: tensor<?x?xKWIDTHxELEMENT> {transformer.name = "k",
                                transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xKWIDTHxELEMENT> {transformer.name = "v",
                                transformer.dims = ["batch", "source"]},TABLES)
    -> (tensor<?x?xQWIDTHxf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask)
    {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<?x?xQWIDTHxELEMENT>, tensor<?x?xKWIDTHxELEMENT>, tensor<?x?xKWIDTHxELEMENT>,
       !transformer.mask) -> tensor<?x?xQWIDTHxf32>
  return %y : tensor<?x?xQWIDTHxf32>
}
)";

static const char *const kStepForm = R"(
func.func @NAME(
    %q: tensor<?xQWIDTHxELEMENT> {transformer.name = "q",
                               transformer.dims = ["rows"]},
    %k: tensor<?x?xKWIDTHxELEMENT> {transformer.name = "k",
                                transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xKWIDTHxELEMENT> {transformer.name = "v",
                                transformer.dims = ["batch", "source"]},TABLES,
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?xQWIDTHxf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask) at %positions
    of %sentences shared {heads = 4 : i64, kv_heads = 2 : i64}
    : (tensor<?xQWIDTHxELEMENT>, tensor<?x?xKWIDTHxELEMENT>, tensor<?x?xKWIDTHxELEMENT>,
       !transformer.mask, tensor<?xi32>, tensor<?xi32>) -> tensor<?xQWIDTHxf32>
  return %y : tensor<?xQWIDTHxf32>
}
)";

static std::string moduleOf(const std::string &form, const std::string &element,
                            const std::vector<SparseMask> &masks,
                            int64_t width = kWidth) {
  std::string module;
  for (const SparseMask &mask : masks)
    module += fill(form, {{"NAME", mask.name},
                          {"MASK", mask.text},
                          {"TABLES", kTablesText},
                          {"QWIDTH", std::to_string(kHeads * width)},
                          {"KWIDTH", std::to_string(kKeyHeads * width)},
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

  static std::vector<float> runFull(const EntryRunner &code,
                                    const SparseMask &mask, int64_t batch,
                                    int64_t positions, const Inputs &inputs,
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
  static void attend(const SparseMask &mask, const Tables &tables,
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

  /// The full form, of batches and positions.
  void expectFormula(const std::vector<SparseMask> &masks,
                     const std::vector<std::pair<int64_t, int64_t>> &sizes);
};
} // namespace

void SparseMaskTest::expectFormula(
    const std::vector<SparseMask> &masks,
    const std::vector<std::pair<int64_t, int64_t>> &sizes) {
  withCode(moduleOf(kFullForm, elementType(), masks), {},
           [&](const EntryRunner &code) {
             for (const SparseMask &mask : masks)
               for (auto [batch, positions] : sizes) {
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
                   for (int64_t at = (b * positions + tables.lengths[b]) *
                                     kHeads * kWidth;
                        at < (b + 1) * positions * kHeads * kWidth; ++at)
                     expected[at] = found[at];
                 expectNear(found, expected, tolerance());
               }
           });
}

HEDDLE_FOR_EVERY_CODE_AND_TYPE(SparseMaskTest);

static std::vector<SparseMask>
masksNamed(const std::vector<std::string> &names) {
  std::vector<SparseMask> masks;
  for (const SparseMask &mask : sparseMasks())
    if (std::count(names.begin(), names.end(), mask.name))
      masks.push_back(mask);
  return masks;
}

class WarpgroupSparseMaskTest : public SparseMaskTest {};
INSTANTIATE_TEST_SUITE_P(, WarpgroupSparseMaskTest,
                         testing::ValuesIn(hopperOfBf16()),
                         testing::PrintToStringParamName());

TEST_P(WarpgroupSparseMaskTest, FullForm) {
  // What warpgroups have code of their own for: heads that differ, blocks of
  // the queries of a remainder, and ranges that are known at run time alone;
  // blocks of one that multiplies, and of two.
  expectFormula(masksNamed({"per_head", "dilated", "bigbird"}),
                {{2, 31}, {1, 80}});
}

TEST(WarpgroupSparseMaskPtxTest, Assembles) {
  if (!EntryRunner::canAssemble())
    GTEST_SKIP() << "there is no ptxas: see test/README.md";
  // Ranges of every kind, for the widest heads that have them.
  std::vector<SparseMask> masks =
      masksNamed({"longformer", "bigbird", "random_tokens", "blocks"});
  Status status =
      EntryRunner::assemble(moduleOf(kFullForm, "bf16", masks, /*width=*/128),
                            {}, "sm_90a", "sm_90a");
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_P(SparseMaskTest, FullForm) {
  expectFormula(sparseMasks(), {{1, 1}, {2, 31}, {3, 33}, {2, 100}, {1, 300}});
}

/// Lists are arguments: what stands in them may not lead out of them.
TEST_P(SparseMaskTest, DamagedListsAreLimited) {
  std::vector<SparseMask> masks = sparseMasks();
  masks.erase(std::remove_if(masks.begin(), masks.end(),
                             [](const SparseMask &mask) {
                               return mask.text.find("%listed") ==
                                      std::string::npos;
                             }),
              masks.end());
  withCode(moduleOf(kFullForm, elementType(), masks), {},
           [&](const EntryRunner &code) {
             for (const SparseMask &mask : masks)
               for (int64_t positions : {1, 33, 100}) {
                 SCOPED_TRACE(mask.name + " " + std::to_string(positions));
                 Tables tables(/*batch=*/1, positions);
                 tables.damageLists();
                 Inputs inputs(1, positions);
                 std::vector<double> expected;
                 for (int64_t i = 0; i < positions; ++i)
                   attend(mask, tables, inputs, 0, i, positions, expected);
                 expectNear(runFull(code, mask, 1, positions, inputs, tables),
                            expected, tolerance());
               }
           });
}

TEST_P(SparseMaskTest, StepForm) {
  constexpr int64_t kRows = 7, kBatch = 2;
  withCode(moduleOf(kStepForm, elementType(), sparseMasks()), {},
           [&](const EntryRunner &code) {
             for (const SparseMask &mask : sparseMasks())
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
  withCode(moduleOf(kFullForm, elementType(), sparseMasks()), {},
           [&](const EntryRunner &code) {
             for (const SparseMask &mask : sparseMasks())
               for (int64_t length : {1, 33, 100}) {
                 SCOPED_TRACE(mask.name + " " + std::to_string(length));
                 // Without padding keys behind the end belong to a mask.
                 bool sees = !mask.isPadded() &&
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
                   std::copy(from.begin(), from.end(),
                             to.begin() + to.size() / 2);
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
