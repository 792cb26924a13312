//===- AddedTokens.h - Tokens that text has as a whole ----------*- C++ -*-===//
//
// Special tokens and those that somebody added to a vocabulary are found in a
// text before it is cut into pieces. transformers has two ways to do that, and
// they differ in what a word and a space are: its fast tokenizers (the library
// tokenizers, AddedVocabulary) and its slow ones (Trie.split and
// PreTrainedTokenizer.tokenize).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_ADDEDTOKENS_H
#define HEDDLE_RUNTIME_TOKENIZER_ADDEDTOKENS_H

#include "runtime/Result.h"
#include "runtime/tokenizer/TokenizerFormat.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// The section `tokenizer.added`, which must stay. Immutable but for `spell`.
class AddedTokens {
public:
  /// A part of a text: a token, or plain text with the id -1.
  template <typename Text> struct Part {
    Text text;
    int32_t id = -1;
  };

  /// Refuses a section that is not whole.
  static Result<AddedTokens> parse(std::string_view section);

  bool isEmpty() const { return tokens.empty(); }
  /// The text of an added token, empty for another id.
  std::string_view text(int32_t id) const;

  /// Tokens that are found in normalised text are spelled as `normalize` says.
  template <typename Normalize> void spell(Normalize normalize) {
    for (Token &token : tokens)
      if (token.flags & format::kIsNormalized)
        token.spelling = normalize(token.spelling);
    index();
  }

  /// Whether a token may begin in the text.
  bool mayBegin(std::string_view text) const;

  /// Cuts well-formed UTF-8 at the tokens that are found in normalised text, or
  /// else at the others: the leftmost, and of these the longest. No part is
  /// empty, but tokens may have taken spaces with them.
  std::vector<Part<std::string_view>> cut(std::string_view text,
                                          bool isNormalized) const;

  /// Cuts as slow tokenizers do, at all tokens.
  std::vector<Part<std::string>> cutSlowly(std::string_view text) const;

private:
  struct Token {
    int32_t id;
    uint32_t flags;
    std::string spelling;
  };
  /// A trie over characters, as transformers' slow tokenizers walk it.
  struct Node {
    std::map<char32_t, uint32_t> next;
    bool isEnd = false;
  };

  void index();
  const Token *findAt(std::string_view text, size_t at,
                      bool isNormalized) const;
  std::vector<std::string> splitByTrie(std::string_view text) const;

  std::vector<Token> tokens;
  /// By id, as the section has them.
  std::map<int32_t, std::string_view> texts;
  std::map<std::string_view, size_t> byText;
  /// Indices of tokens by their first byte, the longest first; of those that
  /// are found in the text as it stands, then in normalised text.
  std::array<std::vector<uint32_t>, 256> starts[2];
  std::vector<Node> trie;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_ADDEDTOKENS_H
