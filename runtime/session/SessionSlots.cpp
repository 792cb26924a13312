//===- SessionSlots.cpp - Sentences that come and go ----------------------===//
//
// What their caches and sources cost: memory is touched before it is written,
// and forgotten when a sentence ends. Beginnings that are equal stand in memory
// once where pages may be mapped.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include <algorithm>
#include <cassert>

using namespace heddle;

/// Of the system.
static constexpr int64_t kPage = 4096;
/// Positions that are touched together.
static constexpr int64_t kTouched = 16;

Status Session::adopt(int32_t sentence, Session &from, int32_t number) {
  const std::vector<InputRole> &roles = sourceRoles();
  for (size_t i = 0; i < roles.size(); ++i) {
    auto widthIn = [&](const DimValues &dims) {
      return roles[i].width ? dims[*roles[i].width] : 1;
    };
    int64_t width = widthIn(dims), other = widthIn(from.dims);
    std::copy_n(from.sourceValues[i] + number * other, std::min(width, other),
                sourceValues[i] + sentence * width);
  }
  for (const AdoptedArgument &each : adopted) {
    // The rows of a source stand together, behind them there is room.
    const std::vector<Extent> &shape = each.argument->shape;
    int64_t outer = 1, inner = elementSize(each.argument->type);
    size_t last = shape.size() - 1;
    while (last > 0 && shape[last].in(dims) == shape[last].in(from.dims))
      inner *= shape[last--].in(dims);
    for (size_t k = 1; k < last; ++k)
      outer *= shape[k].in(dims);
    int64_t used = last > 0 ? shape[last].in(from.dims) * inner : inner;
    int64_t room = last > 0 ? shape[last].in(dims)*inner : inner;
    char *to = workspace.at(each.place) + sentence * outer * room;
    const char *read =
        from.prepared(each.argument->name) + number * outer * used;
    for (int64_t k = 0; k < outer; ++k) {
      if (Status status = device->touch(to + k * room, used); !status.ok())
        return status;
      if (Status status =
              from.device->copy(to + k * room, read + k * used, used);
          !status.ok())
        return status;
    }
  }
  return Status::success();
}

Status Session::leave(int32_t sentence, int64_t kept, bool overwrites) {
  if (beginnings)
    if (Status status = beginnings->part(sentence, overwrites ? 0 : kept, kept);
        !status.ok())
      return status;
  int64_t count = decoder.perSentence();
  for (const State &cache : caches) {
    int64_t keptBytes = kept == 0 ? 0 : cache.bytesOf(kept);
    if (Status status = device->forget(
            cache.rows + sentence * count * cache.rowBytes + keptBytes,
            count * cache.rowBytes - keptBytes);
        !status.ok())
      return status;
  }
  assert(hasSlots && "sentences leave slots alone");
  int64_t *touched = touchedPositions.data() + sentence * count;
  *touched = std::min(*touched, kept);
  std::fill(touched + 1, touched + count, 0);
  return Status::success();
}

Status Session::leaveSource(int32_t sentence) {
  for (const AdoptedArgument &each : adopted) {
    int64_t bytes = *each.argument->byteSize(dims) / dims[Dim::Batch];
    if (Status status =
            device->forget(workspace.at(each.place) + sentence * bytes, bytes);
        !status.ok())
      return status;
  }
  return Status::success();
}

/// As many positions as are touched for so many.
static int64_t roundTouched(int64_t positions) {
  return (positions + kTouched - 1) / kTouched * kTouched;
}

/// Memory for the positions [first, last) of a cache; those of a ring begin
/// again.
Status Session::touchRange(const State &cache, int32_t number, int64_t first,
                           int64_t last) {
  int64_t count = std::min(last - first, cache.slots);
  int64_t begin = first % cache.slots,
          straight = std::min(count, cache.slots - begin);
  char *memory = cache.rows + number * cache.rowBytes;
  Status status =
      device->touch(memory + cache.bytesOf(begin), cache.bytesOf(straight));
  return status.ok() ? device->touch(memory, cache.bytesOf(count - straight))
                     : status;
}

/// The same of all caches of a number, for positions behind which nothing is
/// touched, and for some more.
Status Session::touch(int32_t number, int64_t first, int64_t last) {
  int64_t &touched = touchedPositions[size_t(number)];
  if (last <= touched)
    return Status::success();
  first = touched > 0 ? touched : first / kTouched * kTouched;
  for (const State &cache : caches)
    if (cache.slots > 0)
      if (Status status =
              touchRange(cache, number, first,
                         std::min(roundTouched(last), dims[Dim::Capacity]));
          !status.ok())
        return Status::error("cannot go on at position ", last, ": ",
                             status.message());
  touched = roundTouched(last);
  return Status::success();
}

