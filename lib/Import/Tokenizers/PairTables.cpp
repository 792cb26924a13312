//===- PairTables.cpp - Writes pairs for the runtime ----------------------===//
//
// Merges are sorted by their left piece, then by their right one, so that the
// runtime finds those of a pair by two indices and a binary search.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/PairTables.h"
#include "lib/Import/Tokenizers/DoubleArrayBuilder.h"
#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "lib/Support/Error.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ConvertUTF.h"
#include <tuple>

using namespace llvm;

namespace heddle {

namespace {
/// A merge with the piece that it is sorted by.
struct SortedMerge {
  uint32_t left;
  format::PairMerge merge;
};

/// Bytes by the characters that stand for them, in UTF-8.
struct SpelledBytes : StringMap<char> {
  SpelledBytes() {
    for (auto [byte, character] : enumerate(format::byteCharacters())) {
      char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = buffer;
      ConvertCodePointToUTF8(character, end);
      insert({StringRef(buffer, end - buffer), char(byte)});
    }
  }
};
} // namespace

bool hasAllBytes(ArrayRef<std::string> pieces) {
  StringMap<bool> known;
  for (const std::string &piece : pieces)
    known[piece] = true;
  return all_of(SpelledBytes(), [&](const auto &spelled) {
    return known.contains(spelled.first());
  });
}

/// The bytes that a piece spells, if it does.
static std::optional<std::string> bytesOf(StringRef piece,
                                          const SpelledBytes &bytes) {
  std::string text;
  for (StringRef rest = piece; !rest.empty();) {
    auto byte =
        bytes.find(rest.take_front(getNumBytesForUTF8(UTF8(rest.front()))));
    if (byte == bytes.end())
      return std::nullopt;
    text += byte->second;
    rest = rest.drop_front(byte->first().size());
  }
  return text;
}

std::string buildByteTexts(const std::vector<std::string> &pieces) {
  SpelledBytes bytes;
  std::vector<std::string> texts;
  SmallVector<uint16_t> joinings;
  for (const std::string &piece : pieces) {
    std::optional<std::string> text = bytesOf(piece, bytes);
    joinings.push_back(text ? format::kJoinsAsText : format::kJoinsAsIs);
    texts.push_back(text.value_or(piece));
  }
  SmallVector<StringRef> views(texts.begin(), texts.end());
  return buildTexts(views, joinings);
}

/// The merges by left and right piece. Of equal pairs the last counts, as in a
/// Python dictionary.
static Expected<std::vector<SortedMerge>>
sortMerges(const PairVocabulary &vocabulary, const StringMap<uint32_t> &ids,
           StringRef path) {
  std::vector<SortedMerge> merges;
  for (auto [rank, pair] : enumerate(vocabulary.merges)) {
    const auto &[left, right] = pair;
    // What marks pieces inside a word stands in front of them alone.
    std::string both =
        left + right.substr(std::min(vocabulary.prefix.size(), right.size()));
    for (const std::string &piece : {left, right, both})
      if (!ids.contains(piece))
        return makeError("'" + path + "' has no piece '" + piece +
                         "', which merging '" + left + "' with '" + right +
                         "' needs");
    merges.push_back({ids.lookup(left),
                      {ids.lookup(right), uint32_t(rank), ids.lookup(both)}});
  }
  auto keyOf = [](const SortedMerge &merge) {
    return std::pair(merge.left, merge.merge.right);
  };
  llvm::sort(merges, [&](const SortedMerge &a, const SortedMerge &b) {
    return std::tuple(a.left, a.merge.right, b.merge.rank) <
           std::tuple(b.left, b.merge.right, a.merge.rank);
  });
  merges.erase(std::unique(merges.begin(), merges.end(),
                           [&](const SortedMerge &a, const SortedMerge &b) {
                             return keyOf(a) == keyOf(b);
                           }),
               merges.end());
  return merges;
}

/// A part of a table: the merges as the runtime finds them.
struct MergeArrays {
  uint32_t count;
  std::string bytes;
  /// By the left and the right piece.
  DenseMap<std::pair<uint32_t, uint32_t>, format::PairMerge> byPieces;

  /// Whether they make this piece of a word, whose bytes are these pieces.
  bool lead(StringRef word, ArrayRef<int32_t> byteIds, uint32_t piece) const;
};

bool MergeArrays::lead(StringRef word, ArrayRef<int32_t> byteIds,
                       uint32_t piece) const {
  SmallVector<uint32_t> symbols;
  for (unsigned char byte : word)
    symbols.push_back(uint32_t(byteIds[byte]));
  while (symbols.size() > 1) {
    const format::PairMerge *best = nullptr;
    size_t place = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      auto merge = byPieces.find({symbols[i], symbols[i + 1]});
      if (merge == byPieces.end() || (best && best->rank <= merge->second.rank))
        continue;
      best = &merge->second;
      place = i;
    }
    if (!best)
      return false;
    symbols[place] = best->result;
    symbols.erase(symbols.begin() + place + 1);
  }
  return symbols == SmallVector<uint32_t>{piece};
}

static Expected<MergeArrays> buildMerges(const PairVocabulary &vocabulary,
                                         const StringMap<uint32_t> &ids,
                                         StringRef path) {
  Expected<std::vector<SortedMerge>> merges = sortMerges(vocabulary, ids, path);
  if (!merges)
    return merges.takeError();
  std::vector<uint32_t> begins(vocabulary.pieces.size() + 1);
  std::vector<format::PairMerge> table;
  for (const SortedMerge &merge : *merges) {
    ++begins[merge.left + 1];
    table.push_back(merge.merge);
  }
  for (size_t id = 1; id < begins.size(); ++id)
    begins[id] += begins[id - 1];
  MergeArrays arrays;
  arrays.count = uint32_t(table.size());
  for (const SortedMerge &merge : *merges)
    arrays.byPieces[{merge.left, merge.merge.right}] = merge.merge;
  appendValues(arrays.bytes, ArrayRef(begins));
  appendValues(arrays.bytes, ArrayRef(table));
  return arrays;
}

