//===- Constraints.cpp - Which tokens may come next -----------------------===//
//
// In transformers the sequence so far begins with the start token; here it is
// not stored. Repetition and n-grams see it, unless the model starts without a
// token.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Constraints.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;

/// Lengths of models that state none. It only bounds a decoder that never ends
/// its sentence.
static constexpr int64_t kDefaultMaxLength = 512;
static constexpr float kInfinity = std::numeric_limits<float>::infinity();

static bool contains(const std::vector<int32_t> &ids, int32_t id) {
  return std::count(ids.begin(), ids.end(), id) != 0;
}

std::optional<int64_t> NextTokenScores::find(int32_t id) const {
  if (!candidates)
    return id < count ? std::optional<int64_t>(id) : std::nullopt;
  const int32_t *end = candidates + count;
  const int32_t *found = std::lower_bound(candidates, end, id);
  return found != end && *found == id
             ? std::optional<int64_t>(found - candidates)
             : std::nullopt;
}

Constraints::Constraints(const Generation &generation, int32_t vocabulary)
    : generation(generation),
      seen(generation.repetitionPenalty == 1 ? 0 : size_t(vocabulary)) {}

/// Whether the first free token is chosen: behind a prefix, or behind a forced
/// one.
bool Constraints::isBegin(const TokensSoFar &row) const {
  return row.generated() == (generation.forcedBos && row.prefix == 0 ? 1 : 0);
}

/// Tokens with the start token, if the model has one.
int64_t Constraints::sequenceLength(const TokensSoFar &row) const {
  return row.count + (generation.start.value_or(-1) >= 0 ? 1 : 0);
}
int32_t Constraints::tokenAt(const TokensSoFar &row, int64_t index) const {
  int64_t start = sequenceLength(row) - row.count;
  return index < start ? *generation.start : row.tokens[index - start];
}

std::optional<Constraints::Forced>
Constraints::forced(const TokensSoFar &row) const {
  std::optional<int32_t> token;
  if (generation.forcedEos && row.generated() == row.limit - 1)
    token = generation.forcedEos;
  else if (generation.forcedBos && row.count == 0)
    token = generation.forcedBos;
  if (!token)
    return std::nullopt;
  bool isSuppressed =
      contains(generation.suppress, *token) ||
      (isBegin(row) && contains(generation.beginSuppress, *token));
  return Forced{*token, isSuppressed};
}

/// Whether a bad word is an eos alone, which NoBadWordsLogitsProcessor drops.
static bool isOnlyEnd(const Generation &generation,
                      const std::vector<int32_t> &word) {
  return word.size() == 1 && contains(generation.eos, word[0]);
}

/// Whether the tokens end with all of `word` but its last token.
/// NoBadWordsLogitsProcessor passes over words longer than the sequence so far,
/// so that the start token never takes part in a match.
static bool endsWithPrefix(const TokensSoFar &row,
                           const std::vector<int32_t> &word) {
  int64_t prefix = static_cast<int64_t>(word.size()) - 1;
  return prefix <= row.count && std::equal(word.begin(), word.end() - 1,
                                           row.tokens + row.count - prefix);
}

/// Calls `body` with each token that would complete a sequence that is there.
template <typename Body>
void Constraints::forEachRepeated(const TokensSoFar &row, Body body) const {
  int64_t size = generation.noRepeatNgram, length = sequenceLength(row);
  if (size == 0)
    return;
  int64_t last = length - (size - 1);
  for (int64_t first = 0; first < last; ++first) {
    bool isSame = true;
    for (int64_t i = 0; i < size - 1 && isSame; ++i)
      isSame = tokenAt(row, first + i) == tokenAt(row, last + i);
    if (isSame && first + size <= length)
      body(tokenAt(row, first + size - 1));
  }
}

