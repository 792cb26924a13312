//===- ConvertedModel.cpp - A *.spm as a fast tokenizer has it ------------===//
//
// The library tokenizers cut a text at each mark of a space before a model sees
// it, so that a piece with a mark behind its start is never found.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/ConvertedModel.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace heddle {

std::optional<int64_t> ConvertedModel::find(StringRef text) const {
  auto found = ids.find(text);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

ConvertedModel convertModel(const SentencePieceModel &model,
                            std::vector<ConvertedModel::Piece> before,
                            int64_t first,
                            ArrayRef<ConvertedModel::Piece> after) {
  ConvertedModel converted = {};
  converted.pieces = std::move(before);
  for (const SentencePiece &piece :
       ArrayRef(model.pieces).drop_front(std::min(model.pieceCount(), first)))
    converted.pieces.push_back({piece.text, piece.score});
  llvm::append_range(converted.pieces, after);
  for (auto [id, piece] : enumerate(converted.pieces))
    converted.ids[piece.text] = int64_t(id);
  return converted;
}

static constexpr StringLiteral kMark = "\xE2\x96\x81";

/// Whether merges lead to a piece: it is a character, or two pieces of the
/// model make it.
static bool isMerged(StringRef text, const SentencePieceModel &model) {
  size_t characters =
      count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
  if (characters == 1)
    return true;
  return any_of(seq<size_t>(1, text.size()), [&](size_t at) {
    return model.ids.contains(text.take_front(at)) &&
           model.ids.contains(text.drop_front(at));
  });
}

void addConvertedModel(const SentencePieceModel &model,
                       const ConvertedModel &converted, StageList &stages) {
  bool isUnigram = model.kind == SentencePieceModel::Kind::Unigram;
  ScoredPieces table;
  table.header.kind =
      isUnigram ? format::kConvertedUnigram : format::kConvertedMerges;
  table.header.unknown = uint32_t(converted.unknown);
  SmallVector<StringRef> texts;
  float least = 0;
  for (auto [id, piece] : enumerate(converted.pieces)) {
    least = id ? std::min(least, piece.score) : piece.score;
    table.scores.push_back(piece.score);
    StringRef text = piece.text;
    texts.push_back(text);
    if (converted.ids.lookup(text) == int64_t(id) && !text.empty() &&
        text.find(kMark, 1) == StringRef::npos &&
        (isUnigram || isMerged(text, model)))
      table.pieces.push_back({text, uint32_t(id)});
  }
  table.header.unknownScore = least;
  stages.add(format::kCutByScores, StageList::kBothSides, table.build());
  SmallVector<uint16_t> joinings(texts.size(), format::kJoinsAsText);
  stages.add(format::kTexts, format::kUsedToJoin, buildTexts(texts, joinings));
  format::JoinStep step = {};
  step.kind = format::kUnmarkSpaces;
  step.firstBytes = uint32_t(kMark.size());
  std::string steps;
  appendValues(steps, ArrayRef(step));
  stages.addHeader(format::kJoinSteps, format::kUsedToJoin,
                   format::StepsHeader{1, 0}, steps + kMark.str());
}

} // namespace heddle
