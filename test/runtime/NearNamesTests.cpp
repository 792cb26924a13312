//===- NearNamesTests.cpp - Which known name may be meant -----------------===//

#include "runtime/NearNames.h"

#include <gtest/gtest.h>

using namespace heddle;

namespace {

std::string near(std::string_view name) {
  static const std::vector<std::string_view> known = {
      "beam", "batch", "max-length", "max-memory", "min-p", "temperature", "o"};
  std::string text;
  for (std::string_view each : findNearNames(name, known))
    text += (text.empty() ? "" : " ") + std::string(each);
  return text;
}

TEST(NearNamesTest, TakesTheFewestEdits) {
  EXPECT_EQ(near("bach"), "batch");
  EXPECT_EQ(near("bacth"), "batch");
  EXPECT_EQ(near("beams"), "beam");
  EXPECT_EQ(near("mqx-lenght"), "max-length");
  EXPECT_EQ(near("temprature"), "temperature");
  // Of as many edits, all.
  EXPECT_EQ(near("beach"), "beam batch");
}

TEST(NearNamesTest, TakesWhatItBegins) {
  EXPECT_EQ(near("b"), "beam batch");
  EXPECT_EQ(near("max"), "max-length max-memory");
  EXPECT_EQ(near("temp"), "temperature");
  EXPECT_EQ(near("max_len"), "max-length");
}

TEST(NearNamesTest, TakesItsWords) {
  EXPECT_EQ(near("beam-size"), "beam");
  EXPECT_EQ(near("num_beams"), "beam");
  EXPECT_EQ(near("per-device-batch"), "batch");
  // One letter says nothing.
  EXPECT_EQ(near("o-something"), "");
}

TEST(NearNamesTest, FindsNothingInCommon) {
  EXPECT_EQ(near(""), "");
  EXPECT_EQ(near("quantise"), "");
  EXPECT_EQ(near("4"), "");
  EXPECT_EQ(near(std::string(2000, 'x')), "");
}

TEST(NearNamesTest, Asks) {
  EXPECT_EQ(askForNames({}), "");
  EXPECT_EQ(askForNames({"a"}, "--"), "is '--a' meant?");
  EXPECT_EQ(askForNames({"a", "b"}), "is 'a' or 'b' meant?");
  EXPECT_EQ(askForNames({"a", "b", "c"}), "is 'a', 'b' or 'c' meant?");
  EXPECT_EQ(askForNames({"a", "b", "c", "d"}), "");
}

} // namespace
