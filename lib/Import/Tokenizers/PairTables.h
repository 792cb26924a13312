//===- PairTables.h - Writes pairs for the runtime --------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PAIRTABLES_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PAIRTABLES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// The model BPE of the library tokenizers. Over bytes, files spell the byte b
/// as a character: as itself if that is printable Latin-1, else as one of those
/// from U+0100 on.
struct PairVocabulary {
  /// By id; empty for an id without a piece. No two are equal.
  std::vector<std::string> pieces;
  /// Left and right piece, the first merge first.
  std::vector<std::pair<std::string, std::string>> merges;
  /// The id of what no piece stands for; it is left out if there is none.
  std::optional<int64_t> unknown;
  /// Whether a word that is a piece is taken before anything merges.
  bool takesWords = false;

  // Of characters alone: the start of pieces inside a word, and the end of
  // those at its end; and what becomes of unknown characters.
  std::string prefix, suffix;
  bool fallsBackToBytes = false, fusesUnknown = false;
};

/// Whether each byte is a piece.
bool hasAllBytes(llvm::ArrayRef<std::string> pieces);

// Tables of the models of bytes and of characters. They fail if a merge is of
// pieces that are not there or gives one; `path` is where they stand.
llvm::Expected<std::string> buildBytePairs(const PairVocabulary &vocabulary,
                                           llvm::StringRef path);
llvm::Expected<std::string>
buildCharacterPairs(const PairVocabulary &vocabulary, llvm::StringRef path);

/// The table of the texts of pieces, in bytes.
std::string buildByteTexts(const std::vector<std::string> &pieces);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PAIRTABLES_H
