//===- TextTemplate.cpp - What a model reads of texts ---------------------===//
//
// A template is a list of tokens and places of texts, one for a single text and
// one for a pair.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextTemplate.h"
#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/UnicodeTables.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace heddle;

/// Of a special token.
void TextEncoding::add(int32_t id, int32_t type) {
  add(Piece{id, {}}, type, /*text=*/-1);
}

void TextEncoding::add(const Piece &piece, int32_t type, int8_t text) {
  ids.push_back(piece.id);
  types.push_back(type);
  texts.push_back(text);
  ranges.push_back(piece.range);
  words.push_back(piece.word);
}

Result<TextTemplate> TextTemplate::parse(std::string_view table) {
  TextTemplate made;
  TableReader reader(table);
  const format::TemplateHeader *header = nullptr;
  reader.take(header, 1);
  if (reader.isWhole()) {
    made.singleCount = header->singleCount;
    made.pairCount = header->pairCount;
    made.flags = header->flags;
    made.language = header->language;
    reader.take(made.items, uint64_t(made.singleCount) + made.pairCount);
  }
  auto isItem = [](const format::TemplateItem &item) {
    return item.id >= format::kSecondText && item.type <= INT32_MAX;
  };
  if (!reader.isWhole() || made.language >= int64_t(made.singleCount) ||
      !std::all_of(made.begin(false), made.end(true), isItem))
    return Status::error("is not a whole template");
  return made;
}

size_t TextTemplate::specialCount(bool isPair) const {
  return std::count_if(
      begin(isPair), end(isPair),
      [](const format::TemplateItem &item) { return item.id >= 0; });
}

bool TextTemplate::isThere(const format::TemplateItem *item, bool isPair,
                           const std::vector<Piece> &first,
                           const std::vector<Piece> *second) const {
  if (!(flags & format::kAddsTokensOnce) || item == begin(isPair) ||
      item[-1].id >= 0)
    return false;
  const std::vector<Piece> *text =
      item[-1].id == format::kSecondText ? second : &first;
  return text && !text->empty() && text->back().id == item->id;
}

TextEncoding TextTemplate::build(const std::vector<Piece> &first,
                                 const std::vector<Piece> *second) const {
  TextEncoding encoding;
  for (auto *item = begin(second); item != end(second); ++item) {
    auto type = int32_t(item->type);
    bool isSecond = item->id == format::kSecondText;
    if (isThere(item, second, first, second))
      continue;
    if (item->id >= 0)
      encoding.add(item->id, type);
    else if (const std::vector<Piece> *text = isSecond ? second : &first)
      for (const Piece &piece : *text)
        encoding.add(piece, type, int8_t(isSecond));
  }
  return encoding;
}

std::vector<int32_t>
TextTemplate::buildIds(const std::vector<Piece> &text,
                       std::optional<int32_t> language) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size() + singleCount);
  for (auto *item = begin(false); item != end(false); ++item) {
    bool isLanguage = language && item - items == this->language;
    if (isThere(item, /*isPair=*/false, text, /*second=*/nullptr))
      continue;
    if (item->id >= 0)
      ids.push_back(isLanguage ? *language : item->id);
    else if (item->id == format::kFirstText)
      for (const Piece &piece : text)
        ids.push_back(piece.id);
  }
  return ids;
}

/// Names the byte of a space where bytes are characters.
static constexpr char32_t kByteSpace = 0x120;

namespace {
/// How many characters at a token's ends are white space.
struct Margins {
  size_t left, right;
};
} // namespace

/// Of bytes: spaces alone are white.
static Margins marginsOfBytes(std::string_view bytes) {
  size_t left = std::min(bytes.find_first_not_of(' '), bytes.size());
  return {left, bytes.size() - (bytes.find_last_not_of(' ') + 1)};
}

/// Of a text: all white space, and the character that names the byte of a
/// space.
static Margins marginsOf(std::string_view text) {
  Margins margins = {0, 0};
  bool isStart = true;
  while (!text.empty()) {
    char32_t character = takeCodePoint(text).value;
    bool isWhite = isSpace(character) || character == kByteSpace;
    isStart &= isWhite;
    margins.left += isStart;
    margins.right = isWhite ? margins.right + 1 : 0;
  }
  return margins;
}

/// Whether a place is inside a character.
static bool isInside(std::string_view text, uint32_t place) {
  return place < text.size() && (text[place] & 0xC0) == 0x80;
}

void TextTemplate::trim(std::string_view text, const TokenNames &names,
                        std::vector<Piece> &tokens) const {
  if (!(flags & format::kTrimsRanges))
    return;
  for (Piece &token : tokens) {
    auto &[begin, end] = token.range;
    std::string_view name = names.pieces.has(token.id)
                                ? names.pieces.text(token.id)
                                : std::string_view();
    auto [left, right] = token.isToken
                             ? marginsOf(text.substr(begin, end - begin))
                         : flags & format::kTrimsNames ? marginsOf(name)
                                                       : marginsOfBytes(name);
    bool isFirst = &token == tokens.data() || begin == 0;
    // Of several spaces a stage has added none.
    if (left == 1 && isFirst && (flags & format::kSparesFirstSpace))
      left = 0;
    // Whole characters are taken, of which a piece may be a part.
    while (left + right && isInside(text, end))
      ++end;
    for (; left && begin < end; --left)
      do
        ++begin;
      while (begin < end && isInside(text, begin));
    uint32_t trimmed = end;
    for (; right && trimmed; --right)
      do
        --trimmed;
      while (trimmed && isInside(text, trimmed));
    // The library leaves a range whose text has fewer characters.
    if (!right)
      end = std::max(trimmed, begin);
  }
}
