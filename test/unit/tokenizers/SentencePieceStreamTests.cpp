//===- SentencePieceStreamTests.cpp - Pieces as they are generated --------===//
//
// Lines of many scripts, and pieces in any order, through streams of tokens:
// what is told of them joins to their text.
//
//===----------------------------------------------------------------------===//

#include "SentencePieceSamples.h"
#include "runtime/api/TokenStream.h"
#include "runtime/tokenizer/TokenNames.h"
#include "test/unit/FileBuilders.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

class SentencePieceStream : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto model = readSentencePieceModel(
        folder.write("model.spm", trainSentencePiece(GetParam())));
    ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
    for (const SentencePiece &piece : model->pieces)
      texts.push_back(piece.text);
    pieces.emplace(*model);
  }

  std::string textOf(const TokenIds &ids) {
    tokensRead += ids.size();
    return pieces->join(ids);
  }
  /// What a stream tells of tokens.
  std::string tell(const TokenIds &ids) {
    std::string told;
    std::atomic<bool> cancelled = false;
    auto hear = [](void *context, size_t, int32_t, const char *text,
                   size_t size, int) {
      static_cast<std::string *>(context)->append(text, size);
      return 0;
    };
    TokenStream stream(
        [&](const TokenIds &ids) { return textOf(ids); },
        [&](int32_t id) { return byteOfPiece(texts[size_t(id)]) >= 0; },
        /*takesSpacesBack=*/false, StopStrings(), hear, &told, cancelled);
    TokenIds before;
    for (size_t i = 0; i < ids.size(); ++i) {
      stream.add(0, before, ids[i], i + 1 == ids.size());
      before.push_back(ids[i]);
    }
    return told;
  }

  TemporaryFolder folder;
  std::optional<StagedModel> pieces;
  std::vector<std::string> texts;
  size_t tokensRead = 0;
};

TEST_P(SentencePieceStream, TellsTheTextOfAllTokens) {
  LineDrawer drawer(21, texts);
  std::mt19937 random(22);
  for (int i = 0; i < 200; ++i) {
    TokenIds ids;
    if (i % 2)
      for (size_t left = 1 + random() % 500; left > 0; --left)
        ids.push_back(int32_t(random() % texts.size()));
    else
      ids = pieces->cut(drawer.drawLong(1 + random() % 1000));
    ASSERT_EQ(tell(ids), textOf(ids)) << testing::PrintToString(ids);
  }
}

TEST_P(SentencePieceStream, TakesLinearTime) {
  LineDrawer drawer(23, texts);
  TokenIds ids;
  while (ids.size() < 8192)
    for (int32_t id : pieces->cut(drawer.drawLine()))
      ids.push_back(id);
  tokensRead = 0;
  std::string told = tell(ids);
  EXPECT_LE(tokensRead, 4 * TokenStream::kTokens * ids.size());
  EXPECT_EQ(told, textOf(ids));
}

INSTANTIATE_TEST_SUITE_P(
    Models, SentencePieceStream,
    testing::Values("--vocab_size=1000",
                    "--model_type=bpe --vocab_size=900 --byte_fallback=true",
                    "--vocab_size=500 --remove_extra_whitespaces=false "
                    "--add_dummy_prefix=false",
                    "--vocab_size=500 --treat_whitespace_as_suffix=true"),
    [](const auto &info) { return "m" + std::to_string(info.index); });

} // namespace
