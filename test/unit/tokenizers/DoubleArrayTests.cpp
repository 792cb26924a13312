//===- DoubleArrayTests.cpp - Tries from writer to reader -----------------===//

#include "lib/Import/Tokenizers/DoubleArrayBuilder.h"
#include "runtime/tokenizer/DoubleArray.h"
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace heddle;

namespace {

/// Finds every key, and no other of the texts.
void expectKeys(const std::map<std::string, uint32_t> &keys,
                const std::vector<std::string> &others) {
  std::vector<std::pair<llvm::StringRef, uint32_t>> list(keys.begin(),
                                                         keys.end());
  std::vector<uint32_t> units = buildDoubleArray(list);
  DoubleArray trie(units.data(), uint32_t(units.size()));
  EXPECT_EQ(trie.hasKeys(), !keys.empty());
  for (const auto &[key, value] : keys)
    ASSERT_EQ(trie.find(key), int32_t(value)) << testing::PrintToString(key);
  for (const std::string &text : others) {
    auto found = keys.find(text);
    ASSERT_EQ(trie.find(text),
              found == keys.end() ? -1 : int32_t(found->second))
        << testing::PrintToString(text);
    // The longest key that the text begins with.
    size_t length = text.size();
    while (length && !keys.count(text.substr(0, length)))
      --length;
    ASSERT_EQ(trie.longestPrefix(text).length, length);
  }
}

TEST(DoubleArray, FindsItsKeys) {
  expectKeys({}, {"", "a", std::string(1, '\0')});
  expectKeys({{"a", 0}}, {"", "b", "aa", std::string("a\0", 2)});
  expectKeys({{"a", 7}, {"ab", 0x7fffffff}, {"abc", 1}, {"b\xFF", 2}},
             {"abcd", "b", "\xFF", std::string(3, '\0')});
}

TEST(DoubleArray, FindsNothingElse) {
  std::mt19937 random(17);
  for (int alphabet : {2, 5, 255}) {
    auto draw = [&] {
      std::string text;
      for (size_t i = random() % 9; i > 0; --i)
        text += char(1 + random() % alphabet);
      return text;
    };
    std::map<std::string, uint32_t> keys;
    std::vector<std::string> others;
    for (uint32_t i = 0; i < 30000; ++i) {
      if (std::string key = draw(); !key.empty())
        keys.emplace(key, i);
      others.push_back(draw());
    }
    expectKeys(keys, others);
  }
}

TEST(DoubleArray, HasMoreThanTwoMillionUnits) {
  // Offsets that large are multiples of 256.
  std::mt19937 random(18);
  std::map<std::string, uint32_t> keys;
  for (uint32_t i = 0; i < 300000; ++i) {
    std::string key;
    for (int at = 0; at < 12; ++at)
      key += char(1 + random() % 255);
    keys.emplace(key, i);
  }
  expectKeys(keys, {"a", "b"});
}

} // namespace
