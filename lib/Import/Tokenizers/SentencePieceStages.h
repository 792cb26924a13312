//===- SentencePieceStages.h - Writes pieces for the runtime ----*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECESTAGES_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECESTAGES_H

#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Import/Tokenizers/StageList.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <string>

namespace heddle {

/// What the table of a model has, and the table itself.
struct ScoredPieces {
  /// Counts are filled in at the end.
  format::PiecesHeader header = {};
  /// What text is cut into, and what the user defined.
  std::vector<std::pair<llvm::StringRef, uint32_t>> pieces, symbols;
  /// By ids.
  std::vector<float> scores;

  ScoredPieces() { llvm::fill(header.byteIds, -1); }

  std::string build();
};

/// The table of a normalizer that leaves `symbols` as they are.
std::string buildRules(const SentencePieceNormalizer &normalizer,
                       uint32_t moreFlags = 0,
                       llvm::ArrayRef<llvm::StringRef> symbols = {});

/// The pieces of a vocabulary, by id; empty for an unused id; all different.
/// `unknown` is the id of unknown pieces.
struct PieceNumbers {
  llvm::ArrayRef<std::string> pieces;
  int64_t unknown;
};

/// Adds what SentencePiece does to cut text with a model.
void addSentencePieceCutter(const SentencePieceModel &model, uint32_t uses,
                            StageList &stages);
/// Adds what a vocabulary has behind that.
void addPieceNumbers(const SentencePieceModel &model,
                     const PieceNumbers &numbers, uint32_t uses,
                     StageList &stages);
/// Adds how pieces are joined: those of the model, or of a vocabulary, in which
/// its pieces are found by their texts.
void addSentencePieceJoiner(const SentencePieceModel &model,
                            const PieceNumbers *numbers, StageList &stages);

/// The trie of a vocabulary: the table of kVocabulary.
std::string buildVocabulary(llvm::ArrayRef<std::string> pieces);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECESTAGES_H
