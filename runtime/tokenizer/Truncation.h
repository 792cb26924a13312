//===- Truncation.h - Texts that are longer than a model --------*- C++ -*-===//
//
// The windows of texts that have more tokens than a model takes: those of the
// library tokenizers 0.22.2 (utils/truncation.rs).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TRUNCATION_H
#define HEDDLE_RUNTIME_TOKENIZER_TRUNCATION_H

#include "runtime/Result.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace heddle {

struct Truncation {
  /// Which of two texts gives tokens up: the longer one until both are as long,
  /// or always the same one.
  enum class Strategy { LongestFirst, OnlyFirst, OnlySecond };

  /// The most tokens of a window, special ones included.
  size_t maxTokens;
  Strategy strategy = Strategy::LongestFirst;
  /// Tokens are cut from the start, and windows go from the end to the start.
  bool keepsEnd = false;
  /// How many tokens a window has in common with the one before it.
  size_t stride = 0;
};

/// The tokens [begin, end) of a text.
struct TokenRange {
  size_t begin = 0, end = 0;

  bool operator==(const TokenRange &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// Tokens of both texts that a model reads at once.
struct TextWindow {
  TokenRange first, second;
};

/// The windows of texts of so many tokens, with room for `maxTokens` less
/// `specialCount`. The first one is what transformers keeps of them. Fails,
/// with a sentence that begins with a verb, if there is no room, or if the text
/// that should give tokens up has too few.
Result<std::vector<TextWindow>> truncate(size_t first,
                                         std::optional<size_t> second,
                                         size_t specialCount,
                                         const Truncation &truncation);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TRUNCATION_H
