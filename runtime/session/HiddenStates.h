//===- HiddenStates.h - What the encoder makes of a line --------*- C++ -*-===//
//
// The encoder's output, before any decoder: the instrument for encoders, as
// TeacherForcing.h is for logits.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_HIDDENSTATES_H
#define HEDDLE_RUNTIME_SESSION_HIDDENSTATES_H

#include "runtime/Result.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace heddle {

/// The output of the entry `encode` that has a vector for each source token.
struct HiddenOutput {
  /// Among the entry's arguments.
  size_t index;
  /// Whether sources stand one behind the other, without padding.
  bool isRagged;
  /// Elements of a vector.
  int64_t width;
};

/// Fails unless exactly one output is f32 [batch, source, width], or of a
/// ragged encoder [tokens, width].
Result<HiddenOutput> findHiddenOutput(const Model &model);

/// Takes the hidden states f32 [tokens, width] of a sentence. They are valid
/// during the call. A failure ends the encoding.
using HiddenSink = std::function<Status(int64_t sentence, int64_t tokens,
                                        const float *states)>;

/// Runs the encoder alone over a batch and hands out what it makes of each
/// sentence, in order, without what stands behind a sentence's end. Errors are
/// those of Session::begin and of the sink.
Status encodeSources(Session &session, const HiddenOutput &output,
                     const std::vector<TokenIds> &sources,
                     const HiddenSink &sink);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_HIDDENSTATES_H
