//===- AddedTokens.cpp - Tokens that text has as a whole ------------------===//
//
// A search for the leftmost and longest token at each byte; the table of first
// bytes makes text without tokens cheap.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/UnicodeTables.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace heddle;

Result<AddedTokens> AddedTokens::parse(std::string_view table) {
  TableReader reader(table);
  const format::AddedHeader *header = nullptr;
  const format::AddedToken *entries = nullptr;
  const uint32_t *begins = nullptr;
  reader.take(header, 1);
  if (reader.isWhole()) {
    reader.take(entries, header->count);
    reader.take(begins, uint64_t(header->count) + 1);
  }
  std::string_view bytes = reader.takeRest();
  if (!reader.isWhole() || begins[0] != 0 ||
      !std::is_sorted(begins, begins + header->count + 1) ||
      begins[header->count] != bytes.size())
    return Status::error("is not a whole table of tokens");
  AddedTokens added;
  for (uint32_t i = 0; i < header->count; ++i) {
    std::string_view text = bytes.substr(begins[i], begins[i + 1] - begins[i]);
    if (text.empty() || !isUtf8(text) || int32_t(entries[i].id) < 0)
      return Status::error("has a token ", i, " without a text or an id");
    added.tokens.push_back(
        {int32_t(entries[i].id), entries[i].flags, std::string(text)});
    added.byId.emplace(int32_t(entries[i].id), text);
  }
  added.index();
  return added;
}

void AddedTokens::index() {
  for (auto &side : starts)
    for (std::vector<uint32_t> &list : side)
      list.clear();
  empty = -1;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string &spelling = tokens[i].spelling;
    bool isNormalized = tokens[i].flags & format::kIsNormalized;
    // A normalizer may leave nothing of it.
    if (spelling.empty()) {
      if (empty < 0)
        empty = int32_t(i);
      continue;
    }
    starts[isNormalized][static_cast<unsigned char>(spelling.front())]
        .push_back(uint32_t(i));
  }
  for (auto &side : starts)
    for (std::vector<uint32_t> &list : side)
      std::sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
        size_t first = tokens[a].spelling.size(),
               second = tokens[b].spelling.size();
        return first != second ? first > second : a < b;
      });
}

/// Where the last character of `text` begins, which is not empty.
static size_t lastCharacter(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (text[at] & 0xC0) == 0x80)
    --at;
  return at;
}

static bool endsWithWord(std::string_view text) {
  if (text.empty())
    return false;
  std::string_view last = text.substr(lastCharacter(text));
  return isWordCharacter(takeCodePoint(last).value);
}

static bool startsWithWord(std::string_view text) {
  return !text.empty() && isWordCharacter(takeCodePoint(text).value);
}

/// White space as the Unicode standard has it, and for Python's str.isspace
/// the separators of ASCII, too.
static bool isWhite(char32_t c, bool isPython) {
  return heddle::isSpace(c) || (isPython && c >= 0x1C && c <= 0x1F);
}

std::string_view heddle::stripLeft(std::string_view text, bool isPython) {
  for (std::string_view rest = text;
       !rest.empty() && isWhite(takeCodePoint(rest).value, isPython);)
    text = rest;
  return text;
}

std::string_view heddle::stripRight(std::string_view text, bool isPython) {
  while (!text.empty()) {
    size_t last = lastCharacter(text);
    std::string_view character = text.substr(last);
    if (!isWhite(takeCodePoint(character).value, isPython))
      break;
    text = text.substr(0, last);
  }
  return text;
}

const AddedTokens::Token *AddedTokens::findAt(std::string_view text, size_t at,
                                              bool isNormalized) const {
  for (uint32_t i :
       starts[isNormalized][static_cast<unsigned char>(text[at])]) {
    const std::string &spelling = tokens[i].spelling;
    if (text.compare(at, spelling.size(), spelling) == 0)
      return &tokens[i];
  }
  return nullptr;
}

AddedTokens::Match AddedTokens::find(std::string_view text, size_t from,
                                     size_t done, bool isNormalized) const {
  const Token *nothing =
      isNormalized && empty >= 0 ? &tokens[size_t(empty)] : nullptr;
  // What is nothing is found at the end, too, and not inside a character.
  const size_t limit = text.size() + (nothing ? 1 : 0);
  for (size_t next; from < limit; from = next) {
    const Token *token =
        from < text.size() ? findAt(text, from, isNormalized) : nullptr;
    if (!token && (from == text.size() || (text[from] & 0xC0) != 0x80))
      token = nothing;
    next = from + 1;
    if (!token)
      continue;
    next = from + std::max<size_t>(token->spelling.size(), 1);
    size_t begin = from, end = from + token->spelling.size();
    if ((token->flags & format::kIsWord) &&
        (endsWithWord(text.substr(0, begin)) ||
         startsWithWord(text.substr(end))))
      continue;
    if (token->flags & format::kStripsLeft)
      begin = std::max(done, stripRight(text.substr(0, begin), false).size());
    if (token->flags & format::kStripsRight)
      end = text.size() - stripLeft(text.substr(end), false).size();
    return {token, begin, end, next};
  }
  return {nullptr, text.size(), text.size(), text.size()};
}
