//===- WholeTokenizers.cpp - Classes with tokenizer.json alone ------------===//
//
// What the constructors of transformers 4.57.6 say beside the file: special
// tokens, and spaces in front of a text.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/WholeTokenizers.h"
#include "lib/Import/Tokenizers/Classes/ByteLevelTokenizer.h"
#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
#include "lib/Import/Tokenizers/Json/JsonTokenizer.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

static constexpr DefaultToken kBlenderbotSmallTokens[] = {
    {"bos_token", "<|endoftext|>"},
    {"eos_token", "<|endoftext|>"},
    {"unk_token", "<|endoftext|>"}};
static constexpr DefaultToken kBloomTokens[] = {{"bos_token", "<s>"},
                                                {"eos_token", "</s>"},
                                                {"unk_token", "<unk>"},
                                                {"pad_token", "<pad>"}};
static constexpr DefaultToken kHerbertTokens[] = {{"unk_token", "<unk>"},
                                                  {"sep_token", "</s>"},
                                                  {"pad_token", "<pad>"},
                                                  {"cls_token", "<s>"},
                                                  {"mask_token", "<mask>"}};
static constexpr DefaultToken kLayoutTokens[] = {
    {"bos_token", "<s>"},    {"eos_token", "</s>"},  {"unk_token", "<unk>"},
    {"sep_token", "</s>"},   {"pad_token", "<pad>"}, {"cls_token", "<s>"},
    {"mask_token", "<mask>"}};
static constexpr DefaultToken kGptTokens[] = {{"unk_token", "<unk>"}};
static constexpr DefaultToken kUdopTokens[] = {{"eos_token", "</s>"},
                                               {"unk_token", "<unk>"},
                                               {"sep_token", "</s>"},
                                               {"pad_token", "<pad>"}};

namespace {
struct WholeClass {
  /// As transformers calls it, without "Fast".
  StringLiteral name;
  ArrayRef<DefaultToken> tokens;
};
} // namespace

static constexpr StringLiteral kBloom = "BloomTokenizer",
                               kBlenderbotSmall = "BlenderbotSmallTokenizer",
                               kLayout = "LayoutLMv3Tokenizer";

static const WholeClass kClasses[] = {
    {kBlenderbotSmall, kBlenderbotSmallTokens},
    {kBloom, kBloomTokens},
    {"HerbertTokenizer", kHerbertTokens},
    {kLayout, kLayoutTokens},
    {"NougatTokenizer", kBloomTokens},
    {"OpenAIGPTTokenizer", kGptTokens},
    {"PreTrainedTokenizer", {}},
    {"UdopTokenizer", kUdopTokens}};

Expected<ImportedTokenizer> readWholeClass(const TokenizerFiles &files,
                                           int64_t vocabulary) {
  if (!files.whole)
    return ImportedTokenizer();
  const WholeClass &known = *find_if(kClasses, [&](const WholeClass &each) {
    return each.name == files.className;
  });
  constexpr StringLiteral space = "add_prefix_space";
  TokenizerFiles changed = files;
  json::Object whole = *files.whole;
  // Bloom's would change every part that adds a space.
  if (known.name == kBloom && files.isTrue(space))
    return refuseTokenizerField(files.configPath(), space, true, "false");
  // The constructor does not pass it on.
  if (known.name == kBlenderbotSmall)
    changed.config[space] = false;
  if (known.name == kLayout) {
    changed.config.try_emplace(space, true);
    overwriteTrimming(changed, whole);
  }
  return readJsonTokenizer({changed, whole, files.path("tokenizer.json"),
                            vocabulary, listSpecial(files, known.tokens),
                            files.wholeAdded});
}

} // namespace heddle
