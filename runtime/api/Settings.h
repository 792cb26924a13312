//===- Settings.h - What a session is asked for -----------------*- C++ -*-===//
//
// The settings of heddle.h: a table of names, each with its place, its help and
// how its value is read. Flags of heddle-run are these names behind dashes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_SETTINGS_H
#define HEDDLE_RUNTIME_API_SETTINGS_H

#include "runtime/Result.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/heddle.h"
#include "runtime/lines/Embedding.h"
#include "runtime/lines/Labels.h"
#include "runtime/lines/OnError.h"
#include "runtime/lines/QuestionAnswers.h"
#include "runtime/lines/SentenceSplitter.h"
#include "runtime/search/Ensemble.h"
#include "runtime/search/SearchOptions.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// More of them are a mistake.
inline constexpr int64_t kMostMebibytes = int64_t(1) << 30;

/// What settings say. Absent: what heddle.h calls the default.
struct SettingValues {
  std::optional<int64_t> batch, threads, workers, maxSource;
  /// Names of languages.
  std::optional<std::string> sourceLanguage, targetLanguage;
  /// Instead of `workers`: as many as keep all cores busy, or fewer.
  bool allWorkers = false;
  /// In MiB.
  std::optional<int64_t> maxMemory;
  std::optional<OnError> onError;
  /// By roles.
  InputSettings inputs;
  SearchOptions search;
  /// These without what other settings say.
  EmbedOptions embed;
  LabelOptions label;
  AnswerOptions answer;
  /// Of all three: see TextOptions.
  bool refusesLong = false;
  std::optional<int64_t> stride;
  bool split = false, ids = false, profile = false;
  /// One for each member of an ensemble, or none.
  std::vector<double> ensembleWeights;
  EnsembleMean ensembleMean = EnsembleMean::LogProbabilities;
  /// With `split`.
  SplitRules splitRules = SplitRules::AllScripts;
};

/// A copyable set of settings.
class Settings {
public:
  /// `prefix` stands before each name in errors.
  explicit Settings(std::string prefix = "") : prefix(std::move(prefix)) {}

  /// Sets one, or unsets it. Fails on a name or value that means nothing.
  Status set(const std::string &name, const char *value);
  void addBadWords(std::string text) { badWords.push_back(std::move(text)); }
  void addStop(std::string text) { stops.push_back(std::move(text)); }
  void addAllowed(std::string text) { allowed.push_back(std::move(text)); }
  /// Fails if settings contradict each other.
  Status check() const;

  SettingValues values() const;
  /// A setting's name as the caller writes it.
  std::string nameOf(std::string_view name) const {
    return prefix + std::string(name);
  }
  bool has(const std::string &name) const { return given.count(name) != 0; }
  /// Sequences that are never generated, as lines.
  const std::vector<std::string> &forbiddenLines() const { return badWords; }
  /// Texts that end a text.
  const std::vector<std::string> &stopStrings() const { return stops; }
  /// What may come, as a line for all inputs or one for each; none for all.
  const std::vector<std::string> &allowedLines() const { return allowed; }

private:
  Status checkSamples(const SettingValues &values) const;
  Status checkHypotheses(const SettingValues &values) const;
  Status checkSplit(const SettingValues &values) const;

  std::string prefix;
  std::map<std::string, std::string> given;
  std::vector<std::string> badWords, allowed, stops;
};

/// All settings, as heddle.h lists them.
const std::vector<heddle_setting> &settingsList();

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_SETTINGS_H
