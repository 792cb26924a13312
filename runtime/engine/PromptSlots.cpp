//===- PromptSlots.cpp - Prompts in the slots of an engine ----------------===//
//
// A free slot whose prompt is the longest beginning of a new one has that one
// in place. Any other slot is the source of a copy, which waits until the
// source has computed what is copied; if the source ends before, what it has is
// copied then, and one of those that waited is the source of the others.
//
// Blocks that a slot is promised count with its source. They are no longer than
// what the source computes in any case, and so is what those that wait need of
// one another: whoever computes them has room.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/PromptSlots.h"

#include "runtime/session/MemoryPlan.h"

#include <algorithm>
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
                       ", but the engine has ", *room >> 20, " MiB");
}

/// The blocks that a slot has of its source, once it has them.
int64_t PromptSlots::promisedBlocks(const Slot &slot) const {
  return slot.source >= 0 && slot.keepsPrompt &&
                 session.sharedBeginnings()->mayServeAll()
             ? slot.promised / SharedBeginnings::kBlock
             : 0;
}

/// Of slots with requests, of a newcomer in its slot, and of free ones if asked
/// for.
int64_t PromptSlots::bytesTaken(bool withFree, const Newcomer *newcomer) const {
  const SharedBeginnings *blocks = session.sharedBeginnings();
  std::vector<int64_t> counts(slots.size());
  int64_t bytes = 0, others = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    bool isNew = newcomer && newcomer->number == int32_t(i);
    const Slot &slot = isNew ? newcomer->slot : slots[i];
    if (slot.isFree && !withFree)
      continue;
    bytes += slot.bytes;
    if (!blocks)
      continue;
    counts[i] = blocks->blocksOf(int32_t(i));
    // It parts from what it does not find in place.
    if (isNew)
      counts[i] =
          slot.keepsPrompt
              ? std::min(counts[i], slot.computed / SharedBeginnings::kBlock)
              : 0;
    others += std::max(counts[i], promisedBlocks(slot));
  }
  return blocks ? bytes + (blocks->differentBlocks(counts) - others) *
                              blocks->blockBytes()
                : bytes;
}

/// A free slot gives its prompt back.
void PromptSlots::forget(Slot &slot) {
  auto number = int32_t(&slot - slots.data());
  session.hold(number, false);
  if (Status status = session.leave(number); !status.ok())
    failure = status;
  slot = Slot();
}

void PromptSlots::forgetAll() {
  for (Slot &slot : slots)
    forget(slot);
  // A slot that has failed is taken for no position again, which fails, too.
  failure = Status::success();
}

