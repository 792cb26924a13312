//===- PrefillRows.h - What a batch gives to its prefill --------*- C++ -*-===//
//
// The first positions of the sentences of a batch, which a decoder computes
// several at once before it goes on step by step. A decoder that extends takes
// them as rows, in calls of at most HEDDLE_EXTEND_ROWS; another one takes a
// chunk, all of them in one call, padded to the longest.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_PREFILLROWS_H
#define HEDDLE_RUNTIME_SESSION_PREFILLROWS_H

#include "runtime/session/DecoderRequest.h"
#include "runtime/session/Workspace.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// Of one session, whose workspace and dims it borrows. First places, then,
/// once the workspace has its memory, addresses.
class PrefillRows {
public:
  PrefillRows(Workspace &workspace, DimValues &dims)
      : workspace(workspace), dims(dims) {}

  /// The role of the entry that computes it.
  void setRole(Role role) { extends = role == Role::Extend; }
  /// Sets the dims of the largest call, given the most positions of a sentence,
  /// and whether logits are asked for.
  void measure(int64_t positions, bool hasLogits);
  /// Takes the places of its inputs, or of none without a prefill; and says
  /// them to the entries bound from then on.
  void place(bool isThere);
  void share(Places &shared) const;
  /// Finds the inputs in memory.
  void settle();

  /// Begins with `inputs`, one list a sentence. Of sentence i the logits of the
  /// positions from[i] on are asked for; of none if `from` is empty. Both are
  /// borrowed until the last call.
  void begin(const std::vector<std::vector<int32_t>> &inputs,
             const std::vector<int64_t> &from);
  /// Fills the inputs of the next call, and its dims; false if none is left.
  bool fill();

  /// A row of the logits of a call, and whose it is.
  struct Told {
    int64_t row, sentence, position;
  };
  /// Those that were asked for, in order.
  const std::vector<Told> &told() const { return rows; }

private:
  void fillChunk();
  void fillRows();
  void addPiece(size_t sentence, int64_t count);
  int64_t cacheOf(size_t sentence) const;
  bool isWanted(size_t sentence, int64_t position) const {
    return !from->empty() && position >= (*from)[sentence];
  }

  Workspace &workspace;
  DimValues &dims;
  bool extends = false;
  /// Dims of the largest call.
  int64_t mostTokens = 0;

  /// Of both forms, of extend, and of a chunk.
  Place idsPlace, cachesPlace, wantedPlace;
  Place positionsPlace, sentencesPlace, blocksPlace, wantedSentencesPlace;
  Place lengthsPlace;
  int32_t *ids = nullptr, *caches = nullptr, *wanted = nullptr;
  int32_t *positions = nullptr, *sentences = nullptr, *blocks = nullptr,
          *wantedSentences = nullptr;
  int32_t *lengths = nullptr;

  const std::vector<std::vector<int32_t>> *inputs = nullptr;
  const std::vector<int64_t> *from = nullptr;
  /// The sentence and the position that the next call begins with.
  size_t nextSentence = 0;
  int64_t nextPosition = 0;
  std::vector<Told> rows;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_PREFILLROWS_H
