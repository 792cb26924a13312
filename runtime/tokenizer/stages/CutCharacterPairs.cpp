//===- CutCharacterPairs.cpp - Pair encoding of characters ----------------===//
//
// The model BPE of the library tokenizers (merge_word of its model.rs): a word
// starts as one piece a character, those of its place in the word. Unknown
// characters become pieces of bytes, one piece together, or nothing. As there a
// pending unknown piece stands behind the bytes that follow it, and what is
// left out takes no room among the bytes of a word.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/DoubleArray.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/stages/PairMerges.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <algorithm>
#include <array>

using namespace heddle;
using namespace heddle::stages;

namespace {
class CutCharacterPairs final : public PieceModel {
public:
  static Result<CutCharacterPairs> parse(std::string_view table);

  void cut(std::string_view word, std::vector<Piece> &pieces) const override;

private:
  using Symbols = std::vector<PairMerges::Symbol>;

  bool isWhole() const;
  Symbols symbolsOf(std::string_view word) const;
  bool addBytes(std::string_view character, size_t place,
                Symbols &symbols) const;

  const format::CharacterPairsHeader *header = nullptr;
  PairMerges merges;
  /// By CharacterPlace.
  std::array<DoubleArray, 4> characters;
  DoubleArray words;
  /// In front of the bytes of a character inside a word, and behind those of
  /// the last one.
  std::string_view prefix, suffix;
};
} // namespace

Result<CutCharacterPairs> CutCharacterPairs::parse(std::string_view table) {
  CutCharacterPairs pairs;
  TableReader reader(table);
  reader.take(pairs.header, 1);
  if (reader.isWhole()) {
    pairs.merges.take(reader, pairs.header->pieceCount,
                      pairs.header->mergeCount);
    auto takeKeys = [&](uint32_t count) {
      const uint32_t *units = nullptr;
      reader.take(units, count);
      return DoubleArray(units, reader.isWhole() ? count : 0);
    };
    for (size_t place = 0; place < pairs.characters.size(); ++place)
      pairs.characters[place] = takeKeys(pairs.header->units[place]);
    pairs.words = takeKeys(pairs.header->wordUnits);
    pairs.prefix = reader.takeBytes(pairs.header->prefixBytes);
    pairs.suffix = reader.takeBytes(pairs.header->suffixBytes);
  }
  if (!reader.takeRest().empty() || !reader.isWhole() || !pairs.isWhole())
    return Status::error("is not a whole table of pairs");
  return pairs;
}

bool CutCharacterPairs::isWhole() const {
  return header->unknown >= -1 && merges.areWhole() &&
         std::all_of(std::begin(header->byteIds), std::end(header->byteIds),
                     [](int32_t id) { return id >= -1; });
}

/// Whether all bytes of a character are pieces, and those of its marks: as in
/// the library each takes room as a byte of the word does.
bool CutCharacterPairs::addBytes(std::string_view character, size_t place,
                                 Symbols &symbols) const {
  const std::string_view parts[] = {
      place & format::kIsInside ? prefix : std::string_view(), character,
      place & format::kIsLast ? suffix : std::string_view()};
  auto idOf = [&](char byte) {
    return header->byteIds[static_cast<unsigned char>(byte)];
  };
  for (std::string_view part : parts)
    if (std::any_of(part.begin(), part.end(),
                    [&](char byte) { return idOf(byte) < 0; }))
      return false;
  for (std::string_view part : parts)
    for (char byte : part)
      PairMerges::add(idOf(byte), 1, symbols);
  return true;
}

CutCharacterPairs::Symbols
CutCharacterPairs::symbolsOf(std::string_view word) const {
  Symbols symbols;
  symbols.reserve(word.size());
  uint32_t pending = 0;
  auto finishUnknown = [&] {
    if (pending)
      PairMerges::add(header->unknown, pending, symbols);
    pending = 0;
  };
  for (std::string_view rest = word; !rest.empty();) {
    bool isFirst = rest.size() == word.size();
    std::string_view character = takeCodePoint(rest).bytes;
    size_t place = (isFirst ? 0 : format::kIsInside) +
                   (rest.empty() ? format::kIsLast : 0);
    bool isZero = character.front() == '\0';
    int32_t id = characters[place].find(isZero ? format::kZeroKey : character);
    if (id >= 0) {
      finishUnknown();
      PairMerges::add(id, uint32_t(character.size()), symbols);
      continue;
    }
    if (addBytes(character, place, symbols) || header->unknown < 0)
      continue;
    if (!(header->flags & format::kFusesUnknown))
      finishUnknown();
    pending += uint32_t(character.size());
  }
  finishUnknown();
  return symbols;
}

void CutCharacterPairs::cut(std::string_view word,
                            std::vector<Piece> &pieces) const {
  if (words.hasKeys())
    if (int32_t id = words.find(word); id >= 0)
      return pieces.push_back({id, {0, uint32_t(word.size())}});
  Symbols symbols = symbolsOf(word);
  if (symbols.empty())
    return;
  merges.merge(symbols);
  uint32_t begin = 0;
  for (int32_t at = 0; at >= 0; at = symbols[at].next) {
    // Marks may be longer than the word.
    uint32_t end = std::min(begin + symbols[at].length, uint32_t(word.size()));
    pieces.push_back({symbols[at].id, {begin, end}});
    begin = end;
  }
}

MadeModel stages::makeCutCharacterPairs(std::string_view table) {
  return own<PieceModel>(CutCharacterPairs::parse(table));
}
