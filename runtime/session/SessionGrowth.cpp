//===- SessionGrowth.cpp - A batch with more positions --------------------===//
//
// The caches of a larger batch stand elsewhere, with other distances. What is
// used of them is saved, since there may be no addresses for two batches, and
// restored once the larger one stands, or the old one again.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include <algorithm>

using namespace heddle;

/// Calls `piece` with what is used of each cache, and with the states of rows.
/// Of the first cache of sentence s the first shared[s] positions are left out
/// in states that have shared them.
void Session::forEachUsed(
    const std::vector<UsedPositions> &used, const std::vector<int64_t> &shared,
    const std::vector<char> &hasShared,
    const std::function<void(char *memory, int64_t bytes)> &piece) const {
  int64_t count = decoder.perSentence();
  for (size_t sentence = 0; sentence < used.size(); ++sentence)
    for (size_t i = 0; i < caches.size(); ++i)
      for (int64_t k = 0; k < count; ++k) {
        const State &cache = caches[i];
        int64_t end = std::min(used[sentence].all, cache.slots);
        // A ring that has begun again has the latest positions everywhere.
        bool isRound = used[sentence].all > cache.slots;
        int64_t first = k > 0 && !isRound        ? used[sentence].behindPrompt
                        : k == 0 && hasShared[i] ? shared[sentence]
                                                 : 0;
        if (first >= end)
          continue;
        char *row =
            cache.rows + (int64_t(sentence) * count + k) * cache.rowBytes;
        piece(row + cache.bytesOf(first), cache.bytesOf(end - first));
      }
  for (const State &state : states)
    piece(state.rows, decoder.count() * state.rowBytes);
}

Result<bool> Session::grow(const std::vector<TokenIds> &sentences,
                           const DecoderRequest &before,
                           const DecoderRequest &request,
                           const std::vector<UsedPositions> &used) {
  // Which slot has the blocks of a beginning, too: one before it.
  std::vector<int64_t> shared(used.size());
  std::vector<int32_t> source(used.size());
  for (size_t i = 0; i < used.size() && beginnings; ++i)
    for (size_t k = 0; k < i; ++k)
      if (int64_t positions = SharedBeginnings::kBlock *
                              beginnings->commonBlocks(int32_t(k), int32_t(i));
          positions > shared[i])
        shared[i] = positions, source[i] = int32_t(k);
  std::vector<char> hasShared;
  for (const State &cache : caches)
    hasShared.push_back(cache.isShared);

  int64_t bytes = 0;
  forEachUsed(used, shared, hasShared,
              [&](char *, int64_t size) { bytes += size; });
  Result<char *> saved = device->take(std::max<int64_t>(bytes, 1));
  if (!saved.ok())
    return false;
  Status status = Status::success();
  char *next = *saved;
  auto copy = [&](bool isBack) {
    return [&, isBack](char *memory, int64_t size) {
      if (status.ok())
        status = isBack ? device->copy(memory, next, size)
                        : device->copy(next, memory, size);
      next += size;
    };
  };
  forEachUsed(used, shared, hasShared, copy(/*isBack=*/false));
  DecoderRows::Saved rows = decoder.save();
  release();
  bool isGrown = begin(sentences, request).ok() && leavesAddresses();
  if (!isGrown) {
    release();
    status = begin(sentences, before);
  }
  if (status.ok()) {
    decoder.resume(rows);
    next = *saved;
    forEachUsed(used, shared, hasShared, copy(/*isBack=*/true));
  }
  for (size_t i = 0; i < used.size() && status.ok(); ++i)
    if (shared[i] > 0)
      status = copyBeginning(source[i], int32_t(i), shared[i],
                             /*overwrites=*/false);
  device->giveBack(*saved, std::max<int64_t>(bytes, 1));
  return status.ok() ? Result<bool>(isGrown) : status;
}
