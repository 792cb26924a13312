//===- RunLines.h - What heddle-run does with lines -------------*- C++ -*-===//
//
// The jobs of heddle-run that print a line for each input line, in order,
// whatever runs together and on how many threads; flushed before anything more
// is waited for. On an error the lines before the one at fault have been
// printed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_RUNLINES_H
#define HEDDLE_TOOLS_RUN_RUNLINES_H

#include "runtime/Result.h"
#include "tools/run/OutputWriter.h"
#include "tools/run/RunOptions.h"

namespace heddle {

/// Prints what a task of the model makes of lines: translations, vectors or
/// labels.
Status printAnswers(const RunOptions &options, OutputWriter &output);

/// Prints the log-probabilities of given targets; then, on standard error, the
/// perplexity of all.
Status printScores(const RunOptions &options, OutputWriter &output);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_RUNLINES_H
