//===- Engine.cpp - Requests that join and leave at any step --------------===//
//
// A request waits, in order, for a slot and, with a limit, for memory; several
// samples of one are requests of their own, which end as one. Batches
// (RunningBatch.h) run those that have a slot.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/Engine.h"

#include "runtime/engine/RunningBatch.h"
#include "runtime/engine/RunningRequest.h"
#include "runtime/session/MemoryPlan.h"

#include <algorithm>
#include <utility>

using namespace heddle;

/// The tokens of a text, and of its translation, if neither a model nor a
/// caller has a limit.
static constexpr int64_t kUsualTokens = 4096;
/// One part in so many of a GPU's free memory is not for slots.
static constexpr int64_t kFreeKept = 16;

Engine::Engine(const Model &model, const EngineLimits &limits,
               const SessionOptions &options)
    : model(model), limits(limits), options(options),
      counts(std::make_unique<EngineCounts>()) {}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(const Model &model,
                                             const EngineLimits &limits,
                                             const SessionOptions &options) {
  const std::string &file = model.artifact().path();
  const Manifest &manifest = model.manifest();
  if (!manifest.generates)
    return Status::error("'", file, "' does not generate texts");
  if (manifest.promptsTarget &&
      !(model.entryPoint(Role::Step) && model.entryPoint(Role::Extend)))
    return Status::error("'", file, "' has no code that extends texts");
  if (limits.slots < 1 || limits.beams < 1 ||
      limits.positions.value_or(1) < 1 || limits.sources.value_or(1) < 1)
    return Status::error("an engine of ", limits.slots, " slots with ",
                         limits.beams, " beams and ",
                         limits.positions.value_or(1),
                         " positions, expected at least one of each");
  std::unique_ptr<Engine> engine(new Engine(model, limits, options));
  if (engine->forms().empty())
    return Status::error("'", file, "' has no code that decodes step by step");
  Status status = engine->setLengths();
  if (status.ok())
    status = engine->begin();
  return status.ok() ? Result<std::unique_ptr<Engine>>(std::move(engine))
                     : status;
}

/// What a slot has room for.
Status Engine::setLengths() {
  const Manifest &manifest = model.manifest();
  std::optional<int64_t> most = manifest.generation.maxTarget;
  if (manifest.promptsTarget && !limits.positions && !most)
    return Status::error("'", model.artifact().path(),
                         "' takes texts of any length, expected a number of "
                         "positions for the slots of an engine");
  auto lengthOf = [](std::optional<int64_t> asked, std::optional<int64_t> own) {
    return std::min(asked.value_or(own.value_or(kUsualTokens)),
                    own.value_or(INT32_MAX));
  };
  limits.positions = lengthOf(limits.positions, most);
  limits.sources = lengthOf(limits.sources, manifest.sourcePositions);
  return Status::success();
}

/// With a limit of memory all batches begin at once: what is left is for slots.
Status Engine::begin() {
  std::vector<DecoderForm> all = forms();
  if (!limits.memory)
    all.resize(1);
  for (DecoderForm form : all) {
    Result<RunningBatch *> batch = batchOf(form);
    if (!batch.ok())
      return batch.status();
    fixed += (*batch)->bytes();
  }
  if (!limits.memory)
    return Status::success();
  if (fixed > *limits.memory)
    return Status::error(
        "an engine of ", limits.slots, " slots needs ", toMebibytes(fixed),
        " MiB of memory beside KV caches, but may take ", *limits.memory >> 20);
  for (auto &[form, batch] : batches)
    batch->limitSlots(*limits.memory - fixed);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// The forms that requests may need, the usual one first.
std::vector<DecoderForm> Engine::forms() const {
  // A language model extends with logits.
  if (model.manifest().promptsTarget)
    return {DecoderForm::Step};
  std::vector<DecoderForm> all;
  if (model.shortlist())
    all.push_back(DecoderForm::ShortlistStep);
  if (model.entryPoint(Role::Greedy))
    all.push_back(DecoderForm::GreedyStep);
  if (model.entryPoint(Role::Best))
    all.push_back(DecoderForm::BestStep);
  if (model.entryPoint(Role::Step))
    all.push_back(DecoderForm::Step);
  return all;
}

DecoderForm Engine::formOf(const RunningRequest &request) const {
  return model.manifest().promptsTarget ? DecoderForm::Step
                                        : request.demand.request.form;
}

/// The batch of a form, which begins with its first request; others step
/// meanwhile.
Result<RunningBatch *> Engine::batchOf(DecoderForm form) {
  std::lock_guard<std::mutex> beginLock(beginning);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = batches.find(form); found != batches.end())
      return found->second.get();
  }
  EngineLimits left = limits;
  if (left.memory)
    *left.memory -= taken;
  auto made = std::make_unique<RunningBatch>(
      model, form, left, options, *counts,
      [this](std::unique_ptr<RunningRequest> request,
             const Result<std::vector<Hypothesis>> &result) {
        end(std::move(request), result);
      });
  if (Status status = made->begin(); !status.ok())
    return status;
  if (model.isOnGpu())
    taken += made->bytes();
  // Of what is free now some is left to kernels, graphs and others.
  if (std::optional<int64_t> free = made->freeBytes(); free && !limits.memory)
    made->limitSlots(*free - *free / kFreeKept);
  std::lock_guard<std::mutex> lock(mutex);
  return (batches[form] = std::move(made)).get();
}

