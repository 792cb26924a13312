//===- ConstraintsTests.cpp - Which tokens may come next ------------------===//
//
// Corners that the comparison with the oracle in DecodingTests.cpp does not
// reach: ties, logits that are no numbers, nothing left, lengths.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Constraints.h"
#include "runtime/search/GreedyChoice.h"

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

static TokensSoFar behind(const std::vector<int32_t> &tokens,
                          int64_t limit = 100, int64_t prefix = 0) {
  return {tokens.data(), int64_t(tokens.size()), prefix, limit};
}

/// The greedy choice behind `generated`; -1 where nothing may come.
static int32_t choose(const Generation &generation, std::vector<float> logits,
                      const std::vector<int32_t> &candidates = {},
                      const std::vector<int32_t> &generated = {}) {
  NextTokenScores scores{logits.data(), int64_t(logits.size()),
                         candidates.empty() ? nullptr : candidates.data()};
  Constraints(generation, 10).apply(behind(generated), scores);
  std::optional<int64_t> index = findLargest(scores);
  return index ? scores.id(*index) : -1;
}

TEST(GreedyChoiceTest, the_lowest_id_wins_a_tie) {
  EXPECT_EQ(choose(endingWith(0), {1, 3, 3, 2}), 1);
  EXPECT_EQ(choose(endingWith(0), {1, 3, 3, 2}, {4, 6, 7, 9}), 6);
  EXPECT_EQ(choose(endingWith(0), {-0.0f, 0.0f}), 0);
}

TEST(GreedyChoiceTest, finds_the_largest_at_every_place) {
  for (int64_t count = 1; count < 70; ++count)
    for (int64_t place = 0; place < count; ++place) {
      std::vector<float> logits(count, -1.0f);
      logits[place] = -0.5f;
      EXPECT_EQ(choose(endingWith(0), logits), place) << count;
    }
}

TEST(GreedyChoiceTest, what_is_no_number_is_not_chosen) {
  EXPECT_EQ(choose(endingWith(0), {kNan, 1, kNan, 2}), 3);
  EXPECT_EQ(choose(endingWith(2), {kNan, kNan, kNan}), -1);
  EXPECT_EQ(choose(endingWith(0), {1, kInfinity, 3}), 1);
}

TEST(ConstraintsTest, nothing_where_nothing_is_allowed) {
  Generation generation = endingWith(2);
  generation.suppress = {0, 1, 2};
  EXPECT_EQ(choose(generation, {1, 2, 3}), -1);
  EXPECT_EQ(choose(generation, {5, 6}, {0, 1}), -1);
  EXPECT_EQ(choose(generation, {1, 2, 3, kNan}), -1);
}

TEST(ConstraintsTest, ids_that_are_no_candidates_can_be_suppressed) {
  Generation generation = endingWith(0);
  generation.suppress = {0, 5, 9};
  EXPECT_EQ(choose(generation, {1, 2, 3}, {4, 6, 9}), 6);
}

TEST(ConstraintsTest, bad_words_of_several_tokens) {
  Generation generation = endingWith(0);
  generation.badWords = {{1, 2, 3}};
  std::vector<float> likes3 = {0, 0, 1, 2};
  EXPECT_EQ(choose(generation, likes3, {}, {1, 2}), 2);
  EXPECT_EQ(choose(generation, likes3, {}, {0, 1, 2}), 2);
  EXPECT_EQ(choose(generation, likes3, {}, {2}), 3);
  EXPECT_EQ(choose(generation, likes3, {}, {2, 1}), 3);
}

TEST(ConstraintsTest, no_sequence_of_tokens_comes_twice) {
  Generation generation = endingWith(0);
  generation.start = 4;
  generation.noRepeatNgram = 2;
  std::vector<float> likes3 = {0, 0, 1, 2, 0};
  EXPECT_EQ(choose(generation, likes3, {}, {1, 3, 1}), 2);
  EXPECT_EQ(choose(generation, likes3, {}, {3, 1}), 3);
  // The start token is part of the sequence.
  EXPECT_EQ(choose(generation, likes3, {}, {3, 4}), 2);
  generation.start = -1;
  EXPECT_EQ(choose(generation, likes3, {}, {3, 4}), 3);
  generation.noRepeatNgram = 1;
  EXPECT_EQ(choose(generation, likes3, {}, {3}), 2);
  generation.noRepeatNgram = 3;
  EXPECT_EQ(choose(generation, likes3, {}, {1, 2}), 3);
}

