//===- PrefillRows.h - What a batch gives to its prefill --------*- C++ -*-===//
//
// Positions of prompts, which a decoder computes several at once before it goes
// on step by step. A decoder that extends takes them as rows, in calls of at
// most HEDDLE_EXTEND_ROWS; another one takes a chunk, the first positions of
// all sentences in one call, padded to the longest.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_PREFILLROWS_H
#define HEDDLE_RUNTIME_SESSION_PREFILLROWS_H

#include "runtime/session/DecoderRequest.h"
#include "runtime/session/Workspace.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// Neighbouring positions of a sentence. Borrows the ids.
struct PromptPiece {
  int32_t sentence = 0;
  /// Of the first id, and of the first whose logits are asked for.
  int64_t position = 0, wantedFrom = 0;
  const int32_t *ids = nullptr;
  int64_t count = 0;
};

/// Rows of a call that write to a position of a cache each: i32 [rows].
struct CacheWrites {
  const int32_t *caches, *positions;
  int64_t rows;
};

/// Of one session, whose workspace and dims it borrows. First places, then,
/// once the workspace has its memory, addresses.
class PrefillRows {
public:
  PrefillRows(Workspace &workspace, DimValues &dims)
      : workspace(workspace), dims(dims) {}

  /// The role of the entry that computes it.
  void setRole(Role role) { extends = role == Role::Extend; }
  /// Sets the dims of the largest call, given the most positions of a sentence
  /// and the most of them, in all sentences, whose logits are asked for.
  void measure(int64_t positions, int64_t wanted);
  /// Takes the places of its inputs, or of none without a prefill; and says
  /// them to the entries bound from then on.
  void place(bool isThere);
  void share(Places &shared) const;
  /// Finds the inputs in memory.
  void settle();

  /// Begins with pieces, at most one a sentence; of a chunk all at position 0.
  /// `generated` are tokens that no prompt has, of sentences without a piece:
  /// the first call has all of them, with logits behind each, which are told
  /// first.
  void begin(const std::vector<PromptPiece> &pieces,
             const std::vector<PromptPiece> &generated = {});
  /// Fills the inputs of the next call, and its dims; false if none is left.
  bool fill();

  /// Where a call of a decoder that extends writes.
  CacheWrites writes() const { return {caches, positions, dims[Dim::Tokens]}; }

  /// A row of the logits of a call, and whose it is.
  struct Told {
    int64_t row, sentence, position;
  };
  /// Those that were asked for, in order; those of generated tokens first.
  const std::vector<Told> &told() const { return rows; }

private:
  void fillChunk();
  void fillRows();
  void addRows(PromptPiece &piece, int64_t count, bool isPrompt);
  int64_t cacheOf(int64_t sentence) const;

  Workspace &workspace;
  DimValues &dims;
  bool extends = false, hasLogits = false;
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

  /// What is left of them, from the first that has any on.
  std::vector<PromptPiece> pieces, generated;
  size_t next = 0;
  std::vector<Told> rows;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_PREFILLROWS_H
