//===- TokenChoice.cpp - Which token comes next ---------------------------===//
//
// What may not come gets the logit -inf, then the largest one wins; the kernel
// of a greedy step has done both, range by range. A forced token leaves -inf to
// all others and can then be suppressed like any other: forcing comes before
// suppressing in transformers. There the sequence so far begins with the start
// token; here it is not stored, hence the `count + 1` where the minimal length
// is compared.
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

/// Whether the first token is chosen, behind a forced one.
static bool isBegin(const Generation &generation,
                    const std::vector<int32_t> &generated) {
  return generated.size() == (generation.forcedBos ? 1 : 0);
}

/// The first of the ids, which all have the logit -inf: what argmax gives in
/// transformers, too. Every shortlist begins with it.
static constexpr int32_t kFirstId = 0;

/// The token that has to follow; none where there is a choice.
static std::optional<int32_t> forcedToken(const Generation &generation,
                                          const std::vector<int32_t> &generated,
                                          int64_t limit) {
  int64_t count = static_cast<int64_t>(generated.size());
  std::optional<int32_t> forced;
  if (generation.forcedEos && count == limit - 1)
    forced = generation.forcedEos;
  else if (generation.forcedBos && count == 0)
    forced = generation.forcedBos;
  if (!forced)
    return std::nullopt;
  bool isSuppressed = contains(generation.suppress, *forced) ||
                      (isBegin(generation, generated) &&
                       contains(generation.beginSuppress, *forced));
  return isSuppressed ? kFirstId : *forced;
}

/// Calls `body` with each id that may not follow.
template <typename Body>
static void forEachForbidden(const Generation &generation,
                             const std::vector<int32_t> &generated, Body body) {
  for (int32_t id : generation.suppress)
    body(id);
  if (isBegin(generation, generated))
    for (int32_t id : generation.beginSuppress)
      body(id);
  for (const std::vector<int32_t> &word : generation.badWords)
    if (!isOnlyEos(generation, word) && endsWithPrefix(generated, word))
      body(word.back());
  if (static_cast<int64_t>(generated.size()) + 1 < generation.minLength)
    for (int32_t id : generation.eos)
      body(id);
}

int64_t heddle::mostForbidden(const Generation &generation) {
  return static_cast<int64_t>(
      generation.suppress.size() + generation.beginSuppress.size() +
      generation.badWords.size() + generation.eos.size());
}

void heddle::writeForbidden(const Generation &generation,
                            const std::vector<int32_t> &generated, int32_t *ids,
                            int64_t count) {
  int32_t *end = ids + count;
  forEachForbidden(generation, generated, [&](int32_t id) {
    if (ids != end)
      *ids++ = id;
  });
  std::fill(ids, end, -1);
}

int32_t heddle::chooseToken(const Generation &generation,
                            const std::vector<int32_t> &generated,
                            int64_t limit, NextTokenLogits logits) {
  if (auto forced = forcedToken(generation, generated, limit))
    return *forced;
  forEachForbidden(generation, generated,
                   [&](int32_t id) { forbid(logits, id); });
  const float *begin = logits.values, *end = begin + logits.count;
  float best = largest(begin, logits.count);
  if (best == -kInfinity)
    return std::count(begin, end, best) == logits.count ? kFirstId
                                                        : generation.eos[0];
  const float *found = std::find(begin, end, best);
  return logits.candidates ? logits.candidates[found - begin]
                           : static_cast<int32_t>(found - begin);
}

int32_t heddle::chooseToken(const Generation &generation,
                            const std::vector<int32_t> &generated,
                            int64_t limit, LargestLogits logits) {
  if (auto forced = forcedToken(generation, generated, limit))
    return *forced;
  int64_t best = -1;
  bool areAllLowest = true;
  for (int64_t i = 0; i < logits.count; ++i) {
    areAllLowest &= logits.values[i] == -kInfinity;
    if (logits.ids[i] >= 0 &&
        (best < 0 || logits.values[i] > logits.values[best]))
      best = i;
  }
  if (best >= 0)
    return logits.ids[best];
  return areAllLowest ? kFirstId : generation.eos[0];
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
