//===- NumberPieces.cpp - The numbers of a vocabulary ---------------------===//
//
// The Marian models of Hugging Face number the pieces of two SentencePiece
// models by one vocabulary, which may know what is unknown to a model.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <algorithm>

using namespace heddle;

namespace {
class NumberPieces final : public PieceModel {
public:
  NumberPieces(const format::NumbersHeader &header, const int32_t *ids,
               DoubleArray vocabulary, const PieceModel &model)
      : header(header), ids(ids), vocabulary(vocabulary), model(model) {}

  void cut(std::string_view text, std::vector<Piece> &pieces) const override {
    size_t first = pieces.size();
    model.cut(text, pieces);
    for (size_t i = first; i < pieces.size(); ++i) {
      Piece &piece = pieces[i];
      auto [begin, end] = piece.range;
      int32_t known = -1;
      if (uint32_t(piece.id) == header.modelUnknown)
        known = vocabulary.find(text.substr(begin, end - begin));
      else if (uint32_t(piece.id) < header.pieceCount)
        known = ids[piece.id];
      piece.id = known < 0 ? int32_t(header.unknown) : known;
    }
  }

private:
  const format::NumbersHeader &header;
  const int32_t *ids;
  DoubleArray vocabulary;
  const PieceModel &model;
};
} // namespace

stages::MadeModel stages::makeNumberPieces(std::string_view table,
                                           DoubleArray vocabulary,
                                           const PieceModel &model) {
  TableReader reader(table);
  const format::NumbersHeader *header = nullptr;
  const int32_t *ids = nullptr;
  reader.take(header, 1);
  if (reader.isWhole())
    reader.take(ids, header->pieceCount);
  if (!reader.takeRest().empty() || !reader.isWhole() ||
      header->unknown > format::kPieceIdMask)
    return Status::error("is not a whole table of numbers");
  return std::unique_ptr<PieceModel>(
      std::make_unique<NumberPieces>(*header, ids, vocabulary, model));
}
