//===- RunSetup.h - What the jobs of heddle-run begin with ------*- C++ -*-===//
//
// From the command line to what the runtime's jobs ask for.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUNSETUP_H
#define HEDDLE_TOOLS_RUNSETUP_H

#include "runtime/LineRun.h"
#include "runtime/LineTokens.h"
#include "runtime/Model.h"
#include "runtime/Result.h"
#include "runtime/Workers.h"
#include "tools/InputLines.h"
#include "tools/RunOptions.h"

#include <string>
#include <vector>

namespace heddle {

/// An error where the options give global tokens to a model without them.
Status checkGlobalTokens(const Manifest &manifest, const RunOptions &options);

/// How lines are read as ids. Fails where they are text but the model has no
/// tokenizer, and as above.
Result<LineTokens> tokensFor(const Model &model, const RunOptions &options);

/// The texts of the command line, or standard input; with a file that says
/// something of their targets, unless `targets` is empty.
Result<InputLines> openInput(const RunOptions &options,
                             const std::string &targets = "");

/// All lines of a file as ids of targets.
Result<std::vector<TokenIds>>
readTargets(const std::string &path, const LineTokens &tokens, TargetPart part);

/// As many workers as the options say, or as all cores need.
Result<Workers> equipWorkers(const Model &model, const RunOptions &options);

LineRunOptions lineRunOptions(const RunOptions &options);

/// Ends a run that went well, with what it counted.
Status reportRun(const Workers &workers, const RunOptions &options);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUNSETUP_H
