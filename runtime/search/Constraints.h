//===- Constraints.h - Which tokens may come next ---------------*- C++ -*-===//
//
// The constraints of generation settings, with the meaning that the logits
// processors of Hugging Face transformers 4.57.6 give them and in their order:
// repetition penalty, n-grams, bad words, minimal lengths, forced first and
// last token, suppressed tokens. They change scores; choosing among what they
// leave is others' business. Greedy search and sampling apply them to logits,
// a beam search to log-probabilities, which are not normalised again.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_CONSTRAINTS_H
#define HEDDLE_RUNTIME_SEARCH_CONSTRAINTS_H

#include "runtime/artifact/Manifest.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle {

/// What one row has so far, without the start token, and what it may have.
/// Borrowed.
struct TokensSoFar {
  const int32_t *tokens;
  int64_t count;
  /// How many of them were given, not generated.
  int64_t prefix;
  /// The most that may be generated.
  int64_t limit;
  /// The ids that may come, ascending; null for all.
  const std::vector<int32_t> *allowed = nullptr;

  int64_t generated() const { return count - prefix; }
};

/// The scores of the next token: of the whole vocabulary, or of a sentence's
/// candidates (ascending ids). Borrowed, and changed by constraints.
struct NextTokenScores {
  float *values;
  int64_t count;
  /// Null: value i belongs to id i.
  const int32_t *candidates = nullptr;

  int32_t id(int64_t index) const {
    return candidates ? candidates[index] : static_cast<int32_t>(index);
  }
  /// Where an id stands; none if it is no candidate.
  std::optional<int64_t> find(int32_t id) const;
};

/// The constraints of one run of one model. One thread at a time.
class Constraints {
public:
  Constraints(const Generation &generation, int32_t vocabulary);

  /// The token that has to follow; none if there is a choice. It need not be
  /// a candidate. If it is suppressed, nothing may come.
  struct Forced {
    int32_t token;
    bool isSuppressed;
  };
  std::optional<Forced> forced(const TokensSoFar &row) const;

  /// Whether scores change in other ways than to -inf.
  bool changesScores() const { return generation.repetitionPenalty != 1; }
  /// How many ids `writeForbidden` names at most, of a row that never has more
  /// than `length` tokens.
  int64_t mostForbidden(int64_t length) const;
  /// The ids that may not follow, in any order and more than once, then -1, up
  /// to `count` of them.
  void writeForbidden(const TokensSoFar &row, int32_t *ids,
                      int64_t count) const;
  /// Changes scores by all that does not force a token.
  void apply(const TokensSoFar &row, const NextTokenScores &scores);

private:
  template <typename Body>
  void forEachForbidden(const TokensSoFar &row, Body body) const;
  template <typename Body>
  void forEachRepeated(const TokensSoFar &row, Body body) const;
  bool isBegin(const TokensSoFar &row) const;
  int64_t sequenceLength(const TokensSoFar &row) const;
  int32_t tokenAt(const TokensSoFar &row, int64_t index) const;
  void penalize(const TokensSoFar &row, const NextTokenScores &scores);

  const Generation &generation;
  /// Ids that a penalty has met, by the number of the row it was applied to.
  std::vector<uint32_t> seen;
  uint32_t rowNumber = 0;
};

/// Fails if the settings let nothing follow a text of `given` tokens, as they
/// end it there: `requested` takes their place.
Status checkRoom(const Generation &generation, int64_t given,
                 std::optional<int64_t> requested);

/// How many tokens a sentence of `sourceLength` tokens may generate behind a
/// prefix, at least one: `requested`, or else what the model's settings say; in
/// either case no more than it has positions.
int64_t lengthLimit(const Generation &generation, int64_t sourceLength,
                    int64_t prefix, std::optional<int64_t> requested);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_CONSTRAINTS_H
