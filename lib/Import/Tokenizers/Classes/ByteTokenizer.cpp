//===- ByteTokenizer.cpp - A token for each byte --------------------------===//
//
// ByT5Tokenizer of transformers 4.57.6, which has no fast class: the id of a
// byte of UTF-8 is three more than the byte. <pad>, </s> and <unk> stand in
// front of these ids, added tokens behind them, the first ones <extra_id_0> to
// <extra_id_124>. Here each byte becomes a character first, so that a table of
// characters numbers them.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/ByteTokenizer.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/TemplateTable.h"
#include "lib/Support/Error.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace heddle {

static constexpr int64_t kByteCount = 256, kFirstByte = 3;
/// Fields and texts of the tokens in front of the bytes, by their ids.
static constexpr std::pair<StringLiteral, StringLiteral> kFirstTokens[] = {
    {"pad_token", "<pad>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}};
static constexpr int64_t kEnd = 1, kUnknown = 2;

static std::string nameExtraId(int64_t i) {
  return "<extra_id_" + std::to_string(i) + ">";
}

/// `additional_special_tokens` of the class: extra ids if no file says some. A
/// list that is not empty has to have them all.
static Expected<std::vector<SpecialToken>>
listExtraIds(const TokenizerFiles &files) {
  const json::Value *field = files.config.get("extra_ids");
  std::optional<int64_t> count = field ? field->getAsInteger() : 125;
  if (!count || *count > kMaxTokenId)
    return refuseTokenizerField(files.configPath(), "extra_ids", *field,
                                "a number of tokens");
  std::vector<SpecialToken> tokens;
  if (files.additional)
    tokens = *files.additional;
  else
    for (int64_t i = 0; i < *count; ++i)
      tokens.push_back({nameExtraId(i), std::nullopt});
  StringSet<> names;
  for (const SpecialToken &token : tokens)
    if (StringRef(token.content).contains("extra_id"))
      names.insert(token.content);
  if (*count > 0 && !tokens.empty() && int64_t(names.size()) != *count)
    return makeError("'" + files.configPath() + "' has " + Twine(names.size()) +
                     " extra ids among additional_special_tokens, expected " +
                     Twine(*count) + ", as many as extra_ids says");
  return tokens;
}

/// The tokens in front of the bytes: those of the class take the spaces beside
/// them.
static std::vector<AddedTokenForm> listFirst(const TokenizerFiles &files) {
  std::vector<AddedTokenForm> forms;
  for (const auto &[field, text] : kFirstTokens) {
    AddedTokenForm form;
    form.content = text.str();
    form.stripsLeft = form.stripsRight = form.isSpecial = true;
    if (auto token = files.find(field, {form.content, form})) {
      if (token->form)
        form = *token->form;
      form.content = token->content;
    }
    forms.push_back(std::move(form));
  }
  return forms;
}

/// All tokens that text has as a whole.
static Expected<AddedTokenTable> listTokens(const TokenizerFiles &files) {
  Expected<std::vector<SpecialToken>> extra = listExtraIds(files);
  if (!extra)
    return extra.takeError();
  TokenizerFiles all = files;
  all.additional = std::move(*extra);
  std::vector<AddedTokenForm> first = listFirst(files);
  std::vector<SpecialToken> special;
  for (StringRef field : kSpecialFields) {
    auto *known = find_if(
        kFirstTokens, [&](const auto &each) { return each.first == field; });
    if (known != std::end(kFirstTokens)) {
      const AddedTokenForm &form = first[size_t(known - kFirstTokens)];
      appendSpecial(SpecialToken{form.content, form}, special);
    } else if (auto token = files.find(field, {"", {}});
               token && !token->content.empty()) {
      appendSpecial(*token, special);
    }
  }
  appendOthers(all, special);
  // What files say of an id counts for more than the class.
  for (const auto &[id, form] : enumerate(first))
    all.added.try_emplace(int64_t(id), form);
  auto find = [&](StringRef piece) -> std::optional<int64_t> {
    // A token of one character up to U+00FF is that byte.
    SmallVector<UTF16, 2> units;
    if (!convertUTF8ToUTF16String(piece, units) || units.size() != 1 ||
        units.front() >= kByteCount)
      return std::nullopt;
    return kFirstByte + int64_t(units.front());
  };
  AddedTokenTable table = addSlowTokens(all, special, {find, kByteCount});
  for (const auto &[id, form] : table.entries) {
    if (form.isSpecial)
      continue;
    return make_error<UnsupportedTokenizer>(
        "the token '" + form.content +
        "' was added without being special, which text of ByT5Tokenizer "
        "stands apart from");
  }
  return table;
}

/// The character that stands for a byte: none that a text has by itself.
static UTF32 characterOf(int64_t byte) { return UTF32(0x100 + byte); }

/// Characters by their ids; those in front of the bytes are never read.
static std::string listCharacters() {
  std::string characters;
  for (int64_t id = 0; id < kFirstByte + kByteCount; ++id) {
    char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = bytes;
    UTF32 point =
        id < kFirstByte ? UTF32(id + 1) : characterOf(id - kFirstByte);
    ConvertCodePointToUTF8(point, end);
    characters.append(bytes, end);
  }
  return characters;
}

/// Texts of ids: a byte each, and the names of added tokens.
static void addTexts(const AddedTokenTable &added, StageList &stages) {
  std::vector<std::string> texts(size_t(kFirstByte + kByteCount));
  for (int64_t byte = 0; byte < kByteCount; ++byte)
    texts[size_t(kFirstByte + byte)] = std::string(1, char(byte));
  for (const auto &[id, form] : added.entries) {
    if (size_t(id) >= texts.size())
      texts.resize(size_t(id) + 1);
    texts[size_t(id)] = form.content;
  }
  SmallVector<uint16_t> joinings(texts.size(), format::kJoinsAsText);
  stages.add(
      format::kTexts, format::kUsedToJoin,
      buildTexts(SmallVector<StringRef>(texts.begin(), texts.end()), joinings));
  stages.add(format::kJoinWholeBytes, format::kUsedToJoin);
}

Expected<ImportedTokenizer> readByT5Tokenizer(const TokenizerFiles &files,
                                              int64_t vocabulary) {
  if (Error error = checkTokenizerConfig(files, /*isSlow=*/true))
    return std::move(error);
  Expected<AddedTokenTable> added = listTokens(files);
  if (!added)
    return added.takeError();
  if (vocabulary < kFirstByte + kByteCount)
    return makeError("the vocabulary has " + Twine(vocabulary) +
                     " ids, expected at least the " +
                     Twine(kFirstByte + kByteCount) +
                     " of ByT5Tokenizer's bytes");
  ImportedTokenizer tokenizer;
  tokenizer.targetEos = kEnd;
  tokenizer.targetUnknown = kUnknown;
  tokenizer.specialCount = 1;
  tokenizer.manifest = json::Object{{"kind", "byte-level"},
                                    {"eos", kEnd},
                                    {"unknown", kUnknown},
                                    {"special", idsOfSpecial(*added)}};
  if (files.isTrue("clean_up_tokenization_spaces"))
    tokenizer.manifest["clean_up"] = 1;
  StageList stages;
  stages.add(format::kRepairText, StageList::kBothSides);
  stages.add(format::kFindTokensSlowly, StageList::kBothSides,
             buildAddedTokens(*added));
  std::string names;
  for (int64_t byte = 0; byte < kByteCount; ++byte)
    appendValues(names, ArrayRef(uint16_t(characterOf(byte))));
  stages.add(format::kNameBytes, StageList::kBothSides, names);
  stages.addHeader(format::kCutCharacters, StageList::kBothSides,
                   format::CharactersHeader{kUnknown, 0}, listCharacters());
  addTexts(*added, stages);
  TemplateTable around = TemplateTable::around(std::nullopt, kEnd);
  around.pair = {
      {format::kFirstText, 0}, {kEnd, 0}, {format::kSecondText, 0}, {kEnd, 0}};
  around.flags |= format::kAddsTokensOnce;
  around.addTo(stages);
  tokenizer.setStages(stages);
  return tokenizer;
}

} // namespace heddle