TEST(ConstraintsTest, what_is_there_is_penalized_once) {
  Generation generation = endingWith(0);
  generation.start = 2;
  generation.repetitionPenalty = 2;
  std::vector<float> scores = {4, 4, 4, -4, -4};
  std::vector<int32_t> tokens = {1, 3, 1};
  Constraints constraints(generation, 5);
  constraints.apply(behind(tokens), {scores.data(), 5});
  EXPECT_EQ(scores, (std::vector<float>{4, 2, 2, -8, -4}));
  // Of candidates by their ids.
  scores = {4, -4};
  std::vector<int32_t> candidates = {1, 3};
  constraints.apply(behind(tokens), {scores.data(), 2, candidates.data()});
  EXPECT_EQ(scores, (std::vector<float>{2, -8}));
}

TEST(ConstraintsTest, no_end_before_the_minimum) {
  Generation generation = endingWith(0);
  generation.minNewTokens = 2;
  EXPECT_EQ(choose(generation, {3, 1}, {}, {}), 1);
  EXPECT_EQ(choose(generation, {3, 1}, {}, {1}), 1);
  EXPECT_EQ(choose(generation, {3, 1}, {}, {1, 1}), 0);
  // A prefix counts for min_length alone, as does the start token.
  auto mayEnd = [&](const std::vector<int32_t> &tokens, int64_t prefix) {
    std::vector<float> scores = {3, 1};
    Constraints(generation, 2)
        .apply(behind(tokens, 100, prefix), {scores.data(), 2});
    return scores[0] == 3;
  };
  EXPECT_FALSE(mayEnd({1, 1}, 1));
  EXPECT_TRUE(mayEnd({1, 1, 1}, 1));
  generation.minNewTokens = 0;
  generation.minLength = 3;
  EXPECT_FALSE(mayEnd({1}, 1));
  EXPECT_TRUE(mayEnd({1, 1}, 1));
}

TEST(LengthLimitTest, a_text_that_is_over_has_no_room) {
  Generation generation = endingWith(0);
  EXPECT_TRUE(checkRoom(generation, 100, {}).ok());
  generation.maxWhole = 12;
  EXPECT_TRUE(checkRoom(generation, 11, {}).ok());
  EXPECT_EQ(checkRoom(generation, 13, {}).message(),
            "has 13 tokens, but the model's max_length ends a text at 12: "
            "--max-length admits more");
  EXPECT_TRUE(checkRoom(generation, 13, 5).ok());
}

TEST(LengthLimitTest, combines_its_bounds) {
  Generation generation = endingWith(0);
  auto limit = [&](int64_t source, std::optional<int64_t> requested,
                   int64_t prefix = 0) {
    return lengthLimit(generation, source, prefix, requested);
  };
  EXPECT_EQ(limit(10, {}), 512);
  generation.maxTarget = 64;
  EXPECT_EQ(limit(10, {}), 64);
  EXPECT_EQ(limit(10, 100), 64);
  EXPECT_EQ(limit(10, 100, 60), 4);
  EXPECT_EQ(limit(10, 3, 60), 3);
  generation.lengthFactor = 2.5;
  // Marian generates while tokens are fewer than 2.5 n.
  EXPECT_EQ(limit(3, {}), 8);
  EXPECT_EQ(limit(4, {}), 10);
  EXPECT_EQ(limit(4, 20), 20);
  generation.maxLength = 7;
  EXPECT_EQ(limit(4, {}), 7);
  EXPECT_EQ(limit(4, 20), 20);
  // A maximum that counts what is before it, which a caller replaces.
  generation = endingWith(0);
  generation.maxTarget = 64;
  generation.maxWhole = 40;
  EXPECT_EQ(limit(10, {}, 9), 30);
  EXPECT_EQ(limit(10, 50, 9), 50);
  EXPECT_EQ(limit(50, {}, 49), 1);
  generation.maxLength = 7;
  EXPECT_EQ(limit(10, {}, 9), 7);
  EXPECT_EQ(limit(38, {}, 37), 2);
  generation = endingWith(0);
  generation.lengthFactor = 1e300;
  EXPECT_EQ(limit(4, {}), std::numeric_limits<int>::max());
  generation.lengthFactor = 0.1;
  EXPECT_EQ(limit(4, {}), 1);
  generation.lengthFactor = 1.1;
  EXPECT_EQ(limit(10, {}), 11); // 11.000000000000002 in f64.
}