/// The same of what a call writes.
Status Session::touch(const CacheWrites &writes) {
  if (touchedPositions.empty())
    return Status::success();
  for (int64_t row = 0; row < writes.rows; ++row) {
    int64_t position = writes.positions[row];
    if (Status status = touch(writes.caches[row], position, position + 1);
        !status.ok())
      return status;
  }
  return Status::success();
}

int64_t Session::sourceBytes(int64_t tokens) const {
  return tokens == 0 ? 0 : firstTokenBytes + (tokens - 1) * tokenBytes;
}

/// What adopted sources take, so that any thread may ask while others step.
void Session::measureAdopted() {
  auto bytesOf = [&](int64_t tokens) {
    DimValues one = dims;
    one[Dim::Batch] = 1;
    one[Dim::Source] = tokens;
    int64_t bytes = 0;
    for (const AdoptedArgument &each : adopted)
      bytes += *each.argument->byteSize(one); // Placed: no overflow.
    return bytes;
  };
  int64_t more = std::max<int64_t>(dims[Dim::Source] - 1, 1);
  firstTokenBytes = bytesOf(1);
  tokenBytes = (bytesOf(1 + more) - firstTokenBytes + more - 1) / more;
  // One page at either end is not its own alone.
  firstTokenBytes += int64_t(adopted.size()) * 2 * pageBytes();
}

int64_t Session::cacheBytes(int64_t positions) const {
  // Pages at either end are not a cache's own alone, and a ring's two ends meet
  // inside. The host's cost something once they are written.
  bool isOnHost = device->hasPages();
  int64_t bytes = 0, page = pageBytes(), ends = isOnHost ? 2 : 3;
  if (!isOnHost)
    positions = roundTouched(positions) + kTouched;
  for (const State &cache : caches) {
    // Also of more positions than the batch has: a longer one is to come then.
    int64_t slots = cache.slots > 0 ? std::min(positions, cache.mostSlots) : 0;
    if (slots > 0)
      bytes += (cache.bytesOf(slots) / page + ends) * page;
  }
  return bytes;
}

int64_t Session::keptPositions() const {
  int64_t kept = dims[Dim::Capacity];
  for (const State &cache : caches)
    kept = std::min(kept, cache.slots);
  return kept;
}

Status Session::copyBeginning(int32_t from, int32_t to, int64_t positions,
                              bool overwrites) {
  int64_t shared = 0;
  if (beginnings && !overwrites) {
    Result<int64_t> blocks =
        beginnings->share(from, to, positions / SharedBeginnings::kBlock);
    if (!blocks.ok())
      return blocks.status();
    shared = *blocks * SharedBeginnings::kBlock;
  }
  int64_t count = decoder.perSentence();
  if (Status status = touch(int32_t(to * count), /*first=*/0, positions);
      !status.ok())
    return status;
  for (const State &cache : caches) {
    int64_t stride = count * cache.rowBytes;
    int64_t first = cache.isShared ? cache.bytesOf(shared) : 0;
    if (Status status = device->copy(cache.rows + to * stride + first,
                                     cache.rows + from * stride + first,
                                     cache.bytesOf(positions) - first);
        !status.ok())
      return status;
  }
  return Status::success();
}

/// Finds the caches whose blocks are whole pages. A beginning has the first
/// cache of a sentence: rows that part share it by their history.
void Session::makeBeginnings() {
  beginnings.reset();
  if (!sharesBeginnings)
    return;
  auto isAligned = [](auto number) { return int64_t(number) % kPage == 0; };
  std::vector<SlotCaches> shared;
  int64_t blocks = keptPositions() / SharedBeginnings::kBlock;
  for (State &cache : caches) {
    int64_t blockBytes =
        cache.slots > 0 ? cache.bytesOf(SharedBeginnings::kBlock) : 0;
    cache.isShared = blocks > 0 && blockBytes > 0 && isAligned(blockBytes) &&
                     isAligned(cache.rowBytes) &&
                     isAligned(reinterpret_cast<intptr_t>(cache.rows));
    if (cache.isShared)
      shared.push_back(
          {cache.rows, decoder.perSentence() * cache.rowBytes, blockBytes});
  }
  if (!shared.empty())
    beginnings =
        SharedBeginnings::create(std::move(shared), dims[Dim::Batch], blocks);
}
