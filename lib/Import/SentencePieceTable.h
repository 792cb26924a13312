//===- SentencePieceTable.h - Writes pieces for the runtime -----*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_SENTENCEPIECETABLE_H
#define HEDDLE_LIB_IMPORT_SENTENCEPIECETABLE_H

#include "lib/Import/SentencePieceModel.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace heddle {

/// The section `tokenizer.source` or `tokenizer.target`, see
/// runtime/TokenizerFormat.h.
std::string buildSentencePieceTable(const SentencePieceModel &model);

/// The section `tokenizer.vocabulary`: `pieces` by their ids, empty for an id
/// without one; no two are equal.
std::string buildVocabularyTable(llvm::ArrayRef<std::string> pieces,
                                 const SentencePieceModel &source,
                                 const SentencePieceModel &target);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_SENTENCEPIECETABLE_H
