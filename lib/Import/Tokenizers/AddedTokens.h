//===- AddedTokens.h - The tokens that text has as a whole ------*- C++ -*-===//
//
// Which tokens a tokenizer of transformers 4.57.6 finds in text, with which ids
// and in which form: what its class has by default, and what files of a folder
// add. Fast and slow tokenizers differ.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_ADDEDTOKENS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_ADDEDTOKENS_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle {

struct AddedTokenTable {
  struct Entry {
    int64_t id;
    AddedTokenForm form;
  };
  /// In the order in which they are looked for.
  std::vector<Entry> entries;

  /// The id of a token, or none.
  std::optional<int64_t> find(llvm::StringRef content) const;
};

/// What the class of a tokenizer knows without added tokens.
struct BaseVocabulary {
  /// The id of a piece, or none.
  llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> find;
  /// How many pieces there are: the next added token has this id.
  int64_t size;
};

/// As PreTrainedTokenizer.__init__: files give ids; `special` are the special
/// tokens of the class in the order of SPECIAL_TOKENS_ATTRIBUTES. A token of
/// the result is special if it is one of these.
AddedTokenTable addSlowTokens(const TokenizerFiles &files,
                              llvm::ArrayRef<SpecialToken> special,
                              const BaseVocabulary &base);

/// Likewise for a class whose vocab.json has `pieces`, `count` of them: added
/// tokens with ids of their own become pieces, too.
llvm::Expected<AddedTokenTable>
addTokensToPieces(const TokenizerFiles &files,
                  llvm::ArrayRef<SpecialToken> special, int64_t count,
                  std::vector<std::string> &pieces);

/// As PreTrainedTokenizerFast.__init__ on a tokenizer that has `first` already:
/// a token that the vocabulary has keeps its id there, others come behind it in
/// order, whatever files say.
AddedTokenTable addFastTokens(llvm::ArrayRef<AddedTokenForm> first,
                              const std::map<int64_t, AddedTokenForm> &added,
                              llvm::ArrayRef<SpecialToken> special,
                              const BaseVocabulary &base);

/// The table of the stages that find the tokens.
std::string buildAddedTokens(const AddedTokenTable &table);
/// The ids that text leaves out.
llvm::json::Array idsOfSpecial(const AddedTokenTable &table);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_ADDEDTOKENS_H
