//===- PromptLookupTests.cpp - Guesses of what follows a text -------------===//

#include "runtime/engine/PromptLookup.h"

#include <gtest/gtest.h>

using namespace heddle;
using Tokens = std::vector<int32_t>;

TEST(PromptLookup, ReadsOnBehindTheLastThreeTokens) {
  EXPECT_EQ(lookUp({1, 2, 3, 4, 5, 9, 1, 2, 3}, 2), (Tokens{4, 5}));
}

TEST(PromptLookup, PrefersMoreTokensAndThenALaterPlace) {
  EXPECT_EQ(lookUp({1, 2, 3, 4, 7, 3, 5, 1, 2, 3}, 1), (Tokens{4}));
  EXPECT_EQ(lookUp({2, 3, 4, 7, 2, 3, 5, 9, 2, 3}, 1), (Tokens{5}));
  EXPECT_EQ(lookUp({3, 4, 9, 3, 5, 8, 3}, 1), (Tokens{5}));
}

TEST(PromptLookup, WhatRepeatsItselfGoesOn) {
  EXPECT_EQ(lookUp({7, 7}, 4), (Tokens{7, 7, 7, 7}));
  EXPECT_EQ(lookUp({5, 1, 2, 1, 2}, 5), (Tokens{1, 2, 1, 2, 1}));
}

TEST(PromptLookup, HasNoGuessOfWhatIsNew) {
  EXPECT_EQ(lookUp({1, 2, 3}, 4), Tokens());
  EXPECT_EQ(lookUp({1}, 4), Tokens());
  EXPECT_EQ(lookUp({}, 4), Tokens());
  EXPECT_EQ(lookUp({1, 1}, 0), Tokens());
}
