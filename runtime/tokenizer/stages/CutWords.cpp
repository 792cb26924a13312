//===- CutWords.cpp - Each part is a piece --------------------------------===//
//
// The model WordLevel of the library tokenizers.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"
#include "runtime/tokenizer/stages/ZeroKeys.h"

using namespace heddle;

namespace {
class CutWords final : public PieceModel {
public:
  CutWords(int32_t unknown, DoubleArray words)
      : unknown(unknown), words(words) {}

  void cut(std::string_view word, std::vector<Piece> &pieces) const override {
    int32_t known = words.find(word);
    if (known < 0 && stages::hasZero(word))
      known = words.find(stages::spellZeros(word));
    pieces.push_back({known < 0 ? unknown : known, {0, uint32_t(word.size())}});
  }

private:
  int32_t unknown;
  DoubleArray words;
};
} // namespace

stages::MadeModel stages::makeCutWords(std::string_view table) {
  TableReader reader(table);
  const format::WordsHeader *header = nullptr;
  reader.take(header, 1);
  std::string_view rest = reader.takeRest();
  if (!reader.isWhole() || header->unknown > format::kPieceIdMask)
    return Status::error("is not a whole table of words");
  const uint32_t *units = nullptr;
  auto count = uint32_t(rest.size() / sizeof *units);
  TableReader(rest).take(units, count);
  return std::unique_ptr<PieceModel>(std::make_unique<CutWords>(
      int32_t(header->unknown), DoubleArray(units, count)));
}