/// The choice among the largest logits of ranges.
static int32_t chooseOf(std::vector<float> values,
                        const std::vector<int32_t> &ids) {
  return findLargest(
             LargestLogits{values.data(), ids.data(), int64_t(ids.size())})
      .value_or(-1);
}

TEST(GreedyChoiceTest, the_largest_of_ranges_wins) {
  EXPECT_EQ(chooseOf({1, 4, 3}, {2, 7, 9}), 7);
  EXPECT_EQ(chooseOf({4, 1, 4}, {2, 7, 9}), 2);
  EXPECT_EQ(chooseOf({-0.0f, 0.0f}, {3, 7}), 3);
  EXPECT_EQ(chooseOf({-kInfinity, -5}, {-1, 7}), 7);
  EXPECT_EQ(chooseOf({kNan, -5}, {-1, 7}), 7);
}

TEST(GreedyChoiceTest, without_a_largest_logit) {
  EXPECT_EQ(chooseOf({-kInfinity, -kInfinity}, {-1, -1}), -1);
  EXPECT_EQ(chooseOf({-kInfinity, kNan}, {-1, -1}), -1);
}

TEST(ConstraintsTest, forced_tokens) {
  Generation generation = endingWith(5);
  generation.forcedBos = 8;
  generation.forcedEos = 5;
  auto forced = [&](const std::vector<int32_t> &tokens, int64_t limit = 100,
                    int64_t prefix = 0) {
    auto found =
        Constraints(generation, 10).forced(behind(tokens, limit, prefix));
    return !found ? -1 : found->isSuppressed ? -2 : found->token;
  };
  EXPECT_EQ(forced({}), 8);
  EXPECT_EQ(forced({8}), -1);
  EXPECT_EQ(forced({8, 2}, 3), 5);
  // Behind a prefix there is no first token.
  EXPECT_EQ(forced({2}, 3, 1), -1);
  EXPECT_EQ(forced({2, 2, 2}, 3, 1), 5);
  generation.suppress = {5};
  EXPECT_EQ(forced({8, 2}, 3), -2);
}

TEST(ConstraintsTest, what_may_not_come_fits_into_its_place) {
  Generation generation = endingWith(5);
  generation.suppress = {1, 2};
  generation.beginSuppress = {3};
  generation.badWords = {{4}, {7, 8}};
  generation.minLength = 4;
  Constraints constraints(generation, 10);
  ASSERT_EQ(constraints.mostForbidden(100), 6);
  auto forbiddenBehind = [&](const std::vector<int32_t> &generated) {
    std::vector<int32_t> ids(6, 77);
    constraints.writeForbidden(behind(generated), ids.data(), 6);
    return ids;
  };
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(forbiddenBehind({}), (Ids{1, 2, 3, 4, 5, -1}));
  EXPECT_EQ(forbiddenBehind({7}), (Ids{1, 2, 4, 8, 5, -1}));
  EXPECT_EQ(forbiddenBehind({7, 9, 9}), (Ids{1, 2, 4, -1, -1, -1}));
  generation.noRepeatNgram = 3;
  // With "start", where the model has one, a row has at most 4 tokens that a
  // fifth could repeat.
  EXPECT_EQ(Constraints(generation, 10).mostForbidden(5), 11);
  generation.noRepeatNgram = 1;
  EXPECT_EQ(forbiddenBehind({7, 9, 9}), (Ids{1, 2, 7, 9, 9, 4}));
}
