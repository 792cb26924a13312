//===- BytePairTable.cpp - Writes byte pairs for the runtime --------------===//
//
// Merges are sorted by their left piece, then by their right one, so that the
// runtime finds those of a pair by two indices and a binary search.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/BytePairTable.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "lib/Support/Error.h"
#include "runtime/tokenizer/TokenizerFormat.h"
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
} // namespace

/// The characters that stand for the bytes.
static std::vector<std::string> spellBytes() {
  std::vector<std::string> spellings;
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    bool printable = (byte >= '!' && byte <= '~') ||
                     (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = buffer;
    ConvertCodePointToUTF8(printable ? byte : next++, end);
    spellings.emplace_back(buffer, end);
  }
  return spellings;
}

bool hasAllBytes(const BytePairVocabulary &vocabulary) {
  StringMap<bool> pieces;
  for (const std::string &piece : vocabulary.pieces)
    pieces[piece] = true;
  return all_of(spellBytes(), [&](const std::string &spelling) {
    return pieces.contains(spelling);
  });
}

/// The bytes that a piece spells; what is not spelled so is its own text.
static std::string bytesOf(StringRef piece, const StringMap<char> &bytes) {
  std::string text;
  for (StringRef rest = piece; !rest.empty();) {
    auto byte =
        bytes.find(rest.take_front(getNumBytesForUTF8(UTF8(rest.front()))));
    if (byte == bytes.end())
      return piece.str();
    text += byte->second;
    rest = rest.drop_front(byte->first().size());
  }
  return text;
}

std::string buildByteTexts(const BytePairVocabulary &vocabulary) {
  StringMap<char> bytes;
  for (auto [byte, spelling] : enumerate(spellBytes()))
    bytes[spelling] = char(byte);
  std::vector<std::string> texts;
  for (const std::string &piece : vocabulary.pieces)
    texts.push_back(bytesOf(piece, bytes));
  SmallVector<StringRef> views(texts.begin(), texts.end());
  SmallVector<uint16_t> joinings(texts.size(), format::kJoinsAsText);
  return buildTexts(views, joinings);
}

/// The merges by left and right piece. Of equal pairs the last counts, as in a
/// Python dictionary.
static Expected<std::vector<SortedMerge>>
sortMerges(const BytePairVocabulary &vocabulary, const StringMap<uint32_t> &ids,
           StringRef path) {
  std::vector<SortedMerge> merges;
  for (auto [rank, pair] : enumerate(vocabulary.merges)) {
    const auto &[left, right] = pair;
    for (const std::string &piece : {left, right, left + right})
      if (!ids.contains(piece))
        return makeError("'" + path + "' has no piece '" + piece +
                         "', which merging '" + left + "' with '" + right +
                         "' needs");
    merges.push_back(
        {ids.lookup(left),
         {ids.lookup(right), uint32_t(rank), ids.lookup(left + right)}});
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

Expected<std::string> buildBytePairTable(const BytePairVocabulary &vocabulary,
                                         int64_t unknown, StringRef path) {
  StringMap<uint32_t> ids;
  for (auto [id, piece] : enumerate(vocabulary.pieces))
    if (!piece.empty())
      ids[piece] = uint32_t(id);
  Expected<std::vector<SortedMerge>> merges = sortMerges(vocabulary, ids, path);
  if (!merges)
    return merges.takeError();

  format::PairsHeader header = {};
  header.pieceCount = vocabulary.pieces.size();
  header.mergeCount = merges->size();
  header.unknown = int32_t(unknown);
  for (auto [byte, spelling] : enumerate(spellBytes())) {
    auto id = ids.find(spelling);
    header.byteIds[byte] = id == ids.end() ? -1 : int32_t(id->second);
  }
  std::vector<uint32_t> mergeBegins(vocabulary.pieces.size() + 1);
  std::vector<format::PairMerge> table;
  for (const SortedMerge &merge : *merges) {
    ++mergeBegins[merge.left + 1];
    table.push_back(merge.merge);
  }
  for (size_t id = 1; id < mergeBegins.size(); ++id)
    mergeBegins[id] += mergeBegins[id - 1];
  std::string section;
  appendValues(section, ArrayRef(header));
  appendValues(section, ArrayRef(mergeBegins));
  appendValues(section, ArrayRef(table));
  return section;
}

} // namespace heddle
