//===- RunningBatch.h - Requests that decode together -----------*- C++ -*-===//
//
// Those requests of an engine that need the same form of the decoder, in the
// slots of one session: a request has the bits that it has alone because its
// rows are computed by the same code. Sources are encoded in groups of similar
// lengths by a session of their own, and copied to the slots.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ENGINE_RUNNINGBATCH_H
#define HEDDLE_RUNTIME_ENGINE_RUNNINGBATCH_H

#include "runtime/engine/PromptSlots.h"
#include "runtime/engine/RunningRequest.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace heddle {

/// What an engine has counted. Any thread asks, holding the mutex.
struct EngineCounts {
  mutable std::mutex mutex;
  EngineStatistics all;
};

/// Of an engine, whose limits have all numbers but the memory. Borrows the
/// model and the counts. Any thread calls inputsOf(), the one that runs the
/// engine the rest.
class RunningBatch {
public:
  /// Takes a request that has ended, and what became of it.
  using Ended = std::function<void(std::unique_ptr<RunningRequest> request,
                                   const Result<std::vector<Hypothesis>> &)>;

  RunningBatch(const Model &model, DecoderForm form, const EngineLimits &limits,
               const SessionOptions &options, EngineCounts &counts, Ended ended)
      : model(model), form(form), limits(limits), counts(counts),
        ended(std::move(ended)), session(model, options),
        encoder(model, options) {}

  /// Plans and takes the memory. Fails if that is short.
  Status begin();
  /// The bytes that it takes, beside what slots have if those cost what is
  /// written; and what is free for them, if the device says so.
  int64_t bytes() const { return session.bytes() + encoding; }
  std::optional<int64_t> freeBytes() const { return session.freeBytes(); }
  /// Slots may take so many bytes, with those of other batches. They take
  /// nothing more than bytes() if that has all of theirs.
  void limitSlots(int64_t bytes) {
    if (session.costsWhatIsTouched())
      prompts.limit(bytes);
  }
  int64_t slotBytes() const { return prompts.bytesTaken(); }

  /// What a request feeds before it has a row. Fails if it can never run.
  Result<TokenIds> inputsOf(const RunningRequest &request) const;
  /// Whether slots have as many positions as it may take: they grow if the
  /// system has addresses, or become fewer once nobody has one. Fails if not
  /// even one has them, or the device has failed.
  Result<bool> fit(const RunningRequest &request);
  /// Whether a slot is free for it, with the room that other batches leave.
  bool hasRoom(const RunningRequest &request, int64_t othersBytes) const;
  /// Gives a request a slot, for which there is room.
  void take(std::unique_ptr<RunningRequest> request);
  /// Ends requests without rows that somebody has cancelled; others end at
  /// their next step.
  void endCancelled();
  /// Computes the next pieces of prompts and the next token of each row. Fails
  /// if the device does.
  Status step();
  void endAll(const Status &status);
  bool isIdle() const { return decoding.empty() && prompting.empty(); }

private:
  /// The rows of a request that go on: a part of `chosen`.
  struct Chosen {
    size_t begin, end;
    RunningRequest *request;
    size_t size() const { return end - begin; }
  };

  /// Slots become fewer before they have fewer positions than these.
  static constexpr int64_t kLeastPositions = 256;

  bool isPrompted() const { return model.manifest().promptsTarget; }
  PromptSlots::Need needOf(const RunningRequest &request) const;
  Status check(const RunningRequest &request) const;
  /// What the session has: all that limits say unless the system refuses it.
  struct Shape {
    int64_t slots = 0, positions = 0;
  };
  DecoderRequest requestFor(const Shape &shape) const;
  std::vector<TokenIds> sentencesOf(const Shape &shape) const {
    return std::vector<TokenIds>(size_t(shape.slots), TokenIds{0});
  }
  Status beginWith(const Shape &shape);
  Status beginWithin(Shape shape, int64_t leastPositions);
  Result<bool> grow(int64_t positions);
  Status lose(const Status &status);
  std::vector<Session::UsedPositions> usedPositions() const;
  Status measureEncoder();
  void end(RunningRequest &request,
           const Result<std::vector<Hypothesis>> &result);
  Status encodeSources();
  Status setCandidates();
  Status encodeGroup(const std::vector<RunningRequest *> &group);
  Status addRow(RunningRequest &request, int64_t position);
  Status addReadyRows();
  void feed();
  Status stepRows();
  bool areTogether();
  bool guess();
  std::vector<PromptPiece> takePieces(int64_t room);
  Status extendPrompts(bool stepsRows);
  void chooseBehind(RunningRequest &request, int64_t row, float *logits);
  void settle(RunningRequest &request, int64_t row);
  void choose(RunningRequest &request, int64_t first, int64_t count);
  Status keep();

  const Model &model;
  const DecoderForm form;
  const EngineLimits limits;
  EngineCounts &counts;
  Ended ended;
  /// Whether it computes positions of prompts, and logits behind them beside
  /// those of rows.
  bool extends = false, mayMix = false;
  Session session, encoder;
  Shape shape;
  /// Guards what the session says of bytes, which any thread asks for.
  mutable std::mutex reshaping;
  /// More positions than these were refused while requests ran.
  std::optional<int64_t> refusedPositions;
  /// What the encoder takes at most.
  int64_t encoding = 0;
  PromptSlots prompts{session};

  /// By slot; those with rows in their order; and those whose inputs are not in
  /// their caches yet, as they came, of which some have no source there.
  std::vector<std::unique_ptr<RunningRequest>> slots;
  std::vector<RunningRequest *> decoding;
  std::deque<RunningRequest *> prompting;
  std::vector<RunningRequest *> unencoded;
  std::vector<Continuation> chosen;
  std::vector<Chosen> next;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ENGINE_RUNNINGBATCH_H
