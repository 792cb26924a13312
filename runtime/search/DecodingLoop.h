//===- DecodingLoop.h - Steps of all rows until none is left ----*- C++ -*-===//
//
// The one loop behind greedy and beam search, sampling and given targets: feed
// each row its last token, step, let a chooser say for each sentence which rows
// go on and with which token, and keep those.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_DECODINGLOOP_H
#define HEDDLE_RUNTIME_SEARCH_DECODINGLOOP_H

#include "runtime/Result.h"
#include "runtime/search/Constraints.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// A row that goes on: what `row` was, and a token more.
struct Continuation {
  int32_t row;
  int32_t token;
};

/// The tokens of all rows, without the start token. Its memory grows when a
/// sentence becomes longer than any was before, and not from step to step.
class RowTokens {
public:
  /// `rows` empty rows, with room for so many tokens.
  void reset(int64_t rows, int64_t tokens);
  int64_t size() const { return static_cast<int64_t>(rows.size()); }
  const TokenIds &operator[](int64_t row) const { return rows[size_t(row)]; }
  /// Row i, which is empty, gets tokens.
  void set(int64_t row, const TokenIds &tokens) { rows[size_t(row)] = tokens; }
  /// Row i becomes what row kept[i].row was, and its token.
  void keep(const std::vector<Continuation> &kept);

private:
  std::vector<TokenIds> rows, spare;
};

/// Decides what follows. Sentences do not know of each other.
class Chooser {
public:
  virtual ~Chooser() = default;
  /// Before a step: what Session wants to know of a row beside its last token.
  virtual void prepare(int64_t row) = 0;
  /// After a step of the rows [first, first + count) of a sentence: appends
  /// those that go on, at most as many as the session has for a sentence; none
  /// ends it.
  virtual Status choose(int32_t sentence, int64_t first, int64_t count,
                        std::vector<Continuation> &next) = 0;
};

/// What becomes of the rows of a sentence: a part of a list of all that go on,
/// empty if it has ended.
struct KeptRows {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

/// Brings the rows of sentences that go on to the front, in place of those that
/// have ended, which are gone then: so little moves.
template <typename Rows> void fillGaps(std::vector<Rows> &sentences) {
  size_t last = sentences.size(), place = 0;
  for (; place < last; ++place) {
    if (sentences[place].size() != 0)
      continue;
    while (last > place + 1 && sentences[last - 1].size() == 0)
      --last;
    if (last == place + 1)
      break;
    sentences[place] = sentences[--last];
  }
  sentences.resize(place);
}

/// Steps of a session that has begun. `tokens` has been reset. Borrows all of
/// them. Its own steps allocate nothing.
class DecodingLoop {
public:
  DecodingLoop(Session &session, RowTokens &tokens, Chooser &chooser);

  /// Asks what follows the rows [first, first + count) of a sentence, in order
  /// of rows; and goes on with what was chosen since the last time.
  Status choose(int32_t sentence, int64_t first, int64_t count);
  Status keep();
  /// Steps until all sentences have ended; `start` is what rows without tokens
  /// are fed. Fails as the chooser does, and between two steps when the session
  /// is cancelled.
  Status run(int32_t start);

private:
  Session &session;
  RowTokens &tokens;
  Chooser &chooser;
  std::vector<Continuation> next, kept;
  std::vector<KeptRows> sentences;
  std::vector<int32_t> parents;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_DECODINGLOOP_H
