//===- TeacherForcing.h - Logits along given targets ------------*- C++ -*-===//
//
// What a model says about targets that somebody else wrote: the instrument of
// every numeric comparison, of the full form with the step form and of both
// with other implementations.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_TEACHERFORCING_H
#define HEDDLE_RUNTIME_SEARCH_TEACHERFORCING_H

#include "runtime/Result.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace heddle {

/// Takes the logits that follow the first `position` tokens of a sentence's
/// target.
using LogitsSink = LogitsOfPosition;

/// How targets are scored.
struct Teaching {
  /// Full, Prefill or Step.
  DecoderForm form;
  /// The decoder's first input; of no use if sources are prompts of targets.
  std::optional<int32_t> start;
  /// What else is said of the sources.
  SourceFeatures features = {};
};

/// Positions of the decoder that scoring a target takes.
int64_t taughtPositions(const Model &model, const TokenIds &source,
                        const TokenIds &target);

/// Whether a model can take a target: as Model::checkTarget, and with its
/// prompt no longer than the model's positions. The error begins with a verb.
Status checkTaught(const Model &model, const TokenIds &source,
                   const TokenIds &target);

/// Feeds the start token, or a source that is a prompt, and the targets
/// (without their last token, which nothing follows) to the decoder, and hands
/// out the raw logits of each token of the targets: nothing suppressed, no
/// shortlist; of an ensemble its log-probabilities. Positions of one sentence
/// come in order; sentences may alternate. Errors are those of Session::begin,
/// of checkTaught and of the sink, and a model with neither start token nor
/// prompts.
Status scoreTargets(const Model &model, Session &session,
                    const std::vector<TokenIds> &sources,
                    const std::vector<TokenIds> &targets,
                    const Teaching &teaching, const LogitsSink &sink);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_TEACHERFORCING_H
