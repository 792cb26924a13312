//===- Models.cpp - Models of tokenizer.json ------------------------------===//
//
// Pairs of bytes have nothing unknown: if a byte is no piece, the model sees
// the characters that name bytes.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/DoubleArrayBuilder.h"
#include "lib/Import/Tokenizers/Json/Readers.h"
#include "lib/Import/Tokenizers/PairTables.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include <charconv>
#include <cmath>

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

/// A number as serde_json makes it of the shortest text that spells it: its
/// digits as an integer, multiplied with or divided by a power of ten, each
/// step rounded. Sums of scores that are nearly equal show the last bit.
static double roundAsSerde(double number) {
  char text[32];
  char *end = std::to_chars(text, std::end(text), std::abs(number),
                            std::chars_format::scientific)
                  .ptr;
  StringRef mantissa, exponent;
  std::tie(mantissa, exponent) = StringRef(text, size_t(end - text)).split('e');
  uint64_t digits = 0;
  int64_t power = 0;
  exponent.consume_front("+");
  if (exponent.getAsInteger(10, power))
    return number; // Infinite.
  auto [whole, fraction] = mantissa.split('.');
  for (char digit : (whole + fraction).str())
    digits = digits * 10 + uint64_t(digit - '0');
  power -= int64_t(fraction.size());
  double scale = std::pow(10.0, double(std::abs(power)));
  double made = power < 0 ? double(digits) / scale : double(digits) * scale;
  return std::copysign(made, number);
}

/// The pieces of a list of pairs of a text and a score.
static Expected<ModelPieces> readScoredPieces(const json::Array &list,
                                              StringRef path, bool isParsed) {
  ModelPieces all;
  for (const json::Value &value : list) {
    const json::Array *pair = value.getAsArray();
    if (!pair || pair->size() != 2 || !(*pair)[0].getAsString() ||
        !(*pair)[1].getAsNumber())
      return makeError("'" + path + "' has the piece " + formatJson(value) +
                       " (expected a text and a score)");
    all.pieces.push_back((*pair)[0].getAsString()->str());
    double score = *(*pair)[1].getAsNumber();
    all.scores.push_back(isParsed ? roundAsSerde(score) : score);
  }
  all.count = int64_t(all.pieces.size());
  return all;
}

Expected<ModelPieces> readModelPieces(const json::Object &model, StringRef path,
                                      int64_t size, bool isParsed) {
  if (const json::Array *list = model.getArray("vocab"))
    return readScoredPieces(*list, path, isParsed);
  const json::Object *ids = model.getObject("vocab");
  if (!ids)
    return makeError("'" + path + "' has a model without 'vocab'");
  Expected<std::vector<std::string>> pieces = numberPieces(*ids, path, size);
  if (!pieces)
    return pieces.takeError();
  return ModelPieces{std::move(*pieces), {}, int64_t(ids->size())};
}

bool mayCutBytes(const json::Object &model, const ModelPieces &pieces) {
  auto isMarked = [&](StringRef field) {
    return !model.getString(field).value_or("").empty();
  };
  return typeOf(model) == "BPE" && hasAllBytes(pieces.pieces) &&
         !isMarked("continuing_subword_prefix") &&
         !isMarked("end_of_word_suffix");
}

/// The id of a piece that the model must have.
static Expected<uint32_t> findUnknown(Component &component,
                                      const ModelPieces &pieces) {
  std::string text = component.text("unk_token");
  auto found = llvm::find(pieces.pieces, text);
  if (found == pieces.pieces.end())
    return component.refusePiece("unk_token", text);
  return uint32_t(found - pieces.pieces.begin());
}

static Error addWordPieces(Component component, const ModelPieces &pieces,
                           StageList &stages) {
  format::WordPiecesHeader header = {};
  std::string mark = component.text("continuing_subword_prefix");
  int64_t most = component.number("max_input_chars_per_word");
  component.any("vocab");
  Expected<uint32_t> unknown = findUnknown(component, pieces);
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
    starts.push_back({text, uint32_t(id)});
    if (text.consume_front(mark))
      rests.push_back({text, uint32_t(id)});
  }
  std::vector<uint32_t> startTrie = buildPieceArray(std::move(starts)),
                        restTrie = buildPieceArray(std::move(rests));
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
  Expected<uint32_t> unknown = findUnknown(component, pieces);
  if (!unknown)
    return unknown.takeError();
  if (Error error = component.finish())
    return error;
  std::vector<std::pair<StringRef, uint32_t>> words;
  for (auto [id, piece] : enumerate(pieces.pieces))
    words.push_back({piece, uint32_t(id)});
  std::string table;
  appendValues(table, ArrayRef(buildPieceArray(std::move(words))));
  stages.addHeader(format::kCutWords, kBoth, format::WordsHeader{*unknown, 0},
                   table);
  return Error::success();
}

