//===- SearchRequest.h - What a caller asks of a search ---------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_API_SEARCHREQUEST_H
#define HEDDLE_RUNTIME_API_SEARCHREQUEST_H

#include "runtime/Result.h"
#include "runtime/api/Session.h"
#include "runtime/api/StopStrings.h"
#include "runtime/heddle.h"
#include "runtime/lines/Answer.h"
#include "runtime/lines/LineTokens.h"
#include "runtime/search/BeamSearch.h"
#include "runtime/search/SearchOptions.h"

#include <vector>

namespace heddle {

/// What the model and the settings of a session say of a search.
Result<SearchOptions> searchFor(const heddle_session &session,
                                const LineTokens &tokens);

/// What ends texts.
StopStrings stopsOf(const heddle_session &session);

/// The text of a hypothesis, up to a string that ends it, with words of the
/// source in place of unknown ones if that is asked for.
std::string textOf(const Hypothesis &hypothesis, const SearchOptions &search,
                   const StopStrings &stops, const LineTokens &tokens);

/// The answers that were asked for.
std::vector<AnswerText> answersOf(const std::vector<Hypothesis> &found,
                                  const SearchOptions &search,
                                  const StopStrings &stops,
                                  const LineTokens &tokens);

/// Answers as heddle.h has them, which borrow them.
std::vector<heddle_answer_text> viewsOf(const std::vector<AnswerText> &answers);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_SEARCHREQUEST_H
