//===- NllbTokenizer.cpp - The tokenizer of NLLB --------------------------===//
//
// NllbTokenizerFast of transformers 4.57.6: languages are additional special
// tokens, and the template of tokenizer.json is replaced by one with a
// language.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/NllbTokenizer.h"
#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
#include "lib/Import/Tokenizers/SentencePieceConversion.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kLanguages[] = {
#include "lib/Import/Tokenizers/Classes/NllbLanguages.inc"
};

static constexpr DefaultToken kTokens[] = {
    {"bos_token", "<s>"},
    {"eos_token", "</s>"},
    {"unk_token", "<unk>"},
    {"sep_token", "</s>"},
    {"pad_token", "<pad>"},
    {"cls_token", "<s>"},
    {"mask_token", "<mask>", DefaultToken::Form::Object, /*stripsLeft=*/true}};

Expected<ImportedTokenizer> readNllbTokenizer(const TokenizerFiles &files,
                                              int64_t vocabulary) {
  TokenizerFiles named = files;
  if (!named.additional) {
    named.additional.emplace();
    for (StringRef name : kLanguages)
      named.additional->push_back({name.str(), std::nullopt});
  }
  TokenizerLanguages languages;
  languages.source = files.config.getString("src_lang").value_or("eng_Latn");
  for (const SpecialToken &token : *named.additional)
    languages.all.push_back(token.content);
  auto convert = [](const SentencePieceModel &, SentencePieceConversion &to) {
    to.replaceByFairseq();
  };
  auto overwrite = [&](json::Object &whole) {
    std::string eos = textOf(files, kTokens, "eos_token");
    std::vector<ClassItem> single = {{kTextA.str()}, {eos}},
                           pair = {{kTextA.str()}, {kTextB.str()}, {eos}};
    bool isBehind = files.isTrue("legacy_behaviour");
    for (auto *items : {&single, &pair})
      items->insert(isBehind ? items->end() : items->begin(),
                    {languages.source});
    whole["post_processor"] = buildTemplate(single, pair);
  };
  Expected<ImportedTokenizer> tokenizer = readConvertedTokenizer(
      named,
      {"sentencepiece.bpe.model", listSpecial(named, kTokens), convert,
       overwrite, languages},
      vocabulary);
  if (tokenizer && tokenizer->manifest.get("languages"))
    tokenizer->manifest["target_language"] = "forced_bos";
  return tokenizer;
}

} // namespace heddle
