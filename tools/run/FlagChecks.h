//===- FlagChecks.h - Flags of heddle-run together --------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_FLAGCHECKS_H
#define HEDDLE_TOOLS_RUN_FLAGCHECKS_H

#include "runtime/Result.h"
#include "runtime/heddle.h"
#include "tools/run/RunOptions.h"

#include <cstddef>
#include <map>
#include <string>

namespace heddle {

/// What a command line says beside its options.
struct GivenFlags {
  /// What a program that carries a model is called; empty for heddle-run.
  std::string program;
  /// What was said of each flag.
  std::map<std::string, std::string> values = {};
  /// How many of the texts stand before '--'.
  size_t textsBefore = 0;
  /// Whether '-' is one of the words.
  bool namesStandardInput = false;

  bool has(const char *flag) const { return values.count(flag) != 0; }
};

/// The setting of heddle.h behind a flag; null if there is none, or if the tool
/// has a flag of its own for it.
const heddle_setting *findSetting(const std::string &flag);
/// Whether only translations read a flag, or only a task that embeds.
bool isOfTranslations(const std::string &flag);
bool isOfVectors(const std::string &flag);

/// Fails if flags contradict each other, or texts are no texts.
Status checkFlags(const RunOptions &options, const GivenFlags &given);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_FLAGCHECKS_H
