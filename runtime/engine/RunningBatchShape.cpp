//===- RunningBatchShape.cpp - How many slots of which length -------------===//
//
// A slot has addresses for as many positions as the limits say. If the system
// refuses them (a limit of address space, or memory that may not be promised
// twice), slots have fewer, and grow when a request comes that takes more: by a
// copy of what they have. If there are no addresses for that either, it waits
// until nobody has a slot, and then slots are fewer.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/KernelAbi.h"
#include "runtime/engine/RunningBatch.h"
#include "runtime/session/MemoryPlan.h"

#include <algorithm>

using namespace heddle;

DecoderRequest RunningBatch::requestFor(const Shape &shape) const {
  DecoderRequest request{form, shape.positions};
  request.rowsPerSentence = form == DecoderForm::GreedyStep ? 1 : limits.beams;
  request.prefill = extends ? shape.positions : 0;
  request.hasSlots = true;
  request.sharesBeginnings = isPrompted();
  // The logits of a call are no memory before they are written.
  if (extends && form == DecoderForm::Step)
    request.prefillLogits =
        std::min<int64_t>(HEDDLE_EXTEND_ROWS, shape.slots * (1 + kMostGuesses));
  if (forbidsBefore(form))
    request.forbidden = kMostForbidden + 1;
  if (form == DecoderForm::BestStep) {
    Generation settings = model.manifest().generation;
    settings.beams = limits.beams;
    settings.earlyStopping = EarlyStopping::Never;
    request.best = BeamSearch::width(settings);
  }
  if (!isPrompted())
    request.sources = limits.sources;
  return request;
}

/// A batch with a sentence for each slot and no row.
Status RunningBatch::beginWith(const Shape &asked) {
  std::vector<TokenIds> sentences = sentencesOf(asked);
  DecoderRequest request = requestFor(asked);
  // A GPU without pages gives memory for all slots at once.
  if (limits.memory && model.isOnGpu()) {
    Result<int64_t> bytes = session.bytesFor(sentences, request);
    if (bytes.ok() && *bytes + encoding > *limits.memory)
      return Status::error("needs ", toMebibytes(*bytes + encoding),
                           " MiB of memory, but may take ",
                           *limits.memory >> 20);
  }
  std::lock_guard<std::mutex> lock(reshaping);
  if (Status status = session.begin(sentences, request); !status.ok())
    return Status::error("for ", asked.positions, " tokens and ",
                         countOf(limits.beams, "beam"),
                         " each: ", status.message());
  shape = asked;
  refusedPositions = std::nullopt;
  prompts.begin(shape.slots);
  slots.clear();
  slots.resize(size_t(shape.slots));
  return session.keep({});
}

/// The same with fewer positions, and then fewer slots, if the system refuses
/// more; what has failed first if it refuses all. What is smaller leaves some
/// addresses.
Status RunningBatch::beginWithin(Shape asked, int64_t leastPositions) {
  Status first = beginWith(asked), status = first;
  const int64_t most = asked.positions;
  while (!status.ok() && session.isOnHost() &&
         (asked.slots > 1 || asked.positions > leastPositions)) {
    if (asked.positions > leastPositions)
      asked.positions = std::max(asked.positions / 2, leastPositions);
    else
      asked = {(asked.slots + 1) / 2, most};
    status = beginWith(asked);
    if (status.ok() && !session.leavesAddresses()) {
      std::lock_guard<std::mutex> lock(reshaping);
      session.release();
      status = first;
    }
  }
  return status.ok() ? status : first;
}

std::vector<Session::UsedPositions> RunningBatch::usedPositions() const {
  std::vector<Session::UsedPositions> used(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    int64_t computed = prompts.computed(int32_t(i));
    used[i] = {computed, computed};
  }
  for (int64_t row = 0; row < session.rows(); ++row) {
    Session::UsedPositions &own = used[size_t(session.sentence(row))];
    own.all = std::max<int64_t>(own.all, session.position(row));
  }
  return used;
}

/// Gives slots more positions while requests have some; whether the system has
/// memory for them.
Result<bool> RunningBatch::grow(int64_t positions) {
  if (!session.mayGrow() || positions >= refusedPositions.value_or(INT64_MAX))
    return false;
  int64_t twice = std::min(2 * shape.positions, *limits.positions);
  for (int64_t asked : {std::max(positions, twice), positions}) {
    Shape larger{shape.slots, asked};
    std::lock_guard<std::mutex> lock(reshaping);
    Result<bool> isGrown = session.grow(sentencesOf(shape), requestFor(shape),
                                        requestFor(larger), usedPositions());
    if (!isGrown.ok())
      return isGrown;
    if (*isGrown) {
      shape = larger;
      return true;
    }
  }
  refusedPositions = positions;
  return false;
}

/// Without memory for any slot the next request asks again.
Status RunningBatch::lose(const Status &status) {
  endAll(status);
  shape = {};
  slots.clear();
  prompts.begin(0);
  return status;
}

Result<bool> RunningBatch::fit(const RunningRequest &request) {
  PromptSlots::Need need = needOf(request);
  int64_t positions = need.positions;
  bool isShort = positions > shape.positions;
  // Slots that are too few become more again when nothing is lost by it.
  bool mayRegain = isIdle() && shape.slots < limits.slots &&
                   !prompts.hasBeginningOf(need.prompt);
  if (!isShort && !mayRegain)
    return true;
  if (isShort && shape.slots > 0) {
    Result<bool> isGrown = grow(positions);
    if (!isGrown.ok())
      return lose(isGrown.status());
    if (*isGrown || !isIdle())
      return isGrown;
  }
  // Prompts of ended requests go, too.
  prompts.forgetAll();
  Shape asked{limits.slots, std::max(positions, shape.positions)};
  if (beginWithin(asked, positions).ok())
    return true;
  Status status = Status::error("takes up to ", positions,
                                " positions, but the system refuses memory for "
                                "one slot of as many");
  if (!beginWithin({limits.slots, *limits.positions}, kLeastPositions).ok())
    return lose(status);
  return status;
}
