//===- SearchOptions.cpp - What a caller says of a search -----------------===//

#include "runtime/SearchOptions.h"

#include <limits>
#include <utility>

using namespace heddle;

/// Positions are i32.
static constexpr int64_t kMaxLength = std::numeric_limits<int32_t>::max();

static Status checkOptions(const SearchOptions &options) {
  auto isBad = [](const std::optional<int64_t> &number, int64_t low,
                  int64_t high) {
    return number && (*number < low || *number > high);
  };
  for (auto [name, length] : {std::pair("maximal", options.maxLength),
                              std::pair("minimal", options.minLength)})
    if (isBad(length, 1, kMaxLength))
      return Status::error("the ", name, " length is ", *length,
                           ", expected a number from 1 to ", kMaxLength);
  if (isBad(options.beams, 1, kMostBeams))
    return Status::error("the number of beams is ", *options.beams,
                         ", expected a number from 1 to ", kMostBeams);
  auto isOutside = [](const std::optional<double> &number, double low,
                      double high) {
    return number && !(*number >= low && *number <= high);
  };
  constexpr double kMost = std::numeric_limits<float>::max();
  if (isOutside(options.lengthPenalty, -kMost, kMost))
    return Status::error("the length penalty is no finite number");
  if (isOutside(options.repetitionPenalty, 0, kMost) ||
      options.repetitionPenalty == 0.0)
    return Status::error("the repetition penalty is ",
                         *options.repetitionPenalty,
                         ", expected a positive number");
  if (isOutside(options.temperature, 0, kMost))
    return Status::error("the temperature is ", *options.temperature,
                         ", expected 0 or more");
  for (auto [name, part] :
       {std::pair("top-p", options.topP), std::pair("min-p", options.minP)})
    if (isOutside(part, 0, 1))
      return Status::error(name, " is ", *part,
                           ", expected a number from 0 to 1");
  return Status::success();
}

Result<Generation> heddle::settingsFor(const Manifest &manifest,
                                       const SearchOptions &options) {
  if (Status status = checkOptions(options); !status.ok())
    return status;
  Generation settings = manifest.generation;
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
  take(settings.earlyStopping, options.earlyStopping);
  take(settings.noRepeatNgram, options.noRepeatNgram);
  take(settings.repetitionPenalty, options.repetitionPenalty);
  take(settings.badWords, options.badWords);
  take(settings.suppress, options.suppress);
  take(settings.temperature, options.temperature);
  take(settings.topK, options.topK);
  take(settings.topP, options.topP);
  take(settings.minP, options.minP);
  return settings;
}
