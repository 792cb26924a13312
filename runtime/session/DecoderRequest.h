//===- DecoderRequest.h - What a batch asks of a decoder --------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_SESSION_DECODERREQUEST_H
#define HEDDLE_RUNTIME_SESSION_DECODERREQUEST_H

#include "runtime/artifact/Manifest.h"

#include <cstdint>
#include <optional>

namespace heddle {

/// The forms of a decoder: the whole target at once, or as a prefill, which
/// leaves states; or token by token over the vocabulary, of which GreedyStep
/// returns the largest logits only and BestStep the best ones with what makes
/// log-probabilities of them, or over each sentence's candidates; or, of a
/// whole target, what its alignments follow from; or none, if the encoder is
/// all that runs.
enum class DecoderForm {
  None,
  Full,
  Align,
  Prefill,
  Step,
  GreedyStep,
  BestStep,
  ShortlistStep
};

/// Whether a form computes all positions of targets and leaves no states.
inline bool isOfWholeTargets(DecoderForm form) {
  return form == DecoderForm::Full || form == DecoderForm::Align;
}

struct DecoderRequest {
  DecoderForm form = DecoderForm::None;
  /// The target length of the full or align form or prefill, or the most
  /// positions of a row.
  int64_t length = 1;
  /// The most rows that decode one sentence.
  int64_t rowsPerSentence = 1;
  /// The most ids that a row of GreedyStep or BestStep forbids.
  int64_t forbidden = 0;
  /// How many logits BestStep returns of a row, at least one.
  int64_t best = 1;
  /// The most positions of a sentence that runPrefill takes before a step form
  /// goes on; 0 if it is not called.
  int64_t prefill = 0;
  /// Of how many of these, of all sentences together, it tells logits: none
  /// without the role Extend.
  int64_t prefillLogits = 0;
  /// The batch begins without sources: each sentence gets one of at most so
  /// many tokens with Session::adopt, before it has a row.
  std::optional<int64_t> sources = {};
  /// Whether sentences come and go: their caches and adopted sources cost what
  /// is written there until Session::leave, if the device has pages.
  bool hasSlots = false;
  /// Whether sentences have the first positions of others: of memory that has
  /// pages, those stand there once (Session::copyBeginning).
  bool sharesBeginnings = false;
  /// Sources are encoded and prepared for the form, for a session of such a
  /// batch to adopt them; nothing is decoded.
  bool preparesOnly = false;
  /// Without a decoder: the task that is computed from what the encoder
  /// returns; none if hidden states are asked for.
  std::optional<Role> task = {};
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_DECODERREQUEST_H
