//===- ShortlistTests.cpp - Marian's lexical shortlists -------------------===//

#include "FileBuilders.h"
#include "lib/Import/Marian/Shortlist.h"
#include "runtime/artifact/ArtifactFormat.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

std::string build(uint64_t first, const std::vector<uint64_t> &offsets,
                  const std::vector<uint32_t> &ids) {
  return bytesOf<uint64_t>(
             {0xF11A48D5013417F5, 0, first, 50, offsets.size(), ids.size()}) +
         bytesOf(offsets) + bytesOf(ids);
}

std::string convert(const std::string &bytes) {
  return sentenceOf(convertShortlist(bytes, "lex.bin", /*sourceVocabulary=*/3,
                                     /*targetVocabulary=*/3));
}

TEST(Shortlist, KeepsListsBehindTheArtifactsHeader) {
  auto section = convertShortlist(build(1, {0, 2, 2, 3}, {1, 2, 0}), "lex.bin",
                                  /*sourceVocabulary=*/3,
                                  /*targetVocabulary=*/3);
  ASSERT_TRUE(bool(section)) << llvm::toString(section.takeError());
  format::ShortlistHeader header;
  ASSERT_EQ(section->size(), sizeof(header) + 4 * 8 + 3 * 4);
  std::memcpy(&header, section->data(), sizeof(header));
  EXPECT_EQ(header.firstCount, 1u);
  EXPECT_EQ(header.sourceCount, 3u);
  EXPECT_EQ(header.idCount, 3u);
  EXPECT_EQ(section->substr(sizeof(header)),
            bytesOf<uint64_t>({0, 2, 2, 3}) + bytesOf<uint32_t>({1, 2, 0}));
}

TEST(Shortlist, RefusesWhatDoesNotFitTheVocabulary) {
  EXPECT_EQ(convert(build(4, {0, 0, 0, 0}, {})),
            "'lex.bin' admits the first 4 target ids but the vocabulary has 3");
  EXPECT_EQ(convert(build(0, {0, 0, 0, 1}, {3})),
            "'lex.bin' admits the target id 3 but the vocabulary has 3");
  EXPECT_EQ(convert(build(0, {0, 0}, {})),
            "'lex.bin' has lists for 1 source ids but the vocabulary has 3");
  auto withCount = [](uint64_t offsets) {
    return convert(
        bytesOf<uint64_t>({0xF11A48D5013417F5, 0, 0, 50, offsets, 0}));
  };
  EXPECT_EQ(withCount(0),
            "'lex.bin' has lists for 0 source ids but the vocabulary has 3");
  EXPECT_EQ(withCount(uint64_t(1) << 63),
            "'lex.bin' has lists for 9223372036854775807 source ids but the "
            "vocabulary has 3");
}

TEST(Shortlist, RefusesDamage) {
  EXPECT_EQ(convert("x"), "'lex.bin' has 1 bytes, too few for a shortlist");
  EXPECT_EQ(convert(std::string(48, 'x')),
            "'lex.bin' is not a binary shortlist: it starts with "
            "7878787878787878 and not with f11a48d5013417f5");
  EXPECT_EQ(convert(build(0, {0, 2, 1, 2}, {0, 0})),
            "'lex.bin' has the offset 1 for source id 2 after the offset 2 "
            "and before the end at 2");
  EXPECT_EQ(convert(build(0, {0, 0, 0, 1}, {0, 0})),
            "'lex.bin' has the offset 1 for source id 3 after the offset 0 "
            "and before the end at 2");
  EXPECT_EQ(convert(build(0, {0, 0, 0, 0}, {}) + "x"),
            "'lex.bin' announces 4 offsets and 0 ids but has 81 bytes");
}

} // namespace
