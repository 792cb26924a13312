//===- LengthBatches.h - Batches of similar length --------------*- C++ -*-===//
//
// The sentences of a batch are padded to the longest of them, so batches are
// made of neighbours in length. No result depends on which ones share a batch.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_LENGTHBATCHES_H
#define HEDDLE_RUNTIME_LINES_LENGTHBATCHES_H

#include "runtime/session/Session.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// The ids of consecutive lines.
struct Sentences {
  /// The number of the first one's line in the input, from 0.
  int64_t first = 0;
  /// Empty for a line without a token.
  std::vector<TokenIds> sources;
  /// What is said of each one's target: what it begins with, or all of it; as
  /// many as sources.
  std::vector<TokenIds> targets;
  /// What else is said of them: lists are as long, too.
  SourceFeatures features = {};
  /// The last ones are further windows of lines: the number of each one's.
  std::vector<int64_t> more = {};

  int64_t lineOf(size_t sentence) const {
    size_t lines = sources.size() - more.size();
    return sentence < lines ? first + int64_t(sentence)
                            : more[sentence - lines];
  }
};

/// Sentences that run together.
struct Batch {
  std::vector<TokenIds> sources, targets;
  SourceFeatures features = {};
  /// The number of each one's line.
  std::vector<int64_t> lines;
  /// Which of the Sentences each one is.
  std::vector<size_t> numbers = {};
};

/// What one batch may hold.
struct BatchLimits {
  int64_t sentences;
  /// Source tokens with padding; a longer sentence has a batch of its own.
  int64_t tokens;
};

/// Divides sentences into batches, the longest first: memory that a batch needs
/// serves all that follow, and workers that end with short batches end
/// together. Sentences without tokens are left out.
std::vector<Batch> divideByLength(Sentences sentences,
                                  const BatchLimits &limits);

/// How many sentences a batch holds so that few of them give all workers
/// something to do: at most `most`, at least one.
int64_t sentencesForAll(const Sentences &sentences, int64_t workers,
                        int64_t most);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_LENGTHBATCHES_H
