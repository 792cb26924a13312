//===- TextRules.h - What characters become ---------------------*- C++ -*-===//
//
// The rules of a SentencePiece model say what characters become. SentencePiece
// takes of each place the longest rule that matches; the library tokenizers,
// which have the same rules as `Precompiled`, do not.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TEXTRULES_H
#define HEDDLE_RUNTIME_TOKENIZER_TEXTRULES_H

#include "runtime/Result.h"
#include "runtime/tokenizer/DoubleArray.h"
#include "runtime/tokenizer/TextParts.h"

#include <string>
#include <string_view>

namespace heddle {

/// Removes the first character of `text`, which must not be empty, or its first
/// byte if that begins none, as SentencePiece reads damaged text; the
/// character, or U+FFFD.
std::string_view takeCharacter(std::string_view &text);

/// A view of a table that begins with a format::RulesHeader, which must outlive
/// it. Immutable.
class TextRules {
public:
  /// Removes the table from the front of `bytes`. Refuses one that is not
  /// whole.
  static Result<TextRules> take(std::string_view &bytes);

  /// SentencePiece's Normalizer::Normalize. Any bytes are text: one that is not
  /// UTF-8 becomes U+FFFD.
  void normalize(const TextPart &part, TextWriter &writer) const;

  /// What the library tokenizers make of well-formed text: the shortest rule
  /// that matches the start of a cluster replaces the whole cluster, if this is
  /// shorter than six bytes; otherwise each of its characters is replaced
  /// likewise. Returns false if no rule matches.
  bool replaceClusters(const TextPart &part, TextWriter &writer) const;

private:
  /// Removes the start of `text` that a rule replaces, or a character; what it
  /// becomes.
  std::string_view takePrefix(std::string_view &text) const;

  uint32_t flags = 0;
  DoubleArray rules, symbols;
  std::string_view replacements;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TEXTRULES_H
