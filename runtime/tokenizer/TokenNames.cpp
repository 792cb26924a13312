//===- TokenNames.cpp - The texts of a tokenizer's ids --------------------===//
//
// An added token may have the id of a piece: its own text counts then.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TokenNames.h"
#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace heddle;

int heddle::byteOfPiece(std::string_view piece) {
  if (piece.size() != 6 || piece.substr(0, 3) != "<0x" || piece[5] != '>')
    return -1;
  auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  int high = digit(piece[3]), low = digit(piece[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

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

std::string TokenNames::spellingOf(int32_t id) const {
  static constexpr auto characters = format::byteCharacters();
  std::string_view name = nameOf(id);
  bool isOfBytes = areBytes && addedText(id).empty() && pieces.has(id) &&
                   pieces.joining(id) != format::kJoinsAsIs;
  if (!isOfBytes)
    return std::string(name);
  std::string spelled;
  for (char byte : name)
    appendUtf8(characters[static_cast<unsigned char>(byte)], spelled);
  return spelled;
}
