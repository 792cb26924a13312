//===- BestLinesTests.cpp - The best lines of a stream --------------------===//
//
// What is kept, and in which order, whatever the order in which lines come.
//
//===----------------------------------------------------------------------===//

#include "tools/run/BestLines.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace heddle;

/// "3 1": the numbers of the best of lines with these scores.
static std::string bestOf(size_t most, const std::vector<float> &scores) {
  BestLines lines(most);
  for (size_t i = 0; i < scores.size(); ++i)
    lines.add(int64_t(i), scores[i], std::to_string(i));
  std::string best;
  for (const ScoredLine &line : lines.take()) {
    EXPECT_EQ(line.text, std::to_string(line.number));
    best += (best.empty() ? "" : " ") + line.text;
  }
  return best;
}

TEST(BestLines, come_first) {
  EXPECT_EQ(bestOf(9, {1, 3, -2, 2}), "1 3 0 2");
  EXPECT_EQ(bestOf(2, {1, 3, -2, 2}), "1 3");
  EXPECT_EQ(bestOf(0, {1, 3}), "");
  EXPECT_EQ(bestOf(3, {}), "");
}

TEST(BestLines, of_one_score_are_the_first) {
  EXPECT_EQ(bestOf(9, {1, 2, 1, 2, 1}), "1 3 0 2 4");
  EXPECT_EQ(bestOf(3, {1, 2, 1, 2, 1}), "1 3 0");
}

TEST(BestLines, are_numbers_if_there_are_enough) {
  EXPECT_EQ(bestOf(9, {NAN, -1, NAN, 5}), "3 1 0 2");
  EXPECT_EQ(bestOf(2, {NAN, -1, NAN, 5}), "3 1");
  EXPECT_EQ(bestOf(1, {NAN, -INFINITY}), "0");
}
