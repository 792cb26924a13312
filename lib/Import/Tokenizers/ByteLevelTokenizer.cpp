//===- ByteLevelTokenizer.cpp - Reads byte pairs of a folder --------------===//
//
// What changes ids or text is read or refused. Without tokenizer.json the fast
// tokenizer of transformers is a conversion of the slow one: a byte that is no
// piece is then nothing, since the conversion names no unknown token.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/ByteLevelTokenizer.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/ByteLevelJson.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace heddle {

/// The fields of special tokens, and what BartTokenizer has for them.
static constexpr std::pair<StringLiteral, StringLiteral> kSpecialTokens[] = {
    {"bos_token", "<s>"},    {"eos_token", "</s>"},  {"unk_token", "<unk>"},
    {"sep_token", "</s>"},   {"pad_token", "<pad>"}, {"cls_token", "<s>"},
    {"mask_token", "<mask>"}};

/// Reads `vocab.json` and `merges.txt`.
static Error readPlainFiles(const TokenizerFiles &files, int64_t vocabulary,
                            BytePairFiles &into) {
  into.path = files.path("vocab.json");
  std::string mergesPath = files.path("merges.txt");
  Expected<json::Object> ids = readJsonFile(into.path);
  if (!ids)
    return ids.takeError();
  auto pieces = numberPieces(*ids, into.path, vocabulary);
  if (!pieces)
    return pieces.takeError();
  into.vocabulary.pieces = std::move(*pieces);
  into.pieceCount = int64_t(ids->size());
  auto buffer = mapFile(mergesPath);
  if (!buffer)
    return buffer.takeError();
  // The first line is the version.
  StringRef rest = (*buffer)->getBuffer().split('\n').second, line;
  while (!rest.empty()) {
    std::tie(line, rest) = rest.split('\n');
    line = line.rtrim('\r');
    if (line.empty())
      continue;
    auto [left, right] = line.split(' ');
    if (left.empty() || right.empty() || right.contains(' '))
      return makeError("'" + mergesPath + "' has the line '" + line +
                       "' (expected two pieces)");
    into.vocabulary.merges.emplace_back(left, right);
  }
  return Error::success();
}

/// The special tokens of the class, in its order. A class without a model of
/// its own has those of the files alone.
static std::vector<SpecialToken> listSpecial(const TokenizerFiles &files) {
  bool isGeneric = StringRef(files.className).starts_with("PreTrained");
  std::vector<SpecialToken> special;
  for (const auto &[field, text] : kSpecialTokens) {
    if (isGeneric && !files.special.count(field.str()))
      continue;
    SpecialToken byDefault{text.str(), std::nullopt};
    bool isMask = field == "mask_token";
    if (!isGeneric && (isMask || !files.whole)) {
      byDefault.form.emplace();
      byDefault.form->content = text.str();
      byDefault.form->stripsLeft = isMask;
      byDefault.form->isNormalized = byDefault.form->isSpecial = true;
    }
    if (std::optional<SpecialToken> token = files.find(field, byDefault))
      appendSpecial(*token, special);
  }
  appendOthers(files, special);
  return special;
}

/// The ids of the tokens, and the sections.
static Expected<ImportedTokenizer> makeTokenizer(const TokenizerFiles &files,
                                                 BytePairFiles &pairs) {
  std::vector<std::string> &pieces = pairs.vocabulary.pieces;
  PieceIds ids(pieces);
  auto find = [&](StringRef piece) { return ids.find(piece); };
  AddedTokenTable added = addFastTokens(
      files.whole ? files.wholeAdded : std::vector<AddedTokenForm>(),
      files.added, listSpecial(files), {find, pairs.pieceCount});
  for (const auto &[id, form] : added.entries) {
    if (size_t(id) >= pieces.size())
      pieces.resize(id + 1);
    if (!pieces[id].empty() && pieces[id] != form.content)
      return makeError("'" + pairs.path + "' has the piece '" + pieces[id] +
                       "' where the token '" + form.content + "' was added");
    pieces[id] = form.content;
  }
  ImportedTokenizer tokenizer;
  tokenizer.manifest = json::Object{{"kind", "byte-level"}};
  auto setId = [&](StringRef key, ArrayRef<std::string> tokens,
                   size_t index) -> Error {
    if (index >= tokens.size())
      return Error::success();
    Expected<int64_t> id = findPiece(pieces, tokens[index], pairs.path);
    if (!id)
      return id.takeError();
    tokenizer.manifest[key] = *id;
    return Error::success();
  };
  for (auto &[key, tokens, index] : {std::tuple("bos", &pairs.before, 0),
                                     {"eos", &pairs.after, 0},
                                     {"language", &pairs.after, 1}})
    if (Error error = setId(key, *tokens, index))
      return std::move(error);
  if (pairs.unknown)
    tokenizer.manifest["unknown"] = *pairs.unknown;
  if (files.isTrue("clean_up_tokenization_spaces"))
    tokenizer.manifest["clean_up"] = 1;
  tokenizer.manifest["special"] = idsOfSpecial(added);
  Expected<std::string> table = buildBytePairTable(
      pairs.vocabulary, pairs.unknown.value_or(-1), pairs.path);
  if (!table)
    return table.takeError();

  StageList stages;
  constexpr uint32_t both = StageList::kBothSides;
  stages.add(format::kRepairText, both);
  if (!added.entries.empty()) {
    std::string tokens = buildAddedTokens(added);
    stages.add(format::kFindTokens, both, tokens);
    stages.add(format::kFindNormalizedTokens, both, tokens);
  }
  if (files.isTrue("add_prefix_space") && !pairs.isSplit)
    stages.add(format::kAddSpace, both);
  if (!pairs.pattern.empty())
    stages.addHeader(format::kSplitMatches, both, format::SplitHeader{},
                     pairs.pattern);
  stages.add(format::kCutBytePairs, both, std::move(*table));
  stages.add(format::kTexts, format::kUsedToJoin,
             buildByteTexts(pairs.vocabulary));
  stages.add(format::kJoinBytes, format::kUsedToJoin);
  tokenizer.setStages(stages);
  return tokenizer;
}

Expected<ImportedTokenizer> readByteLevelTokenizer(const TokenizerFiles &files,
                                                   int64_t vocabulary) {
  BytePairFiles pairs;
  if (files.whole) {
    if (Error error = readByteLevelJson(files, vocabulary, pairs))
      return std::move(error);
  } else {
    Expected<bool> isThere = files.hasAll({"vocab.json", "merges.txt"});
    if (!isThere)
      return isThere.takeError();
    if (!*isThere)
      return ImportedTokenizer();
    if (Error error = readPlainFiles(files, vocabulary, pairs))
      return std::move(error);
    pairs.pattern = buildGpt2Pattern();
    auto tokenOf = [&](StringRef field, StringRef byDefault) {
      SpecialToken token{byDefault.str(), std::nullopt};
      return files.find(field, token).value_or(token).content;
    };
    pairs.before = {tokenOf("cls_token", "<s>")};
    pairs.after = {tokenOf("sep_token", "</s>")};
  }
  if (Error error = checkTokenizerConfig(files, /*isSlow=*/false))
    return std::move(error);
  return makeTokenizer(files, pairs);
}

} // namespace heddle
