//===- ConvertedModel.h - A *.spm as a fast tokenizer has it ----*- C++ -*-===//
//
// transformers' fast tokenizers do not use SentencePiece: SpmConverter (of
// convert_slow_tokenizer.py) makes a list of texts with scores of a model, to
// which a class adds its own names. In that list nothing is reserved, unused or
// defined by a user any more: text is cut into "<s>" or "en_XX", too, as soon
// as it looks so behind the normalizer.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CONVERTEDMODEL_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CONVERTEDMODEL_H

#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Import/Tokenizers/StageList.h"
#include "llvm/ADT/ArrayRef.h"

namespace heddle {

struct ConvertedModel {
  struct Piece {
    std::string text;
    float score;
  };

  /// The file of the model.
  llvm::StringRef file;
  /// By their ids.
  std::vector<Piece> pieces;
  int64_t unknown;
  /// The id that the post-processor puts behind a text; none if the class
  /// replaces the post-processor.
  std::optional<int64_t> end;
  /// The id of each text: of equal ones the last counts, as in the library.
  llvm::StringMap<int64_t> ids;

  std::optional<int64_t> find(llvm::StringRef text) const;
  int64_t pieceCount() const { return int64_t(pieces.size()); }
};

/// The pieces of a model from the id `first` on between those of a class.
ConvertedModel convertModel(const SentencePieceModel &model,
                            std::vector<ConvertedModel::Piece> before,
                            int64_t first,
                            llvm::ArrayRef<ConvertedModel::Piece> after = {});

/// Adds the model, and how its pieces are joined.
void addConvertedModel(const SentencePieceModel &model,
                       const ConvertedModel &converted, StageList &stages);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CONVERTEDMODEL_H