std::vector<RunningBatch *> Engine::begun() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<RunningBatch *> all;
  for (const auto &[form, batch] : batches)
    all.push_back(batch.get());
  return all;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<RunningRequest>> Engine::check(EngineRequest request) {
  bool isPrompted = model.manifest().promptsTarget;
  if (request.source.empty())
    return Status::error("the ", isPrompted ? "prompt" : "source",
                         " has no token");
  if (Status status =
          isPrompted ? Status::success() : model.checkSource(request.source);
      !status.ok())
    return status;
  if (request.options.alternatives > 0)
    return Status::error("alternatives take several searches, expected one");
  auto running = std::make_unique<RunningRequest>();
  running->request = std::move(request);
  EngineRequest &own = running->request;
  running->sources = {own.source};
  running->beginnings = beginningsOf(model, running->sources, {own.beginning});
  Result<Demand> demand =
      demandOf(model, running->sources, running->beginnings, own.options);
  if (!demand.ok())
    return demand.status();
  running->demand = std::move(*demand);
  Result<RunningBatch *> batch = batchOf(formOf(*running));
  if (!batch.ok())
    return batch.status();
  Result<TokenIds> inputs = (*batch)->inputsOf(*running);
  if (!inputs.ok())
    return inputs.status();
  running->inputs = std::move(*inputs);
  // A prompt is none of an answer.
  auto size = ptrdiff_t(isPrompted ? own.source.size() : 0);
  if (auto tell = own.options.onToken; tell && isPrompted)
    own.options.onToken = [=](int64_t sentence, const TokenIds &before,
                              int32_t token, bool isLast) {
      tell(sentence, TokenIds(before.begin() + size, before.end()), token,
           isLast);
    };
  return running;
}

Result<uint64_t>
Engine::submit(EngineRequest request,
               const std::function<void(uint64_t number)> &numbered) {
  auto draws = size_t(request.options.draws());
  auto samples = std::make_shared<RequestSamples>(draws);
  std::vector<std::unique_ptr<RunningRequest>> all;
  for (size_t sample = 0; sample < draws; ++sample) {
    auto running = check(request);
    if (!running.ok())
      return running.status();
    (*running)->samples = samples;
    (*running)->sample = uint32_t(sample);
    all.push_back(std::move(*running));
  }
  std::lock_guard<std::mutex> lock(mutex);
  unfinished[++lastNumber] = samples;
  if (numbered)
    numbered(lastNumber);
  {
    std::lock_guard<std::mutex> countsLock(counts->mutex);
    ++counts->all.submitted;
  }
  for (std::unique_ptr<RunningRequest> &running : all) {
    running->number = lastNumber;
    waiting.push_back(std::move(running));
  }
  return lastNumber;
}

void Engine::cancel(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = unfinished.find(number); found != unfinished.end())
    found->second->isCancelled = true;
}

EngineStatistics Engine::statistics() const {
  std::lock_guard<std::mutex> lock(counts->mutex);
  return counts->all;
}

