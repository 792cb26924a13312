//===- CharacterTokenizer.cpp - One id a character ------------------------===//
//
// Both tables are short and fixed, so they are unpacked once: code point to id
// for the source, id to UTF-8 for the target.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"

#include "runtime/tokenizer/Utf8.h"

#include <unordered_map>

using namespace heddle;

namespace {

class CharacterTokenizer final : public Tokenizer {
public:
  CharacterTokenizer(const TokenizerDescription &description)
      : Tokenizer(description), unknown(description.unknown.value_or(0)) {
    sourceIds = number(split(description.sourceCharacters));
    std::vector<CodePoint> target = split(description.targetCharacters);
    targetIds = number(target);
    for (const CodePoint &character : target) {
      bool filler = size_t(unknown) < target.size() &&
                    character.value == target[unknown].value;
      characters.emplace_back(filler ? std::string_view() : character.bytes);
    }
    for (std::optional<int32_t> id : {description.bos, description.eos})
      if (id && size_t(*id) < characters.size())
        characters[*id].clear();
  }

  std::string decode(const std::vector<int32_t> &ids) const override {
    std::string text;
    for (int32_t id : ids)
      if (id >= 0 && size_t(id) < characters.size())
        text += characters[id];
    return text;
  }

private:
  static std::vector<CodePoint> split(std::string_view text) {
    std::vector<CodePoint> characters;
    while (!text.empty())
      characters.push_back(takeCodePoint(text));
    return characters;
  }

  using Ids = std::unordered_map<char32_t, int32_t>;

  Ids number(const std::vector<CodePoint> &characters) const {
    Ids ids;
    for (size_t id = 0; id < characters.size(); ++id)
      ids.emplace(characters[id].value, static_cast<int32_t>(id));
    if (size_t(unknown) < characters.size())
      ids[characters[unknown].value] = unknown;
    return ids;
  }
  std::vector<int32_t> read(std::string_view text, const Ids &ids) const {
    std::vector<int32_t> result;
    while (!text.empty()) {
      auto found = ids.find(takeCodePoint(text).value);
      result.push_back(found == ids.end() ? unknown : found->second);
    }
    return result;
  }
  Result<std::vector<int32_t>> pieces(std::string_view text) const override {
    return read(text, sourceIds);
  }
  Result<std::vector<int32_t>>
  targetPieces(std::string_view text) const override {
    return read(text, targetIds);
  }

  int32_t unknown;
  Ids sourceIds, targetIds;
  /// Empty for ids that stand for no character.
  std::vector<std::string> characters;
};

} // namespace

std::unique_ptr<Tokenizer>
heddle::makeCharacterTokenizer(const TokenizerDescription &description) {
  return std::make_unique<CharacterTokenizer>(description);
}
