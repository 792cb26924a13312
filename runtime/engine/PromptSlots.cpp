//===- PromptSlots.cpp - Prompts in the slots of an engine ----------------===//
//
// A free slot whose prompt is the longest beginning of a new one has that one
// in place. Any other slot is the source of a copy, which waits until the
// source has computed what is copied; if the source ends before, what it has is
// copied then.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/PromptSlots.h"

#include "runtime/session/MemoryPlan.h"

#include <algorithm>
#include <cassert>
#include <utility>

using namespace heddle;

/// Fewer tokens cost less than to wait for them.
static constexpr int64_t kLeastShared = HEDDLE_QUERY_BLOCK;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t PromptSlots::bytesOf(const Need &need) const {
  int64_t own = need.positions - int64_t(need.prompt.size());
  return session.cacheBytes(need.positions) +
         (need.rows - 1) * session.cacheBytes(own) +
         session.sourceBytes(need.source);
}

Status PromptSlots::check(const Need &need) const {
  int64_t bytes = bytesOf(need);
  if (!room || bytes <= *room)
    return Status::success();
  return Status::error("takes up to ", toMebibytes(bytes),
                       " MiB for KV caches of ", need.positions, " positions",
                       need.source > 0 ? " and its source" : "",
                       ", but the engine has ", *room >> 20);
}

/// Of slots that are free, or of the others.
int64_t PromptSlots::bytesTaken(bool ofFree) const {
  int64_t bytes = 0;
  for (const Slot &slot : slots)
    if (slot.isFree == ofFree)
      bytes += slot.bytes;
  return bytes;
}

/// A free slot gives its prompt back.
void PromptSlots::forget(Slot &slot) {
  auto number = int32_t(&slot - slots.data());
  session.hold(number, false);
  session.leave(number);
  slot = Slot();
}

void PromptSlots::forgetAll() {
  for (Slot &slot : slots)
    forget(slot);
}

/// Requests have room beside the prompts of others.
void PromptSlots::makeRoom() {
  while (room &&
         bytesTaken(/*ofFree=*/false) + bytesTaken(/*ofFree=*/true) > *room) {
    Slot *oldest = nullptr;
    for (Slot &slot : slots)
      if (slot.isFree && slot.bytes > 0 &&
          (!oldest || slot.freeSince < oldest->freeSince))
        oldest = &slot;
    assert(oldest && "requests alone have room");
    forget(*oldest);
  }
}

//===----------------------------------------------------------------------===//
// Prompts
//===----------------------------------------------------------------------===//

/// How many tokens a prompt has in common with that of a slot, less the last
/// one, whose logits nobody keeps; 0 if they are too few.
int64_t PromptSlots::sharedWith(const Slot &slot,
                                const TokenIds &prompt) const {
  if (!slot.keepsPrompt || prompt.empty())
    return 0;
  auto end = std::mismatch(prompt.begin(), prompt.end() - 1,
                           slot.prompt.begin(), slot.prompt.end());
  int64_t count = end.first - prompt.begin();
  return count < kLeastShared ? 0 : count;
}

bool PromptSlots::hasRoom(const Need &need, int64_t othersBytes) const {
  return std::any_of(slots.begin(), slots.end(),
                     [](const Slot &slot) { return slot.isFree; }) &&
         (!room || bytesTaken() + othersBytes + bytesOf(need) <= *room);
}

int32_t PromptSlots::take(const Need &need) {
  // The longest beginning; in place rather than as a copy, and in place of what
  // nobody has asked for the longest.
  std::optional<size_t> own, source;
  int64_t inPlace = 0, copied = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    int64_t count = sharedWith(slots[i], need.prompt);
    if (!slots[i].isFree) {
      if (count > copied)
        source = i, copied = count;
      continue;
    }
    bool isOlder =
        own && count == inPlace && slots[i].freeSince < slots[*own].freeSince;
    if (!own || count > inPlace || isOlder)
      own = i, inPlace = count;
  }
  auto number = int32_t(*own);
  session.leave(number, inPlace);
  session.hold(number, true);
  shared += inPlace;
  Slot &slot = slots[*own];
  slot = {/*isFree=*/false, need.prompt, inPlace};
  slot.bytes = bytesOf(need);
  slot.keepsPrompt = need.positions <= session.keptPositions();
  if (copied > inPlace) {
    slot.source = int32_t(*source);
    slot.promised = copied;
  }
  makeRoom();
  return number;
}

Status PromptSlots::copyFromSource(int32_t number) {
  Slot &slot = slots[size_t(number)];
  int64_t count = std::min(slot.promised, computed(slot.source));
  int32_t source = std::exchange(slot.source, -1);
  if (count <= slot.computed)
    return Status::success();
  shared += count - slot.computed;
  slot.computed = count;
  return session.copyBeginning(source, number, count);
}

Status PromptSlots::copyBeginnings() {
  for (size_t i = 0; i < slots.size(); ++i)
    if (const Slot &slot = slots[i];
        slot.source >= 0 && computed(slot.source) >= slot.promised)
      if (Status status = copyFromSource(int32_t(i)); !status.ok())
        return status;
  return Status::success();
}

void PromptSlots::leave(int32_t number) {
  // A failure of the device is that of the next call, too.
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].source == number)
      (void)copyFromSource(int32_t(i)).ok();
  Slot &slot = slots[size_t(number)];
  int64_t kept = slot.keepsPrompt ? slot.computed : 0;
  if (kept < kLeastShared)
    kept = 0;
  slot.prompt.resize(size_t(kept));
  slot.isFree = true;
  slot.source = -1;
  slot.keepsPrompt = kept > 0;
  slot.freeSince = ++clock;
  slot.bytes = session.cacheBytes(kept);
  session.hold(number, kept > 0);
  session.leave(number, kept);
  if (room)
    session.leaveSource(number);
}
