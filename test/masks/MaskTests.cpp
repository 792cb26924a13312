//===- MaskTests.cpp - What masks promise, on every point of small sets ---===//
//
// For every kind of mask and for random expressions: the predicate is the
// definition, lane by lane; key ranges hold every member, their full parts
// members only; no member lies beyond the reach, and bands that a mask claims
// are inside it.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/PairGrid.h"
#include "test/masks/MaskFormula.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::test;

namespace {
/// Runs once for each leaf and for many random expressions.
class MaskTest : public testing::Test {
protected:
  void forEachMask(llvm::function_ref<void(const MaskFormula &)> check) {
    for (const MaskFormula &leaf : masks.leaves()) {
      SCOPED_TRACE(leaf.text);
      check(leaf);
      MaskFormula complement = masks.negate(leaf);
      SCOPED_TRACE(complement.text);
      check(complement);
    }
    // A fixed seed: the same expressions in every run.
    std::mt19937 generator(20040515);
    for (int count = 0; count < 60; ++count) {
      MaskFormula mask = masks.random(generator, 1 + count % 3);
      SCOPED_TRACE(mask.text);
      check(mask);
      if (HasFatalFailure())
        return;
    }
  }

  /// Calls `check` for all sentences, heads, queries and keys.
  static void
  forEachPoint(llvm::function_ref<void(int b, int h, int i, int j)> check) {
    for (int b = 0; b < kSentences; ++b)
      for (int h = 0; h < kHeads; ++h)
        for (int i = 0; i < kPositions; ++i)
          for (int j = 0; j < kPositions; ++j)
            check(b, h, i, j);
  }

  MaskBuilder masks;
};
} // namespace

TEST_F(MaskTest, ContainsItsDefinition) {
  forEachMask([&](const MaskFormula &mask) {
    forEachPoint([&](int b, int h, int i, int j) {
      std::vector<bool> found = masks.contains(mask.mask, b, h, {i}, {j});
      ASSERT_EQ(found.size(), 1u) << "cannot be evaluated";
      EXPECT_EQ(found[0], mask.contains(b, h, i, j))
          << "at (" << b << ", " << h << ", " << i << ", " << j << ")";
    });
  });
}

TEST_F(MaskTest, ContainsTheBandsThatItClaims) {
  int claimed = 0;
  forEachMask([&](const MaskFormula &mask) {
    auto op = mask.mask.getDefiningOp<MaskOpInterface>();
    for (std::optional<int64_t> lookback :
         {std::optional<int64_t>(), std::optional<int64_t>(0),
          std::optional<int64_t>(2), std::optional<int64_t>(4)})
      for (std::optional<int64_t> lookahead :
           {std::optional<int64_t>(), std::optional<int64_t>(0),
            std::optional<int64_t>(1)}) {
        if (!op.containsBand({lookback, lookahead}))
          continue;
        ++claimed;
        forEachPoint([&](int b, int h, int i, int j) {
          if ((!lookback || i - j <= *lookback) &&
              (!lookahead || j - i <= *lookahead)) {
            EXPECT_TRUE(mask.contains(b, h, i, j))
                << "at (" << b << ", " << h << ", " << i << ", " << j << ")";
          }
        });
      }
  });
  // Full, causal and windows do claim some.
  EXPECT_GT(claimed, 30);
}

TEST_F(MaskTest, LanesAgreeWithScalars) {
  std::vector<int32_t> positions(kPositions);
  std::iota(positions.begin(), positions.end(), 0);
  std::vector<int32_t> reversed(positions.rbegin(), positions.rend());
  forEachMask([&](const MaskFormula &mask) {
    for (int b = 0; b < kSentences; ++b)
      for (int h = 0; h < kHeads; ++h)
        for (int at = 0; at < kPositions; ++at) {
          std::vector<bool> queries =
              masks.contains(mask.mask, b, h, positions, {at});
          std::vector<bool> keys =
              masks.contains(mask.mask, b, h, {at}, positions);
          std::vector<bool> pairs =
              masks.contains(mask.mask, b, h, positions, reversed);
          ASSERT_EQ(queries.size(), positions.size());
          ASSERT_EQ(keys.size(), positions.size());
          ASSERT_EQ(pairs.size(), positions.size());
          for (int lane = 0; lane < kPositions; ++lane) {
            EXPECT_EQ(queries[lane], mask.contains(b, h, lane, at));
            EXPECT_EQ(keys[lane], mask.contains(b, h, at, lane));
            EXPECT_EQ(pairs[lane], mask.contains(b, h, lane, reversed[lane]));
          }
        }
  });
}

