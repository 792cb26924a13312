//===- DecoderRows.h - What a batch gives to its decoder --------*- C++ -*-===//
//
// The inputs of a decoder's entries: the roles of steps and whole targets
// (InputRoles.h), which this class alone places and fills; those of a prefill
// are PrefillRows. Their values say which rows go on: the sentence of each, its
// position, the cache that it writes to and, if rows share their past, which
// cache has each position of it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_DECODERROWS_H
#define HEDDLE_RUNTIME_SESSION_DECODERROWS_H

#include "runtime/session/DecoderRequest.h"
#include "runtime/session/Device.h"
#include "runtime/session/PrefillRows.h"
#include "runtime/session/Workspace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle {

/// Memory for rows that move: for an i32 each, which the host moves itself,
/// and for those of the widest state, or input, on the device.
struct SpareRows {
  Place numbers, states;
};

/// Of one session, whose device, workspace and dims it borrows. First places,
/// then, once the workspace has its memory, addresses.
class DecoderRows {
public:
  DecoderRows(Device &device, Workspace &workspace, DimValues &dims)
      : device(device), workspace(workspace), dims(dims),
        prefillRows(workspace, dims) {}

  /// Takes the places of a batch's inputs, which hold numbers of its sentences
  /// and its rows, and says those that all entries share. What is placed for
  /// each batch comes first, then what a prefill is given, behind it what that
  /// leaves to steps, and then what each step is given.
  void place(const DecoderRequest &request, bool hasHistory, Places &shared);
  /// Says those of a step or a whole target.
  void shareOfStep(Places &shared) const;
  PrefillRows &prefill() { return prefillRows; }
  /// What the device is given with each call of a prefill, behind setPast() and
  /// at each step.
  PlaceRange ofPrefill() const { return prefillInputs; }
  PlaceRange ofPast() const { return {prefillInputs.end, steps.begin}; }
  PlaceRange ofStep() const { return steps; }

  /// Begins a batch: a row for each sentence, at position 0. With `spare`
  /// several rows may decode one.
  void begin(const std::optional<SpareRows> &spare);
  /// Each row has the positions behind it that a prefill computes: `inputs`,
  /// one list a sentence.
  void setPast(const std::vector<std::vector<int32_t>> &inputs);
  /// A new row of a sentence that has none, behind all others; returns what the
  /// device has to be given of it.
  PlaceRange join(int32_t sentence, int64_t position);
  /// Whether the caches of a sentence without a row are in use.
  void hold(int32_t sentence, bool isHeld) { held[size_t(sentence)] = isHeld; }
  /// Each row's position and id, for a prefill to compute it: a row for each
  /// sentence at most.
  std::vector<PromptPiece> asPieces() const;
  /// Each row has one more position behind it, which a step has computed; or
  /// one of them so many that a prefill has, in the host's memory.
  void advance();
  void advance(int64_t row, int64_t count);
  /// No row goes on, and no cache is in use.
  void drop() {
    held.assign(held.size(), false);
    setCount(0);
  }
  /// Rows with their past and what is held, for a batch of as many sentences.
  struct Saved {
    std::vector<int32_t> sentences, positions, caches;
    std::vector<std::vector<int32_t>> histories;
    std::vector<char> held;
  };
  Saved save() const;
  void resume(const Saved &rows);
  /// Goes on with as many rows as there are parents, see Session::keep.
  Status keep(const std::vector<int32_t> &parents);
  /// What the device writes to the history in front of a step.
  std::optional<HistoryWrite> historyWrite() const;

  /// Rows that go on. A call may have more: see Dim::Rows.
  int64_t count() const { return rowCount; }
  int32_t sentence(int64_t row) const { return sentences[row]; }
  int32_t position(int64_t row) const { return positions[row]; }
  int64_t perSentence() const { return dims[Dim::Caches] / dims[Dim::Batch]; }
  /// For the caller to fill, see Session.
  int32_t *ids() const { return decoderIds; }
  /// Where rows write to caches with a step. What rows beside them write, that
  /// a device wants, nobody reads.
  CacheWrites writes() const { return {caches, positions, rowCount}; }
  int32_t *forbidden(int64_t row) const {
    return forbiddenIds + row * dims[Dim::Forbidden];
  }

private:
  void setCount(int64_t count);
  Status keepHistory(const std::vector<int32_t> &parents);

  Device &device;
  Workspace &workspace;
  DimValues &dims;
  std::optional<SpareRows> spare;
  PrefillRows prefillRows;
  PlaceRange prefillInputs;
  PlaceRange steps;

  Place idsPlace, positionsPlace, sentencesPlace, cachesPlace, forbiddenPlace;
  /// None if each row's past is its own.
  std::optional<Place> historyPlace;

  int32_t *decoderIds = nullptr, *positions = nullptr, *sentences = nullptr;
  /// The cache that each row writes to.
  int32_t *caches = nullptr;
  int32_t *forbiddenIds = nullptr;
  /// The cache that holds each position of a row's past, [rows, capacity],
  /// which a device keeps itself from step to step: the host writes what is
  /// behind a prefill.
  int32_t *history = nullptr;

  /// Of the rows of a call, those that decode: the first ones.
  int64_t rowCount = 0;
  /// Of each sentence, whether one of them decodes it, and whether it is held.
  std::vector<char> goesOn, held;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_DECODERROWS_H
