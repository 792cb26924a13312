//===- CutCharacters.cpp - One id a character -----------------------------===//
//
// Tables are short, so they are unpacked once: code point to id.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <unordered_map>

using namespace heddle;

namespace {
class CutCharacters final : public PieceModel {
public:
  CutCharacters(int32_t unknown, std::string_view characters)
      : unknown(unknown) {
    int32_t id = 0;
    char32_t filler = 0;
    for (; !characters.empty(); ++id) {
      char32_t character = takeCodePoint(characters).value;
      ids.emplace(character, id);
      if (id == unknown)
        filler = character;
    }
    if (unknown < id)
      ids[filler] = unknown;
  }

  void cut(std::string_view text, std::vector<Piece> &pieces) const override {
    for (std::string_view rest = text; !rest.empty();) {
      auto from = uint32_t(text.size() - rest.size());
      auto found = ids.find(takeCodePoint(rest).value);
      pieces.push_back({found == ids.end() ? unknown : found->second,
                        {from, uint32_t(text.size() - rest.size())}});
    }
  }

private:
  int32_t unknown;
  std::unordered_map<char32_t, int32_t> ids;
};
} // namespace

stages::MadeModel stages::makeCutCharacters(std::string_view table) {
  TableReader reader(table);
  const format::CharactersHeader *header = nullptr;
  reader.take(header, 1);
  std::string_view characters = reader.takeRest();
  if (!reader.isWhole() || header->unknown > format::kPieceIdMask)
    return Status::error("is not a whole table of characters");
  return std::unique_ptr<PieceModel>(
      std::make_unique<CutCharacters>(int32_t(header->unknown), characters));
}
