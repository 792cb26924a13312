//===- TokenStreamTests.cpp - Text that is certain, token by token --------===//
//
// Tokens are strings of bytes that read as UTF-8, cleaned up or not. Whatever
// they are, what is told joins to the text of all of them, comes as soon as
// nothing can change it, and takes time that is linear in their number.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/TokenStream.h"
#include "runtime/tokenizer/TokenNames.h"

#include "runtime/tokenizer/Utf8.h"

#include <gtest/gtest.h>

#include <random>

using namespace heddle;

namespace {

/// transformers' PreTrainedTokenizerBase.clean_up_tokenization.
std::string cleanUp(std::string text) {
  for (auto [from, to] : {std::pair<std::string, std::string>(" .", "."),
                          {" ?", "?"},
                          {" !", "!"},
                          {" ,", ","},
                          {" ' ", "'"},
                          {" n't", "n't"},
                          {" 'm", "'m"},
                          {" 's", "'s"},
                          {" 've", "'ve"},
                          {" 're", "'re"}})
    for (size_t at = 0; (at = text.find(from, at)) != text.npos;
         at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

/// A vocabulary, and the texts that a stream tells of its tokens.
struct Streamed {
  std::vector<std::string> pieces;
  bool cleansUp = false;
  /// How the tokenizer reads the bytes of a text.
  std::function<std::string(std::string_view)> read = repairUtf8;
  StopStrings stops = StopStrings();
  std::vector<std::string> told = {};
  std::atomic<int64_t> tokensRead = 0;

  bool isByte(int32_t id) const { return byteOfPiece(pieces[size_t(id)]) >= 0; }
  /// Runs of pieces that spell bytes are characters, or nothing of them is.
  std::string textOf(const TokenIds &tokens) {
    tokensRead += int64_t(tokens.size());
    std::string bytes, run;
    auto endRun = [&] {
      std::string_view one = "\xEF\xBF\xBD";
      for (size_t i = 0; i < run.size() && !isUtf8(run); ++i)
        bytes += one;
      bytes += isUtf8(run) ? run : "";
      run.clear();
    };
    for (int32_t token : tokens) {
      // Padded rows of a vocabulary, and special tokens.
      if (pieces[size_t(token)].empty())
        continue;
      int byte = byteOfPiece(pieces[size_t(token)]);
      if (byte >= 0) {
        run += char(byte);
        continue;
      }
      endRun();
      bytes += pieces[size_t(token)];
    }
    endRun();
    std::string text = read(bytes);
    return cleansUp ? cleanUp(text) : text;
  }
  /// Tells all tokens behind the first `given`, which somebody has given.
  void tell(const TokenIds &tokens, size_t given = 0) {
    std::atomic<bool> cancelled = false;
    told.clear();
    TokenStream stream([&](const TokenIds &ids) { return textOf(ids); },
                       [&](int32_t id) { return isByte(id); }, cleansUp, stops,
                       hear, this, cancelled);
    TokenIds before(tokens.begin(), tokens.begin() + ptrdiff_t(given));
    for (size_t i = given; i < tokens.size(); ++i) {
      stream.add(/*input=*/7, before, tokens[i], i + 1 == tokens.size());
      before.push_back(tokens[i]);
    }
  }
  std::string joined() const {
    std::string text;
    for (const std::string &each : told)
      text += each;
    return text;
  }
  static int hear(void *context, size_t, int32_t, const char *text, size_t size,
                  int) {
    static_cast<Streamed *>(context)->told.emplace_back(text, size);
    return 0;
  }
};

/// As SentencePiece reads bytes that are no character: one for each of them.
std::string repairBytes(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    std::string_view rest = bytes;
    CodePoint point = takeCodePoint(rest);
    bool isWhole = point.value != kReplacementCharacter;
    text += isWhole ? point.bytes : std::string_view("\xEF\xBF\xBD");
    bytes.remove_prefix(isWhole ? point.bytes.size() : 1);
  }
  return text;
}

/// As such tokenizers do: no space at an end.
std::string strip(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

} // namespace

TEST(TokenStreamTest, text_that_is_cleaned_up_at_any_place) {
  // All texts of these characters, a token each, and tokens that are nothing.
  for (const char *letters : {" 'snt", " 'vea", " .'a", " 'rem", " ,?!'"}) {
    Streamed streamed;
    streamed.cleansUp = true;
    streamed.pieces = {""};
    for (char letter : std::string(letters))
      streamed.pieces.emplace_back(1, letter);
    size_t count = streamed.pieces.size(), all = 1;
    for (size_t length = 1; length <= 6; ++length) {
      all *= count;
      for (size_t number = 0; number < all; ++number) {
        TokenIds tokens;
        for (size_t rest = number, i = 0; i < length; ++i, rest /= count)
          tokens.push_back(int32_t(rest % count));
        streamed.tell(tokens);
        ASSERT_EQ(streamed.joined(), streamed.textOf(tokens));
      }
    }
  }
}

TEST(TokenStreamTest, characters_that_come_in_parts) {
  // Bytes of characters of every length, and of none.
  std::mt19937 random(3);
  for (auto read : {repairUtf8, repairBytes}) {
    Streamed streamed;
    streamed.read = read;
    for (const char *piece :
         {"a", " ", "\xC3", "\xA9", "\xE3", "\x81", "\x82", "\xF0", "\x9F",
          "\x98", "\x80", "\xEF", "\xBF", "\xBD", "\xED", "\xA0", "\xFF"})
      streamed.pieces.push_back(piece);
    for (int i = 0; i < 20000; ++i) {
      TokenIds tokens;
      for (size_t left = 1 + random() % 12; left > 0; --left)
        tokens.push_back(int32_t(random() % streamed.pieces.size()));
      streamed.tell(tokens);
      ASSERT_EQ(streamed.joined(), streamed.textOf(tokens));
    }
  }
}

TEST(TokenStreamTest, pieces_that_spell_bytes) {
  std::mt19937 random(5);
  Streamed streamed;
  streamed.pieces = {"a",      " ",      "<0x42>", "<0x38>", "<0x82>", "<0xC3>",
                     "<0xA9>", "<0x0A>", "<0xE3>", "<0x81>", ""};
  for (int i = 0; i < 20000; ++i) {
    TokenIds tokens;
    // Some are longer than what is read again.
    for (size_t left = 1 + random() % (i % 100 ? 12 : 300); left > 0; --left)
      tokens.push_back(int32_t(i % 3 ? 2 + random() % 9 : random() % 11));
    streamed.tell(tokens);
    ASSERT_EQ(streamed.joined(), streamed.textOf(tokens));
  }
  // A run is told when it has ended.
  streamed.tell({0, 2, 3, 0, 0});
  EXPECT_EQ(streamed.told, (std::vector<std::string>{"", "a", "", "B8", "aa"}));
}

TEST(TokenStreamTest, long_texts_of_many_scripts) {
  std::mt19937 random(4);
  for (bool cleansUp : {false, true})
    for (bool strips : {false, true})
      for (auto repair : {repairUtf8, repairBytes}) {
        Streamed streamed;
        streamed.cleansUp = cleansUp;
        streamed.read = [=](std::string_view bytes) {
          return strips ? strip(repair(bytes)) : repair(bytes);
        };
        // Some tokens are nothing, as special ones are.
        for (const char *piece : {"",
                                  "",
                                  " ",
                                  " ",
                                  "  ",
                                  ".",
                                  ",",
                                  "'",
                                  "n't",
                                  "'s",
                                  " not",
                                  "ing",
                                  " word",
                                  "A",
                                  "\xE6\x97\xA5",
                                  "\xE6\x9C\xAC\xE8\xAA\x9E",
                                  "\xE3",
                                  "\x81",
                                  "\x82",
                                  "\xF0\x9F",
                                  "\x98\x80",
                                  "\xEF\xBF\xBD",
                                  "\n"})
          streamed.pieces.push_back(piece);
        for (int i = 0; i < 20; ++i) {
          TokenIds tokens;
          // Words, and now and then one token again and again.
          for (size_t left = 1 + random() % 1000; left > 0; --left)
            if (random() % 100 == 0)
              tokens.insert(tokens.end(), random() % 300,
                            int32_t(random() % streamed.pieces.size()));
            else
              tokens.push_back(int32_t(random() % streamed.pieces.size()));
          size_t given = random() % 2 * (random() % tokens.size());
          streamed.tell(tokens, given);
          ASSERT_EQ(streamed.told.size(), tokens.size() - given);
          ASSERT_EQ(streamed.joined(), streamed.textOf(tokens));
        }
      }
}

TEST(TokenStreamTest, tokens_that_say_nothing_of_where_they_are) {
  // What begins a text reads otherwise: a space is dropped there.
  Streamed streamed;
  streamed.read = [](std::string_view bytes) {
    bytes.remove_prefix(!bytes.empty() && bytes.front() == ' ');
    return std::string(bytes);
  };
  streamed.pieces = {"", " ", "x", " word"};
  for (int32_t often : {0, 1})
    for (const TokenIds &first :
         {TokenIds{}, TokenIds{2}, TokenIds(100, 2), TokenIds(100, 3)})
      for (size_t count : {1, 63, 64, 65, 127, 128, 129, 300}) {
        TokenIds tokens = first;
        tokens.insert(tokens.end(), count, often);
        tokens.insert(tokens.end(), {3, 2, 1, 0, 3});
        tokens.insert(tokens.end(), 200, 2);
        streamed.tell(tokens);
        ASSERT_EQ(streamed.joined(), streamed.textOf(tokens));
      }
}

TEST(TokenStreamTest, text_comes_with_the_next_token) {
  // Also where there is no space to wait for.
  Streamed streamed;
  streamed.cleansUp = true;
  streamed.pieces = {"\xE6\x97\xA5\xE6\x9C\xAC", "\xE8\xAA\x9E", " ", "."};
  streamed.tell({0, 1, 0, 1, 2, 3, 0, 0});
  EXPECT_EQ(streamed.told, (std::vector<std::string>{
                               "", streamed.pieces[0], streamed.pieces[1],
                               streamed.pieces[0], streamed.pieces[1], "", ".",
                               streamed.pieces[0] + streamed.pieces[0]}));
}

TEST(TokenStreamTest, time_is_linear) {
  Streamed streamed;
  streamed.pieces = {"\xE6\x97\xA5", " word", " ", ","};
  for (bool cleansUp : {false, true}) {
    streamed.cleansUp = cleansUp;
    TokenIds tokens;
    for (int i = 0; i < 8192; ++i)
      tokens.push_back(i * 7 % 11 % 4);
    streamed.tokensRead = 0;
    streamed.tell(tokens);
    EXPECT_LE(streamed.tokensRead,
              int64_t(3 * TokenStream::kTokens * tokens.size()));
    EXPECT_EQ(streamed.joined(), streamed.textOf(tokens));
  }
}

TEST(TokenStreamTest, nothing_is_told_of_a_text_that_ends_another) {
  Streamed streamed;
  streamed.pieces = {"a", "b", "ab", "bac", "c"};
  const std::vector<std::string> strings = {"abb", "bb", "caca"};
  streamed.stops = StopStrings(strings);
  // All texts of six tokens, as far as one of the strings lets them go on.
  size_t ended = 0;
  for (int32_t number = 0; number < 5 * 5 * 5 * 5 * 5 * 5; ++number) {
    TokenIds tokens;
    std::string text, expected;
    bool isOver = false;
    for (int32_t left = number; tokens.size() < 6 && !isOver; left /= 5) {
      tokens.push_back(left % 5);
      text += streamed.pieces[size_t(left % 5)];
      expected = text;
      for (const std::string &string : strings)
        if (size_t at = text.find(string); at < expected.size()) {
          expected = text.substr(0, at);
          isOver = true;
        }
    }
    ended += isOver;
    std::string before =
        streamed.textOf(TokenIds(tokens.begin(), tokens.end() - 1));
    EXPECT_EQ(endOfText(text, before, streamed.stops), expected.size());
    streamed.tell(tokens);
    EXPECT_EQ(streamed.joined(), expected) << text;
  }
  EXPECT_GT(ended, 1000u);
}

TEST(TokenStreamTest, nothing_follows_who_wants_no_more) {
  std::atomic<bool> cancelled = false;
  int calls = 0;
  auto end = [](void *context, size_t, int32_t, const char *, size_t, int) {
    return int(++*static_cast<int *>(context) == 2);
  };
  TokenStream stream(
      [](const TokenIds &ids) { return std::string(ids.size(), 'a'); },
      [](int32_t) { return false; }, false, StopStrings(), end, &calls,
      cancelled);
  for (int32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(cancelled, i >= 2);
    stream.add(i % 2, {}, i, false);
  }
  EXPECT_EQ(calls, 2);
}
