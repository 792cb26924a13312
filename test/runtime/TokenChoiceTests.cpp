//===- TokenChoiceTests.cpp - Which token comes next ----------------------===//
//
// Corners that the comparison with the oracle in DecodingTests.cpp does not
// reach: ties, logits that are no numbers, nothing left, lengths.
//
//===----------------------------------------------------------------------===//

#include "runtime/TokenChoice.h"

#include <gtest/gtest.h>
#include <limits>

using namespace heddle;

static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
static constexpr float kInfinity = std::numeric_limits<float>::infinity();

static Generation endingWith(int32_t eos) {
  Generation generation;
  generation.eos = {eos};
  return generation;
}

static int32_t choose(const Generation &generation, std::vector<float> logits,
                      const std::vector<int32_t> &candidates = {},
                      const std::vector<int32_t> &generated = {}) {
  return chooseToken(generation, generated, 100,
                     {logits.data(), int64_t(logits.size()),
                      candidates.empty() ? nullptr : candidates.data()});
}

TEST(TokenChoiceTest, the_lowest_id_wins_a_tie) {
  EXPECT_EQ(choose(endingWith(0), {1, 3, 3, 2}), 1);
  EXPECT_EQ(choose(endingWith(0), {1, 3, 3, 2}, {4, 6, 7, 9}), 6);
  EXPECT_EQ(choose(endingWith(0), {-0.0f, 0.0f}), 0);
}

TEST(TokenChoiceTest, finds_the_largest_at_every_place) {
  for (int64_t count = 1; count < 70; ++count)
    for (int64_t place = 0; place < count; ++place) {
      std::vector<float> logits(count, -1.0f);
      logits[place] = -0.5f;
      EXPECT_EQ(choose(endingWith(0), logits), place) << count;
    }
}

TEST(TokenChoiceTest, what_is_no_number_is_not_chosen) {
  EXPECT_EQ(choose(endingWith(0), {kNan, 1, kNan, 2}), 3);
  EXPECT_EQ(choose(endingWith(2), {kNan, kNan, kNan}), 2);
  EXPECT_EQ(choose(endingWith(0), {1, kInfinity, 3}), 1);
}

TEST(TokenChoiceTest, the_first_id_where_nothing_is_allowed) {
  Generation generation = endingWith(2);
  generation.suppress = {0, 1, 2};
  EXPECT_EQ(choose(generation, {1, 2, 3}), 0);
  EXPECT_EQ(choose(generation, {5, 6}, {0, 1}), 0);
  // What is left is no number.
  EXPECT_EQ(choose(generation, {1, 2, 3, kNan}), 2);
}

TEST(TokenChoiceTest, ids_that_are_no_candidates_can_be_suppressed) {
  Generation generation = endingWith(0);
  generation.suppress = {0, 5, 9};
  EXPECT_EQ(choose(generation, {1, 2, 3}, {4, 6, 9}), 6);
}

TEST(TokenChoiceTest, bad_words_of_several_tokens) {
  Generation generation = endingWith(0);
  generation.badWords = {{1, 2, 3}};
  std::vector<float> likes3 = {0, 0, 1, 2};
  EXPECT_EQ(choose(generation, likes3, {}, {1, 2}), 2);
  EXPECT_EQ(choose(generation, likes3, {}, {0, 1, 2}), 2);
  EXPECT_EQ(choose(generation, likes3, {}, {2}), 3);
  EXPECT_EQ(choose(generation, likes3, {}, {2, 1}), 3);
}

TEST(LengthLimitTest, combines_its_bounds) {
  Generation generation = endingWith(0);
  EXPECT_EQ(lengthLimit(generation, 10, {}), 512);
  generation.maxTarget = 64;
  EXPECT_EQ(lengthLimit(generation, 10, {}), 64);
  EXPECT_EQ(lengthLimit(generation, 10, 100), 64);
  generation.lengthFactor = 2.5;
  EXPECT_EQ(lengthLimit(generation, 3, {}), 8); // int(7.5) + 1
  EXPECT_EQ(lengthLimit(generation, 4, {}), 11);
  EXPECT_EQ(lengthLimit(generation, 4, 20), 20);
  generation.maxLength = 7;
  EXPECT_EQ(lengthLimit(generation, 4, {}), 7);
  EXPECT_EQ(lengthLimit(generation, 4, 20), 20);
  generation = endingWith(0);
  generation.lengthFactor = 1e300;
  EXPECT_EQ(lengthLimit(generation, 4, {}), std::numeric_limits<int>::max());
}

/// The choice among the largest logits of ranges.
static int32_t chooseOf(const Generation &generation, std::vector<float> values,
                        const std::vector<int32_t> &ids,
                        const std::vector<int32_t> &generated = {},
                        int64_t limit = 100) {
  return chooseToken(
      generation, generated, limit,
      LargestLogits{values.data(), ids.data(), int64_t(ids.size())});
}

TEST(TokenChoiceTest, the_largest_of_ranges_wins) {
  EXPECT_EQ(chooseOf(endingWith(0), {1, 4, 3}, {2, 7, 9}), 7);
  EXPECT_EQ(chooseOf(endingWith(0), {4, 1, 4}, {2, 7, 9}), 2);
  EXPECT_EQ(chooseOf(endingWith(0), {-0.0f, 0.0f}, {3, 7}), 3);
  EXPECT_EQ(chooseOf(endingWith(0), {-kInfinity, -5}, {-1, 7}), 7);
  EXPECT_EQ(chooseOf(endingWith(0), {kNan, -5}, {-1, 7}), 7);
}

TEST(TokenChoiceTest, without_a_largest_logit) {
  EXPECT_EQ(chooseOf(endingWith(5), {-kInfinity, -kInfinity}, {-1, -1}), 0);
  EXPECT_EQ(chooseOf(endingWith(5), {-kInfinity, kNan}, {-1, -1}), 5);
}

TEST(TokenChoiceTest, a_forced_token_needs_no_logits) {
  Generation generation = endingWith(5);
  generation.forcedBos = 8;
  generation.forcedEos = 5;
  EXPECT_EQ(chooseOf(generation, {3}, {2}), 8);
  EXPECT_EQ(chooseOf(generation, {3}, {2}, {8}), 2);
  EXPECT_EQ(chooseOf(generation, {3}, {2}, {8, 2}, 3), 5);
  generation.suppress = {5};
  EXPECT_EQ(chooseOf(generation, {3}, {2}, {8, 2}, 3), 0);
}

TEST(TokenChoiceTest, what_may_not_come_fits_into_its_place) {
  Generation generation = endingWith(5);
  generation.suppress = {1, 2};
  generation.beginSuppress = {3};
  generation.badWords = {{4}, {7, 8}};
  generation.minLength = 4;
  ASSERT_EQ(mostForbidden(generation), 6);
  auto forbiddenBehind = [&](const std::vector<int32_t> &generated) {
    std::vector<int32_t> ids(6, 77);
    writeForbidden(generation, generated, ids.data(), 6);
    return ids;
  };
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(forbiddenBehind({}), (Ids{1, 2, 3, 4, 5, -1}));
  EXPECT_EQ(forbiddenBehind({7}), (Ids{1, 2, 4, 8, 5, -1}));
  EXPECT_EQ(forbiddenBehind({7, 9, 9}), (Ids{1, 2, 4, -1, -1, -1}));
}
