//===- BytePairTable.h - Writes byte pairs for the runtime ------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_BYTEPAIRTABLE_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_BYTEPAIRTABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace heddle {

/// Pieces and merges as files spell them: the byte b as a character, as itself
/// if that is printable Latin-1, else as one of those from U+0100 on.
struct BytePairVocabulary {
  /// By id; empty for an id without a piece. No two are equal.
  std::vector<std::string> pieces;
  /// Left and right piece, the first merge first.
  std::vector<std::pair<std::string, std::string>> merges;
};

/// Whether each byte is a piece.
bool hasAllBytes(const BytePairVocabulary &vocabulary);

/// The table of the model, in which a byte that is no piece has the id
/// `unknown`, -1 for none. Fails if a merge is of pieces that are not there or
/// gives one; `path` is where they stand.
llvm::Expected<std::string>
buildBytePairTable(const BytePairVocabulary &vocabulary, int64_t unknown,
                   llvm::StringRef path);

/// The table of the texts of pieces, in bytes.
std::string buildByteTexts(const BytePairVocabulary &vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_BYTEPAIRTABLE_H
