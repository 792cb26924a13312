//===- TargetScores.cpp - How likely given targets are --------------------===//
//
// What a target scores does not depend on which others run beside it: batches
// are cut by memory alone.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/TargetScores.h"

#include "runtime/search/TeacherForcing.h"
#include "runtime/search/TokenScores.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;

/// Bytes of logits that stand in memory together, but for a target that has
/// more alone.
static constexpr int64_t kMostLogitBytes = int64_t(1) << 26;

/// A long target alone has the logits of a call at a time, if the code extends.
static DecoderForm formOf(const Model &model, const Session &session,
                          int64_t positions) {
  if (const Ensemble *ensemble = session.ensemble()) {
    bool isWhole = model.entryPoint(Role::Full);
    for (const Model *other : ensemble->others)
      isWhole = isWhole && other->entryPoint(Role::Full);
    return isWhole ? DecoderForm::Full : DecoderForm::Step;
  }
  int64_t bytes =
      positions * model.manifest().targetVocabulary * int64_t(sizeof(float));
  bool isLong = bytes > kMostLogitBytes && model.entryPoint(Role::Extend);
  if (model.entryPoint(Role::Full) && !isLong)
    return DecoderForm::Full;
  return model.entryPoint(model.prefillRole()) ? DecoderForm::Prefill
                                               : DecoderForm::Step;
}

/// How many targets from `first` on run together.
static size_t countTogether(const Model &model,
                            const std::vector<TokenIds> &sources,
                            const std::vector<TokenIds> &targets,
                            size_t first) {
  int64_t vocabulary = model.manifest().targetVocabulary, longest = 0;
  size_t count = 0;
  for (; first + count < targets.size(); ++count) {
    size_t i = first + count;
    longest = std::max(longest, taughtPositions(model, sources[i], targets[i]));
    int64_t bytes =
        int64_t(count + 1) * longest * vocabulary * int64_t(sizeof(float));
    if (count > 0 && bytes > kMostLogitBytes)
      break;
  }
  return count;
}

/// The most positions of targets that run together.
static int64_t mostPositions(const Model &model,
                             const std::vector<TokenIds> &sources,
                             const std::vector<TokenIds> &targets, size_t first,
                             size_t count) {
  int64_t most = 1;
  for (size_t i = first; i < first + count; ++i)
    most = std::max(most, taughtPositions(model, sources[i], targets[i]));
  return most;
}

/// A part of all.
template <typename T>
static std::vector<T> partOf(const std::vector<T> &all, size_t first,
                             size_t count) {
  auto begin = all.begin() + static_cast<ptrdiff_t>(first);
  return std::vector<T>(begin, begin + static_cast<ptrdiff_t>(count));
}

using Others = std::vector<std::vector<TokenIds>>;

/// What the other members of an ensemble read of a part of all sentences.
static SourceFeatures featuresOf(const Others &others, size_t first,
                                 size_t count) {
  SourceFeatures features;
  if (!others.empty())
    features.others = partOf(others, first, count);
  return features;
}

Result<int64_t> heddle::bytesToScore(const Model &model, Session &session,
                                     const std::vector<TokenIds> &sources,
                                     const std::vector<TokenIds> &targets,
                                     const Others &others) {
  int64_t most = 0;
  for (size_t first = 0; first < targets.size();) {
    size_t count = countTogether(model, sources, targets, first);
    int64_t longest = mostPositions(model, sources, targets, first, count);
    DecoderRequest request{formOf(model, session, longest), longest};
    Result<int64_t> bytes =
        session.bytesFor(partOf(sources, first, count), request,
                         featuresOf(others, first, count));
    if (!bytes.ok())
      return bytes;
    most = std::max(most, *bytes);
    first += count;
  }
  return most;
}

Result<std::vector<std::vector<float>>>
heddle::scoreTokens(const Model &model, Session &session,
                    const std::vector<TokenIds> &sources,
                    const std::vector<TokenIds> &targets,
                    std::optional<int32_t> start, const Others &others) {
  if (sources.size() != targets.size())
    return Status::error("a batch of ",
                         countOf(int64_t(sources.size()), "sentence"), " has ",
                         targets.size(), " targets");
  int64_t vocabulary = model.manifest().targetVocabulary;
  std::vector<std::vector<float>> scores(targets.size());
  for (size_t first = 0; first < targets.size();) {
    size_t count = countTogether(model, sources, targets, first);
    auto sink = [&](int64_t sentence, int64_t position, const float *logits) {
      size_t target = first + static_cast<size_t>(sentence);
      float sum = session.ensemble() ? 0 : logSumExp(logits, vocabulary);
      float logit = logits[targets[target][static_cast<size_t>(position)]];
      scores[target].push_back(std::isfinite(sum) && !std::isnan(logit)
                                   ? logit - sum
                                   : -std::numeric_limits<float>::infinity());
      return Status::success();
    };
    int64_t longest = mostPositions(model, sources, targets, first, count);
    if (Status status =
            scoreTargets(model, session, partOf(sources, first, count),
                         partOf(targets, first, count),
                         {formOf(model, session, longest), start,
                          featuresOf(others, first, count)},
                         sink);
        !status.ok())
      return status;
    first += count;
  }
  return scores;
}

int64_t heddle::addWindows(const TokenIds &prompt, const TokenIds &target,
                           int64_t positions, int64_t overlap,
                           std::vector<TokenIds> &sources,
                           std::vector<TokenIds> &targets) {
  TokenIds all = prompt;
  all.insert(all.end(), target.begin(), target.end());
  auto size = int64_t(all.size());
  int64_t begin = 0, scored = int64_t(prompt.size()), windows = 0;
  // The last token takes no position.
  do {
    int64_t end = std::min(size, begin + positions + 1);
    sources.emplace_back(all.begin() + begin, all.begin() + scored);
    targets.emplace_back(all.begin() + scored, all.begin() + end);
    scored = end;
    begin = end - overlap;
    ++windows;
  } while (scored < size);
  return windows;
}
