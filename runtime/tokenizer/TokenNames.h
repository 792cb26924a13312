//===- TokenNames.h - The texts of a tokenizer's ids ------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TOKENNAMES_H
#define HEDDLE_RUNTIME_TOKENIZER_TOKENNAMES_H

#include "runtime/Result.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace heddle {

/// The texts of pieces and what they are in joined text, by ids. A view.
class PieceTexts {
public:
  PieceTexts() = default;
  /// Refuses a table that is not whole.
  static Result<PieceTexts> parse(std::string_view table);

  bool has(int32_t id) const { return id >= 0 && uint32_t(id) < count; }
  // Of an id that there is.
  std::string_view text(int32_t id) const {
    return bytes.substr(begins[id], begins[id + 1] - begins[id]);
  }
  uint16_t joining(int32_t id) const { return joinings[id]; }
  /// Whether an id has a piece, which may be empty.
  bool hasPiece(int32_t id) const;

private:
  uint32_t count = 0;
  const uint32_t *begins = nullptr;
  const uint16_t *joinings = nullptr;
  std::string_view bytes;
};

/// The byte that a piece spells, as "<0x0A>", or -1. Such pieces become text
/// together, as many as follow one another.
int byteOfPiece(std::string_view piece);

struct TokenNames {
  PieceTexts pieces;
  std::map<int32_t, std::string_view> added;
  /// Sorted; they are left out of text.
  std::vector<int32_t> special;
  /// Pieces are bytes, which the vocabulary spells as characters.
  bool areBytes = false;

  bool isSpecial(int32_t id) const;
  /// Of an added token, empty for another id.
  std::string_view addedText(int32_t id) const;
  /// Whether there is either.
  bool has(int32_t id) const;
  /// Of an added token or of a piece; empty if there is neither.
  std::string_view nameOf(int32_t id) const;
  /// The same in UTF-8, as the vocabulary has it.
  std::string spellingOf(int32_t id) const;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENNAMES_H
