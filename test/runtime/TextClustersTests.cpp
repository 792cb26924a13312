//===- TextClustersTests.cpp - Clusters of Unicode's annex 29 -------------===//

#include "runtime/tokenizer/TextClusters.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace heddle;

TEST(TextClusters, AreThoseOfTheAnnex) {
  // As `\X` of the package regex cuts.
  const std::vector<std::vector<std::string>> texts = {
      {"a", "b", "\r\n", "\n", "\r", "é"},
      {"\r", "\u0301", "x"},
      {"e\u0301\u0301", "½\u0350", " \u200d", "\u00ad", "ª\u0903"},
      {"\u0600½", "\u0600", "\n"},
      {"\u1100\u1161\u11a8", "가\u11a8", "각\u11a8", "각", "\u1161"},
      {"\U0001F1E6\U0001F1E7", "\U0001F1E8\u0301", "\U0001F1E9\U0001F1EA"},
      {"\U0001F468\U0001F3FB\u200d\U0001F469", "\U0001F468", "a\u200d", "©"},
      {"\u0915\u094d\u0937\u093f", "\u0915", "\u0937\u094d", "a"}};
  for (const std::vector<std::string> &clusters : texts) {
    std::string text;
    for (const std::string &cluster : clusters)
      text += cluster;
    std::string_view rest = text;
    for (const std::string &cluster : clusters) {
      ASSERT_FALSE(rest.empty());
      EXPECT_EQ(rest.substr(0, clusterLength(rest)), cluster);
      rest.remove_prefix(clusterLength(rest));
    }
    EXPECT_TRUE(rest.empty());
  }
}
