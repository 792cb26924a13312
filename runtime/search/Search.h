//===- Search.h - What all searches of a batch share ------------*- C++ -*-===//
//
// A search is a chooser for the decoding loop. Here are the batch that it
// decodes, forced prefixes, what a row has so far, and what may follow a row
// with which log-probability. SingleSearch.h and BeamedSearch.h go on from
// there.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_SEARCH_H
#define HEDDLE_RUNTIME_SEARCH_SEARCH_H

#include "runtime/search/BeamSearch.h"
#include "runtime/search/Constraints.h"
#include "runtime/search/DecodingLoop.h"
#include "runtime/search/SearchOptions.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// Whether a form takes what may not come, and does without logits.
inline bool forbidsBefore(DecoderForm form) {
  return form == DecoderForm::GreedyStep || form == DecoderForm::BestStep;
}

/// A token that somebody else chose: the one behind `length` others, a prefix
/// included. It was generated, unlike those of a prefix.
struct GivenToken {
  int64_t length;
  int32_t token;
  float logProbability;
};

/// A batch that is decoded, or one sentence of those of a session. Borrowed.
struct SearchBatch {
  const Model &model;
  Session &session;
  const std::vector<TokenIds> &sources, &prefixes;
  const Generation &settings;
  const SearchOptions &options;
  DecoderForm form = DecoderForm::Step;
  /// The most tokens that each sentence may generate, and for how many a row
  /// has room from the beginning.
  std::vector<int64_t> limits = {};
  int64_t room = 0;
  /// Of a shortlist, one list a sentence; else empty.
  std::vector<TokenIds> candidates = {};
  /// One a sentence, or none.
  std::vector<GivenToken> given = {};
  /// Of each sentence, which of the samples of its source it is; none for the
  /// first ones.
  std::vector<uint32_t> samples = {};
  /// What the session calls the first sentence and its first row.
  int32_t firstSentence = 0;
  int64_t firstRow = 0;
  /// The logits of the row that is chosen for, if a prefill has told them, in
  /// place of those of the session's step.
  float *told = nullptr;
};

class Search : public Chooser {
public:
  explicit Search(const SearchBatch &batch)
      : batch(batch), session(batch.session), settings(batch.settings),
        constraints(batch.settings, batch.model.manifest().targetVocabulary) {}

  /// Its hypotheses of each sentence, once the loop has ended.
  virtual std::vector<Hypothesis> take(size_t sentence) = 0;

  void prepare(int64_t row) override;
  Status choose(int32_t sentence, int64_t first, int64_t count,
                std::vector<Continuation> &next) override;

  RowTokens tokens;

protected:
  /// What follows the rows of a sentence behind its prefix.
  virtual void chooseFree(int32_t sentence, int64_t first, int64_t count,
                          std::vector<Continuation> &next) = 0;

  /// What the session's steps tell, or logits if a prefill has told them.
  DecoderForm form() const {
    return batch.told && forbidsBefore(batch.form) ? DecoderForm::Step
                                                   : batch.form;
  }
  /// Of a row of the session: its tokens, and the number of its sentence.
  const TokenIds &tokensOf(int64_t row) const {
    return tokens[row - batch.firstRow];
  }
  size_t sentenceOf(int64_t row) const {
    return size_t(session.sentence(row) - batch.firstSentence);
  }
  /// What a logit is above its log-probability, of all logits of a row.
  float sumOf(const NextTokenScores &logits) const;
  TokensSoFar soFar(int64_t row) const;
  NextTokenScores logitsOf(int64_t row) const;
  /// What was chosen for a row; null if it is free.
  const GivenToken *givenTo(int64_t row) const;
  /// The `most` best tokens that may follow a row, written to these places;
  /// nothing if nothing may come, or no log-probability is a number.
  BestContinuations findContinuations(int64_t row, int64_t most, int32_t *ids,
                                      float *logProbabilities);

  const SearchBatch &batch;
  Session &session;
  const Generation &settings;
  Constraints constraints;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_SEARCH_H
