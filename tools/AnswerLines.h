//===- AnswerLines.h - How answers are printed ------------------*- C++ -*-===//
//
// A line for each input line, with a score in front where it is asked for; or
// the n best as Marian and Moses print them, numbered by their input line.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_ANSWERLINES_H
#define HEDDLE_TOOLS_ANSWERLINES_H

#include "runtime/Generate.h"
#include "runtime/Model.h"
#include "tools/RunOptions.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// What is printed of the hypotheses of a line, but for the line's number: a
/// line each, without the last end.
std::string formatAnswer(const Model &model,
                         const std::vector<Hypothesis> &hypotheses,
                         const RunOptions &options);

/// The lines as they are printed. An empty answer is that of an input line
/// without a token.
std::string numberAnswer(int64_t number, const std::string &answer,
                         const RunOptions &options);

} // namespace heddle

#endif // HEDDLE_TOOLS_ANSWERLINES_H
