//===- RunVectors.h - What heddle-run does with an embedder -----*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_RUNVECTORS_H
#define HEDDLE_TOOLS_RUN_RUNVECTORS_H

#include "runtime/Result.h"
#include "tools/run/OutputWriter.h"
#include "tools/run/RunOptions.h"
#include "tools/run/RunSetup.h"

namespace heddle {

/// Writes the vector of each line: into the file --output, or as one JSON
/// object a line, {"vector": [...]}, null for a line that was skipped, or as
/// numbers alone. Fails if the model does not embed.
Status writeVectors(Run &run, const RunOptions &options, OutputWriter &output);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_RUNVECTORS_H
