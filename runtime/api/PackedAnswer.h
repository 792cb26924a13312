//===- PackedAnswer.h - An answer as one string -----------------*- C++ -*-===//
//
// What becomes of a line travels through batches, threads and windows as a
// string (BatchPipeline.h). One string holds all that heddle.h says of a line's
// answers, in the layout of this process, and is read where it stands.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_PACKEDANSWER_H
#define HEDDLE_RUNTIME_API_PACKEDANSWER_H

#include "runtime/heddle.h"
#include "runtime/session/Session.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Appends an answer to those of a line, which has none if it is empty.
/// `logProbabilities` is empty or one a token.
void packAnswer(std::string &answers, std::string_view text,
                const TokenIds &tokens, float sum, float score,
                const std::vector<float> &logProbabilities = {});

/// The answers of a line. They borrow the string, which may be moved only
/// before.
std::vector<heddle_answer_text> unpackAnswers(const std::string &answers);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_PACKEDANSWER_H
