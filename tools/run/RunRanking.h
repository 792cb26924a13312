//===- RunRanking.h - What heddle-run does to rank lines --------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_RUNRANKING_H
#define HEDDLE_TOOLS_RUN_RUNRANKING_H

#include "tools/run/OutputWriter.h"
#include "tools/run/RunOptions.h"
#include "tools/run/RunSetup.h"

namespace heddle {

/// Prints the lines by what the model, which has one label, scores of each as
/// the second text of a pair with `options.rank`, the best first.
Status printRanking(Run &run, const RunOptions &options, OutputWriter &output);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_RUNRANKING_H
