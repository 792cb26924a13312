//===- Models.cpp - Models of tokenizer.json ------------------------------===//
//
// Fields of byte pairs that say what an unknown character becomes do nothing if
// every byte is a piece.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/BytePairTable.h"
#include "lib/Import/Tokenizers/DoubleArrayBuilder.h"
#include "lib/Import/Tokenizers/Json/Readers.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"

using namespace llvm;

namespace heddle {

static constexpr uint32_t kBoth = StageList::kBothSides;

/// Old files do not name the type.
static StringRef typeOf(const json::Object &model) {
  StringRef byDefault = model.getArray("merges")                ? "BPE"
                        : model.getArray("vocab")               ? "Unigram"
                        : model.get("max_input_chars_per_word") ? "WordPiece"
                                                                : "WordLevel";
  return model.getString("type").value_or(byDefault);
}

Expected<ModelPieces> readModelPieces(const json::Object &model, StringRef path,
                                      int64_t size) {
  const json::Object *ids = model.getObject("vocab");
  if (!ids)
    return makeError("'" + path + "' has a model without 'vocab'");
  Expected<std::vector<std::string>> pieces = numberPieces(*ids, path, size);
  if (!pieces)
    return pieces.takeError();
  return ModelPieces{std::move(*pieces), int64_t(ids->size())};
}

/// The id of a piece that the model must have.
static Expected<uint32_t> findUnknown(Component &component,
                                      const ModelPieces &pieces,
                                      StringRef byDefault) {
  std::string text = component.text("unk_token", byDefault);
  auto found = llvm::find(pieces.pieces, text);
  if (found == pieces.pieces.end())
    return component.refuse("unk_token", "a piece of the vocabulary");
  return uint32_t(found - pieces.pieces.begin());
}

static Error addWordPieces(Component component, const ModelPieces &pieces,
                           StageList &stages) {
  format::WordPiecesHeader header = {};
  std::string mark = component.text("continuing_subword_prefix", "##");
  int64_t most = component.number("max_input_chars_per_word", 100);
  component.any("vocab");
  Expected<uint32_t> unknown = findUnknown(component, pieces, "[UNK]");
  if (!unknown)
    return unknown.takeError();
  if (most < 0 || most > std::numeric_limits<int32_t>::max())
    return component.refuse("max_input_chars_per_word",
                            "a number of characters");
  if (Error error = component.finish())
    return error;
  std::vector<std::pair<StringRef, uint32_t>> starts, rests;
  for (auto [id, piece] : enumerate(pieces.pieces)) {
    StringRef text = piece;
    if (text.empty() || text.contains('\0'))
      continue;
    starts.push_back({text, uint32_t(id)});
    if (text.consume_front(mark) && !text.empty())
      rests.push_back({text, uint32_t(id)});
  }
  std::vector<uint32_t> startTrie = buildDoubleArray(std::move(starts)),
                        restTrie = buildDoubleArray(std::move(rests));
  header.unknown = *unknown;
  header.maxCharacters = uint32_t(most);
  header.startUnits = uint32_t(startTrie.size());
  header.restUnits = uint32_t(restTrie.size());
  std::string rest;
  appendValues(rest, ArrayRef(startTrie));
  appendValues(rest, ArrayRef(restTrie));
  stages.addHeader(format::kCutWordPieces, kBoth, header, rest);
  return Error::success();
}

static Error addWords(Component component, const ModelPieces &pieces,
                      StageList &stages) {
  component.any("vocab");
  Expected<uint32_t> unknown = findUnknown(component, pieces, "<unk>");
  if (!unknown)
    return unknown.takeError();
  if (Error error = component.finish())
    return error;
  stages.addHeader(format::kCutWords, kBoth, format::WordsHeader{*unknown, 0},
                   buildVocabulary(pieces.pieces));
  return Error::success();
}

/// Byte pairs, behind ByteLevel.
static Error addBytePairs(Component component, const ModelPieces &pieces,
                          StringRef path, StageList &stages) {
  BytePairVocabulary vocabulary{pieces.pieces, {}};
  component.any("vocab");
  const json::Value *list = component.any("merges");
  const json::Array *merges = list ? list->getAsArray() : nullptr;
  if (!merges)
    return makeError("'" + path + "' has a model without 'merges'");
  for (const json::Value &merge : *merges) {
    // "a b", or since tokenizers 0.20 ["a", "b"].
    StringRef left, right;
    if (std::optional<StringRef> text = merge.getAsString())
      std::tie(left, right) = text->split(' ');
    else if (const json::Array *pair = merge.getAsArray();
             pair && pair->size() == 2) {
      left = (*pair)[0].getAsString().value_or("");
      right = (*pair)[1].getAsString().value_or("");
    }
    if (left.empty() || right.empty())
      return makeError("'" + path + "' has the merge " + formatJson(merge) +
                       " (expected two pieces)");
    vocabulary.merges.emplace_back(left, right);
  }
  if (const json::Value *dropout = component.any("dropout");
      dropout && *dropout != json::Value(0.0) && *dropout != json::Value(0))
    return component.refuse("dropout", "null");
  for (StringRef affix : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!component.text(affix, "").empty())
      return component.refuse(affix, "null, \"\"");
  if (component.boolean("ignore_merges", false))
    return component.refuse("ignore_merges", "false");
  int64_t unknown = -1;
  if (component.any("unk_token")) {
    Expected<int64_t> id =
        findPiece(pieces.pieces, component.text("unk_token", ""), path);
    if (!id)
      return id.takeError();
    unknown = *id;
  }
  bool fallsBack = component.boolean("byte_fallback", false),
       fuses = component.boolean("fuse_unk", false);
  if (!hasAllBytes(vocabulary)) {
    if (fallsBack)
      return component.refuse("byte_fallback",
                              "false, unless every byte is a piece");
    if (unknown >= 0 && fuses)
      return component.refuse("fuse_unk",
                              "false, unless every byte is a piece");
  }
  if (Error error = component.finish())
    return error;
  Expected<std::string> table = buildBytePairTable(vocabulary, unknown, path);
  if (!table)
    return table.takeError();
  stages.add(format::kCutBytePairs, kBoth, std::move(*table));
  return Error::success();
}

Error addModel(Component component, const json::Object &model,
               const ModelPieces &pieces, StringRef path, StageList &stages) {
  StringRef type = typeOf(model);
  if (type == "WordPiece")
    return addWordPieces(component, pieces, stages);
  if (type == "WordLevel")
    return addWords(component, pieces, stages);
  if (type == "BPE")
    return addBytePairs(component, pieces, path, stages);
  return component.refuse("type", "BPE over bytes, WordLevel, WordPiece; or a "
                                  "SentencePiece file with a class that reads "
                                  "it");
}

} // namespace heddle
