//===- CharacterMap.cpp - What characters become --------------------------===//
//
// The tables are those of the library itself, see dump_characters.py.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Characters/CharacterMap.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ConvertUTF.h"
#include <array>

using namespace llvm;

namespace heddle {

namespace {
/// Characters from `first` on, each `step`th, become those `distance` away.
struct CharacterRun {
  char32_t first, last, step;
  int32_t distance;
};
struct CharacterText {
  char32_t character;
  const char *text;
};
/// Marks and their class.
struct CombiningRun {
  char32_t first, last;
  uint8_t order;
};
/// Characters of a script.
struct ScriptRange {
  char32_t first, last;
  size_t script;
};
} // namespace

#include "lib/Import/Tokenizers/Characters/CharacterTables.inc"

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

CharacterMap::CharacterMap(const CodePointSet &set,
                           function_ref<std::u32string(char32_t)> make) {
  for (auto [first, last] : set.sorted())
    for (char32_t c = first; c <= last; ++c)
      changes[c] = make(c);
}

CharacterMap CharacterMap::then(const CharacterMap &next) const {
  CharacterMap both(next.changes, decomposesHangul || next.decomposesHangul);
  for (const auto &[character, text] : changes) {
    std::u32string made;
    for (char32_t c : text)
      if (auto change = next.changes.find(c); change != next.changes.end())
        made += change->second;
      else
        made += c;
    both.changes[character] = made;
  }
  return both;
}

static std::string encode(const std::u32string &text) {
  std::string bytes;
  for (char32_t c : text) {
    char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = buffer;
    ConvertCodePointToUTF8(c, end);
    bytes.append(buffer, end);
  }
  return bytes;
}

/// Blocks of 256 elements that are equal stand in a table once; the first is
/// that of the default value.
template <typename T> class BlockTable {
public:
  void set(char32_t character, T value) {
    blocks[character / format::kPatternBlock]
          [character % format::kPatternBlock] = value;
  }
  /// Appends u16 of all blocks, then the blocks.
  uint32_t append(std::string &table) {
    std::map<Block, uint16_t> numbers = {{Block{}, 0}};
    std::vector<Block> all = {Block{}};
    std::vector<uint16_t> places(format::kPatternBlocks);
    for (const auto &[place, block] : blocks) {
      auto [number, isNew] = numbers.try_emplace(block, uint16_t(all.size()));
      if (isNew)
        all.push_back(block);
      places[place] = number->second;
    }
    appendValues(table, ArrayRef(places));
    appendValues(table, ArrayRef(all));
    return uint32_t(all.size());
  }

private:
  using Block = std::array<T, format::kPatternBlock>;
  std::map<char32_t, Block> blocks;
};

std::string CharacterMap::build() const {
  BlockTable<uint16_t> numbers;
  StringMap<uint16_t> known;
  std::vector<uint32_t> begins = {0};
  std::string texts;
  for (const auto &[character, made] : changes) {
    if (made == std::u32string{' ', character, ' '}) {
      numbers.set(character, format::kIsSurrounded);
      continue;
    }
    std::string text = encode(made);
    auto [number, isNew] = known.try_emplace(text, uint16_t(begins.size()));
    if (isNew) {
      texts += text;
      begins.push_back(uint32_t(texts.size()));
    }
    numbers.set(character, number->second);
  }
  format::CharacterMapHeader header = {};
  header.decomposesHangul = decomposesHangul;
  header.textCount = uint32_t(begins.size() - 1);
  std::string blocks;
  header.blockCount = numbers.append(blocks);
  std::string table;
  appendValues(table, ArrayRef(header));
  table += blocks;
  appendValues(table, ArrayRef(begins));
  return table + texts;
}

//===----------------------------------------------------------------------===//
// Of the library
//===----------------------------------------------------------------------===//

template <size_t Count>
static CodePointSet setOf(const char32_t (&ranges)[Count]) {
  std::vector<CodePointSet::Range> all;
  for (size_t i = 0; i < Count; i += 2)
    all.push_back({ranges[i], ranges[i + 1]});
  return CodePointSet(std::move(all));
}

static std::u32string nothing(char32_t) { return {}; }
static std::u32string space(char32_t) { return U" "; }

static CharacterMap::Changes changesOf(ArrayRef<CharacterRun> runs,
                                       ArrayRef<CharacterText> texts) {
  CharacterMap::Changes changes;
  for (const CharacterRun &run : runs)
    for (char32_t c = run.first; c <= run.last; c += run.step)
      changes[c] = {char32_t(int32_t(c) + run.distance)};
  for (const CharacterText &entry : texts) {
    std::u32string &made = changes[entry.character];
    for (const auto *at = reinterpret_cast<const UTF8 *>(entry.text); *at;) {
      const UTF8 *end = at + getNumBytesForUTF8(*at);
      UTF32 point = 0, *to = &point;
      ConvertUTF8toUTF32(&at, end, &to, to + 1, strictConversion);
      made += char32_t(point);
    }
  }
  return changes;
}

CharacterMap lowercase() {
  return {changesOf(kLowerRuns, kLowerTexts), /*decomposesHangul=*/false};
}

CharacterMap decomposition(bool isForCompatibility) {
  CharacterMap::Changes changes = changesOf(kNfdRuns, kNfdTexts);
  if (isForCompatibility)
    for (auto &[character, made] : changesOf(kNfkdRuns, kNfkdTexts))
      changes[character] = made;
  return {std::move(changes), /*decomposesHangul=*/true};
}

CharacterMap stripAccents() { return {setOf(kAccents), nothing}; }

CharacterMap nmt() {
  return CharacterMap(setOf(kNmtRemoved), nothing)
      .then({setOf(kNmtSpaces), space});
}

CharacterMap bertClean() {
  return CharacterMap(setOf(kBertRemoved), nothing)
      .then({setOf(kBertSpaces), space});
}

CharacterMap bertChinese() {
  return {setOf(kBertChinese),
          [](char32_t c) { return std::u32string{' ', c, ' '}; }};
}

CharacterMap bertStripMarks() { return {setOf(kBertMarks), nothing}; }

CodePointSet bertPunctuation() { return setOf(kBertPunctuation); }
CodePointSet punctuation() { return setOf(kPunctuation); }
CodePointSet digits() { return setOf(kDigits); }
CodePointSet bertSpaces() { return setOf(kWhiteSpace); }
CodePointSet rustWordCharacters() { return setOf(kWordCharacters); }

std::vector<CodePointSet> scripts() {
  std::vector<std::vector<CodePointSet::Range>> ranges;
  for (const auto &[first, last, script] : kScripts) {
    ranges.resize(std::max(ranges.size(), script + 1));
    ranges[script].emplace_back(first, last);
  }
  std::vector<CodePointSet> sets;
  for (std::vector<CodePointSet::Range> &ofScript : ranges)
    sets.emplace_back(std::move(ofScript));
  return sets;
}

std::string buildMarks(bool composes) {
  BlockTable<uint8_t> classes;
  for (const CombiningRun &run : kCombining)
    for (char32_t c = run.first; c <= run.last; ++c)
      classes.set(c, run.order);
  std::string blocks;
  format::MarksHeader header = {};
  header.blockCount = classes.append(blocks);
  header.pairCount = composes ? uint32_t(std::size(kCompositions)) : 0;
  std::string table;
  appendValues(table, ArrayRef(header));
  if (composes)
    for (const auto &pair : kCompositions)
      for (char32_t c : pair)
        appendValues(table, ArrayRef(uint32_t(c)));
  return table + blocks;
}

} // namespace heddle
