//===- TextNormalizer.h - Text as SentencePiece cuts it ---------*- C++ -*-===//
//
// SentencePiece replaces characters by rules (of each place the longest one
// that matches), and spaces by a mark, before it cuts a text. The library
// tokenizers has other thoughts about the same rules.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TEXTNORMALIZER_H
#define HEDDLE_RUNTIME_TOKENIZER_TEXTNORMALIZER_H

#include "runtime/tokenizer/DoubleArray.h"

#include <string>
#include <string_view>

namespace heddle {

/// U+2581, which stands for a space in pieces.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

/// Removes the first character of `text`, which must not be empty, or its first
/// byte if that begins none, as SentencePiece reads damaged text; the
/// character, or U+FFFD.
std::string_view takeCharacter(std::string_view &text);

/// A view of tables, which must stay. Immutable.
class TextNormalizer {
public:
  TextNormalizer() = default;
  /// `flags` are those of format::NormalizerTable; the values of `rules` are
  /// offsets into `replacements`, which is empty or ends with a zero. Of what
  /// `symbols` lists nothing is replaced.
  TextNormalizer(uint32_t flags, DoubleArray rules,
                 std::string_view replacements, DoubleArray symbols)
      : flags(flags), rules(rules), replacements(replacements),
        symbols(symbols) {}

  /// Any bytes are text: one that is not UTF-8 becomes U+FFFD.
  std::string normalize(std::string_view text) const;
  /// Well-formed text with what rules replace, its spaces as they stand, as the
  /// library tokenizers does it: a cluster of characters below six bytes
  /// becomes what the shortest rule says that it begins with; otherwise each
  /// character does.
  std::string replaceClusters(std::string_view text) const;

private:
  /// Removes the start of `text` that a rule replaces, or a character; what it
  /// becomes.
  std::string_view takePrefix(std::string_view &text) const;

  uint32_t flags = 0;
  DoubleArray rules;
  std::string_view replacements;
  DoubleArray symbols;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TEXTNORMALIZER_H