/// Calls `body` with each id that may not follow.
template <typename Body>
void Constraints::forEachForbidden(const TokensSoFar &row, Body body) const {
  for (int32_t id : generation.suppress)
    body(id);
  if (isBegin(row))
    for (int32_t id : generation.beginSuppress)
      body(id);
  forEachRepeated(row, body);
  for (const std::vector<int32_t> &word : generation.badWords) {
    if (!isOnlyEnd(generation, word) && endsWithPrefix(row, word))
      body(word.back());
  }
  if (row.count + 1 < generation.minLength ||
      row.generated() < generation.minNewTokens)
    for (int32_t id : generation.eos)
      body(id);
}

int64_t Constraints::mostForbidden(int64_t length) const {
  // A token of a row, or the start token, is repeated once at most.
  int64_t repeated = generation.noRepeatNgram == 0 ? 0 : length;
  bool delaysEnd = generation.minLength > 0 || generation.minNewTokens > 0;
  return repeated +
         static_cast<int64_t>(generation.suppress.size() +
                              generation.beginSuppress.size() +
                              generation.badWords.size() +
                              (delaysEnd ? generation.eos.size() : 0));
}

void Constraints::writeForbidden(const TokensSoFar &row, int32_t *ids,
                                 int64_t count) const {
  int32_t *end = ids + count;
  forEachForbidden(row, [&](int32_t id) {
    if (ids != end)
      *ids++ = id;
  });
  std::fill(ids, end, -1);
}

/// RepetitionPenaltyLogitsProcessor: each id that is there, once.
void Constraints::penalize(const TokensSoFar &row,
                           const NextTokenScores &scores) {
  float penalty = static_cast<float>(generation.repetitionPenalty);
  if (++rowNumber == 0) {
    std::fill(seen.begin(), seen.end(), 0);
    rowNumber = 1;
  }
  for (int64_t i = 0; i < sequenceLength(row); ++i) {
    int32_t id = tokenAt(row, i);
    if (size_t(id) >= seen.size() || seen[size_t(id)] == rowNumber)
      continue;
    seen[size_t(id)] = rowNumber;
    if (std::optional<int64_t> index = scores.find(id)) {
      float &score = scores.values[*index];
      score = score < 0 ? score * penalty : score / penalty;
    }
  }
}

void Constraints::apply(const TokensSoFar &row, const NextTokenScores &scores) {
  if (changesScores())
    penalize(row, scores);
  if (row.allowed) {
    auto next = row.allowed->begin(), end = row.allowed->end();
    for (int64_t i = 0; i < scores.count; ++i) {
      next = std::find_if(next, end,
                          [&](int32_t id) { return id >= scores.id(i); });
      if (next == end || *next != scores.id(i))
        scores.values[i] = -kInfinity;
    }
  }
  forEachForbidden(row, [&](int32_t id) {
    if (std::optional<int64_t> index = scores.find(id))
      scores.values[*index] = -kInfinity;
  });
}

Status heddle::checkRoom(const Generation &generation, int64_t given,
                         std::optional<int64_t> requested) {
  if (requested || !generation.maxWhole || given < *generation.maxWhole)
    return Status::success();
  return Status::error("has ", given,
                       " tokens, but the model's max_length ends a text at ",
                       *generation.maxWhole, ": --max-length admits more");
}

int64_t heddle::lengthLimit(const Generation &generation, int64_t sourceLength,
                            int64_t prefix, std::optional<int64_t> requested) {
  int64_t limit = std::numeric_limits<int32_t>::max();
  if (requested) {
    limit = *requested;
  } else {
    if (generation.lengthFactor) {
      // In f32, as Marian.
      float factored =
          std::ceil(float(*generation.lengthFactor) * float(sourceLength));
      if (factored < float(limit))
        limit = int64_t(factored);
    }
    if (generation.maxLength)
      limit = std::min(limit, *generation.maxLength);
    if (!generation.lengthFactor && !generation.maxLength)
      limit = generation.maxTarget.value_or(kDefaultMaxLength);
    // What is before it takes as many positions, and one of them says the first
    // token.
    if (generation.maxWhole)
      limit = std::min(limit, *generation.maxWhole - prefix - 1);
  }
  if (generation.maxTarget)
    limit = std::min(limit, *generation.maxTarget - prefix);
  return std::max<int64_t>(limit, 1);
}
