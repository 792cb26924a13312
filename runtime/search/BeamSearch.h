//===- BeamSearch.h - The best sequences of one sentence --------*- C++ -*-===//
//
// Beam search as transformers 4.57.6 does it (GenerationMixin._beam_search):
//
// - a step takes the best max(2, 1 + eos ids) B continuations of all B beams by
//   sum, the log-probabilities of their tokens;
// - one is done that is an eos or reaches the limit; of those only the ones
//   among the best B become hypotheses; the best B that are not done go on;
// - a hypothesis of n tokens, eos included, has the score sum / n^penalty, or
//   (sum - w n) / n^penalty with a word penalty w; the best B are kept, or with
//   a patience p the best round(p B);
// - it is over as EarlyStopping says of as many, or if all continuations are
//   done.
//
// With EarlyStopping::Shrink it is Marian's (src/translator/beam_search.cpp):
//
// - a step takes the best B - F continuations, if F hypotheses are finished;
// - one that is an eos or reaches the limit is one more; the others go on;
// - it is over when none goes on.
//
// All sums and scores are f32, as there.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_BEAMSEARCH_H
#define HEDDLE_RUNTIME_SEARCH_BEAMSEARCH_H

#include "runtime/artifact/Manifest.h"
#include "runtime/search/DecodingLoop.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// A sequence of generated tokens, without the start token; eos included if
/// it came.
struct Hypothesis {
  std::vector<int32_t> tokens;
  /// The sum of the log-probabilities of what was generated, and that with the
  /// penalties.
  float sum = 0, score = 0;
  /// Those of the tokens that were generated, if somebody wants them.
  std::vector<float> logProbabilities = {};
  /// How many tokens were given, by a prefix; of beams nobody asks.
  int64_t given = 0;
  /// If somebody wants alignments: the tokens of its source, and what each
  /// token attended to of them, [tokens, source tokens].
  std::vector<int32_t> source = {};
  std::vector<float> attention = {};
  /// The text of the source, if its words stand for unknown ones.
  std::string sourceText = {};
};

/// What follows a row: ids with their log-probabilities, the best ones first.
/// Borrowed.
struct BestContinuations {
  const int32_t *ids;
  const float *logProbabilities;
  int64_t count;
};

/// The search of one sentence.
class BeamSearch {
public:
  /// Begins anew, with one row: at most `limit` tokens are generated. Borrows
  /// the settings. Takes the memory of hypotheses of up to `room` tokens: no
  /// step allocates until one is longer.
  void begin(const Generation &generation, int64_t limit, int64_t room,
             bool wantsTokenScores = false);

  /// How many continuations of a row a step can need.
  static int64_t width(const Generation &generation);

  /// How many finished hypotheses a search wants; and how many it keeps, which
  /// are more if coverage changes their order later.
  static int64_t mostFinished(const Generation &generation);
  static int64_t mostKept(const Generation &generation);

  /// Takes a step, given what follows each row of the sentence, whose tokens
  /// stand in `tokens` from row `first` on. Appends the rows that go on, the
  /// best one first; none when the search is over.
  void advance(const std::vector<BestContinuations> &rows,
               const RowTokens &tokens, int64_t first,
               std::vector<Continuation> &next);

  /// Finished ones, the best first; none if nothing could finish.
  std::vector<Hypothesis> &hypotheses() { return finished; }

private:
  struct Beam {
    int32_t row;
    float sum;
  };
  struct Candidate {
    float sum;
    int32_t beam, token;
    float logProbability;
  };
  void findCandidates(const std::vector<BestContinuations> &rows);
  bool isDone(const Candidate &candidate) const;
  float score(float sum, int64_t length) const;
  float bestPossibleScore(float sum) const;
  bool shrinks() const {
    return generation->earlyStopping == EarlyStopping::Shrink;
  }
  void finish(const Candidate &candidate, const TokenIds &tokens);
  std::vector<float> scoresOf(const Candidate &candidate) const;
  bool isFull() const {
    return static_cast<int64_t>(finished.size()) >= wanted;
  }
  /// Whether a beam runs that is there.
  bool hasRunning() const;
  bool isOver();

  const Generation *generation = nullptr;
  int64_t limit = 0;
  /// mostFinished() and mostKept() of the settings.
  int64_t wanted = 0, kept = 0;
  /// Generated tokens of a running beam.
  int64_t length = 0;
  /// Whether a running beam may still become better than what is finished.
  bool mayImprove = true;
  std::vector<Beam> beams, running;
  /// The log-probabilities of the tokens of each row, if they are wanted.
  bool wantsTokenScores = false;
  std::vector<std::vector<float>> scores, nextScores;
  std::vector<Candidate> candidates;
  std::vector<Hypothesis> finished;
  /// Memory for the tokens of those that are still to come.
  std::vector<TokenIds> spare;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_BEAMSEARCH_H
