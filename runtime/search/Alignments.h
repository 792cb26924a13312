//===- Alignments.h - What finished targets attend to -----------*- C++ -*-===//
//
// The probabilities with which the tokens of a target attended to the tokens of
// its source, computed once it is finished: its tokens are fed again, all at
// once, to a form of the decoder that ends at the attention which shows
// alignments. A search costs the same with and without them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_ALIGNMENTS_H
#define HEDDLE_RUNTIME_SEARCH_ALIGNMENTS_H

#include "runtime/Result.h"
#include "runtime/session/Model.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// Whether the model has code that shows alignments; the error begins with a
/// verb.
Status checkAligns(const Model &model);

/// Of each target the rows of its tokens, [tokens, tokens of its source]: what
/// the decoder attended to when it wrote the token, the mean over the heads
/// that the artifact names. `start` is the decoder's first input. At most
/// `together` targets run at a time; rows do not depend on others. Errors are
/// those of Session::begin.
Result<std::vector<std::vector<float>>> attentionOf(
    const Model &model, Session &session, const std::vector<TokenIds> &sources,
    const std::vector<TokenIds> &targets, int32_t start, size_t together);

/// The bytes that this takes of the session, for targets of up to so many
/// tokens of as many sources together; ends the session's batch.
Result<int64_t> bytesToAlign(Session &session,
                             const std::vector<TokenIds> &sources,
                             int64_t tokens);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_ALIGNMENTS_H
