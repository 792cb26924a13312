//===- ByteLevelTokenizer.cpp - Byte pairs, as GPT-2 and BART have them ---===//
//
// Text is cut at the tokens that were added to the vocabulary, then into words,
// then into pieces of bytes. Pieces become text again by their bytes alone, so
// that one character may be spread over several.
//
//===----------------------------------------------------------------------===//

#include "runtime/BytePairs.h"
#include "runtime/Tokenizer.h"
#include "runtime/UnicodeTables.h"
#include "runtime/Utf8.h"
#include "runtime/WordPattern.h"

#include <algorithm>
#include <array>
#include <utility>

using namespace heddle;

namespace {

class ByteLevelTokenizer final : public Tokenizer {
public:
  ByteLevelTokenizer(const TokenizerDescription &description, BytePairs pairs);

  std::string decode(const std::vector<int32_t> &ids) const override;

private:
  /// An added token in a text: its bytes with the spaces that it takes.
  struct Match {
    size_t begin, end;
    int32_t id;
  };

  Result<std::vector<int32_t>> pieces(std::string_view text) const override;
  /// The first match at or behind `from`; of those at one place the longest.
  /// Where there is none it begins and ends at the end of the text.
  Match findAdded(std::string_view text, size_t from) const;

  int32_t unknown;
  std::vector<int32_t> special;
  bool cleansUp;
  BytePairs pairs;
  /// By the first byte, the longest first.
  std::array<std::vector<format::AddedToken>, 256> added;
};

} // namespace

ByteLevelTokenizer::ByteLevelTokenizer(const TokenizerDescription &description,
                                       BytePairs pairs)
    : Tokenizer(description.bos, description.eos), unknown(description.unknown),
      special(description.special), cleansUp(description.cleansUp),
      pairs(pairs) {
  std::sort(special.begin(), special.end());
  std::for_each(pairs.addedBegin(), pairs.addedEnd(),
                [&](const format::AddedToken &token) {
                  unsigned char first = pairs.text(token.id).front();
                  added[first].push_back(token);
                });
  for (std::vector<format::AddedToken> &tokens : added)
    std::sort(tokens.begin(), tokens.end(), [&](const auto &a, const auto &b) {
      return pairs.text(a.id).size() > pairs.text(b.id).size();
    });
}

/// Where the spaces end that `text` has from `from` on.
static size_t skipSpaces(std::string_view text, size_t from) {
  std::string_view rest = text.substr(from);
  while (!rest.empty() && isSpace(takeCodePoint(rest).value))
    from = text.size() - rest.size();
  return from;
}

/// Where the spaces begin that `text` has before `to`, at `from` or behind it.
static size_t skipSpacesBack(std::string_view text, size_t from, size_t to) {
  size_t begin = to;
  while (begin > from) {
    size_t start = begin - 1;
    while (start > from && (text[start] & 0xC0) == 0x80)
      --start;
    std::string_view character = text.substr(start, begin - start);
    if (!isSpace(takeCodePoint(character).value))
      break;
    begin = start;
  }
  return begin;
}

ByteLevelTokenizer::Match ByteLevelTokenizer::findAdded(std::string_view text,
                                                        size_t from) const {
  for (size_t at = from; at < text.size(); ++at)
    for (const format::AddedToken &token :
         added[static_cast<unsigned char>(text[at])]) {
      std::string_view spelling = pairs.text(token.id);
      if (text.substr(at, spelling.size()) != spelling)
        continue;
      Match match{at, at + spelling.size(), int32_t(token.id)};
      if (token.flags & format::kStripsLeft)
        match.begin = skipSpacesBack(text, from, at);
      if (token.flags & format::kStripsRight)
        match.end = skipSpaces(text, match.end);
      return match;
    }
  return {text.size(), text.size(), -1};
}

Result<std::vector<int32_t>>
ByteLevelTokenizer::pieces(std::string_view damaged) const {
  std::string repaired;
  std::string_view text = damaged;
  if (!isUtf8(damaged))
    text = repaired = repairUtf8(damaged);
  std::vector<int32_t> ids;
  for (size_t from = 0; from < text.size();) {
    Match match = findAdded(text, from);
    std::string_view plain = text.substr(from, match.begin - from);
    while (!plain.empty())
      pairs.encode(takeWord(plain), ids);
    if (match.id >= 0)
      ids.push_back(match.id);
    from = match.end;
  }
  std::replace(ids.begin(), ids.end(), -1, unknown);
  return ids;
}

/// transformers' clean_up_tokenization, one replacement after the other.
static std::string cleanUp(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},     {" ?", "?"},     {" !", "!"},   {" ,", ","},
      {" ' ", "'"},    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"},
      {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto &[from, to] : kRules) {
    std::string replaced;
    size_t begin = 0;
    for (size_t at; (at = text.find(from, begin)) != std::string::npos;
         begin = at + from.size())
      replaced.append(text, begin, at - begin).append(to);
    text = replaced.append(text, begin, std::string::npos);
  }
  return text;
}

std::string ByteLevelTokenizer::decode(const std::vector<int32_t> &ids) const {
  std::string bytes;
  for (int32_t id : ids)
    if (id >= 0 && id < pairs.pieceCount() &&
        !std::binary_search(special.begin(), special.end(), id))
      bytes += pairs.text(id);
  std::string text = repairUtf8(bytes);
  return cleansUp ? cleanUp(std::move(text)) : text;
}

Result<std::unique_ptr<Tokenizer>>
heddle::makeByteLevelTokenizer(std::string_view section,
                               const Manifest &manifest) {
  Result<BytePairs> pairs = BytePairs::parse(
      section, std::min(manifest.sourceVocabulary, manifest.targetVocabulary));
  if (!pairs.ok())
    return pairs.status();
  return std::unique_ptr<Tokenizer>(
      std::make_unique<ByteLevelTokenizer>(manifest.tokenizer, *pairs));
}
