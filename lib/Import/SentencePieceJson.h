//===- SentencePieceJson.h - tokenizer.json beside a *.spm ------*- C++ -*-===//
//
// A fast tokenizer of transformers reads tokenizer.json where a folder has one,
// and not the SentencePiece model that it was converted from. Here the model is
// read, so what tokenizer.json says must be that conversion (SpmConverter of
// convert_slow_tokenizer.py), as one of its versions wrote it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_SENTENCEPIECEJSON_H
#define HEDDLE_LIB_IMPORT_SENTENCEPIECEJSON_H

#include "lib/Import/SentencePieceModel.h"
#include "lib/Import/TokenizerFiles.h"

namespace heddle {

/// What the conversion makes of a model.
struct ConvertedModel {
  /// The file of the model.
  llvm::StringRef file;
  /// In front of the model's pieces from the id `firstPiece` on, and behind
  /// them: a text and its score.
  std::vector<std::pair<std::string, float>> before, after;
  int64_t firstPiece, unknown;
  /// The id that the post-processor puts behind a text; none where the class
  /// replaces the post-processor.
  std::optional<int64_t> end;
};

/// What versions of the conversion do to spaces: `frame` and `spaces` of the
/// manifest, see runtime/ArtifactFormat.h.
struct SpaceForm {
  llvm::StringRef frame, spaces = "marked";
};

/// How tokenizer.json treats spaces, or `byDefault` without it.
/// UnsupportedTokenizer where it is another tokenizer than the conversion.
llvm::Expected<SpaceForm> readConversion(const TokenizerFiles &files,
                                         const SentencePieceModel &model,
                                         const ConvertedModel &converted,
                                         SpaceForm byDefault);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_SENTENCEPIECEJSON_H
