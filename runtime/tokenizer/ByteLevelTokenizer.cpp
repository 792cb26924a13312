//===- ByteLevelTokenizer.cpp - Byte pairs, as GPT-2 and BART have them ---===//
//
// Text is cut at the tokens that were added to the vocabulary, then into words
// by a pattern, then into pieces of bytes. Pieces become text again by their
// bytes alone, so that one character may be spread over several.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/BytePairs.h"
#include "runtime/tokenizer/TextPattern.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <utility>

using namespace heddle;

namespace {

class ByteLevelTokenizer final : public Tokenizer {
public:
  ByteLevelTokenizer(const Manifest &manifest, BytePairs pairs,
                     std::optional<TextPattern> pattern, AddedTokens added)
      : Tokenizer(manifest), unknown(manifest.tokenizer.unknown),
        special(manifest.tokenizer.special),
        cleansUp(manifest.tokenizer.cleansUp),
        addsSpace(manifest.tokenizer.addsSpace), pairs(pairs), pattern(pattern),
        added(std::move(added)) {
    std::sort(special.begin(), special.end());
  }

  std::string decode(const std::vector<int32_t> &ids) const override;

private:
  Result<std::vector<int32_t>> pieces(std::string_view text) const override;
  std::string_view nameOf(int32_t id) const override;
  void cut(std::string_view plain, std::vector<int32_t> &ids) const;

  std::optional<int32_t> unknown;
  std::vector<int32_t> special;
  bool cleansUp, addsSpace;
  BytePairs pairs;
  std::optional<TextPattern> pattern;
  AddedTokens added;
};

} // namespace

std::string_view ByteLevelTokenizer::nameOf(int32_t id) const {
  std::string_view text = added.text(id);
  return text.empty() && id < pairs.pieceCount() ? pairs.text(id) : text;
}

void ByteLevelTokenizer::cut(std::string_view plain,
                             std::vector<int32_t> &ids) const {
  std::string spaced;
  if (addsSpace && plain.front() != ' ')
    plain = spaced = " " + std::string(plain);
  if (!pattern)
    return pairs.encode(plain, ids);
  for (size_t at = 0; at < plain.size();) {
    TextPattern::Match word = pattern->find(plain, at);
    if (word.begin > at)
      pairs.encode(plain.substr(at, word.begin - at), ids);
    if (word.end > word.begin)
      pairs.encode(plain.substr(word.begin, word.end - word.begin), ids);
    at = word.end;
  }
}

Result<std::vector<int32_t>>
ByteLevelTokenizer::pieces(std::string_view damaged) const {
  std::string repaired;
  std::string_view text = damaged;
  if (!isUtf8(damaged))
    text = repaired = repairUtf8(damaged);
  std::vector<int32_t> ids;
  // Nothing normalises the text, but the tokens that would be found behind a
  // normalizer are second to the others.
  for (const auto &outer : added.cut(text, /*isNormalized=*/false)) {
    if (outer.id >= 0) {
      ids.push_back(outer.id);
      continue;
    }
    for (const auto &part : added.cut(outer.text, /*isNormalized=*/true))
      if (part.id >= 0)
        ids.push_back(part.id);
      else
        cut(part.text, ids);
  }
  if (unknown)
    std::replace(ids.begin(), ids.end(), -1, *unknown);
  else
    ids.erase(std::remove(ids.begin(), ids.end(), -1), ids.end());
  return ids;
}

std::string ByteLevelTokenizer::decode(const std::vector<int32_t> &ids) const {
  std::string bytes;
  for (int32_t id : ids)
    if (id >= 0 && id < pairs.pieceCount() &&
        !std::binary_search(special.begin(), special.end(), id))
      bytes += pairs.text(id);
  std::string text = repairUtf8(bytes);
  return cleansUp ? cleanUpSpaces(std::move(text)) : text;
}

Result<std::unique_ptr<Tokenizer>>
heddle::makeByteLevelTokenizer(const ByteLevelSections &sections,
                               const Manifest &manifest) {
  Result<BytePairs> pairs = BytePairs::parse(sections.pairs);
  if (!pairs.ok())
    return pairs.status();
  std::optional<TextPattern> pattern;
  if (!sections.pattern.empty()) {
    Result<TextPattern> parsed = TextPattern::parse(sections.pattern);
    if (!parsed.ok())
      return parsed.status();
    pattern = *parsed;
  }
  AddedTokens added;
  if (!sections.added.empty()) {
    Result<AddedTokens> parsed = AddedTokens::parse(sections.added);
    if (!parsed.ok())
      return parsed.status();
    added = std::move(*parsed);
  }
  return std::unique_ptr<Tokenizer>(std::make_unique<ByteLevelTokenizer>(
      manifest, *pairs, pattern, std::move(added)));
}
