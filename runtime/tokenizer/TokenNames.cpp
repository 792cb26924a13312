//===- TokenNames.cpp - The texts of a tokenizer's ids --------------------===//
//
// An added token may have the id of a piece: its own text counts then.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TokenNames.h"
#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"

#include <algorithm>

using namespace heddle;

Result<PieceTexts> PieceTexts::parse(std::string_view table) {
  PieceTexts texts;
  TableReader reader(table);
  const format::TextsHeader *header = nullptr;
  reader.take(header, 1);
  if (reader.isWhole()) {
    texts.count = header->count;
    reader.take(texts.begins, uint64_t(texts.count) + 1);
    reader.take(texts.joinings, texts.count);
  }
  texts.bytes = reader.takeRest();
  if (!reader.isWhole() || texts.count > format::kPieceIdMask ||
      texts.begins[0] != 0 ||
      !std::is_sorted(texts.begins, texts.begins + texts.count + 1) ||
      texts.begins[texts.count] != texts.bytes.size())
    return Status::error("is not a whole table of texts");
  return texts;
}

bool PieceTexts::hasPiece(int32_t id) const {
  return has(id) && (!text(id).empty() || joining(id) == format::kJoinsEmpty);
}

bool TokenNames::isSpecial(int32_t id) const {
  return std::binary_search(special.begin(), special.end(), id);
}

std::string_view TokenNames::addedText(int32_t id) const {
  auto found = added.find(id);
  return found == added.end() ? std::string_view() : found->second;
}

bool TokenNames::has(int32_t id) const {
  return !addedText(id).empty() || pieces.hasPiece(id);
}

std::string_view TokenNames::nameOf(int32_t id) const {
  std::string_view name = addedText(id);
  return name.empty() && pieces.has(id) ? pieces.text(id) : name;
}