TEST_F(MaskTest, NoMemberIsBeyondTheReach) {
  forEachMask([&](const MaskFormula &mask) {
    Reach reach = masks.reach(mask.mask);
    forEachPoint([&](int b, int h, int i, int j) {
      if (!mask.contains(b, h, i, j))
        return;
      if (j >= reach.pinned)
        EXPECT_LE(i - j, reach.lookback.value_or(kPositions));
      EXPECT_LE(j - i, reach.lookahead.value_or(kPositions));
    });
  });
}

TEST_F(MaskTest, KeyRangesHoldEveryMember) {
  forEachMask([&](const MaskFormula &mask) {
    for (int b = 0; b < kSentences; ++b)
      for (int h = 0; h < kHeads; ++h)
        for (int begin = 0; begin < kPositions; ++begin)
          for (int end = begin + 1; end <= kPositions; ++end)
            // Fewer keys than queries, as many, and more.
            for (int keyCount : {1, 4, kPositions, kPositions + 3}) {
              auto ranges =
                  masks.keyRanges(mask.mask, b, h, begin, end, keyCount);
              // Random expressions may have too many.
              if (!ranges)
                continue;
              EXPECT_LE(ranges->size(), kMaxKeyRanges);
              std::vector<bool> covered(keyCount), full(keyCount);
              for (const ConstantRange &range : *ranges) {
                if (range.begin < range.end) {
                  EXPECT_GE(range.begin, 0);
                  EXPECT_LE(range.end, keyCount);
                }
                for (int64_t j = 0; j < keyCount; ++j)
                  if (j >= range.begin && j < range.end) {
                    covered[j] = true;
                    full[j] =
                        full[j] || (j >= range.fullBegin && j < range.fullEnd);
                  }
              }
              for (int i = begin; i < end; ++i)
                for (int j = 0; j < keyCount; ++j) {
                  bool member = mask.contains(b, h, i, j);
                  ASSERT_TRUE(covered[j] || !member)
                      << "(" << b << ", " << h << ", " << i << ", " << j
                      << ") is outside the ranges of queries [" << begin << ", "
                      << end << ") and " << keyCount << " keys";
                  ASSERT_TRUE(member || !full[j])
                      << "(" << b << ", " << h << ", " << i << ", " << j
                      << ") is no member, but in a full part of queries ["
                      << begin << ", " << end << ") and " << keyCount
                      << " keys";
                }
            }
  });
}

TEST_F(MaskTest, SegmentsHoldEveryMember) {
  forEachMask([&](const MaskFormula &mask) {
    for (int b = 0; b < kSentences; ++b)
      for (int h = 0; h < kHeads; ++h)
        for (int begin = 0; begin < kPositions; ++begin)
          for (int end : {begin + 1, begin + 3, kPositions})
            for (int keyCount :
                 {begin % 2 ? 1 : 4, kPositions, kPositions + 3}) {
              auto segments =
                  masks.segments(mask.mask, b, h, begin, end, keyCount);
              ASSERT_TRUE(segments) << "cannot be evaluated";
              EXPECT_EQ(segments->back().end, keyCount);
              for (auto [first, last, cover] : *segments)
                for (int64_t j = first; j < last; ++j)
                  for (int i = begin; i < std::min(end, kPositions); ++i) {
                    bool member = mask.contains(b, h, i, j);
                    ASSERT_TRUE(member ? cover != kNone : cover != kAll)
                        << "(" << b << ", " << h << ", " << i << ", " << j
                        << ") in a segment of cover " << cover
                        << " of queries [" << begin << ", " << end << ") and "
                        << keyCount << " keys";
                  }
            }
  });
}

/// A mask that sees nothing, or all, decides by itself: nobody stops where the
/// other one changes.
TEST_F(MaskTest, SegmentsOfNothingAreLong) {
  MaskFormula past = masks.both(masks.window(1, 0), masks.causal());
  MaskFormula mask = masks.both(past, masks.window(0, 0, {1, 1}));
  auto segments = masks.segments(mask.mask, 0, 0, 5, 6, 7);
  ASSERT_TRUE(segments);
  EXPECT_EQ(segments->front().cover, kNone);
  EXPECT_EQ(segments->front().end, 5);
}

