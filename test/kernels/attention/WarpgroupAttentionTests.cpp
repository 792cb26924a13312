//===- WarpgroupAttentionTests.cpp - Attention by warpgroups of sm_90a ----===//
//
// Sizes around a warpgroup's queries, a block's, and a tile of keys; heads of
// all shapes of tiles. Other tests of attention in bf16 run there with --all.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/attention/AttentionCases.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class WarpgroupAttentionTest : public AttentionCaseTest {};
} // namespace

INSTANTIATE_TEST_SUITE_P(, WarpgroupAttentionTest,
                         testing::ValuesIn(hopperOfBf16()),
                         testing::PrintToStringParamName());

// Tiles of 128 keys and, of wider heads, of 64 and 48: of one part of 64
// columns, several, and parts that are not whole.

TEST_P(WarpgroupAttentionTest, SizesAreCutAnywhere) {
  expectFormula({{{2, 1, 16, 80}, kMixed}, {{1, 1, 128, 128}, kCausal}},
                {{1, 1, 1}, {1, 64, 128}, {2, 65, 129}, {1, 129, 257}});
  // More tiles than stages, all of which are full, for both warpgroups.
  expectFormula({{{1, 1, 64, 64}, kFull}}, {{1, 100, 768}});
}

TEST_P(WarpgroupAttentionTest, WideHeads) {
  expectFormula({{{1, 1, 224, 224}, kWindow}, {{1, 1, 144, 48}, kPadding}},
                {{2, 66, 65}, {1, 40, 150}});
}

TEST_P(WarpgroupAttentionTest, RowsKeepTheirBitsBesideHostileOnes) {
  // The last tile that queries before the first hidden key see has that key.
  expectBitsBesideHostileRows(
      {{{2, 1, 32, 64}, kCausal}, {{1, 1, 192, 16}, kCausal}}, {1, 150, 150},
      131);
}

TEST_P(WarpgroupAttentionTest, PaddingChangesNoBits) {
  std::vector<Case> all;
  for (const Mask &mask : masksOfSentences())
    if (mask.name == "padding" || mask.name == "past")
      all.push_back({{1, 1, 32, 48}, mask});
  // The first are in blocks of one warpgroup alone, and of two in the batch.
  expectBitsInPadding(all, {13, 64, 150});
}

TEST_P(WarpgroupAttentionTest, ValuesThatAreNotFiniteReachThoseWhoSeeThem) {
  Case each = {{1, 1, 16, 80}, kCausal};
  Sizes sizes = {1, 300, 300};
  // In the first tile and the last one, which no query sees wholly, and in one
  // that some blocks of queries do; and in a part that is not whole.
  struct Other {
    int64_t key, column;
    float value;
  };
  const Other others[] = {
      {5, 1, INFINITY}, {150, 66, -INFINITY}, {299, 2, NAN}};
  withCode(moduleOf(each, kFullForm, elementType()), {},
           [&](const EntryRunner &code) {
             Inputs inputs(each.heads, sizes);
             std::vector<float> expected = run(code, each, sizes, inputs);
             for (const Other &other : others) {
               inputs.v[other.key * 80 + other.column] = other.value;
               for (int64_t i = other.key; i < sizes.queries; ++i)
                 expected[i * 80 + other.column] = other.value;
             }
             std::vector<float> found = run(code, each, sizes, inputs);
             EXPECT_TRUE(std::isnan(found[299 * 80 + 2]));
             found[299 * 80 + 2] = expected[299 * 80 + 2] = 0;
             EXPECT_EQ(found, expected);
           });
}

TEST(WarpgroupAttentionPtxTest, Assembles) {
  if (!EntryRunner::canAssemble())
    GTEST_SKIP() << "there is no ptxas: see test/README.md";
  std::string module;
  for (const Case &each :
       {Case{{2, 1, 64, 64}, kCausal}, Case{{2, 1, 128, 128}, kMixed},
        Case{{2, 1, 80, 48}, kWindow}, Case{{2, 1, 224, 224}, kMixed}})
    module += moduleOf(each, kFullForm, "bf16");
  Status status = EntryRunner::assemble(module, {}, "sm_90a", "sm_90a");
  EXPECT_TRUE(status.ok()) << status.message();
}
