//===- Stages.h - Makes stages of their tables ------------------*- C++ -*-===//
//
// Their kinds stand in TokenizerFormat.h. A table that is not
// whole is refused with a sentence that begins with a verb.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_STAGES_STAGES_H
#define HEDDLE_RUNTIME_TOKENIZER_STAGES_STAGES_H

#include "runtime/Result.h"
#include "runtime/tokenizer/DoubleArray.h"
#include "runtime/tokenizer/Stage.h"

#include <memory>

namespace heddle::stages {

using MadeText = Result<std::unique_ptr<TextStage>>;
using MadeModel = Result<std::unique_ptr<PieceModel>>;
using MadeJoiner = Result<std::unique_ptr<TextJoiner>>;

/// A stage that was parsed, as what is made; or the error.
template <typename Base, typename Stage>
Result<std::unique_ptr<Base>> own(Result<Stage> stage) {
  if (!stage.ok())
    return stage.status();
  return std::unique_ptr<Base>(std::make_unique<Stage>(std::move(*stage)));
}

// Of texts.
MadeText makeRepairText(std::string_view table);
MadeText makeFindTokens(std::string_view table);
/// `before` are the stages between FindTokens and this one. They also rewrite
/// the texts of tokens.
MadeText makeFindNormalizedTokens(std::string_view table,
                                  const std::vector<const TextStage *> &before);
MadeText makeFindTokensSlowly(std::string_view table);
MadeText makeFindLanguageCode(std::string_view table, DoubleArray vocabulary);
MadeText makeNormalizeSentencePiece(std::string_view table);
MadeText makeReplaceClusters(std::string_view table);
MadeText makeStripSpaces(std::string_view table);
MadeText makeReplaceMatches(std::string_view table);
MadeText makeSplitMatches(std::string_view table);
MadeText makeMarkSpaces(std::string_view table);
MadeText makeAddSpace(std::string_view table);
MadeText makeReplaceCharacters(std::string_view table);
MadeText makeOrderMarks(std::string_view table);
MadeText makePrependText(std::string_view table);
MadeText makeNameBytes(std::string_view table);

// Models.
MadeModel makeCutByScores(std::string_view table);
MadeModel makeCutBytePairs(std::string_view table);
MadeModel makeCutCharacters(std::string_view table);
MadeModel makeCutCharacterPairs(std::string_view table);
MadeModel makeCutWordPieces(std::string_view table);
MadeModel makeCutWords(std::string_view table);
/// Numbers the pieces of a model, which must outlive it.
MadeModel makeNumberPieces(std::string_view table, DoubleArray vocabulary,
                           const PieceModel &model);

// Joiners.
MadeJoiner makeJoinSentencePieces(std::string_view table);
MadeJoiner makeJoinSteps(std::string_view table);
MadeJoiner makeJoinBytes(std::string_view table);
MadeJoiner makeJoinWholeBytes(std::string_view table);
MadeJoiner makeJoinWords(std::string_view table);

} // namespace heddle::stages

#endif // HEDDLE_RUNTIME_TOKENIZER_STAGES_STAGES_H
