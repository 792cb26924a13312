//===- SearchOptions.cpp - What a caller says of a search -----------------===//

#include "runtime/search/SearchOptions.h"

#include "runtime/lines/Languages.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace heddle;

/// Positions are i32, numbers that scores meet f32.
static constexpr int64_t kMostTokens = std::numeric_limits<int32_t>::max();
static constexpr double kMost = std::numeric_limits<float>::max();
static constexpr double kLeast = std::numeric_limits<float>::min();

namespace {
/// What an option may be; one that is not given may.
template <typename Number> struct Bounds {
  const char *name;
  std::optional<Number> SearchOptions::*option;
  Number low, high;
};
} // namespace

static constexpr Bounds<int64_t> kCounts[] = {
    {"maximal length", &SearchOptions::maxLength, 1, kMostTokens},
    {"minimal length", &SearchOptions::minLength, 0, kMostTokens},
    {"number of beams", &SearchOptions::beams, 1, kMostBeams},
    {"size of n-grams", &SearchOptions::noRepeatNgram, 0, kMostTokens},
    {"top-k", &SearchOptions::topK, 0, kMostTokens},
};
static constexpr Bounds<double> kNumbers[] = {
    {"length penalty", &SearchOptions::lengthPenalty, -kMost, kMost},
    {"word penalty", &SearchOptions::wordPenalty, -kMost, kMost},
    {"repetition penalty", &SearchOptions::repetitionPenalty, kLeast, kMost},
    {"temperature", &SearchOptions::temperature, 0, kMost},
    {"top-p", &SearchOptions::topP, 0, 1},
    {"min-p", &SearchOptions::minP, 0, 1},
};

template <typename Number>
static Status checkBounds(const SearchOptions &options,
                          const Bounds<Number> &bounds) {
  const std::optional<Number> &option = options.*bounds.option;
  // Of what is no number both comparisons fail.
  if (!option || (*option >= bounds.low && *option <= bounds.high))
    return Status::success();
  return Status::error("the ", bounds.name, " is ", *option,
                       ", expected a number from ", bounds.low, " to ",
                       bounds.high);
}

static Status checkOptions(const SearchOptions &options) {
  for (const Bounds<int64_t> &bounds : kCounts)
    if (Status status = checkBounds(options, bounds); !status.ok())
      return status;
  for (const Bounds<double> &bounds : kNumbers)
    if (Status status = checkBounds(options, bounds); !status.ok())
      return status;
  return Status::success();
}

/// Fails where constraints leave no token in any step, or no beam that can end.
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
  auto take = [](auto &setting, const auto &option) {
    if (option)
      setting = *option;
  };
  if (options.minLength) {
    settings.minLength = 0;
    settings.minNewTokens = *options.minLength;
  }
  // A sample has one row; only who asks for beams, too, has said what cannot
  // be.
  if (options.samples) {
    if (options.beams.value_or(1) > 1)
      return Status::error("a sample has one beam, found ", *options.beams);
    settings.beams = 1;
  }
  take(settings.beams, options.beams);
  take(settings.lengthPenalty, options.lengthPenalty);
  take(settings.wordPenalty, options.wordPenalty);
  take(settings.earlyStopping, options.earlyStopping);
  take(settings.noRepeatNgram, options.noRepeatNgram);
  take(settings.repetitionPenalty, options.repetitionPenalty);
  take(settings.renormalizes, options.renormalizes);
  take(settings.badWords, options.badWords);
  take(settings.suppress, options.suppress);
  take(settings.temperature, options.temperature);
  take(settings.topK, options.topK);
  take(settings.topP, options.topP);
  take(settings.minP, options.minP);
  if (Status status = checkPossible(settings, manifest.targetVocabulary);
      !status.ok())
    return status;
  return settings;
}
