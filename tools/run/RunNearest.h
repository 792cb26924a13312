//===- RunNearest.h - What heddle-run does to search vectors ----*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_RUNNEAREST_H
#define HEDDLE_TOOLS_RUN_RUNNEAREST_H

#include "tools/run/OutputWriter.h"
#include "tools/run/RunOptions.h"
#include "tools/run/RunSetup.h"

namespace heddle {

/// Prints for each query the lines of the file `options.nearest` that are
/// nearest to it, the best first: its lines are texts, or it is NumPy's with
/// their vectors. Fails if the model does not embed.
Status printNearest(Run &run, const RunOptions &options, OutputWriter &output);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_RUNNEAREST_H