static StringMap<uint32_t> idsOf(ArrayRef<std::string> pieces) {
  StringMap<uint32_t> ids;
  for (auto [id, piece] : enumerate(pieces))
    if (!piece.empty())
      ids[piece] = uint32_t(id);
  return ids;
}

using Keys = std::vector<std::pair<StringRef, uint32_t>>;

/// Appends a double array, in which a key cannot have a zero byte, but for one
/// that is nothing else; its units.
static uint32_t appendKeys(Keys keys, std::string &table) {
  for (auto &[text, id] : keys)
    if (text == StringRef("\0", 1))
      text = format::kZeroKey;
  llvm::erase_if(keys, [](const auto &key) {
    return key.first.empty() || key.first.contains('\0');
  });
  std::vector<uint32_t> units = buildDoubleArray(std::move(keys));
  appendValues(table, ArrayRef(units));
  return uint32_t(units.size());
}

template <typename Header>
static std::string join(const Header &header, StringRef rest) {
  std::string table;
  appendValues(table, ArrayRef(header));
  return table + rest.str();
}

Expected<std::string> buildBytePairs(const PairVocabulary &vocabulary,
                                     StringRef path) {
  StringMap<uint32_t> ids = idsOf(vocabulary.pieces);
  Expected<MergeArrays> merges = buildMerges(vocabulary, ids, path);
  if (!merges)
    return merges.takeError();
  format::PairsHeader header = {};
  header.pieceCount = uint32_t(vocabulary.pieces.size());
  header.mergeCount = merges->count;
  header.unknown = int32_t(vocabulary.unknown.value_or(-1));
  SpelledBytes bytes;
  for (const auto &[spelling, byte] : bytes) {
    auto id = ids.find(spelling);
    header.byteIds[uint8_t(byte)] = id == ids.end() ? -1 : int32_t(id->second);
  }
  std::string rest = merges->bytes;
  std::vector<std::string> words;
  for (const std::string &piece : vocabulary.pieces)
    words.push_back(bytesOf(piece, bytes).value_or(piece));
  // Most words of a text are pieces that merges lead to: then it need not
  // merge.
  Keys keys;
  for (auto [id, word] : enumerate(words))
    if (vocabulary.takesWords ||
        merges->lead(word, header.byteIds, uint32_t(id)))
      keys.push_back({word, uint32_t(id)});
  header.wordUnits = appendKeys(std::move(keys), rest);
  return join(header, rest);
}

/// The characters that are pieces at a place in a word.
static Keys charactersAt(uint32_t place, const PairVocabulary &vocabulary) {
  Keys keys;
  for (auto [id, piece] : enumerate(vocabulary.pieces)) {
    StringRef text = piece;
    bool fits =
        (!(place & format::kIsInside) ||
         text.consume_front(vocabulary.prefix)) &&
        (!(place & format::kIsLast) || text.consume_back(vocabulary.suffix));
    if (fits && !text.empty() &&
        text.size() == getNumBytesForUTF8(UTF8(text.front())))
      keys.push_back({text, uint32_t(id)});
  }
  return keys;
}

Expected<std::string> buildCharacterPairs(const PairVocabulary &vocabulary,
                                          StringRef path) {
  StringMap<uint32_t> ids = idsOf(vocabulary.pieces);
  Expected<MergeArrays> merges = buildMerges(vocabulary, ids, path);
  if (!merges)
    return merges.takeError();
  format::CharacterPairsHeader header = {};
  header.pieceCount = uint32_t(vocabulary.pieces.size());
  header.mergeCount = merges->count;
  header.unknown = int32_t(vocabulary.unknown.value_or(-1));
  header.flags = vocabulary.fusesUnknown ? format::kFusesUnknown : 0;
  llvm::fill(header.byteIds, -1);
  if (vocabulary.fallsBackToBytes)
    for (auto [id, piece] : enumerate(vocabulary.pieces))
      if (int byte = byteOf(piece); byte >= 0)
        header.byteIds[byte] = int32_t(id);
  std::string rest = merges->bytes;
  for (uint32_t place = 0; place < std::size(header.units); ++place)
    header.units[place] = appendKeys(charactersAt(place, vocabulary), rest);
  if (vocabulary.takesWords) {
    Keys keys;
    for (auto [id, piece] : enumerate(vocabulary.pieces))
      keys.push_back({piece, uint32_t(id)});
    header.wordUnits = appendKeys(std::move(keys), rest);
  }
  if (vocabulary.fallsBackToBytes) {
    for (const std::string &mark : {vocabulary.prefix, vocabulary.suffix})
      if (mark.size() > std::numeric_limits<uint16_t>::max())
        return makeError("'" + path + "' marks pieces with " +
                         Twine(mark.size()) + " bytes (expected at most " +
                         Twine(std::numeric_limits<uint16_t>::max()) + ")");
    header.prefixBytes = uint16_t(vocabulary.prefix.size());
    header.suffixBytes = uint16_t(vocabulary.suffix.size());
    rest += vocabulary.prefix + vocabulary.suffix;
  }
  return join(header, rest);
}

} // namespace heddle