/// Reads the field "merges".
static Error readMerges(Component &component, StringRef path,
                        PairVocabulary &into) {
  const json::Value *list = component.any("merges");
  const json::Array *merges = list ? list->getAsArray() : nullptr;
  if (!merges)
    return makeError("'" + path + "' has a model without 'merges'");
  bool areTexts = !merges->empty() && merges->front().getAsString();
  for (const json::Value &merge : *merges) {
    // "a b", or since tokenizers 0.20 ["a", "b"], but not both in a file.
    StringRef left, right;
    std::optional<StringRef> text = merge.getAsString();
    if (text && text->starts_with("#version"))
      continue;
    const json::Array *pair = merge.getAsArray();
    if (text && areTexts) {
      std::tie(left, right) = text->split(' ');
    } else if (pair && !areTexts && pair->size() == 2) {
      left = (*pair)[0].getAsString().value_or("");
      right = (*pair)[1].getAsString().value_or("");
    }
    if (left.empty() || right.empty() || (text && right.contains(' ')))
      return makeError("'" + path + "' has the merge " + formatJson(merge) +
                       " (expected two pieces)");
    into.merges.emplace_back(left, right);
  }
  return Error::success();
}

/// Pairs of bytes, behind ByteLevel, or of characters.
static Error addPairs(Component component, const ModelPieces &pieces,
                      StringRef path, bool isOfBytes, StageList &stages) {
  PairVocabulary pairs;
  pairs.pieces = pieces.pieces;
  component.any("vocab");
  if (Error error = readMerges(component, path, pairs))
    return error;
  // Random ids would follow from it.
  if (const json::Value *dropout = component.any("dropout");
      dropout && *dropout != json::Value(0.0) && *dropout != json::Value(0))
    return component.refuse("dropout", "null");
  pairs.prefix = component.text("continuing_subword_prefix", "");
  pairs.suffix = component.text("end_of_word_suffix", "");
  pairs.takesWords = component.boolean("ignore_merges", false);
  pairs.fallsBackToBytes = component.boolean("byte_fallback", false);
  pairs.fusesUnknown = component.boolean("fuse_unk", false);
  if (component.any("unk_token")) {
    Expected<uint32_t> id = findUnknown(component, pieces);
    if (!id)
      return id.takeError();
    pairs.unknown = *id;
  }
  if (Error error = component.finish())
    return error;
  Expected<std::string> table = isOfBytes ? buildBytePairs(pairs, path)
                                          : buildCharacterPairs(pairs, path);
  if (!table)
    return table.takeError();
  stages.add(isOfBytes ? format::kCutBytePairs : format::kCutCharacterPairs,
             kBoth, std::move(*table));
  return Error::success();
}

/// Appends a unit that no walk comes to, so that their number is even.
static void makeEven(std::vector<uint32_t> &units) {
  if (units.size() % 2)
    units.push_back(uint32_t(1) << 31);
}

static Error addUnigram(Component component, const ModelPieces &pieces,
                        StageList &stages) {
  component.any("vocab");
  int64_t unknown = component.number("unk_id", -1);
  bool fallsBack = component.boolean("byte_fallback", false);
  if (unknown < 0 || unknown >= pieces.count)
    return component.refuse("unk_id", "the id of a piece");
  if (Error error = component.finish())
    return error;
  format::PiecesHeader header = {};
  header.kind = format::kUnigramOfDoubles;
  header.flags = fallsBack ? format::kFallsBackToBytes : 0;
  header.pieceCount = uint32_t(pieces.count);
  header.unknown = uint32_t(unknown);
  llvm::fill(header.byteIds, -1);
  // Of equal pieces the last counts.
  StringMap<uint32_t> last;
  for (auto [id, piece] : enumerate(pieces.pieces)) {
    last[piece] = uint32_t(id);
    if (int byte = fallsBack ? byteOf(piece) : -1; byte >= 0)
      header.byteIds[byte] = int32_t(id);
  }
  std::vector<std::pair<StringRef, uint32_t>> keys;
  for (auto [id, piece] : enumerate(pieces.pieces))
    if (last.lookup(piece) == id)
      keys.push_back({piece, uint32_t(id)});
  std::vector<uint32_t> trie = buildPieceArray(std::move(keys));
  makeEven(trie);
  header.pieceUnits = uint32_t(trie.size());
  std::string rest;
  appendValues(rest, ArrayRef(trie));
  appendValues(rest, ArrayRef(pieces.scores));
  stages.addHeader(format::kCutByScores, kBoth, header, rest);
  return Error::success();
}

Error addModel(Component component, const json::Object &model,
               const ModelPieces &pieces, StringRef path, bool isOfBytes,
               StageList &stages) {
  StringRef type = typeOf(model);
  if (type == "BPE")
    return addPairs(component, pieces, path, isOfBytes, stages);
  if (type == "WordPiece")
    return addWordPieces(component, pieces, stages);
  if (type == "WordLevel")
    return addWords(component, pieces, stages);
  if (type == "Unigram")
    return addUnigram(component, pieces, stages);
  return component.refuse("type", "BPE, Unigram, WordLevel, WordPiece");
}

} // namespace heddle
