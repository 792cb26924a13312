//===- SentencePieceTable.h - Writes pieces for the runtime -----*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECETABLE_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECETABLE_H

#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <string>

namespace heddle {

/// What a table has, and the table itself.
struct PieceTable {
  /// Counts and the descriptions of normalizers are filled in at the end.
  format::PiecesHeader header = {};
  /// What text is cut into, and what the user defined.
  std::vector<std::pair<llvm::StringRef, uint32_t>> pieces, symbols;
  /// By ids.
  std::vector<float> scores;
  std::vector<llvm::StringRef> texts;
  std::vector<uint16_t> joinings;
  /// Null for none.
  const SentencePieceNormalizer *normalizer = nullptr, *denormalizer = nullptr;
  llvm::StringRef unknownSurface;

  PieceTable() { llvm::fill(header.byteIds, -1); }

  std::string build();
};

/// The section `tokenizer.source` or `tokenizer.target`, see
/// runtime/tokenizer/TokenizerFormat.h.
std::string buildSentencePieceTable(const SentencePieceModel &model);

/// The section `tokenizer.vocabulary`: `pieces` by their ids, empty for an id
/// without one; no two are equal.
std::string buildVocabularyTable(llvm::ArrayRef<std::string> pieces,
                                 const SentencePieceModel &source,
                                 const SentencePieceModel &target);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECETABLE_H
