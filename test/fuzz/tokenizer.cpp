//===- tokenizer.cpp - Tokenizers of a Hugging Face folder ----------------===//
//
// An input is the files of a folder, see FolderInput.h. Every kind of tokenizer
// is looked for; what is read becomes tables, which cut a text.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"
#include "FolderInput.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/SentencePieces.h"

using namespace heddle;

static constexpr int32_t kVocabulary = 1000;

static void cutPairs(const ByteLevelSections &sections) {
  Manifest manifest;
  manifest.sourceVocabulary = manifest.targetVocabulary = kVocabulary;
  manifest.tokenizer.kind = TokenizerDescription::Kind::ByteLevel;
  auto tokenizer = makeByteLevelTokenizer(sections, manifest);
  if (!tokenizer.ok())
    return;
  auto ids = (*tokenizer)->encode("The other <mask> text, \xC3\xA4 \xFF.");
  if (ids.ok())
    (void)(*tokenizer)->decode(*ids);
}

static void cut(const std::vector<ImportedSection> &sections) {
  std::optional<SentencePieces> source, target;
  std::string_view added, pairs, pattern;
  for (const auto &[name, bytes] : sections) {
    if (name == "tokenizer.pairs")
      pairs = bytes;
    else if (name == "tokenizer.pattern")
      pattern = bytes;
    else if (name == "tokenizer.added")
      added = bytes;
    else if (name == "tokenizer.vocabulary" && source)
      (void)PieceNumbers::parse(bytes, *source, target ? *target : *source)
          .ok();
    else if (auto pieces = SentencePieces::parse(bytes, name); pieces.ok())
      (name == "tokenizer.source" ? source : target) = *pieces;
  }
  if (!pairs.empty())
    cutPairs({pairs, pattern, added});
  if (source)
    (void)source->cut("Some text, \xC3\xA4 \xFF and more.");
  if (auto tokens = AddedTokens::parse(added); tokens.ok()) {
    (void)tokens->cut("a <mask> b </s><unk>", /*isNormalized=*/false);
    (void)tokens->cutSlowly("a <mask> b </s><unk>");
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::FolderInput folder(
      {"tokenizer.json", "vocab.json", "merges.txt", "special_tokens_map.json",
       "tokenizer_config.json", "added_tokens.json", "source.spm", "target.spm",
       "sentencepiece.bpe.model", "spiece.model"});
  folder.fill({reinterpret_cast<const char *>(data), size});
  for (const char *name : {"BartTokenizer", "MarianTokenizer", "MBartTokenizer",
                           "PegasusTokenizer"}) {
    auto tokenizer = readFolderTokenizer(folder.path(), name, kVocabulary);
    if (tokenizer)
      cut(tokenizer->sections);
    else
      llvm::consumeError(tokenizer.takeError());
  }
  return 0;
}
