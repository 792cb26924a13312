//===- EmbeddedTexts.h - A vector for each text -----------------*- C++ -*-===//
//
// The task `embed` of a batch: its sources through the encoder and the entry
// that makes a vector of each.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_EMBEDDEDTEXTS_H
#define HEDDLE_RUNTIME_SESSION_EMBEDDEDTEXTS_H

#include "runtime/Result.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace heddle {

/// Elements of a vector of a model that has the task.
int64_t vectorWidth(const Model &model);

/// What a session is asked for.
DecoderRequest embedRequest();

/// Takes the vector of a text, f32 [width], which is valid during the call.
using VectorSink = std::function<void(size_t text, const float *vector)>;

/// Embeds a batch, whose model has the task, and gives the vectors in order.
/// Errors are those of Session::begin.
Status embedSources(const Model &model, Session &session,
                    const std::vector<TokenIds> &sources,
                    const SourceFeatures &features, const VectorSink &sink);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_EMBEDDEDTEXTS_H
