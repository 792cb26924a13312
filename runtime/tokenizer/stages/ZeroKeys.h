//===- ZeroKeys.h - Texts with U+0000 as keys -------------------*- C++ -*-===//
//
// Double arrays have no key with a byte of zero. A text with one, which is
// rare, is spelled as keys are, and the places of its pieces are put right.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_STAGES_ZEROKEYS_H
#define HEDDLE_RUNTIME_TOKENIZER_STAGES_ZEROKEYS_H

#include "runtime/tokenizer/Stage.h"
#include "runtime/tokenizer/TokenizerFormat.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle::stages {

inline bool hasZero(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

inline std::string spellZeros(std::string_view text) {
  std::string spelled;
  for (char byte : text)
    if (byte)
      spelled += byte;
    else
      spelled += format::kZeroKey;
  return spelled;
}

/// Pieces from `first` on, in the order of the text that spellZeros made, get
/// their places in the text that it was made of.
inline void restorePlaces(std::string_view spelled, size_t first,
                          std::vector<Piece> &pieces) {
  uint32_t at = 0, added = 0;
  auto restore = [&](uint32_t &place) {
    for (; at < place; ++at)
      added += spelled[at] == format::kZeroKey[0];
    place -= added;
  };
  for (size_t i = first; i < pieces.size(); ++i) {
    restore(pieces[i].range.begin);
    restore(pieces[i].range.end);
  }
}

} // namespace heddle::stages

#endif // HEDDLE_RUNTIME_TOKENIZER_STAGES_ZEROKEYS_H
