//===- SentencePieceClasses.cpp - Classes with a *.spm --------------------===//
//
// What sets the converters of convert_slow_tokenizer.py of transformers 4.57.6
// apart: pieces of their own, normalizers, tokens around a text. Fields of
// tokenizer_config.json that a converter reads have the class's defaults.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/SentencePieceClasses.h"
#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
#include "lib/Import/Tokenizers/SentencePieceConversion.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

using Form = DefaultToken::Form;
using Normalized = DefaultToken::Normalized;

//===----------------------------------------------------------------------===//
// Special tokens
//===----------------------------------------------------------------------===//

static constexpr DefaultToken kAlbertTokens[] = {
    {"bos_token", "[CLS]"},
    {"eos_token", "[SEP]"},
    {"unk_token", "<unk>"},
    {"sep_token", "[SEP]"},
    {"pad_token", "<pad>"},
    {"cls_token", "[CLS]"},
    {"mask_token", "[MASK]", Form::Object, true, Normalized::Never}};
static constexpr DefaultToken kRemBertTokens[] = {
    {"bos_token", "[CLS]"},
    {"eos_token", "[SEP]"},
    {"unk_token", "[UNK]"},
    {"sep_token", "[SEP]"},
    {"pad_token", "[PAD]"},
    {"cls_token", "[CLS]"},
    {"mask_token", "[MASK]", Form::Object, true, Normalized::IfConverted}};
/// Of the fast class, which has other texts than the slow one.
static constexpr DefaultToken kFastRemBertTokens[] = {
    {"bos_token", "[CLS]"},
    {"eos_token", "[SEP]"},
    {"unk_token", "<unk>"},
    {"sep_token", "[SEP]"},
    {"pad_token", "<pad>"},
    {"cls_token", "[CLS]"},
    {"mask_token", "[MASK]", Form::Object, true, Normalized::IfConverted}};
static constexpr DefaultToken kFNetTokens[] = {
    {"unk_token", "<unk>"},
    {"sep_token", "[SEP]"},
    {"pad_token", "<pad>"},
    {"cls_token", "[CLS]"},
    {"mask_token", "[MASK]", Form::Object, true, Normalized::Never}};
static constexpr DefaultToken kBigBirdTokens[] = {
    {"bos_token", "<s>", Form::Object, false, Normalized::IfConverted},
    {"eos_token", "</s>", Form::Object, false, Normalized::IfConverted},
    {"unk_token", "<unk>", Form::Object, false, Normalized::IfConverted},
    {"sep_token", "[SEP]", Form::Object, false, Normalized::IfConverted},
    {"pad_token", "<pad>", Form::Object, false, Normalized::IfConverted},
    {"cls_token", "[CLS]", Form::Object, false, Normalized::IfConverted},
    {"mask_token", "[MASK]", Form::Object, true, Normalized::IfConverted}};
static constexpr DefaultToken kXlmRobertaTokens[] = {
    {"bos_token", "<s>"},
    {"eos_token", "</s>"},
    {"unk_token", "<unk>"},
    {"sep_token", "</s>"},
    {"pad_token", "<pad>"},
    {"cls_token", "<s>"},
    {"mask_token", "<mask>", Form::Object, true, Normalized::Never}};
static constexpr DefaultToken kXglmTokens[] = {
    {"bos_token", "<s>"},  {"eos_token", "</s>"},  {"unk_token", "<unk>"},
    {"sep_token", "</s>"}, {"pad_token", "<pad>"}, {"cls_token", "<s>"}};
static constexpr DefaultToken kXlnetTokens[] = {
    {"bos_token", "<s>"},
    {"eos_token", "</s>"},
    {"unk_token", "<unk>"},
    {"sep_token", "<sep>"},
    {"pad_token", "<pad>"},
    {"cls_token", "<cls>"},
    {"mask_token", "<mask>", Form::Object, true, Normalized::Never}};
