//===- FairseqTokenizer.cpp - What cuts texts into tokens -----------------===//
//
// As `fairseq-interactive --bpe` does, without a `--tokenizer`: words that
// Moses' rules would separate have to be apart already. White space that is no
// space separates words, too; there it becomes a token that is dropped.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Fairseq/FairseqTokenizer.h"
#include "lib/Import/Tokenizers/NumberedTokens.h"

using namespace llvm;

namespace heddle {

/// Of a token that a later line has again, texts have that line's id.
static TokenList listOf(const FairseqDictionary &dictionary) {
  TokenList list{dictionary.tokens, FairseqDictionary::kUnknown};
  StringMap<size_t> last;
  for (auto [id, token] : enumerate(list.tokens)) {
    auto [entry, isNew] = last.try_emplace(token, id);
    if (!isNew)
      list.tokens[std::exchange(entry->second, id)].clear();
  }
  return list;
}

Expected<ImportedTokenizer>
readFairseqTokenizer(StringRef folder, const FairseqDictionary &source,
                     const FairseqDictionary &target, StringRef file) {
  return readTokenizerBeside(folder, file,
                             {listOf(source),
                              listOf(target),
                              /*bos=*/std::nullopt,
                              FairseqDictionary::kEos,
                              {FairseqDictionary::kBos, FairseqDictionary::kPad,
                               FairseqDictionary::kEos}});
}

} // namespace heddle
