//===- ReplaceCharacters.cpp - Other texts for characters -----------------===//
//
// Whatever a normalizer does to each character by itself: the compiler has put
// it in a table. Most of a text stays as it is, or is ASCII that becomes ASCII.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/Hangul.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>

using namespace heddle;

namespace {
class ReplaceCharacters final : public TextStage {
public:
  static Result<ReplaceCharacters> parse(std::string_view table);

  void apply(TextParts &parts) const override {
    parts.rewrite([&](const TextPart &part, TextWriter &writer) {
      return replace(part.text, writer);
    });
  }

private:
  bool isWhole() const;
  void indexAscii();
  bool replace(std::string_view text, TextWriter &writer) const;
  /// The number of what a character becomes, or 0.
  uint16_t find(char32_t character) const {
    return numbers[blocks[character / format::kPatternBlock] *
                       size_t(format::kPatternBlock) +
                   character % format::kPatternBlock];
  }
  std::string_view textOf(uint16_t number) const {
    return texts.substr(begins[number - 1],
                        begins[number] - begins[number - 1]);
  }

  const format::CharacterMapHeader *header = nullptr;
  const uint16_t *blocks = nullptr, *numbers = nullptr;
  const uint32_t *begins = nullptr;
  std::string_view texts;
  /// Of ASCII: which character it becomes, what does not become a character of
  /// ASCII, and what changes.
  char ascii[128];
  std::bitset<128> isOther, changes;
};
} // namespace

Result<ReplaceCharacters> ReplaceCharacters::parse(std::string_view table) {
  ReplaceCharacters map;
  TableReader reader(table);
  reader.take(map.header, 1);
  if (reader.isWhole()) {
    reader.take(map.blocks, format::kPatternBlocks);
    reader.take(map.numbers,
                uint64_t(map.header->blockCount) * format::kPatternBlock);
    reader.take(map.begins, uint64_t(map.header->textCount) + 1);
    map.texts = reader.takeRest();
  }
  if (!reader.isWhole() || !map.isWhole())
    return Status::error("is not a whole table of characters");
  map.indexAscii();
  return map;
}

bool ReplaceCharacters::isWhole() const {
  auto count = size_t(header->blockCount) * format::kPatternBlock;
  return header->textCount < format::kIsSurrounded && begins[0] == 0 &&
         std::is_sorted(begins, begins + header->textCount + 1) &&
         begins[header->textCount] == texts.size() &&
         std::all_of(
             blocks, blocks + format::kPatternBlocks,
             [&](uint16_t block) { return block < header->blockCount; }) &&
         std::all_of(
             numbers, numbers + count,
             [&](uint16_t number) {
               return number <= header->textCount ||
                      number == format::kIsSurrounded;
             });
}

void ReplaceCharacters::indexAscii() {
  for (unsigned char c = 0; c < 128; ++c) {
    ascii[c] = char(c);
    uint16_t number = find(c);
    if (!number)
      continue;
    bool isSurrounded = number == format::kIsSurrounded;
    std::string_view text = isSurrounded ? "" : textOf(number);
    changes.set(c);
    isOther[c] = text.size() != 1 || (text[0] & 0x80);
    if (!isOther[c])
      ascii[c] = text[0];
  }
}

static void surround(size_t from, size_t to, TextWriter &writer) {
  writer.replace(from, to, " ");
  writer.keep(from, to);
  writer.replace(from, to, " ");
}

bool ReplaceCharacters::replace(std::string_view text,
                                TextWriter &writer) const {
  auto isAscii = [&](size_t at) { return !(text[at] & 0x80); };
  auto stays = [&](size_t at) {
    return isAscii(at) && !changes[static_cast<unsigned char>(text[at])];
  };
  size_t at = 0;
  while (at < text.size() && stays(at))
    ++at;
  if (at == text.size())
    return false;
  at = 0;
  while (at < text.size()) {
    size_t from = at;
    while (at < text.size() && isAscii(at) &&
           !isOther[static_cast<unsigned char>(text[at])])
      ++at;
    writer.translate(from, at, ascii);
    if (at == text.size())
      break;
    std::string_view rest = text.substr(at);
    CodePoint point = takeCodePoint(rest);
    from = at;
    at += point.bytes.size();
    uint16_t number = find(point.value);
    if (number == format::kIsSurrounded)
      surround(from, at, writer);
    else if (number)
      writer.replace(from, at, textOf(number));
    else if (header->decomposesHangul && hangul::isSyllable(point.value))
      writer.replace(from, at, hangul::decompose(point.value));
    else
      writer.keep(from, at);
  }
  return true;
}

stages::MadeText stages::makeReplaceCharacters(std::string_view table) {
  return own<TextStage>(ReplaceCharacters::parse(table));
}
