//===- ByteLevelTokenizer.cpp - Reads byte pairs of a folder --------------===//
//
// Without tokenizer.json the fast tokenizer of transformers is a conversion of
// the slow one, which this file writes down as that file would have it: a byte
// that is no piece is then nothing, since the conversion names no unknown
// token.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/ByteLevelTokenizer.h"
#include "lib/Import/Tokenizers/ClassTokens.h"
#include "lib/Import/Tokenizers/Json/JsonTokenizer.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"

using namespace llvm;

namespace heddle {

using Form = DefaultToken::Form;

/// BartTokenizer's.
static constexpr DefaultToken kTokens[] = {
    {"bos_token", "<s>", Form::ObjectIfConverted},
    {"eos_token", "</s>", Form::ObjectIfConverted},
    {"unk_token", "<unk>", Form::ObjectIfConverted},
    {"sep_token", "</s>", Form::ObjectIfConverted},
    {"pad_token", "<pad>", Form::ObjectIfConverted},
    {"cls_token", "<s>", Form::ObjectIfConverted},
    {"mask_token", "<mask>", Form::Object, /*stripsLeft=*/true}};

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
  json::Array first{textOf(files, kTokens, "cls_token"), nullptr},
      last{textOf(files, kTokens, "sep_token"), nullptr};
  return json::Object{
      {"model", json::Object{{"type", "BPE"},
                             {"vocab", std::move(*ids)},
                             {"merges", std::move(*merges)}}},
      {"pre_tokenizer", json::Object{{"type", "ByteLevel"}}},
      {"post_processor", json::Object{{"type", "RobertaProcessing"},
                                      {"add_prefix_space", false},
                                      {"trim_offsets", true},
                                      {"cls", std::move(first)},
                                      {"sep", std::move(last)}}},
      {"decoder", json::Object{{"type", "ByteLevel"}}}};
}

/// The class overwrites what a processor says of spaces in ranges.
static void overwriteTrimming(const TokenizerFiles &files,
                              json::Object &whole) {
  json::Object *processor = whole.getObject("post_processor");
  if (!processor)
    return;
  bool trims = files.config.getBoolean("trim_offsets").value_or(true);
  for (auto [field, value] :
       {std::pair("add_prefix_space", files.isTrue("add_prefix_space")),
        {"trim_offsets", trims}})
    if (processor->get(field))
      (*processor)[field] = value;
}

Expected<ImportedTokenizer> readByteLevelTokenizer(const TokenizerFiles &files,
                                                   int64_t vocabulary) {
  auto read = [&](json::Object whole, StringRef name) {
    overwriteTrimming(files, whole);
    return readJsonTokenizer({files, whole, files.path(name), vocabulary,
                              listSpecial(files, kTokens), files.wholeAdded});
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
  return readJsonTokenizer(
      {files, *files.whole, files.path("tokenizer.json"), vocabulary,
       listSpecial(files, kTokens, /*isKnown=*/false), files.wholeAdded});
}

} // namespace heddle
