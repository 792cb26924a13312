//===- RunArrays.h - What heddle-run writes as arrays -----------*- C++ -*-===//
//
// The jobs of heddle-run that write a file of numbers and print nothing: the
// instruments of numeric comparisons.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_RUNARRAYS_H
#define HEDDLE_TOOLS_RUN_RUNARRAYS_H

#include "runtime/Result.h"
#include "tools/run/RunOptions.h"

namespace heddle {

/// Writes the logits of the teacher's targets, batch after batch.
Status writeLogits(const RunOptions &options);

/// Writes the hidden states of all lines, which it keeps as ids until the last
/// one is read.
Status writeHiddenStates(const RunOptions &options);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_RUNARRAYS_H