static constexpr DefaultToken kDebertaTokens[] = {
    {"bos_token", "[CLS]"},
    {"eos_token", "[SEP]"},
    {"unk_token", "[UNK]", Form::ObjectIfConverted},
    {"sep_token", "[SEP]"},
    {"pad_token", "[PAD]"},
    {"cls_token", "[CLS]"},
    {"mask_token", "[MASK]"}};
static constexpr DefaultToken kReformerTokens[] = {{"eos_token", "</s>"},
                                                   {"unk_token", "<unk>"}};
static constexpr DefaultToken kT5Tokens[] = {
    {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};

//===----------------------------------------------------------------------===//
// Converters
//===----------------------------------------------------------------------===//

namespace {
struct Source {
  const TokenizerFiles &files;
  const SentencePieceModel &model;

  bool flag(StringRef field, bool byDefault) const {
    return files.isTrue(field, byDefault);
  }
};
using Target = SentencePieceConversion;

struct SentencePieceClass {
  /// As transformers calls it, without "Fast".
  StringLiteral name, file;
  ArrayRef<DefaultToken> tokens;
  void (*convert)(const Source &from, Target &to);
  /// Additional special tokens if no file says some.
  std::vector<SpecialToken> (*additional)(const TokenizerFiles &files) =
      nullptr;
  /// Special tokens of a folder with tokenizer.json, if they are others.
  ArrayRef<DefaultToken> besideWhole = {};
};
} // namespace

static void addBertTemplate(Target &to) {
  to.postProcessor =
      buildTemplate({{"[CLS]"}, {"$A"}, {"[SEP]"}},
                    {{"[CLS]"}, {"$A"}, {"[SEP]"}, {"$B", 1}, {"[SEP]", 1}});
}

static void addRobertaTemplate(Target &to) {
  to.postProcessor =
      buildTemplate({{"<s>"}, {"$A"}, {"</s>"}},
                    {{"<s>"}, {"$A"}, {"</s>"}, {"</s>"}, {"$B"}, {"</s>"}});
}

/// Accents and case as flags say, and the model's rules.
static void addTextRules(const Source &from, bool lowersCase, bool keepsAccents,
                         json::Array &parts) {
  if (!from.flag("keep_accents", keepsAccents)) {
    parts.push_back(json::Object{{"type", "NFKD"}});
    parts.push_back(json::Object{{"type", "StripAccents"}});
  }
  if (from.flag("do_lower_case", lowersCase))
    parts.push_back(json::Object{{"type", "Lowercase"}});
  if (std::optional<json::Object> rules = makePrecompiled(from.model))
    parts.push_back(std::move(*rules));
}

/// The normalizer of ALBERT and XLNet.
static void addAlbertRules(const Source &from, bool lowersCase,
                           bool keepsAccents, Target &to) {
  json::Array parts{makeReplace("``", "\""), makeReplace("''", "\"")};
  addTextRules(from, lowersCase, keepsAccents, parts);
  parts.push_back(makeReplaceRegex(" {2,}", " "));
  to.normalizer = makeSequence("normalizers", std::move(parts));
  to.lowerNumbers();
}

static void convertAlbert(const Source &from, Target &to) {
  addAlbertRules(from, /*lowersCase=*/true, /*keepsAccents=*/false, to);
  addBertTemplate(to);
}

static void convertFNet(const Source &from, Target &to) {
  addAlbertRules(from, /*lowersCase=*/false, /*keepsAccents=*/true, to);
  addBertTemplate(to);
}

static void convertXlnet(const Source &from, Target &to) {
  addAlbertRules(from, /*lowersCase=*/false, /*keepsAccents=*/false, to);
  to.postProcessor =
      buildTemplate({{"$A"}, {"<sep>"}, {"<cls>", 2}},
                    {{"$A"}, {"<sep>"}, {"$B", 1}, {"<sep>", 1}, {"<cls>", 2}});
}

static void convertRemBert(const Source &from, Target &to) {
  json::Array parts{makeReplace("``", "\""), makeReplace("''", "\""),
                    makeReplaceRegex(" {2,}", " ")};
  addTextRules(from, /*lowersCase=*/false, /*keepsAccents=*/true, parts);
  to.normalizer = makeSequence("normalizers", std::move(parts));
  addBertTemplate(to);
}

static void convertBigBird(const Source &, Target &to) { addBertTemplate(to); }

static void convertPlain(const Source &, Target &) {}

static void convertXlmRoberta(const Source &, Target &to) {
  to.replaceByFairseq();
  to.pieces.emplace_back("<mask>", 0);
  addRobertaTemplate(to);
}

static void convertBarthez(const Source &, Target &to) {
  to.unknown = 3;
  addRobertaTemplate(to);
}

static void convertCamembert(const Source &, Target &to) {
  to.replaceFirst(1, {{"<s>NOTUSED", 0},
                      {"<pad>", 0},
                      {"</s>NOTUSED", 0},
                      {"<unk>", 0},
                      {"<unk>NOTUSED", -100}});
  to.pieces.emplace_back("<mask>", 0);
  to.unknown = 3;
  addRobertaTemplate(to);
}

static void convertXglm(const Source &, Target &to) {
  to.replaceByFairseq();
  for (int i = 0; i < 7; ++i)
    to.pieces.emplace_back("<madeupword" + std::to_string(i) + ">", 0);
  to.postProcessor = buildTemplate(
      {{"</s>"}, {"$A"}}, {{"</s>"}, {"$A"}, {"</s>"}, {"</s>"}, {"$B"}});
}

static void convertDebertaV2(const Source &from, Target &to) {
  json::Array parts;
  if (from.flag("do_lower_case", false))
    parts.push_back(json::Object{{"type", "Lowercase"}});
  parts.push_back(json::Object{
      {"type", "Strip"}, {"strip_left", true}, {"strip_right", true}});
  if (std::optional<json::Object> rules = makePrecompiled(from.model))
    parts.push_back(std::move(*rules));
  parts.push_back(makeReplaceRegex(" {2,}", " "));
  to.normalizer = makeSequence("normalizers", std::move(parts));
  json::Array cutters;
  if (from.flag("split_by_punct", false))
    cutters.push_back(
        json::Object{{"type", "Punctuation"}, {"behavior", "Isolated"}});
  cutters.push_back(makeMetaspace("always"));
  to.preTokenizer = makeSequence("pretokenizers", std::move(cutters));
  addBertTemplate(to);
}

static int64_t countExtraIds(const TokenizerFiles &files) {
  return files.config.getInteger("extra_ids").value_or(100);
}

static std::string nameExtraId(int64_t i) {
  return "<extra_id_" + std::to_string(i) + ">";
}

static void convertT5(const Source &from, Target &to) {
  for (int64_t i = countExtraIds(from.files); i-- > 0;)
    to.pieces.emplace_back(nameExtraId(i), 0);
  StringRef scheme = !addsPrefixSpace(from.files) ? "never"
                     : isLegacy(from.files)       ? "always"
                                                  : "first";
  to.preTokenizer = makeMetaspace(scheme);
  to.decoder = makeMetaspace(scheme);
  to.postProcessor =
      buildTemplate({{"$A"}, {"</s>"}}, {{"$A"}, {"</s>"}, {"$B"}, {"</s>"}});
}

/// Those of the files, and all extra ids if there are none among them.
static std::vector<SpecialToken> listExtraIds(const TokenizerFiles &files) {
  std::vector<SpecialToken> tokens =
      files.additional.value_or(std::vector<SpecialToken>());
  if (none_of(tokens, [](const SpecialToken &token) {
        return StringRef(token.content).contains("<extra_id_");
      }))
    for (int64_t i = 0; i < countExtraIds(files); ++i)
      tokens.push_back({nameExtraId(i), std::nullopt});
  return tokens;
}

static std::vector<SpecialToken> listMadeUpWords(const TokenizerFiles &files) {
  std::vector<SpecialToken> tokens =
      files.additional.value_or(std::vector<SpecialToken>());
  for (int i = 0; i < 7; ++i) {
    std::string word = "<madeupword" + std::to_string(i) + ">";
    if (none_of(tokens, [&](const SpecialToken &token) {
          return token.content == word;
        }))
      tokens.push_back({word, std::nullopt});
  }
  return tokens;
}

template <const StringLiteral &...texts>
static std::vector<SpecialToken> listTexts(const TokenizerFiles &files) {
  if (files.additional)
    return *files.additional;
  return {{texts.str(), std::nullopt}...};
}
static constexpr StringLiteral kNoStart = "<s>NOTUSED", kNoEnd = "</s>NOTUSED",
                               kNoUnknown = "<unk>NOTUSED",
                               kParagraphEnd = "<eop>", kDocumentEnd = "<eod>";

static constexpr StringLiteral kPieceFile = "spiece.model",
                               kFairseqFile = "sentencepiece.bpe.model";

static const SentencePieceClass kClasses[] = {
    {"AlbertTokenizer", kPieceFile, kAlbertTokens, convertAlbert},
    {"BarthezTokenizer", kFairseqFile, kXlmRobertaTokens, convertBarthez},
    {"BigBirdTokenizer", kPieceFile, kBigBirdTokens, convertBigBird},
    {"CamembertTokenizer", kFairseqFile, kXlmRobertaTokens, convertCamembert,
     listTexts<kNoStart, kNoEnd, kNoUnknown>},
    {"DebertaV2Tokenizer", "spm.model", kDebertaTokens, convertDebertaV2},
    {"FNetTokenizer", kPieceFile, kFNetTokens, convertFNet},
    {"LayoutXLMTokenizer", kFairseqFile, kXlmRobertaTokens, convertXlmRoberta},
    {"MT5Tokenizer", kPieceFile, kT5Tokens, convertT5, listExtraIds},
    {"ReformerTokenizer", kPieceFile, kReformerTokens, convertPlain},
    {"RemBertTokenizer", "sentencepiece.model", kRemBertTokens, convertRemBert,
     nullptr, kFastRemBertTokens},
    {"T5Tokenizer", kPieceFile, kT5Tokens, convertT5, listExtraIds},
    {"XGLMTokenizer", kFairseqFile, kXglmTokens, convertXglm, listMadeUpWords},
    {"XLMRobertaTokenizer", kFairseqFile, kXlmRobertaTokens, convertXlmRoberta},
    {"XLNetTokenizer", kPieceFile, kXlnetTokens, convertXlnet,
     listTexts<kParagraphEnd, kDocumentEnd>}};

//===----------------------------------------------------------------------===//
// Reading a folder
//===----------------------------------------------------------------------===//

Expected<ImportedTokenizer> readSentencePieceClass(const TokenizerFiles &files,
                                                   int64_t vocabulary) {
  const SentencePieceClass &known =
      *find_if(kClasses, [&](const SentencePieceClass &each) {
        return each.name == files.className;
      });
  // T5 converts the model anew if the field is there.
  const json::Value *space = files.config.get("add_prefix_space");
  if (known.convert == convertT5 && files.whole && space &&
      space->kind() != json::Value::Null) {
    if (!files.has(known.file))
      return refuseTokenizerField(files.configPath(), "add_prefix_space",
                                  *space, "null, without 'spiece.model'");
    return readSentencePieceClass(files.withoutWhole(), vocabulary);
  }
  TokenizerFiles others = files;
  if (known.additional)
    others.additional = known.additional(files);
  bool isBeside = !known.besideWhole.empty() && files.has("tokenizer.json");
  std::vector<SpecialToken> special =
      listSpecial(others, isBeside ? known.besideWhole : known.tokens);
  auto convert = [&](const SentencePieceModel &model,
                     SentencePieceConversion &to) {
    known.convert({files, model}, to);
  };
  return readConvertedTokenizer(files, {known.file, special, convert},
                                vocabulary);
}

} // namespace heddle
