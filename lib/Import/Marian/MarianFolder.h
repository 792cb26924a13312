//===- MarianFolder.h - Which files make a Marian model ---------*- C++ -*-===//
//
// The files of a folder, by the names that published models have or by those
// that a `config.yml` or `decoder.yml`, the options of Marian's decoder, gives;
// if there is one, it says of the shortlist whether there is any:
//
//   model*.bin or model*.npz         the network
//   vocab*.spm                       the vocabulary, or one for each side,
//   srcvocab*.spm, trgvocab*.spm
//   lex*.bin                         the shortlist, which may be absent
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_MARIAN_MARIANFOLDER_H
#define HEDDLE_LIB_IMPORT_MARIAN_MARIANFOLDER_H

#include "lib/Import/Marian/MarianDecoder.h"
#include <string>

namespace heddle {

struct MarianFolder {
  /// Paths; `shortlist` is empty if the folder has none. Vocabularies, which
  /// may be one, are SentencePiece models, or numbers of pieces in YAML.
  std::string model, sourceVocabulary, targetVocabulary, shortlist;
  MarianDecoder decoder;
};

/// Whether the folder looks like a Marian model.
bool isMarianFolder(llvm::StringRef folder);

llvm::Expected<MarianFolder> readMarianFolder(llvm::StringRef folder);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_MARIAN_MARIANFOLDER_H
