//===- PrefillRows.cpp - What a batch gives to its prefill ----------------===//
//
// Calls of a decoder that extends take sentence after sentence; a long one goes
// on in the next call. What a call's rows are does not change what they
// compute.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PrefillRows.h"

#include "runtime/code/KernelAbi.h"

#include <algorithm>

using namespace heddle;

/// No row and no position.
static constexpr int32_t kNone = -1;

void PrefillRows::measure(int64_t length, bool hasLogits) {
  if (!extends) {
    dims[Dim::Target] = length;
    dims[Dim::Wanted] = hasLogits ? length : 1;
    return;
  }
  // A sentence that has more positions than a call has rows fills it alone.
  mostTokens =
      length < HEDDLE_EXTEND_ROWS
          ? std::min<int64_t>(dims[Dim::Batch] * length, HEDDLE_EXTEND_ROWS)
          : HEDDLE_EXTEND_ROWS;
  dims[Dim::Tokens] = mostTokens;
  // A block has a row at least.
  dims[Dim::Blocks] = mostTokens + 1;
  dims[Dim::Wanted] = hasLogits ? mostTokens : 1;
}

void PrefillRows::place(bool isThere) {
  auto place = [&](int64_t count, int64_t width = 1) {
    return workspace.placeNumbers(isThere ? count : 0, width);
  };
  int64_t batch = dims[Dim::Batch], tokens = mostTokens;
  idsPlace = extends ? place(tokens) : place(batch, dims[Dim::Target]);
  cachesPlace = place(extends ? tokens : batch);
  wantedPlace =
      extends ? place(dims[Dim::Wanted]) : place(batch, dims[Dim::Wanted]);
  positionsPlace = place(extends ? tokens : 0);
  sentencesPlace = place(extends ? tokens : 0);
  blocksPlace = place(extends ? tokens + 1 : 0);
  wantedSentencesPlace = place(extends ? dims[Dim::Wanted] : 0);
  lengthsPlace = place(extends ? 0 : batch);
}

void PrefillRows::share(Places &shared) const {
  auto share = [&](const char *name, Place place) {
    shared[{ArgumentKind::Input, name}] = place;
  };
  share("ids", idsPlace);
  share("caches", cachesPlace);
  share("wanted", wantedPlace);
  if (!extends)
    return share("target_lengths", lengthsPlace);
  share("positions", positionsPlace);
  share("sentences", sentencesPlace);
  share("prefill", blocksPlace);
  share("wanted_sentences", wantedSentencesPlace);
}

void PrefillRows::settle() {
  auto find = [&](Place place) {
    return reinterpret_cast<int32_t *>(workspace.hostAt(place));
  };
  ids = find(idsPlace);
  caches = find(cachesPlace);
  wanted = find(wantedPlace);
  positions = find(positionsPlace);
  sentences = find(sentencesPlace);
  blocks = find(blocksPlace);
  wantedSentences = find(wantedSentencesPlace);
  lengths = find(lengthsPlace);
}

int64_t PrefillRows::cacheOf(size_t sentence) const {
  return int64_t(sentence) * (dims[Dim::Caches] / dims[Dim::Batch]);
}

void PrefillRows::begin(const std::vector<std::vector<int32_t>> &lists,
                        const std::vector<int64_t> &wantedFrom) {
  inputs = &lists;
  from = &wantedFrom;
  nextSentence = 0;
  nextPosition = 0;
}

bool PrefillRows::fill() {
  while (nextSentence < inputs->size() &&
         nextPosition == int64_t((*inputs)[nextSentence].size())) {
    ++nextSentence;
    nextPosition = 0;
  }
  if (nextSentence == inputs->size())
    return false;
  rows.clear();
  extends ? fillRows() : fillChunk();
  return true;
}

/// The next `count` positions of a sentence, behind the rows that are there.
void PrefillRows::addPiece(size_t sentence, int64_t count) {
  int64_t row = dims[Dim::Tokens];
  for (int64_t end = row + count; row < end; ++row, ++nextPosition) {
    ids[row] = (*inputs)[sentence][size_t(nextPosition)];
    positions[row] = int32_t(nextPosition);
    sentences[row] = int32_t(sentence);
    caches[row] = int32_t(cacheOf(sentence));
    if (row + count == end || nextPosition % HEDDLE_QUERY_BLOCK == 0)
      blocks[dims[Dim::Blocks]++] = int32_t(row);
    if (!isWanted(sentence, nextPosition))
      continue;
    int64_t number = int64_t(rows.size());
    rows.push_back({number, int64_t(sentence), nextPosition});
    wanted[number] = int32_t(row);
    wantedSentences[number] = int32_t(sentence);
  }
  dims[Dim::Tokens] = row;
}

void PrefillRows::fillRows() {
  dims[Dim::Tokens] = dims[Dim::Blocks] = 0;
  while (nextSentence < inputs->size() && dims[Dim::Tokens] < mostTokens) {
    int64_t length = int64_t((*inputs)[nextSentence].size());
    addPiece(nextSentence,
             std::min(length - nextPosition, mostTokens - dims[Dim::Tokens]));
    if (nextPosition < length)
      break;
    ++nextSentence;
    nextPosition = 0;
  }
  // No row is a generated one.
  blocks[dims[Dim::Blocks]++] = int32_t(dims[Dim::Tokens]);
  if (rows.empty()) {
    wanted[0] = kNone;
    wantedSentences[0] = 0;
  }
  dims[Dim::Wanted] = std::max<int64_t>(int64_t(rows.size()), 1);
}

void PrefillRows::fillChunk() {
  int64_t length = dims[Dim::Target], asked = dims[Dim::Wanted];
  for (size_t i = 0; i < inputs->size(); ++i) {
    const std::vector<int32_t> &input = (*inputs)[i];
    int32_t *own = ids + int64_t(i) * length;
    std::fill(std::copy(input.begin(), input.end(), own), own + length, 0);
    lengths[i] = int32_t(input.size());
    caches[i] = int32_t(cacheOf(i));
    for (int64_t k = 0; k < asked; ++k)
      wanted[int64_t(i) * asked + k] = from->empty() ? kNone : int32_t(k);
    for (int64_t k = 0; k < lengths[i]; ++k)
      if (isWanted(i, k))
        rows.push_back({int64_t(i) * asked + k, int64_t(i), k});
  }
  nextSentence = inputs->size();
}
