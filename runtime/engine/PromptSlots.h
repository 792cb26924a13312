//===- PromptSlots.h - Prompts in the slots of an engine --------*- C++ -*-===//
//
// Which slot has which prompt in its KV caches, and how much of it. A prompt
// that begins as another one does is not computed again (prefix caching): it
// takes the slot in which a request of that beginning has ended, or reads what
// another slot has: whole blocks in place (SharedBeginnings.h), of what is left
// a copy. Rows of prompts have the same bits however a prompt is cut into
// pieces, so that a beginning of any length serves.
//
// A slot costs the pages that are written. With a limit of memory a request
// begins when there is room for all positions that it may take, so that it
// always finishes; prompts of ended requests make room. A block counts once,
// however many slots read it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ENGINE_PROMPTSLOTS_H
#define HEDDLE_RUNTIME_ENGINE_PROMPTSLOTS_H

#include "runtime/session/Session.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle {

/// Of a batch of `session` with a sentence for each slot, which it borrows.
class PromptSlots {
public:
  explicit PromptSlots(Session &session) : session(session) {}
  void begin(int64_t count) { slots.assign(size_t(count), Slot()); }
  /// Slots may take so many bytes; without a limit any number.
  void limit(int64_t bytes) { room = bytes; }

  /// What a request takes: its prompt, if it is no translator's; up to so many
  /// positions, with the prompt, for each of so many rows (beams); and the
  /// tokens of a translator's source.
  struct Need {
    TokenIds prompt;
    int64_t positions, rows, source = 0;
  };
  /// Fails if there can never be room for it.
  Status check(const Need &need) const;
  /// Whether a slot is free, with room for it beside the requests here and so
  /// many bytes of others.
  bool hasRoom(const Need &need, int64_t othersBytes) const;
  /// Whether a slot has tokens with which a prompt begins.
  bool hasBeginningOf(const TokenIds &prompt) const;
  /// A free slot for it, for which there is room.
  int32_t take(const Need &need);
  /// Of the requests that have slots.
  int64_t bytesTaken() const { return bytesTaken(/*withFree=*/false); }
  /// Between calls of the decoder: gives slots the beginnings that others have
  /// computed for them.
  Status copyBeginnings();
  /// Whether a prompt waits for another one, with which it begins.
  bool isWaiting(int32_t slot) const { return slots[size_t(slot)].source >= 0; }
  /// How many tokens of its prompt are in a slot, and that a call computes more
  /// of them.
  int64_t computed(int32_t slot) const { return slots[size_t(slot)].computed; }
  void add(int32_t slot, int64_t tokens) {
    slots[size_t(slot)].computed += tokens;
  }
  /// A request ends. Its slot keeps the prompt until another one needs it; what
  /// else it has costs nothing any more.
  void leave(int32_t slot);
  /// A call has failed, and with it all requests: what slots have computed is
  /// not known.
  void forgetAll();

  /// Tokens of prompts that nobody had to compute.
  int64_t sharedTokens() const { return shared; }

private:
  struct Slot {
    bool isFree = true;
    /// Of the request, or of the last one: the part that was computed.
    TokenIds prompt;
    int64_t computed = 0;
    /// The slot that computes its first `promised` tokens, or none.
    int32_t source = -1;
    int64_t promised = 0;
    /// Whether no position of the request overwrites one of the prompt.
    bool keepsPrompt = false;
    /// Who was free for longest has the least.
    uint64_t freeSince = 0;
    /// Of its caches, at most.
    int64_t bytes = 0;
  };

  /// Where a request finds its prompt: in a free slot the first `inPlace`
  /// tokens, and `promised` ones in `source`, if those are more.
  struct Choice {
    int32_t slot = -1, source = -1;
    int64_t inPlace = 0, promised = 0;
  };

  /// A slot as a request would have it.
  struct Newcomer {
    int32_t number;
    Slot slot;
  };

  int64_t bytesOf(const Need &need) const;
  int64_t bytesTaken(bool withFree, const Newcomer *newcomer = nullptr) const;
  int64_t promisedBlocks(const Slot &slot) const;
  void forget(Slot &slot);
  void makeRoom();
  int64_t sharedWith(const Slot &slot, const TokenIds &prompt) const;
  Choice chooseSlot(const TokenIds &prompt) const;
  Slot slotFor(const Need &need, const Choice &choice) const;
  Status copyFromSource(int32_t slot);
  void replaceSource(int32_t slot);

  Session &session;
  std::vector<Slot> slots;
  std::optional<int64_t> room;
  uint64_t clock = 0;
  int64_t shared = 0;
  /// What the system has refused between calls.
  Status failure = Status::success();
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ENGINE_PROMPTSLOTS_H