TEST_F(MaskTest, GridsAreTheirDefinition) {
  // Blocks and tiles that are cut short.
  constexpr int64_t length = kBlockQueries + 5;
  forEachMask([&](const MaskFormula &mask) {
    Evaluator evaluator;
    MaskProbe probe(mask.mask, kHeads, evaluator);
    for (int h = 0; h < kHeads; ++h) {
      llvm::Expected<PairGrid> grid = probe.ask(h, length);
      ASSERT_TRUE(bool(grid)) << llvm::toString(grid.takeError());
      for (int i = 0; i < length; ++i)
        for (int j = 0; j < length; ++j) {
          bool member = mask.contains(0, h, i, j);
          EXPECT_EQ(grid->pairs[grid->at(i, j)], member);
          Visit visit = grid->visits[grid->at(i, j)];
          EXPECT_FALSE(member && visit == Visit::None);
          EXPECT_FALSE(!member && visit == Visit::Whole);
        }
    }
  });
}

namespace {
/// Expects one range, exactly as given: ranges wider than needed are correct
/// but cost time, so that no other test would notice.
class TightRangeTest : public MaskTest {
protected:
  void expectRange(const MaskFormula &mask, int begin, int end, int keyCount,
                   ConstantRange expected) {
    SCOPED_TRACE(mask.text);
    auto ranges =
        masks.keyRanges(mask.mask, /*b=*/1, /*h=*/0, begin, end, keyCount);
    ASSERT_TRUE(ranges);
    ASSERT_EQ(ranges->size(), 1u);
    EXPECT_EQ(ranges->front().begin, expected.begin);
    EXPECT_EQ(ranges->front().end, expected.end);
    EXPECT_EQ(ranges->front().fullBegin, expected.fullBegin);
    EXPECT_EQ(ranges->front().fullEnd, expected.fullEnd);
  }
};
} // namespace

TEST_F(TightRangeTest, Leaves) {
  expectRange(masks.full(), 4, 6, 10, {0, 10, 0, 10});
  expectRange(masks.causal(), 4, 6, 10, {0, 6, 0, 5});
  expectRange(masks.padding({9, 3, 9}), 4, 6, 10, {0, 3, 0, 3});
  expectRange(masks.window(2, 1), 4, 6, 10, {2, 7, 3, 6});
  expectRange(masks.window(2, 1, {1, 2}), 4, 6, 10, {0, 8, 0, 0});
}

TEST_F(TightRangeTest, Compositions) {
  expectRange(masks.both(masks.causal(), masks.padding({9, 3, 9})), 4, 6, 10,
              {0, 3, 0, 3});
  expectRange(masks.both(masks.window(2, 1), masks.causal()), 4, 6, 10,
              {2, 6, 3, 5});
}

TEST_F(MaskTest, EmptyTouchesNoKey) {
  EXPECT_TRUE(masks.keyRanges(masks.empty().mask, 0, 0, 0, 4, 8)->empty());
}

TEST_F(MaskTest, ReachOfCombinations) {
  auto expectReach = [&](const MaskFormula &mask,
                         std::optional<int64_t> lookback,
                         std::optional<int64_t> lookahead) {
    SCOPED_TRACE(mask.text);
    Reach reach = masks.reach(mask.mask);
    EXPECT_EQ(reach.lookback, lookback);
    EXPECT_EQ(reach.lookahead, lookahead);
  };
  expectReach(masks.causal(), std::nullopt, 0);
  expectReach(masks.window(3, 1, {1, 4}), 12, 4);
  expectReach(masks.both(masks.causal(), masks.window(3, 1)), 3, 0);
  expectReach(masks.either(masks.causal(), masks.window(3, 1)), std::nullopt,
              1);
  expectReach(masks.both(masks.causal(), masks.negate(masks.window(3, 1))),
              std::nullopt, 0);
}

TEST_F(MaskTest, OnlyAWindowOfSeveralDilationsTellsHeadsApart) {
  auto numHeads = [](const MaskFormula &mask) {
    return mask.mask.getDefiningOp<MaskOpInterface>().numHeads();
  };
  EXPECT_EQ(numHeads(masks.window(1, 1, {1, 1, 2})), 3);
  EXPECT_EQ(numHeads(masks.window(1, 1, {2})), std::nullopt);
  EXPECT_EQ(numHeads(masks.causal()), std::nullopt);
}
