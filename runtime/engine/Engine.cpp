//===- Engine.cpp - Requests that join and leave at any step --------------===//
//
// The session has a sentence for each slot, and rows for those that decode
// (EngineSteps.cpp). A request waits, in order, for a slot and, with a limit,
// for memory; several samples of one are requests of their own, which end as
// one.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/Engine.h"

#include "runtime/code/KernelAbi.h"
#include "runtime/engine/RunningRequest.h"
#include "runtime/session/MemoryPlan.h"

#include <algorithm>
#include <utility>

using namespace heddle;

/// Makes the search, now that nothing moves any more.
void Engine::Running::begin(const Model &model, Session &session) {
  batch.emplace(SearchBatch{model, session, prompts, beginnings,
                            demand.settings, request.options});
  batch->limits = demand.limits;
  batch->room = demand.room;
  batch->firstSentence = slot;
  batch->samples = {sample};
  mostGuesses = request.options.guesses;
  bool isBeamed = demand.settings.beams > 1;
  search = isBeamed ? static_cast<Search *>(&beamed.emplace(*batch))
                    : &single.emplace(*batch);
  search->tokens.reset(demand.settings.beams, demand.room);
  search->tokens.set(0, beginnings.front());
}

Engine::Engine(const Model &model, const EngineLimits &limits,
               const SessionOptions &options)
    : model(model), limits(limits), session(model, options) {}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(const Model &model,
                                             const EngineLimits &limits,
                                             const SessionOptions &options) {
  const std::string &file = model.artifact().path();
  if (!model.manifest().promptsTarget)
    return Status::error("'", file, "' does not continue texts");
  if (!model.entryPoint(Role::Extend) || !model.entryPoint(Role::Step))
    return Status::error("'", file, "' has no code that extends texts");
  if (limits.slots < 1 || limits.beams < 1 || limits.positions.value_or(1) < 1)
    return Status::error("an engine of ", limits.slots, " slots with ",
                         limits.beams, " beams and ",
                         limits.positions.value_or(1),
                         " positions, expected at least one of each");
  std::unique_ptr<Engine> engine(new Engine(model, limits, options));
  Status status = engine->begin();
  return status.ok() ? Result<std::unique_ptr<Engine>>(std::move(engine))
                     : status;
}

/// A batch with a sentence for each slot and no row.
Status Engine::begin() {
  std::optional<int64_t> most = model.manifest().generation.maxTarget;
  if (!limits.positions && !most)
    return Status::error("'", model.artifact().path(),
                         "' takes texts of any length, expected a number of "
                         "positions for the slots of an engine");
  positions =
      std::min(limits.positions.value_or(INT32_MAX), most.value_or(INT32_MAX));
  DecoderRequest request{DecoderForm::Step, positions, limits.beams};
  request.prefill = positions;
  // The logits of a call are no memory before they are written.
  request.prefillLogits =
      std::min<int64_t>(HEDDLE_EXTEND_ROWS, limits.slots * (1 + kMostGuesses));
  std::vector<TokenIds> sentences(size_t(limits.slots), TokenIds{0});
  // A GPU gives memory for all slots at once.
  if (limits.memory && model.isOnGpu()) {
    Result<int64_t> bytes = session.bytesFor(sentences, request);
    if (bytes.ok() && *bytes > *limits.memory)
      return Status::error("an engine of ", limits.slots, " slots needs ",
                           toMebibytes(*bytes), " MiB of memory, but may take ",
                           *limits.memory >> 20);
  }
  if (Status status = session.begin(sentences, request); !status.ok())
    return Status::error("an engine of ", limits.slots, " slots for ",
                         positions, " tokens, with ", limits.beams,
                         " beams each: ", status.message());
  if (Status status = prompts.begin(limits.slots, limits.memory); !status.ok())
    return Status::error("an engine of ", limits.slots, " slots ",
                         status.message());
  slots.resize(sentences.size());
  size_t rows = size_t(limits.slots * limits.beams);
  chosen.reserve(rows);
  next.reserve(rows);
  return session.keep({});
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<Engine::Running>>
Engine::check(EngineRequest request) const {
  if (request.prompt.empty())
    return Status::error("the prompt has no token");
  if (request.options.alternatives > 0)
    return Status::error("alternatives take several searches, expected one");
  auto running = std::make_unique<Running>();
  running->request = std::move(request);
  EngineRequest &own = running->request;
  running->prompts = {own.prompt};
  running->beginnings = {own.prompt};
  TokenIds &beginning = running->beginnings.front();
  beginning.insert(beginning.end(), own.beginning.begin(), own.beginning.end());
  Result<Demand> demand =
      demandOf(model, running->prompts, running->beginnings, own.options);
  if (!demand.ok())
    return demand.status();
  // The last token is fed to nobody.
  int64_t most = demand->request.length - 1;
  if (most > positions)
    return Status::error("takes up to ", most, " positions, ", beginning.size(),
                         " of them its prompt's, but a slot has ", positions);
  if (demand->settings.beams > limits.beams)
    return Status::error("searches with ", demand->settings.beams,
                         " beams, but a slot has rows for ", limits.beams);
  PromptSlots::Need need{most, demand->settings.beams};
  if (Status status = prompts.check(beginning, need); !status.ok())
    return status;
  running->demand = std::move(*demand);
  // A prompt is none of an answer.
  auto behind = [size = ptrdiff_t(own.prompt.size())](const TokenIds &before) {
    return TokenIds(before.begin() + size, before.end());
  };
  if (auto tell = own.options.onToken)
    own.options.onToken = [=](int64_t sentence, const TokenIds &before,
                              int32_t token, bool isLast) {
      tell(sentence, behind(before), token, isLast);
    };
  return running;
}

Result<uint64_t>
Engine::submit(EngineRequest request,
               const std::function<void(uint64_t number)> &numbered) {
  auto draws = size_t(request.options.draws());
  auto samples =
      std::make_shared<Samples>(Samples{draws, std::vector<Hypothesis>(draws)});
  std::vector<std::unique_ptr<Running>> all;
  for (size_t sample = 0; sample < draws; ++sample) {
    auto running = check(request);
    if (!running.ok())
      return running.status();
    (*running)->samples = samples;
    (*running)->sample = uint32_t(sample);
    all.push_back(std::move(*running));
  }
  std::lock_guard<std::mutex> lock(mutex);
  unfinished[++lastNumber] = false;
  if (numbered)
    numbered(lastNumber);
  ++counts.submitted;
  for (std::unique_ptr<Running> &running : all) {
    running->number = lastNumber;
    waiting.push_back(std::move(running));
  }
  return lastNumber;
}

void Engine::cancel(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = unfinished.find(number); found != unfinished.end())
    found->second = true;
}

