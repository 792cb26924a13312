//===- RunLabels.h - What heddle-run does with labels -----------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_RUNLABELS_H
#define HEDDLE_TOOLS_RUN_RUNLABELS_H

#include "runtime/Result.h"
#include "tools/run/OutputWriter.h"
#include "tools/run/RunOptions.h"
#include "tools/run/RunSetup.h"

#include <string>

namespace heddle {

/// Prints one JSON object a line, by task, and null for a line that was
/// skipped:
///   classify  {"label": "good", "score": 0.9, "scores": {"good": 0.9, ...}}
///   tag       {"tags": [{"token": 1, "name": "mary", "start": 0, "end": 4,
///             "label": "person", "score": 0.9}, ...]}
///   answer    {"answer": "in Berlin", "score": 0.9, "start": 34, "end": 43}
///   fill      {"masks": [{"token": 3, "start": 9, "end": 15,
///             "fills": [{"text": "paris", "id": 3000, "score": 0.4}, ...]},
///             ...]}
/// Places are in characters, or in bytes if --in-bytes asks for them.
/// Tags have "scores", too, and answers "answers", if --top asks for several.
/// Of a text without an answer the latter is null. Plain lines are the best
/// label of each place, with spaces between them; that of a text has its score
/// behind it, and so has an answer. Fails if the model lacks the task.
Status printLabels(Run &run, const std::string &task, const RunOptions &options,
                   OutputWriter &output);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_RUNLABELS_H
