//===- SentencePieceModel.h - Reads and checks *.spm ------------*- C++ -*-===//
//
// A SentencePiece model is parsed by the library that the runtime links. The
// library trusts one part blindly: the compiled table of its normaliser, whose
// indices it follows without a check. They are checked here once; afterwards
// the artifact's checksum guards them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_SENTENCEPIECEMODEL_H
#define HEDDLE_LIB_IMPORT_SENTENCEPIECEMODEL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

struct SentencePieceModel {
  /// The file.
  std::string bytes;
  int64_t pieceCount;
  /// Ids; -1 where the model has no such piece.
  int64_t eos, unknown;
};

llvm::Expected<SentencePieceModel> readSentencePieceModel(llvm::StringRef path);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_SENTENCEPIECEMODEL_H
