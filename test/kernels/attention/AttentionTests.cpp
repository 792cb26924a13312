//===- AttentionTests.cpp - Attention in every form -----------------------===//
//
// Full and step forms over ragged sizes, masks and shapes of heads; and rows
// beside hostile neighbours, whose bits may not change.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/attention/AttentionCases.h"

#include <algorithm>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class AttentionTest : public AttentionCaseTest {};
} // namespace

HEDDLE_FOR_EVERY_CODE_AND_TYPE(AttentionTest);

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

TEST_P(AttentionTest, FullForm) {
  expectFormula(cases(), {{1, 1, 1},
                          {2, 7, 7},
                          {3, 33, 33},
                          {1, 40, 300},
                          {2, 65, 17},
                          {2, 40, 600},
                          // Blocks enough for a copy of a head's values.
                          {2, 257, 300}});
}

TEST_P(AttentionTest, RowsKeepTheirBitsBesideHostileOnes) {
  expectBitsBesideHostileRows(cases(), {3, 50, 50}, 22);
}

TEST_P(AttentionTest, PaddingChangesNoBits) {
  std::vector<Case> all;
  for (const Mask &mask : masksOfSentences())
    for (const Heads &heads : {Heads{4, 4, 32, 24}, Heads{2, 1, 32, 64}})
      all.push_back({heads, mask});
  // The last block of queries has one, half of what a block takes, all.
  expectBitsInPadding(all, {1, 37, 48, 64, 300});
}

TEST_P(AttentionTest, StepForm) {
  std::vector<Case> all = cases();
  // More than eight pieces of a row for each lane of a GPU's warp.
  Case wide = {{1, 1, 1156, 1156}, kCausal};
  all.push_back(wide);
  for (bool shared : {false, true}) {
    std::string module;
    for (const Case &each : all)
      module += fill(
          moduleOf(each, kStepForm, elementType()),
          {{"LEADING", shared ? "batch\", \"source" : "rows\", \"capacity"},
           {"SHARED", shared ? "shared" : ""}});
    withCode(module, {}, [&](const EntryRunner &code) {
      for (const Case &each : all)
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
          if (each.name() == wide.name() && positions > 30)
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
