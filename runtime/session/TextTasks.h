//===- TextTasks.h - What an encoder's tasks say of texts -------*- C++ -*-===//
//
// A task of a batch: its sources through the encoder and the entry that
// computes vectors or logits from what that returns.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_TEXTTASKS_H
#define HEDDLE_RUNTIME_SESSION_TEXTTASKS_H

#include "runtime/Result.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace heddle {

/// Numbers of a row that a task of the model returns: a vector's, or one for
/// each label or token.
int64_t taskWidth(const Model &model, Role task);

/// What a session is asked for.
DecoderRequest taskRequest(Role task);

/// Takes what a task returns of a text, f32 [rows, width], valid during the
/// call. There is one row, or one for each token, or for each mask, and behind
/// those rows without meaning.
using TaskSink = std::function<void(size_t text, const float *rows)>;

/// Computes a task, which the model has, of a batch, text by text in order.
/// Errors are those of Session::begin.
Status runTask(const Model &model, Role task, Session &session,
               const std::vector<TokenIds> &sources,
               const SourceFeatures &features, const TaskSink &sink);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_TEXTTASKS_H
