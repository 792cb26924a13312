//===- Tasks.h - What a model does ------------------------------*- C++ -*-===//
//
// The object "tasks" of a manifest. A new task is a row of Tasks.cpp and, if an
// entry computes it, a role.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_TASKS_H
#define HEDDLE_RUNTIME_ARTIFACT_TASKS_H

#include "runtime/artifact/JsonReader.h"
#include "runtime/artifact/Manifest.h"

#include <limits>

namespace heddle {

inline constexpr IntegerRange kVocabularySizes{
    1, std::numeric_limits<int32_t>::max()};

/// Reads all tasks into the manifest. The first failure becomes `status`.
void readTasks(const nlohmann::json &tasks, Manifest &manifest, Status &status);

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_TASKS_H
