//===- TextTemplate.h - What a model reads of texts -------------*- C++ -*-===//
//
// The tokens of one text, or of two, and the special tokens around them:
// post-processors of the library tokenizers.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TEXTTEMPLATE_H
#define HEDDLE_RUNTIME_TOKENIZER_TEXTTEMPLATE_H

#include "runtime/Result.h"
#include "runtime/tokenizer/Stage.h"
#include "runtime/tokenizer/TokenizerFormat.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle {

/// What a model reads, token by token.
struct TextEncoding {
  std::vector<int32_t> ids;
  /// BERT's token_type_ids.
  std::vector<int32_t> types;
  /// Which text a token is of, 0 or 1; -1 of a special token.
  std::vector<int8_t> texts;
  /// The bytes of its text that it stands for; none of a special token.
  std::vector<TextRange> ranges;
  /// Which word of its text it is of: a part that pre-tokenizers leave whole.
  std::vector<uint32_t> words;

  void add(int32_t id, int32_t type);
  void add(const Piece &piece, int32_t type, int8_t text);
};

/// Immutable; a view of a table.
class TextTemplate {
public:
  /// Nothing around a text, and a second text of type 1 behind the first one.
  TextTemplate() = default;
  /// Refuses a table that is not whole.
  static Result<TextTemplate> parse(std::string_view table);

  /// Whether a request's source language has a place.
  bool hasLanguage() const { return language >= 0; }
  /// How many special tokens stand around one text, or around two.
  size_t specialCount(bool isPair) const;

  /// What a model reads of one text, or of two.
  TextEncoding build(const std::vector<Piece> &first,
                     const std::vector<Piece> *second) const;
  /// The ids of one text; `language` in place of the one that the template has,
  /// if it has one.
  std::vector<int32_t> buildIds(const std::vector<Piece> &text,
                                std::optional<int32_t> language) const;

  /// Takes white space at the ends of tokens from the ranges of a text's, as
  /// ByteLevel and RobertaProcessing do. `tokens` are those of a window.
  void trim(std::string_view text, const TokenNames &names,
            std::vector<Piece> &tokens) const;

private:
  const format::TemplateItem *begin(bool isPair) const {
    return items + (isPair ? singleCount : 0);
  }
  /// Whether a token stands behind a text that ends in it, and is no second
  /// one.
  bool isThere(const format::TemplateItem *item, bool isPair,
               const std::vector<Piece> &first,
               const std::vector<Piece> *second) const;
  const format::TemplateItem *end(bool isPair) const {
    return items + singleCount + (isPair ? pairCount : 0);
  }

  static constexpr format::TemplateItem kPlain[] = {{format::kFirstText, 0},
                                                    {format::kFirstText, 0},
                                                    {format::kSecondText, 1}};

  const format::TemplateItem *items = kPlain;
  uint32_t singleCount = 1, pairCount = 2, flags = 0;
  int32_t language = -1;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TEXTTEMPLATE_H