bool Engine::isCancelled(const Running &request) {
  std::lock_guard<std::mutex> lock(mutex);
  return unfinished.at(request.number);
}

EngineStatistics Engine::statistics() const {
  std::lock_guard<std::mutex> lock(mutex);
  return counts;
}

/// Ends requests without rows that somebody has cancelled; choose() ends
/// others.
void Engine::endCancelled() {
  std::vector<std::unique_ptr<Running>> ended;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto each = waiting.begin(); each != waiting.end();) {
      if (!unfinished.at((*each)->number)) {
        ++each;
        continue;
      }
      ended.push_back(std::move(*each));
      each = waiting.erase(each);
    }
  }
  for (const std::unique_ptr<Running> &request : ended)
    end(*request, cancellation());
  std::deque<Running *> left;
  for (Running *request : std::exchange(prompting, {}))
    if (isCancelled(*request))
      end(*request, cancellation());
    else
      left.push_back(request);
  prompting = std::move(left);
}

/// Gives free slots to those that wait.
void Engine::admit() {
  while (true) {
    std::unique_ptr<Running> first;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (waiting.empty())
        return;
      const Running &request = *waiting.front();
      std::optional<int32_t> slot = prompts.take(
          request.beginnings.front(),
          {request.demand.request.length - 1, request.demand.settings.beams});
      if (!slot)
        return;
      first = std::move(waiting.front());
      first->slot = *slot;
      waiting.pop_front();
      ++counts.running;
    }
    first->begin(model, session);
    prompting.push_back(first.get());
    slots[size_t(first->slot)] = std::move(first);
  }
}

/// Tells a request what became of it, with the last of its samples; the slot is
/// free then.
void Engine::end(Running &request,
                 const Result<std::vector<Hypothesis>> &result) {
  std::unique_ptr<Running> own;
  if (request.slot >= 0) {
    own = std::move(slots[size_t(request.slot)]);
    prompts.leave(own->slot);
  }
  Samples &samples = *request.samples;
  bool areSeveral = samples.found.size() > 1, isLast = --samples.left == 0;
  if (areSeveral && result.ok())
    samples.found[request.sample] = result->front();
  else if (areSeveral && samples.failure.ok())
    samples.failure = result.status();
  {
    std::lock_guard<std::mutex> lock(mutex);
    counts.running -= own != nullptr;
    if (!isLast)
      return;
    unfinished.erase(request.number);
    ++counts.finished;
  }
  if (!request.request.finished)
    return;
  if (!areSeveral)
    request.request.finished(result);
  else if (samples.failure.ok())
    request.request.finished(std::move(samples.found));
  else
    request.request.finished(samples.failure);
}

void Engine::endAll(const Status &status) {
  decoding.clear();
  prompting.clear();
  chosen.clear();
  next.clear();
  for (std::unique_ptr<Running> &slot : slots)
    if (slot)
      end(*slot, status);
  prompts.forgetAll();
  std::deque<std::unique_ptr<Running>> left;
  {
    std::lock_guard<std::mutex> lock(mutex);
    left.swap(waiting);
  }
  for (std::unique_ptr<Running> &request : left)
    end(*request, status);
}
