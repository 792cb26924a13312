//===- ByteLevelTokenizer.cpp - Reads byte pairs of a folder --------------===//
//
// Without tokenizer.json the fast tokenizer of transformers is a conversion of
// the slow one, which this file writes down as that file would have it: a byte
// that is no piece is then nothing, since the conversion names no unknown
// token.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/ByteLevelTokenizer.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/Json/JsonTokenizer.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"

using namespace llvm;

namespace heddle {

/// The fields of special tokens, and what BartTokenizer has for them.
static constexpr std::pair<StringLiteral, StringLiteral> kSpecialTokens[] = {
    {"bos_token", "<s>"},    {"eos_token", "</s>"},  {"unk_token", "<unk>"},
    {"sep_token", "</s>"},   {"pad_token", "<pad>"}, {"cls_token", "<s>"},
    {"mask_token", "<mask>"}};

/// The special tokens of the class, in its order; of a class that is not known
/// those of the files alone.
static std::vector<SpecialToken> listSpecial(const TokenizerFiles &files,
                                             bool isGeneric = false) {
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

/// The merges of `merges.txt`.
static Expected<json::Array> readMerges(const std::string &path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  json::Array merges;
  // The first line is the version.
  StringRef rest = (*buffer)->getBuffer().split('\n').second, line;
  while (!rest.empty()) {
    std::tie(line, rest) = rest.split('\n');
    line = line.rtrim('\r');
    if (line.empty())
      continue;
    auto [left, right] = line.split(' ');
    if (left.empty() || right.empty() || right.contains(' '))
      return makeError("'" + path + "' has the line '" + line +
                       "' (expected two pieces)");
    merges.push_back(json::Array{left.str(), right.str()});
  }
  return merges;
}

/// `vocab.json` and `merges.txt` as tokenizer.json would have them.
static Expected<json::Object> convertPlainFiles(const TokenizerFiles &files) {
  Expected<json::Object> ids = readJsonFile(files.path("vocab.json"));
  if (!ids)
    return ids.takeError();
  Expected<json::Array> merges = readMerges(files.path("merges.txt"));
  if (!merges)
    return merges.takeError();
  auto tokenOf = [&](StringRef field, StringRef byDefault) {
    SpecialToken token{byDefault.str(), std::nullopt};
    return files.find(field, token).value_or(token).content;
  };
  // No id of these counts.
  json::Array first{tokenOf("cls_token", "<s>"), 0},
      last{tokenOf("sep_token", "</s>"), 0};
  return json::Object{
      {"model", json::Object{{"type", "BPE"},
                             {"vocab", std::move(*ids)},
                             {"merges", std::move(*merges)}}},
      {"pre_tokenizer", json::Object{{"type", "ByteLevel"}}},
      {"post_processor", json::Object{{"type", "RobertaProcessing"},
                                      {"cls", std::move(first)},
                                      {"sep", std::move(last)}}},
      {"decoder", json::Object{{"type", "ByteLevel"}}}};
}

Expected<ImportedTokenizer> readByteLevelTokenizer(const TokenizerFiles &files,
                                                   int64_t vocabulary) {
  auto read = [&](const json::Object &whole, StringRef name) {
    return readJsonTokenizer(
        {files, whole, files.path(name), vocabulary, listSpecial(files)});
  };
  if (files.whole)
    return read(*files.whole, "tokenizer.json");
  Expected<bool> isThere = files.hasAll({"vocab.json", "merges.txt"});
  if (!isThere)
    return isThere.takeError();
  if (!*isThere)
    return ImportedTokenizer();
  Expected<json::Object> whole = convertPlainFiles(files);
  if (!whole)
    return whole.takeError();
  return read(*whole, "vocab.json");
}

Expected<ImportedTokenizer> readWholeTokenizer(const TokenizerFiles &files,
                                               int64_t vocabulary) {
  if (!files.whole)
    return ImportedTokenizer();
  return readJsonTokenizer({files, *files.whole, files.path("tokenizer.json"),
                            vocabulary,
                            listSpecial(files, /*isGeneric=*/true)});
}

} // namespace heddle
