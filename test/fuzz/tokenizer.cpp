//===- tokenizer.cpp - Tokenizers of a Hugging Face folder ----------------===//
//
// An input is the files of a folder, see FolderInput.h. Every kind of tokenizer
// is looked for; what is read becomes stages, which the runtime must take, and
// which cut texts.
//
//===----------------------------------------------------------------------===//

#include "FolderInput.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "runtime/tokenizer/TokenizerStages.h"
#include <cstdlib>

using namespace heddle;

static constexpr int32_t kVocabulary = 1000;

static void cut(const std::vector<ImportedSection> &sections) {
  if (sections.empty())
    return;
  auto stages = TokenizerStages::parse(sections.front().bytes, {});
  if (!stages.ok())
    abort();
  std::vector<Piece> pieces;
  for (std::string_view text : {"Some <mask> text, \xC3\xA4 \xFF and more.",
                                "a <mask> b </s><unk>", ">>fra<< a  b "})
    stages->cut(text, TokenizerStages::Side::Source, /*tracks=*/true, pieces);
  std::vector<int32_t> ids;
  for (const Piece &piece : pieces)
    ids.push_back(piece.id);
  (void)stages->join(ids);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::FolderInput folder(
      {"tokenizer.json", "vocab.json", "merges.txt", "special_tokens_map.json",
       "tokenizer_config.json", "added_tokens.json", "source.spm", "target.spm",
       "sentencepiece.bpe.model", "spiece.model", "vocab.txt"});
  folder.fill({reinterpret_cast<const char *>(data), size});
  for (const char *name :
       {"BartTokenizer", "BertTokenizer", "MarianTokenizer", "MBartTokenizer",
        "PegasusTokenizer", "PreTrainedTokenizer"}) {
    auto tokenizer = readFolderTokenizer(folder.path(), name, kVocabulary);
    if (tokenizer)
      cut(tokenizer->sections);
    else
      llvm::consumeError(tokenizer.takeError());
  }
  return 0;
}