/// Ends requests without rows that somebody has cancelled.
void Engine::endCancelled(const std::vector<RunningBatch *> &all) {
  std::vector<std::unique_ptr<RunningRequest>> ended;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto each = waiting.begin(); each != waiting.end();) {
      if (!(*each)->isCancelled()) {
        ++each;
        continue;
      }
      ended.push_back(std::move(*each));
      each = waiting.erase(each);
    }
  }
  for (std::unique_ptr<RunningRequest> &request : ended)
    end(std::move(request), cancellation());
  for (RunningBatch *batch : all)
    batch->endCancelled();
}

/// Gives free slots to those that wait.
void Engine::admit(const std::vector<RunningBatch *> &all) {
  while (statistics().running < limits.slots) {
    const RunningRequest *request = nullptr;
    RunningBatch *batch = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (waiting.empty())
        return;
      request = waiting.front().get();
      batch = batches.at(formOf(*request)).get();
    }
    int64_t others = 0;
    for (const RunningBatch *each : all)
      if (each != batch)
        others += each->slotBytes();
    Result<bool> fits = batch->fit(*request);
    bool hasRoom = fits.ok() && *fits && batch->hasRoom(*request, others);
    if (fits.ok() && *fits && !hasRoom && others == 0 && batch->isIdle()) {
      // Nobody will give it room: caches are larger than those it was checked
      // against.
      Status status = batch->inputsOf(*request).status();
      fits = status.ok() ? Status::error("has no room in the engine's memory")
                         : status;
    } else if (fits.ok() && !hasRoom) {
      return;
    }
    std::unique_ptr<RunningRequest> first;
    {
      // Others only wait behind it.
      std::lock_guard<std::mutex> lock(mutex);
      first = std::move(waiting.front());
      waiting.pop_front();
    }
    if (!fits.ok()) {
      end(std::move(first), fits.status());
      continue;
    }
    {
      std::lock_guard<std::mutex> lock(counts->mutex);
      ++counts->all.running;
    }
    batch->take(std::move(first));
  }
}

/// Tells a request what became of it, with the last of its samples.
void Engine::end(std::unique_ptr<RunningRequest> own,
                 const Result<std::vector<Hypothesis>> &result) {
  const RunningRequest &request = *own;
  RequestSamples &samples = *request.samples;
  bool areSeveral = samples.found.size() > 1, isLast = --samples.left == 0;
  if (areSeveral && result.ok())
    samples.found[request.sample] = result->front();
  else if (areSeveral && samples.failure.ok())
    samples.failure = result.status();
  if (isLast) {
    std::lock_guard<std::mutex> lock(mutex);
    unfinished.erase(request.number);
  }
  {
    std::lock_guard<std::mutex> lock(counts->mutex);
    counts->all.running -= request.slot >= 0;
    counts->all.finished += isLast;
  }
  if (!isLast || !request.request.finished)
    return;
  if (!areSeveral)
    request.request.finished(result);
  else if (samples.failure.ok())
    request.request.finished(std::move(samples.found));
  else
    request.request.finished(samples.failure);
}

void Engine::endAll(const Status &status) {
  for (RunningBatch *batch : begun())
    batch->endAll(status);
  std::deque<std::unique_ptr<RunningRequest>> left;
  {
    std::lock_guard<std::mutex> lock(mutex);
    left.swap(waiting);
  }
  for (std::unique_ptr<RunningRequest> &request : left)
    end(std::move(request), status);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Result<bool> Engine::step() {
  if (options.cancelled && *options.cancelled) {
    Status status = Status::error("the decoding was cancelled");
    endAll(status);
    return status;
  }
  std::vector<RunningBatch *> all = begun();
  endCancelled(all);
  // One that began in between has no request yet that was admitted.
  admit(all);
  for (RunningBatch *batch : all)
    if (Status status = batch->step(); !status.ok()) {
      endAll(status);
      return status;
    }
  std::lock_guard<std::mutex> lock(mutex);
  return !waiting.empty() ||
         std::any_of(batches.begin(), batches.end(),
                     [](const auto &each) { return !each.second->isIdle(); });
}
