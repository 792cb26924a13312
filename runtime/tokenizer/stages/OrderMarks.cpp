//===- OrderMarks.cpp - Marks in order, and characters composed -----------===//
//
// What is left of a normal form when characters have been replaced one by one
// (ReplaceCharacters.cpp): the order of marks, D109 of the Unicode standard,
// and for NFC and NFKC composition, D117. A run is a character of the class 0
// and the marks behind it: it is put in order, then composed.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/Hangul.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <algorithm>

using namespace heddle;

namespace {
/// A character, its number in a run, how many characters of the text it is made
/// of, its class, and whether another one of the same character stands in front
/// of it.
struct Character {
  char32_t value;
  uint32_t number, sources;
  uint8_t order;
  bool isAdded;
};

/// Characters that are put in order together, and the bytes that those of the
/// text have which they are made of.
struct Run {
  std::vector<Character> characters;
  std::vector<std::pair<size_t, size_t>> places;

  void composeFirst(char32_t made, const Character &second);
};

/// The first character becomes one with another. In the library it then takes
/// the place of that one if it had none of its own.
void Run::composeFirst(char32_t made, const Character &second) {
  Character &first = characters[0];
  first.value = made;
  first.sources += second.sources;
  if (!first.isAdded || !second.sources)
    return;
  first.isAdded = false;
  --first.sources;
  places.erase(places.begin());
}

struct Pair {
  uint32_t first, second, composed;

  bool operator<(const Pair &other) const {
    return std::pair(first, second) < std::pair(other.first, other.second);
  }
};

class OrderMarks final : public TextStage {
public:
  static Result<OrderMarks> parse(std::string_view table);

  void apply(TextParts &parts) const override {
    parts.rewrite([&](const TextPart &part, TextWriter &writer) {
      return normalize(part, writer);
    });
  }

private:
  bool normalize(const TextPart &part, TextWriter &writer) const;
  bool order(std::vector<Character> &run) const;
  bool compose(Run &run) const;
  char32_t composed(char32_t first, char32_t second) const;
  uint8_t classOf(char32_t character) const {
    return classes[blocks[character / format::kPatternBlock] *
                       size_t(format::kPatternBlock) +
                   character % format::kPatternBlock];
  }

  const format::MarksHeader *header = nullptr;
  const Pair *pairs = nullptr;
  const uint16_t *blocks = nullptr;
  const uint8_t *classes = nullptr;
};
} // namespace

Result<OrderMarks> OrderMarks::parse(std::string_view table) {
  OrderMarks marks;
  TableReader reader(table);
  reader.take(marks.header, 1);
  if (reader.isWhole()) {
    reader.take(marks.pairs, marks.header->pairCount);
    reader.take(marks.blocks, format::kPatternBlocks);
    reader.take(marks.classes,
                uint64_t(marks.header->blockCount) * format::kPatternBlock);
  }
  if (!reader.takeRest().empty() || !reader.isWhole() ||
      !std::is_sorted(marks.pairs, marks.pairs + marks.header->pairCount) ||
      !std::all_of(
          marks.blocks, marks.blocks + format::kPatternBlocks,
          [&](uint16_t block) { return block < marks.header->blockCount; }) ||
      !std::all_of(marks.pairs, marks.pairs + marks.header->pairCount,
                   [](const Pair &pair) { return pair.composed < 0x110000; }))
    return Status::error("is not a whole table of marks");
  return marks;
}

char32_t OrderMarks::composed(char32_t first, char32_t second) const {
  if (char32_t syllable = hangul::compose(first, second))
    return syllable;
  Pair wanted{first, second, 0};
  const Pair *end = pairs + header->pairCount;
  const Pair *found = std::lower_bound(pairs, end, wanted);
  return found != end && !(wanted < *found) ? found->composed : 0;
}

/// Whether the order has changed.
bool OrderMarks::order(std::vector<Character> &run) const {
  auto isBefore = [](const Character &a, const Character &b) {
    return std::pair(a.order, a.number) < std::pair(b.order, b.number);
  };
  auto first = run.begin();
  if (first != run.end() && first->order == 0)
    ++first;
  if (std::is_sorted(first, run.end(), isBefore))
    return false;
  std::sort(first, run.end(), isBefore);
  return true;
}

/// A run is composed as far as possible. It begins with a character of the
/// class 0, unless it is the text's first one.
bool OrderMarks::compose(Run &whole) const {
  std::vector<Character> &run = whole.characters;
  if (!header->pairCount || run.empty() || run.front().order != 0)
    return false;
  bool changed = false;
  uint8_t last = 0;
  size_t kept = 1;
  for (size_t i = 1; i < run.size(); ++i) {
    const Character &mark = run[i];
    // What stands between is of a lower class.
    bool isFree = kept == 1 || last < mark.order;
    if (char32_t made = isFree ? composed(run[0].value, mark.value) : 0) {
      whole.composeFirst(made, mark);
      changed = true;
      continue;
    }
    last = mark.order;
    run[kept++] = mark;
  }
  run.resize(kept);
  return changed;
}

static void write(Run &run, TextWriter &writer) {
  std::string bytes;
  size_t next = 0;
  for (const Character &character : run.characters) {
    bytes.clear();
    appendUtf8(character.value, bytes);
    size_t place = character.sources || !next ? next : next - 1;
    auto [begin, end] = run.places[std::min(place, run.places.size() - 1)];
    writer.replace(begin, end, bytes);
    next += character.sources;
  }
  run.characters.clear();
  run.places.clear();
}

bool OrderMarks::normalize(const TextPart &part, TextWriter &writer) const {
  // Nothing below U+0300 is a mark, or a second character of a pair.
  auto isPlain = [](char byte) {
    return static_cast<unsigned char>(byte) < 0xCC;
  };
  std::string_view text = part.text;
  if (std::all_of(text.begin(), text.end(), isPlain))
    return false;
  bool changed = false;
  Run run;
  std::vector<Character> &characters = run.characters;
  TextRange before;
  for (std::string_view rest = text; !rest.empty();) {
    size_t begin = text.size() - rest.size();
    CodePoint point = takeCodePoint(rest);
    size_t end = text.size() - rest.size();
    TextRange origin = part.originOf(begin, end);
    bool isAdded = begin > 0 && origin == before;
    before = origin;
    Character next{point.value, uint32_t(characters.size()), !isAdded,
                   classOf(point.value), isAdded};
    if (next.order == 0 && !characters.empty()) {
      changed |= order(characters);
      changed |= compose(run);
      // Two of the class 0 beside each other may be one, too.
      bool isAlone = characters.size() == 1 && characters[0].order == 0;
      char32_t made = isAlone && header->pairCount
                          ? composed(characters[0].value, next.value)
                          : 0;
      if (made) {
        if (!isAdded)
          run.places.emplace_back(begin, end);
        run.composeFirst(made, next);
        changed = true;
        continue;
      }
      write(run, writer);
    }
    // The first of a run has a place of its own.
    next.sources |= characters.empty();
    next.number = uint32_t(characters.size());
    if (next.sources)
      run.places.emplace_back(begin, end);
    characters.push_back(next);
  }
  changed |= order(characters);
  changed |= compose(run);
  write(run, writer);
  return changed;
}

stages::MadeText stages::makeOrderMarks(std::string_view table) {
  return own<TextStage>(OrderMarks::parse(table));
}
