//===- Engine.cpp - Requests that join and leave at any step --------------===//
//
// The session has a sentence for each slot, and rows for those that decode. A
// step of the engine is one step of all rows, then a call for pieces of
// prompts, in the order in which requests came. A prompt that ends in it has
// its first token from that call, and a row from then on. Rows of a request
// stand together.
//
// A row may bring guesses of what follows it (prompt lookup; Saxena 2023). The
// step of all rows is then such a call, too, which computes each guess as a row
// of its own. The request chooses behind its token as ever, and goes on behind
// a guess if that is what it chose: the bits are those of as many steps.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/Engine.h"

#include "runtime/code/KernelAbi.h"
#include "runtime/engine/PromptLookup.h"
#include "runtime/search/BeamedSearch.h"
#include "runtime/search/Demand.h"
#include "runtime/search/SingleSearch.h"

#include <algorithm>
#include <utility>

using namespace heddle;

/// What several samples of one request have found, by their number.
struct Engine::Samples {
  size_t left;
  std::vector<Hypothesis> found;
  Status failure = Status::success();
};

/// A request, or one of its samples, and its search: what a batch of one
/// sentence is elsewhere.
struct Engine::Running {
  uint64_t number = 0;
  EngineRequest request;
  std::shared_ptr<Samples> samples;
  uint32_t sample = 0;
  /// Its prompt, and that with what the answer begins with.
  std::vector<TokenIds> prompts, beginnings;
  Demand demand;
  std::optional<SearchBatch> batch;
  std::optional<SingleSearch> single;
  std::optional<BeamedSearch> beamed;
  Search *search = nullptr;
  int32_t slot = -1;
  int64_t rows = 0;
  /// What may follow its row, of which so many were chosen, and whether it goes
  /// on behind more of them; and how many are worth a guess.
  TokenIds guesses;
  int64_t right = 0, mostGuesses = 0;
  bool goesOn = false;

  void begin(const Model &model, Session &session);
};

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

static Status cancellation() {
  return Status::error("the request was cancelled");
}

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
  std::deque<std::unique_ptr<Running>> left;
  {
    std::lock_guard<std::mutex> lock(mutex);
    left.swap(waiting);
  }
  for (std::unique_ptr<Running> &request : left)
    end(*request, status);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Asks what follows the rows of a request; none ends it.
void Engine::choose(Running &request, int64_t first, int64_t count) {
  request.batch->firstRow = first;
  size_t begin = chosen.size();
  Status status =
      isCancelled(request)
          ? cancellation()
          : request.search->choose(/*sentence=*/0, first, count, chosen);
  if (!status.ok())
    chosen.resize(begin);
  next.push_back({begin, chosen.size(), &request});
  if (chosen.size() > begin)
    return;
  if (!status.ok())
    return end(request, status);
  std::vector<Hypothesis> found = request.search->take(0);
  auto size = ptrdiff_t(request.request.prompt.size());
  for (Hypothesis &hypothesis : found) {
    hypothesis.given -= size;
    hypothesis.tokens.erase(hypothesis.tokens.begin(),
                            hypothesis.tokens.begin() + size);
  }
  end(request, std::move(found));
}

/// Gives each row its last token.
void Engine::feed() {
  int64_t row = 0;
  for (Running *request : decoding) {
    request->batch->firstRow = row;
    for (int64_t number = 0; number < request->rows; ++number, ++row) {
      session.ids()[row] = request->search->tokens[number].back();
      request->search->prepare(row);
    }
  }
  std::lock_guard<std::mutex> lock(mutex);
  counts.steps += row > 0;
  counts.stepRows += row;
}

/// The next token of all rows.
Status Engine::stepRows() {
  if (session.rows() == 0)
    return Status::success();
  feed();
  if (Status status = session.runStep(); !status.ok())
    return status;
  int64_t row = 0;
  // Those that end are gone behind their choice.
  for (Running *request : decoding) {
    int64_t count = request->rows;
    choose(*request, row, count);
    row += count;
  }
  return Status::success();
}

/// Guesses what follows rows; whether there is a guess. A request whose guesses
/// were wrong has fewer the next time, and more again once all are right.
bool Engine::guess() {
  int64_t count = 0, rows = session.rows();
  for (Running *each : decoding) {
    Running &request = *each;
    request.guesses.clear();
    const TokenIds &tokens = request.search->tokens[0];
    int64_t begun = int64_t(request.beginnings.front().size());
    int64_t size = int64_t(tokens.size());
    // The last token that it may have is fed to nobody.
    int64_t most = std::min({request.mostGuesses,
                             request.demand.limits.front() - (size - begun) - 1,
                             HEDDLE_EXTEND_ROWS - rows - count});
    if (most > 0)
      request.guesses = lookUp(tokens, most);
    count += int64_t(request.guesses.size());
  }
  std::lock_guard<std::mutex> lock(mutex);
  counts.guesses += count;
  return count > 0;
}

