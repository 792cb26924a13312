//===- TextPattern.cpp - A regular expression as a table ------------------===//
//
// A run of states may go on behind a match, in search of one that the pattern
// prefers: the last one seen counts.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextPattern.h"

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace heddle;

Result<TextPattern> TextPattern::parse(std::string_view bytes) {
  TextPattern pattern;
  TableReader reader(bytes);
  reader.take(pattern.header, 1);
  bool fits = reader.isWhole() && pattern.header->classCount <= 255 &&
              pattern.header->stateCount <= 1 << 15;
  if (fits) {
    uint64_t kinds = uint64_t(pattern.header->classCount) + 1;
    reader.take(pattern.starts, kinds);
    reader.take(pattern.transitions, kinds * pattern.header->stateCount);
    reader.take(pattern.blocks, format::kPatternBlocks);
    reader.take(pattern.classes,
                uint64_t(pattern.header->blockCount) * format::kPatternBlock);
  }
  if (!fits || !reader.takeRest().empty() || !reader.isWhole())
    return Status::error("has a pattern of ", bytes.size(),
                         " bytes, other than its header says");
  if (Status status = pattern.check(); !status.ok())
    return status;
  pattern.findBegins();
  return pattern;
}

Status TextPattern::check() const {
  size_t kinds = header->classCount + 1;
  auto isState = [&](uint16_t state) { return state < header->stateCount; };
  auto leadsToState = [&](uint16_t entry) { return isState(entry >> 1); };
  auto isBlock = [&](uint16_t block) { return block < header->blockCount; };
  auto isClass = [&](uint8_t kind) { return kind < header->classCount; };
  const uint8_t *end =
      classes + size_t(header->blockCount) * format::kPatternBlock;
  if (std::all_of(starts, starts + kinds, isState) &&
      std::all_of(transitions, transitions + kinds * header->stateCount,
                  leadsToState) &&
      std::all_of(blocks, blocks + format::kPatternBlocks, isBlock) &&
      std::all_of(classes, end, isClass))
    return Status::success();
  return Status::error("has a pattern that leads to a state that it lacks");
}

void TextPattern::findBegins() {
  size_t kinds = header->classCount + 1;
  for (size_t character = 0; character < begins.size(); ++character)
    begins[character] =
        std::any_of(starts, starts + kinds, [&](uint16_t state) {
          return transitions[state * kinds + classOf(char32_t(character))] > 1;
        });
}

size_t TextPattern::measure(std::string_view text, size_t from,
                            uint16_t state) const {
  size_t kinds = header->classCount + 1, end = from, at = from;
  for (std::string_view rest = text.substr(from); state;) {
    bool atEnd = rest.empty();
    uint8_t kind = header->classCount;
    size_t next = at;
    if (!atEnd) {
      CodePoint point = takeCodePoint(rest);
      kind = classOf(point.value);
      next += point.bytes.size();
    }
    uint16_t entry = transitions[state * kinds + kind];
    if (entry & 1)
      end = at;
    if (atEnd)
      break;
    state = entry >> 1;
    at = next;
  }
  return end;
}

TextPattern::Match TextPattern::find(std::string_view text, size_t from) const {
  uint8_t before = header->classCount;
  if (from > 0) {
    size_t last = from - 1;
    while (last > 0 && (text[last] & 0xC0) == 0x80)
      --last;
    std::string_view character = text.substr(last);
    before = classOf(takeCodePoint(character).value);
  }
  while (from < text.size()) {
    auto lead = static_cast<unsigned char>(text[from]);
    if (lead < begins.size() && !begins[lead]) {
      before = classOf(lead);
      ++from;
      continue;
    }
    size_t end = measure(text, from, starts[before]);
    if (end > from)
      return {from, end};
    std::string_view rest = text.substr(from);
    CodePoint skipped = takeCodePoint(rest);
    before = classOf(skipped.value);
    from += skipped.bytes.size();
  }
  return {text.size(), text.size()};
}
