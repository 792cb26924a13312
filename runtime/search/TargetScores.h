//===- TargetScores.h - How likely given targets are ------------*- C++ -*-===//
//
// The log-probabilities that a model gives to the tokens of targets that
// somebody else wrote: of its whole vocabulary, with no constraint and no
// shortlist.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_TARGETSCORES_H
#define HEDDLE_RUNTIME_SEARCH_TARGETSCORES_H

#include "runtime/Result.h"
#include "runtime/session/Model.h"
#include "runtime/session/Session.h"

#include <vector>

namespace heddle {

/// log p(token | source, the target's tokens before it) of each token of each
/// target, in nats; a target scores its end only if it has one. -inf if no
/// logit is a number. `others` are as SourceFeatures has them. Runs the full
/// form if the model has one, as many targets at a time as few megabytes of
/// logits allow. Errors are those of scoreTargets. `start` is the decoder's
/// first input.
Result<std::vector<std::vector<float>>>
scoreTokens(const Model &model, Session &session,
            const std::vector<TokenIds> &sources,
            const std::vector<TokenIds> &targets, std::optional<int32_t> start,
            const std::vector<std::vector<TokenIds>> &others = {});

/// Appends a target behind its prompt as windows of at most so many positions.
/// The first one has the prompt, each other one the last `overlap` tokens of
/// the one before as its source; their targets are the target's, one behind the
/// other. Returns how many there are, at least one. `overlap` is at least 1 and
/// at most `positions`, and the prompt is no longer.
int64_t addWindows(const TokenIds &prompt, const TokenIds &target,
                   int64_t positions, int64_t overlap,
                   std::vector<TokenIds> &sources,
                   std::vector<TokenIds> &targets);

/// The bytes of its session that scoreTokens() takes for these arguments; ends
/// the session's batch.
Result<int64_t>
bytesToScore(const Model &model, Session &session,
             const std::vector<TokenIds> &sources,
             const std::vector<TokenIds> &targets,
             const std::vector<std::vector<TokenIds>> &others = {});

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_TARGETSCORES_H
