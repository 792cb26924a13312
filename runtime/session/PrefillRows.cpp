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

void PrefillRows::measure(int64_t length, int64_t asked) {
  hasLogits = asked > 0;
  if (!extends) {
    dims[Dim::Target] = length;
    dims[Dim::Wanted] = asked > 0 ? length : 1;
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
  dims[Dim::Wanted] = std::clamp<int64_t>(asked, 1, mostTokens);
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

int64_t PrefillRows::cacheOf(int64_t sentence) const {
  return sentence * (dims[Dim::Caches] / dims[Dim::Batch]);
}

void PrefillRows::begin(const std::vector<PromptPiece> &all,
                        const std::vector<PromptPiece> &tokens) {
  pieces = all;
  generated = tokens;
  next = 0;
}

bool PrefillRows::fill() {
  while (next < pieces.size() && pieces[next].count == 0)
    ++next;
  if (next == pieces.size() && generated.empty())
    return false;
  rows.clear();
  extends ? fillRows() : fillChunk();
  return true;
}

/// The next `count` positions of a piece, behind the rows that are there.
void PrefillRows::addRows(PromptPiece &piece, int64_t count, bool isPrompt) {
  int64_t first = dims[Dim::Tokens];
  for (int64_t row = first; row < first + count; ++row) {
    int64_t position = piece.position + row - first;
    ids[row] = piece.ids[row - first];
    positions[row] = int32_t(position);
    sentences[row] = piece.sentence;
    caches[row] = int32_t(cacheOf(piece.sentence));
    if (isPrompt && (row == first || position % HEDDLE_QUERY_BLOCK == 0))
      blocks[dims[Dim::Blocks]++] = int32_t(row);
    if (position < piece.wantedFrom)
      continue;
    int64_t number = int64_t(rows.size());
    rows.push_back({number, piece.sentence, position});
    wanted[number] = int32_t(row);
    wantedSentences[number] = piece.sentence;
  }
  dims[Dim::Tokens] += count;
  piece.position += count;
  piece.ids += count;
  piece.count -= count;
}

void PrefillRows::fillRows() {
  dims[Dim::Tokens] = dims[Dim::Blocks] = 0;
  int64_t most = mostTokens;
  for (const PromptPiece &tokens : generated)
    most -= tokens.count;
  for (; next < pieces.size() && dims[Dim::Tokens] < most; ++next) {
    addRows(pieces[next],
            std::min(pieces[next].count, most - dims[Dim::Tokens]),
            /*isPrompt=*/true);
    if (pieces[next].count > 0)
      break;
  }
  blocks[dims[Dim::Blocks]++] = int32_t(dims[Dim::Tokens]);
  size_t prompts = rows.size();
  for (PromptPiece &tokens : generated)
    addRows(tokens, tokens.count, /*isPrompt=*/false);
  generated.clear();
  std::rotate(rows.begin(), rows.begin() + ptrdiff_t(prompts), rows.end());
  if (rows.empty()) {
    wanted[0] = kNone;
    wantedSentences[0] = 0;
  }
  dims[Dim::Wanted] = std::max<int64_t>(int64_t(rows.size()), 1);
}

void PrefillRows::fillChunk() {
  int64_t length = dims[Dim::Target], asked = dims[Dim::Wanted];
  std::fill_n(ids, dims[Dim::Batch] * length, 0);
  std::fill_n(lengths, dims[Dim::Batch], 0);
  for (int64_t i = 0; i < dims[Dim::Batch]; ++i) {
    caches[i] = int32_t(cacheOf(i));
    for (int64_t k = 0; k < asked; ++k)
      wanted[i * asked + k] = hasLogits ? int32_t(k) : kNone;
  }
  for (const PromptPiece &piece : pieces) {
    std::copy_n(piece.ids, piece.count, ids + piece.sentence * length);
    lengths[piece.sentence] = int32_t(piece.count);
    for (int64_t k = piece.wantedFrom; k < piece.count; ++k)
      rows.push_back({piece.sentence * asked + k, piece.sentence, k});
  }
  next = pieces.size();
}
