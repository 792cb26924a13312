//===- SentencePieceTable.cpp - Writes pieces for the runtime -------------===//
//
// Joining goes by the text of a piece, as in SentencePieceProcessor::Decode:
// what a text is in joined text, the model's piece of that text says.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/SentencePieceTable.h"
#include "lib/Import/Tokenizers/DoubleArrayBuilder.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <cfloat>

using namespace llvm;

namespace heddle {

using Type = SentencePiece::Type;

/// What a text is in joined text.
static uint16_t joiningOf(StringRef text, const SentencePieceModel &model) {
  auto found = model.ids.find(text);
  int64_t id = found == model.ids.end() ? model.unknown : found->second;
  switch (model.pieces[id].type) {
  case Type::Control:
    return format::kJoinsAsNothing;
  case Type::Unknown:
    return model.pieces[id].text == text ? format::kJoinsAsUnknown
                                         : format::kJoinsAsIs;
  case Type::Byte:
    return uint16_t(format::kJoinsAsByte + byteOf(text));
  default:
    return format::kJoinsAsText;
  }
}

/// Appends where the texts begin and what they join as; the texts follow
/// elsewhere.
static void appendTexts(std::string &section, ArrayRef<StringRef> texts,
                        ArrayRef<uint16_t> joinings) {
  std::vector<uint32_t> begins = {0};
  for (StringRef text : texts)
    begins.push_back(begins.back() + uint32_t(text.size()));
  appendValues(section, ArrayRef(begins));
  appendValues(section, joinings);
}

/// Adds what a normalizer says of itself.
static void describe(const SentencePieceNormalizer &normalizer,
                     format::NormalizerTable &table) {
  table.flags |= (normalizer.addsDummyPrefix ? format::kAddsSpace : 0) |
                 (normalizer.removesExtraSpaces ? format::kRemovesSpaces : 0) |
                 (normalizer.escapesSpaces ? format::kMarksSpaces : 0);
  table.unitCount = uint32_t(normalizer.rules.size() / 4);
  table.replacementBytes = uint32_t(normalizer.replacements.size());
}

std::string PieceTable::build() {
  const SentencePieceNormalizer none = {};
  const SentencePieceNormalizer &into = normalizer ? *normalizer : none,
                                &back = denormalizer ? *denormalizer : none;
  std::vector<uint32_t> trie = buildDoubleArray(std::move(pieces)),
                        symbolTrie = buildDoubleArray(std::move(symbols));
  header.pieceCount = uint32_t(scores.size());
  header.pieceUnits = uint32_t(trie.size());
  header.symbolUnits = uint32_t(symbolTrie.size());
  header.unknownBytes = uint32_t(unknownSurface.size());
  describe(into, header.normalizer);
  describe(back, header.denormalizer);

  std::string section;
  appendValues(section, ArrayRef(header));
  appendValues(section, ArrayRef(trie));
  appendValues(section, ArrayRef(symbolTrie));
  section += into.rules + back.rules;
  appendValues(section, ArrayRef(scores));
  appendTexts(section, texts, joinings);
  section += into.replacements + back.replacements;
  section += unknownSurface;
  for (StringRef text : texts)
    section += text;
  return section;
}

std::string buildSentencePieceTable(const SentencePieceModel &model) {
  bool isUnigram = model.kind == SentencePieceModel::Kind::Unigram;
  PieceTable table;
  // As in the library: its largest score begins with the least above zero.
  float least = FLT_MAX, largest = FLT_MIN;
  for (auto [id, piece] : enumerate(model.pieces)) {
    table.scores.push_back(piece.score);
    table.texts.push_back(piece.text);
    table.joinings.push_back(joiningOf(piece.text, model));
    if (piece.type == Type::Normal) {
      least = std::min(least, piece.score);
      largest = std::max(largest, piece.score);
    }
    if (piece.type == Type::Byte)
      table.header.byteIds[byteOf(piece.text)] = int32_t(id);
    bool isUserDefined = piece.type == Type::UserDefined,
         isUnused = piece.type == Type::Unused;
    if (isUserDefined)
      table.symbols.push_back({piece.text, uint32_t(id)});
    if (!piece.isReserved() && !(isUnigram && isUnused))
      table.pieces.push_back(
          {piece.text, uint32_t(id) | (isUnused ? format::kPieceIsUnused : 0) |
                           (isUserDefined ? format::kPieceIsUserDefined : 0)});
  }
  format::PiecesHeader &header = table.header;
  header.kind = isUnigram ? format::kUnigram : format::kMerges;
  header.flags = (model.fallsBackToBytes ? format::kFallsBackToBytes : 0) |
                 (model.denormalizer.rules.empty() ? 0 : format::kDenormalizes);
  header.unknown = uint32_t(model.unknown);
  header.unknownScore = least - 10.0f;
  header.largestScore = largest;
  table.normalizer = &model.normalizer;
  table.denormalizer = &model.denormalizer;
  table.unknownSurface = model.unknownSurface;
  if (model.putsSpacesBehind)
    header.normalizer.flags = format::kAddsItBehind;
  return table.build();
}

/// The ids that a vocabulary gives to the pieces of a model.
static std::vector<int32_t> numberPieces(const SentencePieceModel &model,
                                         const StringMap<int32_t> &ids) {
  std::vector<int32_t> numbers;
  for (const SentencePiece &piece : model.pieces) {
    auto found = ids.find(piece.text);
    numbers.push_back(found == ids.end() ? -1 : found->second);
  }
  return numbers;
}

std::string buildVocabularyTable(ArrayRef<std::string> pieces,
                                 const SentencePieceModel &source,
                                 const SentencePieceModel &target) {
  StringMap<int32_t> ids;
  std::vector<std::pair<StringRef, uint32_t>> keys;
  for (auto [id, piece] : enumerate(pieces)) {
    ids.try_emplace(piece, int32_t(id));
    // A key cannot have a zero byte, and no text has such a piece.
    if (!piece.empty() && !StringRef(piece).contains('\0'))
      keys.push_back({piece, uint32_t(id)});
  }
  std::vector<uint32_t> trie = buildDoubleArray(std::move(keys));
  format::VocabularyHeader header = {};
  header.pieceCount = uint32_t(pieces.size());
  header.pieceUnits = uint32_t(trie.size());
  header.sourceCount = uint32_t(source.pieces.size());
  header.targetCount = uint32_t(target.pieces.size());

  std::string section;
  appendValues(section, ArrayRef(header));
  appendValues(section, ArrayRef(trie));
  appendValues(section, ArrayRef(numberPieces(source, ids)));
  appendValues(section, ArrayRef(numberPieces(target, ids)));
  std::vector<StringRef> texts(pieces.begin(), pieces.end());
  auto joinings = map_to_vector(
      texts, [&](StringRef text) { return joiningOf(text, target); });
  appendTexts(section, texts, joinings);
  for (const std::string &piece : pieces)
    section += piece;
  return section;
}

} // namespace heddle
