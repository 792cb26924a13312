//===- AddedTokens.h - Tokens that text has as a whole ----------*- C++ -*-===//
//
// Special tokens and those that somebody added to a vocabulary are found in a
// text before it is cut into pieces, here as transformers' fast tokenizers do
// (the library tokenizers, AddedVocabulary).
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

/// A table of tokens, which must outlive it. Immutable but for `spell`.
class AddedTokens {
public:
  struct Token {
    int32_t id;
    uint32_t flags;
    std::string spelling;
  };

  /// Refuses a table that is not whole.
  static Result<AddedTokens> parse(std::string_view table);

  const std::vector<Token> &all() const { return tokens; }
  /// By ids, as the table has them.
  const std::map<int32_t, std::string_view> &texts() const { return byId; }

  /// Tokens that are found in normalised text are spelled as `normalize` says.
  template <typename Normalize> void spell(Normalize normalize) {
    for (Token &token : tokens)
      if (token.flags & format::kIsNormalized)
        token.spelling = normalize(token.spelling);
    index();
  }

  /// A token, null if there is none, the bytes that it takes, spaces beside it
  /// among them, and where the next search begins.
  struct Match {
    const Token *token;
    size_t begin, end, next;
  };
  /// Finds the leftmost token from `from` on, and the longest of these, the
  /// first of equal ones, in well-formed UTF-8. `isNormalized` selects the
  /// tokens: those that are found in normalized text, or the others. Spaces
  /// before `done` belong to an earlier match.
  Match find(std::string_view text, size_t from, size_t done,
             bool isNormalized) const;

private:
  void index();
  const Token *findAt(std::string_view text, size_t at,
                      bool isNormalized) const;

  std::vector<Token> tokens;
  std::map<int32_t, std::string_view> byId;
  /// Indices of tokens by their first byte, the longest first; of those that
  /// are found in the text as it stands, then in normalised text.
  std::array<std::vector<uint32_t>, 256> starts[2];
  /// The first token of which a normalizer leaves nothing, or -1: it is found
  /// between all characters.
  int32_t empty = -1;
};

/// Without white space at an end, as the Unicode standard has it; for Python's
/// str.strip the separators of ASCII are white space, too.
std::string_view stripLeft(std::string_view text, bool isPython);
std::string_view stripRight(std::string_view text, bool isPython);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_ADDEDTOKENS_H
