//===- TokenChoice.cpp - Which token comes next ---------------------------===//
//
// What may not come gets the logit -inf, then the largest one wins. A forced
// token leaves -inf to all others and can then be suppressed like any other:
// forcing comes before suppressing in transformers. There the sequence so far
// begins with the start token; here it is not stored, hence the `count + 1`
// where the minimal length is compared.
//
//===----------------------------------------------------------------------===//

#include "runtime/TokenChoice.h"

#include <algorithm>
#include <limits>

using namespace heddle;

/// Lengths of models that state none. It only bounds a decoder that never ends
/// its sentence.
static constexpr int64_t kDefaultMaxLength = 512;
static constexpr float kInfinity = std::numeric_limits<float>::infinity();

static void forbid(const NextTokenLogits &logits, int32_t id) {
  int64_t index = id;
  if (logits.candidates) {
    const int32_t *end = logits.candidates + logits.count;
    const int32_t *found = std::lower_bound(logits.candidates, end, id);
    if (found == end || *found != id)
      return;
    index = found - logits.candidates;
  }
  logits.values[index] = -kInfinity;
}

/// The largest number among the values; -inf where there is none. Lanes of
/// their own let the compiler use vectors: this loop reads a vocabulary a
/// token.
static float largest(const float *values, int64_t count) {
  constexpr int64_t kLanes = 16;
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, -kInfinity);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] =
          values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
  for (; i < count; ++i)
    lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  return *std::max_element(lanes, lanes + kLanes);
}

/// Whether the generated tokens end with all of `word` but its last token.
/// NoBadWordsLogitsProcessor passes over words longer than the sequence so far,
/// so that the start token never takes part in a match.
static bool endsWithPrefix(const std::vector<int32_t> &generated,
                           const std::vector<int32_t> &word) {
  size_t prefix = word.size() - 1;
  return prefix <= generated.size() &&
         std::equal(word.begin(), word.end() - 1, generated.end() - prefix);
}

static bool contains(const std::vector<int32_t> &ids, int32_t id) {
  return std::count(ids.begin(), ids.end(), id) != 0;
}

/// NoBadWordsLogitsProcessor drops such words.
static bool isOnlyEos(const Generation &generation,
                      const std::vector<int32_t> &word) {
  return word.size() == 1 && contains(generation.eos, word[0]);
}

/// The first of the ids, which all have the logit -inf: what argmax gives in
/// transformers, too. Every shortlist begins with it.
static constexpr int32_t kFirstId = 0;

int32_t heddle::chooseToken(const Generation &generation,
                            const std::vector<int32_t> &generated,
                            int64_t limit, NextTokenLogits logits) {
  int64_t count = static_cast<int64_t>(generated.size());
  bool isBegin = count == (generation.forcedBos ? 1 : 0);
  std::optional<int32_t> forced;
  if (generation.forcedEos && count == limit - 1)
    forced = generation.forcedEos;
  else if (generation.forcedBos && count == 0)
    forced = generation.forcedBos;
  if (forced) {
    bool isSuppressed =
        contains(generation.suppress, *forced) ||
        (isBegin && contains(generation.beginSuppress, *forced));
    return isSuppressed ? kFirstId : *forced;
  }

  for (int32_t id : generation.suppress)
    forbid(logits, id);
  if (isBegin)
    for (int32_t id : generation.beginSuppress)
      forbid(logits, id);
  for (const std::vector<int32_t> &word : generation.badWords)
    if (!isOnlyEos(generation, word) && endsWithPrefix(generated, word))
      forbid(logits, word.back());
  if (count + 1 < generation.minLength)
    for (int32_t id : generation.eos)
      forbid(logits, id);

  const float *begin = logits.values, *end = begin + logits.count;
  float best = largest(begin, logits.count);
  if (best == -kInfinity)
    return std::count(begin, end, best) == logits.count ? kFirstId
                                                        : generation.eos[0];
  const float *found = std::find(begin, end, best);
  return logits.candidates ? logits.candidates[found - begin]
                           : static_cast<int32_t>(found - begin);
}

int64_t heddle::lengthLimit(const Generation &generation, int64_t sourceLength,
                            std::optional<int64_t> requested) {
  int64_t limit = std::numeric_limits<int32_t>::max();
  if (requested) {
    limit = *requested;
  } else {
    if (generation.lengthFactor) {
      double factored = *generation.lengthFactor * double(sourceLength);
      limit = factored < double(limit - 1) ? int64_t(factored) + 1 : limit;
    }
    if (generation.maxLength)
      limit = std::min(limit, *generation.maxLength);
    if (!generation.lengthFactor && !generation.maxLength)
      limit = generation.maxTarget.value_or(kDefaultMaxLength);
  }
  if (generation.maxTarget)
    limit = std::min(limit, *generation.maxTarget);
  return std::max<int64_t>(limit, 1);
}