/// Requests have room beside the prompts of others.
void PromptSlots::makeRoom() {
  while (room && bytesTaken(/*withFree=*/true) > *room) {
    Slot *oldest = nullptr;
    for (Slot &slot : slots)
      if (slot.isFree && slot.bytes > 0 &&
          (!oldest || slot.freeSince < oldest->freeSince))
        oldest = &slot;
    if (!oldest)
      return; // Requests alone have room.
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
  if (std::none_of(slots.begin(), slots.end(),
                   [](const Slot &slot) { return slot.isFree; }))
    return false;
  if (!room)
    return true;
  Choice choice = chooseSlot(need.prompt);
  Newcomer newcomer{choice.slot, slotFor(need, choice)};
  return bytesTaken(/*withFree=*/false, &newcomer) + othersBytes <= *room;
}

/// The longest beginning; in place rather than as a copy, and in place of what
/// nobody has asked for the longest.
PromptSlots::Choice PromptSlots::chooseSlot(const TokenIds &prompt) const {
  Choice choice;
  for (size_t i = 0; i < slots.size(); ++i) {
    int64_t count = sharedWith(slots[i], prompt);
    if (!slots[i].isFree) {
      if (count > choice.promised)
        choice.source = int32_t(i), choice.promised = count;
      continue;
    }
    bool isOlder = choice.slot >= 0 && count == choice.inPlace &&
                   slots[i].freeSince < slots[size_t(choice.slot)].freeSince;
    if (choice.slot < 0 || count > choice.inPlace || isOlder)
      choice.slot = int32_t(i), choice.inPlace = count;
  }
  if (choice.promised <= choice.inPlace)
    choice.source = -1;
  return choice;
}

bool PromptSlots::hasBeginningOf(const TokenIds &prompt) const {
  Choice choice = chooseSlot(prompt);
  return choice.inPlace > 0 || choice.source >= 0;
}

/// The slot once the request has it.
PromptSlots::Slot PromptSlots::slotFor(const Need &need,
                                       const Choice &choice) const {
  Slot slot{/*isFree=*/false, need.prompt, choice.inPlace, choice.source,
            choice.promised};
  slot.keepsPrompt = need.positions <= session.keptPositions();
  slot.bytes = bytesOf(need);
  return slot;
}

int32_t PromptSlots::take(const Need &need) {
  Choice choice = chooseSlot(need.prompt);
  Slot &slot = slots[size_t(choice.slot)];
  slot = slotFor(need, choice);
  if (Status status =
          session.leave(choice.slot, choice.inPlace, !slot.keepsPrompt);
      !status.ok())
    failure = status;
  session.hold(choice.slot, true);
  shared += choice.inPlace;
  makeRoom();
  return choice.slot;
}

Status PromptSlots::copyFromSource(int32_t number) {
  Slot &slot = slots[size_t(number)];
  int64_t count = std::min(slot.promised, computed(slot.source));
  int32_t source = std::exchange(slot.source, -1);
  if (count <= slot.computed)
    return Status::success();
  shared += count - slot.computed;
  slot.computed = count;
  return session.copyBeginning(source, number, count, !slot.keepsPrompt);
}

Status PromptSlots::copyBeginnings() {
  if (!failure.ok())
    return failure;
  for (size_t i = 0; i < slots.size(); ++i)
    if (const Slot &slot = slots[i];
        slot.source >= 0 && computed(slot.source) >= slot.promised)
      if (Status status = copyFromSource(int32_t(i)); !status.ok())
        return status;
  return Status::success();
}

/// Those that wait for a slot have what it has computed. The one that was
/// promised most goes on, or waits for what this one has waited for, and is the
/// source of the others.
void PromptSlots::replaceSource(int32_t number) {
  const Slot &before = slots[size_t(number)];
  std::vector<Slot *> waiting;
  Slot *next = nullptr;
  for (Slot &slot : slots) {
    if (slot.source != number)
      continue;
    if (Status status = copyFromSource(int32_t(&slot - slots.data()));
        !status.ok())
      failure = status;
    if (slot.promised <= slot.computed)
      continue;
    waiting.push_back(&slot);
    if (slot.keepsPrompt && (!next || slot.promised > next->promised))
      next = &slot;
  }
  if (!next)
    return;
  for (Slot *each : waiting) {
    each->promised = std::min(each->promised, next->promised);
    if (each != next && each->promised > each->computed)
      each->source = int32_t(next - slots.data());
  }
  if (before.source < 0)
    return;
  next->promised = std::min(next->promised, before.promised);
  if (next->promised > next->computed)
    next->source = before.source;
}

void PromptSlots::leave(int32_t number) {
  replaceSource(number);
  Slot &slot = slots[size_t(number)];
  int64_t kept = slot.keepsPrompt ? slot.computed : 0;
  if (kept < kLeastShared)
    kept = 0;
  slot.prompt.resize(size_t(kept));
  slot.computed = kept;
  slot.isFree = true;
  slot.source = -1;
  slot.keepsPrompt = kept > 0;
  slot.freeSince = ++clock;
  slot.bytes = session.cacheBytes(kept);
  session.hold(number, kept > 0);
  if (room)
    if (Status status = session.leaveSource(number); !status.ok())
      failure = status;
  if (!session.leave(number, kept).ok())
    forget(slot);
}
