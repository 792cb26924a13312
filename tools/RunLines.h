//===- RunLines.h - What heddle-run does with lines -------------*- C++ -*-===//
//
// The jobs of heddle-run: translate lines, score given targets, or write
// what the encoder makes of lines.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUNLINES_H
#define HEDDLE_TOOLS_RUNLINES_H

#include "runtime/Model.h"
#include "runtime/Result.h"
#include "tools/OutputWriter.h"
#include "tools/RunOptions.h"

namespace heddle {

/// An error where the options give global tokens to a model without them.
Status checkGlobalTokens(const Manifest &manifest, const RunOptions &options);

/// Prints one line an input line, in order, whatever runs together and on how
/// many threads; flushed before anything more is waited for. On an error the
/// lines before the one at fault have been printed.
Status translateLines(const Model &model, const RunOptions &options,
                      OutputWriter &output);

/// Prints the log-probabilities of given targets, a line an input line, in
/// order as above; then, on standard error, the perplexity of all.
Status printScores(const Model &model, const RunOptions &options,
                   OutputWriter &output);

/// Writes the logits of the teacher's targets; prints nothing.
Status scoreLines(const Model &model, const RunOptions &options);

/// Writes the hidden states of all lines, which it keeps as ids until the last
/// one is read; prints nothing.
Status encodeLines(const Model &model, const RunOptions &options);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUNLINES_H
