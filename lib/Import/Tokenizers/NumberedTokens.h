//===- NumberedTokens.h - Tokenizers over lists of tokens -------*- C++ -*-===//
//
// Trainers of translators know tokens by lists, one for each side, and leave it
// to other programs to cut texts into them. What such a program reads, a model
// of SentencePiece or a file of merges, makes a tokenizer with these lists.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_NUMBEREDTOKENS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_NUMBEREDTOKENS_H

#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// The tokens of a side by their ids; empty for an id without one. Of equal
/// ones a text has the first.
struct TokenList {
  std::vector<std::string> tokens;
  int64_t unknown;
};

struct NumberedTokens {
  TokenList source, target;
  /// What stands around a source.
  std::optional<int64_t> bos, eos;
  /// What a text that is written leaves out.
  std::vector<int64_t> special;
  /// Whether ">>code<<" in front of a text is a token, as of Marian.
  bool hasLanguageCodes = false;
};

/// Models of SentencePiece cut texts of each side.
llvm::Expected<ImportedTokenizer>
makeNumberedPieces(llvm::Expected<SentencePieceModel> sourceModel,
                   llvm::Expected<SentencePieceModel> targetModel,
                   NumberedTokens lists);

/// The merges in the file `path` of fastBPE or subword-nmt cut the words
/// between spaces; tokens inside a word end with "@@".
llvm::Expected<ImportedTokenizer> readNumberedMerges(const std::string &path,
                                                     NumberedTokens lists);

/// The same of the text of a file.
llvm::Expected<ImportedTokenizer> makeNumberedMerges(llvm::StringRef text,
                                                     const std::string &path,
                                                     NumberedTokens lists);

/// What the file `path`, or a file of a usual name in `folder` if that is
/// empty, makes; of kind "none" if there is no such file.
llvm::Expected<ImportedTokenizer> readTokenizerBeside(llvm::StringRef folder,
                                                      llvm::StringRef path,
                                                      NumberedTokens lists);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_NUMBEREDTOKENS_H
