//===- RunSetup.h - What the jobs of heddle-run begin with ------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_RUNSETUP_H
#define HEDDLE_TOOLS_RUN_RUNSETUP_H

#include "runtime/Result.h"
#include "tools/run/Handles.h"
#include "tools/run/RunOptions.h"

namespace heddle {

/// A loaded model and a session of it.
struct Run {
  Handle<heddle_model> model;
  Handle<heddle_session> session;
  /// Lists of what may come.
  int64_t allowedLines = 0;
  /// See warnOfGpu.
  bool hasWarned = false;
};

/// What the options ask for. Fails if lines are text but the model has no
/// tokenizer, too.
Result<Run> beginRun(const RunOptions &options);

/// Says once, on standard error, that the CPU goes on if a GPU has failed
/// that nobody asked for. One thread at a time.
void warnOfGpu(Run &run);

/// Ends a run that went well, with what it counted.
Status reportRun(const Run &run, const RunOptions &options);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_RUNSETUP_H
