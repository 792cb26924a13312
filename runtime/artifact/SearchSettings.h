//===- SearchSettings.h - The settings of a search --------------*- C++ -*-===//
//
// Each setting is one row of SearchSettings.def. These read the rows:
//
//   artifact/Manifest.h, .cpp  Generation, what a model's file says: fields,
//                              defaults, keys of the manifest and bounds
//   search/SearchOptions       what a caller says in place of the model
//   api/Settings.cpp           settings of heddle.h, flags of heddle-run with
//                              their --help, man page and completions
//   lib/Artifact/Manifest.cpp  the task `generate` of a module
//   HuggingFaceGeneration.cpp  generation_config.json and config.json
//
// Settings of texts and of the machine are no rows: no model says them, and all
// about each stands in api/Settings.cpp. A caller has other bounds than a file
// in two ways: 0 may mean "off" if a file has no key instead (`orZero`), and
// text asks for kMostTokensAsked tokens at most.
//
// One of the four headers of the runtime that the compiler sees.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_SEARCHSETTINGS_H
#define HEDDLE_RUNTIME_ARTIFACT_SEARCHSETTINGS_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle {

/// The most beams of a search.
inline constexpr int64_t kMostBeams = 256;
inline constexpr int64_t kMostGuesses = 15;
/// A search keeps so many times as many hypotheses as beams at most.
inline constexpr double kMostPatience = 64;
/// Positions and counts of tokens are i32.
inline constexpr int64_t kMostTokens = std::numeric_limits<int32_t>::max();
/// A larger number of tokens, as text, is a mistake.
inline constexpr int64_t kMostTokensAsked = 1000000;
/// Numbers that scores meet are f32; some are divisors.
inline constexpr double kMostNumber = std::numeric_limits<float>::max();
inline constexpr double kLeastNumber = std::numeric_limits<float>::min();

/// When a beam search is over for a sentence that has as many finished
/// hypotheses as beams, or patience times as many: at once; when the best
/// running one, at its present length, is no better than the worst finished
/// one; or when it could not become better at any length. Marian's search has
/// another rule: each hypothesis that finishes takes its beam along, until no
/// beam is left.
enum class EarlyStopping { AtOnce, WhenUnlikely, Never, Shrink };
/// Their names as --help shows them, the first three as transformers has them.
inline constexpr const char *kEarlyStoppingValue = "true|false|never|shrink";

/// The name at `index` among names with bars between.
constexpr std::string_view nameAmong(std::string_view names, int index) {
  for (; index > 0; --index)
    names.remove_prefix(names.find('|') + 1);
  return names.substr(0, names.find('|'));
}
inline constexpr std::string_view kEarlyStoppingNames[] = {
    nameAmong(kEarlyStoppingValue, 0), nameAmong(kEarlyStoppingValue, 1),
    nameAmong(kEarlyStoppingValue, 2), nameAmong(kEarlyStoppingValue, 3)};

/// What a setting holds, and its form in the manifest. A module has i32 for
/// integers, floats for numbers.
enum class SettingKind {
  Id,      ///< a token, or none: an integer
  Ids,     ///< tokens: a list
  IdLists, ///< sequences of tokens: a list of lists, none of which is empty
  Count,   ///< an integer
  Limit,   ///< an integer, or none
  Number,  ///< a number
  Ratio,   ///< a positive number of any size, or none
  Switch,  ///< 0 or 1; as text false or true
  Rule,    ///< one of kEarlyStoppingNames
  Seed,    ///< any 64 bits; in no manifest
};

/// The type of a field, by the name of its kind.
namespace setting_type {
using Id = std::optional<int32_t>;
using Ids = std::vector<int32_t>;
using IdLists = std::vector<std::vector<int32_t>>;
using Count = int64_t;
using Limit = std::optional<int64_t>;
using Number = double;
using Ratio = std::optional<double>;
using Switch = bool;
using Rule = EarlyStopping;
using Seed = uint64_t;
} // namespace setting_type

/// Groups of flags in --help.
inline constexpr const char *kSearchGroup = "Search",
                            *kSamplesGroup = "Samples", *kTextGroup = "Text",
                            *kVectorGroup = "Vectors", *kLabelGroup = "Labels",
                            *kMachineGroup = "Machine";

/// What is said of a setting; null is for none.
struct Setting {
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();

  SettingKind kind;
  /// Its name in the manifest, for settings that a model may say.
  const char *key = nullptr;
  /// Inclusive bounds of an integer or a number; unbounded ids are those of the
  /// target vocabulary.
  double low = 0, high = kUnbounded;
  /// What a caller may say, too, though it is less than `low`.
  double callerLow = 0;
  /// Its field in Hugging Face's files, and PretrainedConfig's default of it as
  /// JSON: a config.json that has another value may govern. Null where
  /// GenerationConfig alone has the field.
  const char *huggingFace = nullptr, *configDefault = nullptr;
  /// What errors of SearchOptions call it in place of `name`.
  const char *noun = nullptr;
  /// As in heddle_setting. The flag is this name behind "--".
  const char *name = nullptr, *value = nullptr, *group = nullptr,
             *help = nullptr;

  /// The bounds of an integer, or of ids.
  constexpr int64_t lowest() const { return int64_t(low); }
  constexpr int64_t highest(int64_t vocabulary) const {
    return high == kUnbounded ? vocabulary - 1 : int64_t(high);
  }

  // A row is made by these.
  constexpr Setting inManifest(const char *itsKey) const {
    Setting row = *this;
    row.key = itsKey;
    return row;
  }
  constexpr Setting from(double least, double most = kUnbounded) const {
    Setting row = *this;
    row.low = row.callerLow = least;
    row.high = most;
    return row;
  }
  constexpr Setting orZero() const {
    Setting row = *this;
    row.callerLow = 0;
    return row;
  }
  constexpr Setting inHuggingFace(const char *field,
                                  const char *byDefault = nullptr) const {
    Setting row = *this;
    row.huggingFace = field;
    row.configDefault = byDefault;
    return row;
  }
  constexpr Setting inSentences(const char *itsNoun) const {
    Setting row = *this;
    row.noun = itsNoun;
    return row;
  }
  constexpr Setting asFlag(const char *flag, const char *valueName,
                           const char *itsGroup, const char *itsHelp) const {
    Setting row = *this;
    row.name = flag;
    row.value = valueName;
    row.group = itsGroup;
    row.help = itsHelp;
    return row;
  }
};

/// The rows by the names of their fields: setting::beams.
namespace setting {
#define SETTING(KIND, FIELD, DEFAULT, ROW)                                     \
  inline constexpr Setting FIELD = Setting{SettingKind::KIND} ROW;
#define MODEL_SETTING SETTING
#define CALLER_SETTING SETTING
#include "runtime/artifact/SearchSettings.def"
} // namespace setting

/// All rows, in their order.
inline constexpr Setting kSearchSettings[] = {
#define SETTING(KIND, FIELD, DEFAULT, ROW) setting::FIELD,
#define MODEL_SETTING SETTING
#define CALLER_SETTING SETTING
#include "runtime/artifact/SearchSettings.def"
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_SEARCHSETTINGS_H
