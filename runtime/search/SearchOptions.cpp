//===- SearchOptions.cpp - What a caller says of a search -----------------===//
//
// SearchSettings.def is read twice: for the bounds of each number, and to put
// what the caller said in place of what the model says. The target language and
// min_new_tokens come before that, as both change settings of the model that
// the caller may say, too. Whether any token may come is asked of the result,
// since constraints of a caller and of a model may exclude each other.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/SearchOptions.h"

#include "runtime/lines/Languages.h"

#include <algorithm>
#include <type_traits>
#include <utility>

using namespace heddle;

/// Fails if a number is none that a caller may say; one that is not given
/// may. Settings of other types have no bounds.
template <typename T>
static Status checkBounds(const Setting &setting, const T &option) {
  using Number = typename T::value_type;
  if constexpr (std::is_same_v<Number, int64_t> ||
                std::is_same_v<Number, double>) {
    Number low = Number(setting.callerLow), high = Number(setting.high);
    // Of what is no number both comparisons fail.
    if (option && !(*option >= low && *option <= high))
      return Status::error("the ", setting.noun ? setting.noun : setting.name,
                           " is ", *option, ", expected a number from ", low,
                           " to ", high);
  }
  return Status::success();
}

static Status checkOptions(const SearchOptions &options) {
#define SETTING(KIND, FIELD, DEFAULT, ROW)                                     \
  if (Status status = checkBounds(setting::FIELD, options.FIELD);              \
      !status.ok())                                                            \
    return status;
#include "runtime/artifact/SearchSettings.def"
  return Status::success();
}

/// Fails if constraints leave no token in any step, or no beam that can end.
static Status checkPossible(const Generation &settings, int32_t vocabulary) {
  auto isSuppressed = [&](int32_t id) {
    return std::count(settings.suppress.begin(), settings.suppress.end(), id);
  };
  if (settings.suppress.size() + settings.badWords.size() >=
      size_t(vocabulary)) {
    std::vector<bool> isLeft(size_t(vocabulary), true);
    for (int32_t id : settings.suppress)
      if (id < vocabulary)
        isLeft[size_t(id)] = false;
    for (const TokenIds &word : settings.badWords)
      if (word.size() == 1 && word[0] < vocabulary &&
          !std::count(settings.eos.begin(), settings.eos.end(), word[0]))
        isLeft[size_t(word[0])] = false;
    if (!std::count(isLeft.begin(), isLeft.end(), true))
      return Status::error("no token may come: all ", vocabulary,
                           " of the vocabulary are suppressed or bad words");
  }
  if (settings.beams > 1 && settings.forcedEos &&
      isSuppressed(*settings.forcedEos) &&
      std::all_of(settings.eos.begin(), settings.eos.end(), isSuppressed))
    return Status::error("no sequence of a beam search can end: the token ",
                         *settings.forcedEos,
                         " has to come last, and is suppressed");
  return Status::success();
}

Result<Generation> heddle::settingsFor(const Manifest &manifest,
                                       const SearchOptions &options) {
  if (Status status = checkOptions(options); !status.ok())
    return status;
  Generation settings = manifest.generation;
  if (options.targetLanguage)
    setTargetLanguage(manifest.tokenizer, *options.targetLanguage, settings);
  if (options.minNewTokens)
    settings.minLength = 0;
  // A sample has one row. An error only if the caller asked for beams, too.
  if (options.samples) {
    if (options.beams.value_or(1) > 1)
      return Status::error("a sample has one beam, found ", *options.beams);
    settings.beams = 1;
  }
  auto take = [](auto &setting, const auto &option) {
    if (option)
      setting = *option;
  };
#define SETTING(KIND, FIELD, DEFAULT, ROW) take(settings.FIELD, options.FIELD);
#include "runtime/artifact/SearchSettings.def"
  if (settings.patience != 1 && settings.beams > 1 &&
      settings.earlyStopping == EarlyStopping::Shrink)
    return Status::error("the patience is ", settings.patience,
                         ", but with the early stopping 'shrink' each finished "
                         "hypothesis takes its beam along: expected a patience "
                         "of 1, or another early stopping");
  if (Status status = checkPossible(settings, manifest.targetVocabulary);
      !status.ok())
    return status;
  return settings;
}