/// The next pieces of prompts, of at most `room` rows.
std::vector<PromptPiece> Engine::takePieces(int64_t room) {
  std::vector<PromptPiece> pieces;
  int64_t rows = 0;
  for (Running *request : prompting) {
    if (prompts.isWaiting(request->slot))
      continue;
    const TokenIds &ids = request->beginnings.front();
    int64_t size = int64_t(ids.size()), first = prompts.computed(request->slot);
    PromptPiece piece{request->slot, first, size - 1, ids.data() + first,
                      std::min(size - first, room - rows)};
    if (piece.count == 0)
      break;
    pieces.push_back(piece);
    rows += piece.count;
  }
  for (const PromptPiece &piece : pieces)
    prompts.add(piece.sentence, piece.count);
  std::lock_guard<std::mutex> lock(mutex);
  counts.prompts += !pieces.empty();
  counts.promptRows += rows;
  counts.sharedTokens = prompts.sharedTokens();
  return pieces;
}

/// The prompt of a request is in its cache up to `position`, the last.
Status Engine::beginDecoding(Running &request, int64_t position) {
  prompting.erase(std::find(prompting.begin(), prompting.end(), &request));
  request.guesses.clear();
  request.right = 0;
  return session.join(request.slot, position + 1);
}

/// Chooses behind a row's token or, if the guesses before it were chosen, its
/// next guess. Of one that is chosen the request goes on with the logits that
/// come next.
void Engine::chooseBehind(Running &request, int64_t row, float *logits) {
  size_t before = chosen.size(), slot = size_t(request.slot);
  request.batch->told = logits;
  choose(request, row, /*count=*/1);
  if (!slots[slot])
    return; // It has ended.
  request.batch->told = nullptr;
  request.goesOn =
      size_t(request.right) < request.guesses.size() &&
      chosen.back().token == request.guesses[size_t(request.right)];
  if (!request.goesOn)
    return;
  ++request.right;
  request.search->tokens.keep({{0, chosen.back().token}});
  chosen.resize(before);
  next.pop_back();
}

/// What the guesses of a row were worth, once it has chosen.
void Engine::settle(Running &request, int64_t row) {
  int64_t count = int64_t(request.guesses.size());
  if (count == 0)
    return;
  session.accept(row, count, request.right);
  request.mostGuesses =
      request.right == count
          ? std::min(2 * request.mostGuesses, request.request.options.guesses)
          : std::max<int64_t>(request.right, 1);
  std::lock_guard<std::mutex> lock(mutex);
  counts.rightGuesses += request.right;
}

/// The next pieces of prompts; who has the last of its own has a first token.
/// With `stepsRows` the next token of all rows beside them, and more of those
/// whose guesses are right.
Status Engine::extendPrompts(bool stepsRows) {
  int64_t room = HEDDLE_EXTEND_ROWS, stepped = 0;
  std::vector<TokenIds> guesses;
  if (stepsRows) {
    feed();
    stepped = session.rows();
    for (Running *request : decoding) {
      guesses.push_back(request->guesses);
      room -= 1 + int64_t(request->guesses.size());
      request->right = 0;
      request->goesOn = true;
    }
  }
  if (Status status = prompts.copyBeginnings(); !status.ok())
    return status;
  std::vector<PromptPiece> pieces = takePieces(room);
  if (pieces.empty() && !stepsRows)
    return Status::success();
  // A row has the logits behind it and behind each of its guesses.
  int64_t row = stepsRows ? 0 : session.rows();
  size_t told = 0;
  auto choose = [&](int64_t slot, int64_t position, float *logits) {
    Running *request = slots[size_t(slot)].get();
    if (row >= stepped) {
      if (Status status = beginDecoding(*request, position); !status.ok())
        return status;
      chooseBehind(*request, row++, logits);
      return Status::success();
    }
    if (request && request->goesOn)
      chooseBehind(*request, row, logits);
    if (++told <= guesses[size_t(row)].size())
      return Status::success();
    if (request = slots[size_t(slot)].get(); request)
      settle(*request, row);
    told = 0;
    ++row;
    return Status::success();
  };
  return session.extend(pieces, choose, stepsRows ? &guesses : nullptr);
}

/// Goes on with the rows that were chosen.
Status Engine::keep() {
  fillGaps(next);
  decoding.clear();
  std::vector<int32_t> parents;
  std::vector<Continuation> own;
  for (const Chosen &each : next) {
    Running &request = *each.request;
    own.clear();
    for (size_t i = each.begin; i < each.end; ++i) {
      parents.push_back(chosen[i].row);
      own.push_back(
          {chosen[i].row - int32_t(request.batch->firstRow), chosen[i].token});
    }
    request.search->tokens.keep(own);
    request.rows = int64_t(each.size());
    decoding.push_back(&request);
  }
  chosen.clear();
  next.clear();
  return session.keep(parents);
}

Result<bool> Engine::step() {
  if (session.isCancelled()) {
    Status status = Status::error("the decoding was cancelled");
    endAll(status);
    return status;
  }
  endCancelled();
  admit();
  // Rows of one request share their past in steps alone.
  bool mayMix = limits.beams == 1 && session.rows() > 0 &&
                session.rows() < HEDDLE_EXTEND_ROWS;
  bool areTogether = mayMix && (guess() || !prompting.empty());
  Status status = areTogether ? Status::success() : stepRows();
  if (status.ok())
    status = extendPrompts(areTogether);
  if (status.ok())
    status = keep();
  if (!status.ok()) {
    endAll(status);
    return status;
  }
  std::lock_guard<std::mutex> lock(mutex);
  return !decoding.empty() || !prompting.empty() || !waiting.empty();
}

Status Engine::run() {
  while (true) {
    Result<bool> isLeft = step();
    if (!isLeft.ok() || !*isLeft)
      return isLeft.status();
  }
}
