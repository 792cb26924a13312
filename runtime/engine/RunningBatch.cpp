//===- RunningBatch.cpp - Requests that decode together -------------------===//
//
// The session has a sentence for each slot, and rows for those that decode
// (RunningBatchSteps.cpp). A translator's slot gets its source, encoded, before
// its first row.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/RunningBatch.h"

#include "runtime/code/KernelAbi.h"
#include "runtime/session/MemoryPlan.h"

#include <algorithm>
#include <utility>

using namespace heddle;

/// Source tokens that are encoded together, with padding, which is at most a
/// quarter of them.
static constexpr int64_t kGroupTokens = 1024;

/// Makes the search, now that nothing moves any more.
void RunningRequest::begin(const Model &model, Session &session,
                           DecoderForm form) {
  batch.emplace(SearchBatch{model, session, sources, beginnings,
                            demand.settings, request.options});
  batch->form = form;
  batch->limits = demand.limits;
  batch->room = demand.room;
  batch->candidates = demand.features.candidates;
  batch->firstSentence = slot;
  batch->samples = {sample};
  search = isBeamed() ? static_cast<Search *>(&beamed.emplace(*batch))
                      : &single.emplace(*batch);
  search->tokens.reset(demand.settings.beams, demand.room);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// What a group of sources takes at most: one of all tokens, or as many as have
/// kGroupTokens.
Status RunningBatch::measureEncoder() {
  DecoderRequest request{form};
  request.preparesOnly = true;
  auto measure = [&](int64_t count, int64_t length) {
    SourceFeatures features;
    if (form == DecoderForm::ShortlistStep)
      features.candidates.assign(
          size_t(count),
          TokenIds(size_t(model.manifest().targetVocabulary), 0));
    Result<int64_t> bytes = encoder.bytesFor(
        std::vector<TokenIds>(size_t(count), TokenIds(size_t(length), 0)),
        request, features);
    if (bytes.ok())
      encoding = std::max(encoding, *bytes);
    return bytes.status();
  };
  int64_t longest = *limits.sources, length = std::min(longest, kGroupTokens);
  Status status = measure(1, longest);
  return status.ok() ? measure(std::min(limits.slots,
                                        (kGroupTokens + length - 1) / length),
                               length)
                     : status;
}

Status RunningBatch::begin() {
  Status status = isPrompted() ? Status::success() : measureEncoder();
  extends = model.entryPoint(Role::Extend, form == DecoderForm::ShortlistStep);
  // What rows of several beams have of their past the host writes.
  mayMix = extends && form == DecoderForm::Step &&
           (limits.beams == 1 || session.isOnHost());
  if (status.ok())
    status = beginWithin({limits.slots, *limits.positions}, kLeastPositions);
  if (!status.ok())
    return Status::error("an engine of ", limits.slots, " slots ",
                         status.message());
  size_t rows = size_t(limits.slots * limits.beams);
  chosen.reserve(rows);
  next.reserve(rows);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

PromptSlots::Need RunningBatch::needOf(const RunningRequest &request) const {
  // The last token is fed to nobody; a translator's first input is none.
  bool has = isPrompted();
  return {has ? request.beginnings.front() : TokenIds(),
          request.demand.request.length - has, request.demand.settings.beams,
          has ? 0 : int64_t(request.sources.front().size())};
}

Status RunningBatch::check(const RunningRequest &request) const {
  PromptSlots::Need need = needOf(request);
  if (need.source > limits.sources.value_or(0))
    return Status::error("has ", need.source, " tokens, but a slot has ",
                         *limits.sources, " for a source");
  if (need.positions > *limits.positions && !isPrompted())
    return Status::error("takes up to ", need.positions,
                         " target tokens, but a slot has ", *limits.positions);
  if (need.positions > *limits.positions)
    return Status::error("takes up to ", need.positions, " positions, ",
                         request.beginnings.front().size(),
                         " of them its prompt's, but a slot has ",
                         *limits.positions);
  if (need.rows > limits.beams)
    return Status::error("searches with ", need.rows,
                         " beams, but the engine's limit of beams is ",
                         limits.beams);
  std::lock_guard<std::mutex> lock(reshaping);
  return prompts.check(need);
}

Result<TokenIds> RunningBatch::inputsOf(const RunningRequest &request) const {
  if (Status status = check(request); !status.ok())
    return status;
  if (isPrompted())
    return request.beginnings.front();
  const std::vector<TokenIds> &before = request.demand.prefill;
  return extends && !before.empty() ? before.front() : TokenIds();
}

bool RunningBatch::hasRoom(const RunningRequest &request,
                           int64_t othersBytes) const {
  return prompts.hasRoom(needOf(request), othersBytes);
}

void RunningBatch::take(std::unique_ptr<RunningRequest> own) {
  RunningRequest &request = *own;
  request.slot = prompts.take(needOf(request));
  slots[size_t(request.slot)] = std::move(own);
  request.mostGuesses =
      mayMix && !request.isBeamed() ? request.request.options.guesses : 0;
  request.begin(model, session, form);
  // Without a prefill the search feeds a prefix itself.
  if (isPrompted() || !request.inputs.empty())
    request.search->tokens.set(0, request.beginnings.front());
  prompting.push_back(&request);
  if (!isPrompted())
    unencoded.push_back(&request);
}

void RunningBatch::endCancelled() {
  std::deque<RunningRequest *> left;
  for (RunningRequest *request : std::exchange(prompting, {})) {
    if (!request->isCancelled()) {
      left.push_back(request);
      continue;
    }
    unencoded.erase(std::remove(unencoded.begin(), unencoded.end(), request),
                    unencoded.end());
    end(*request, cancellation());
  }
  prompting = std::move(left);
}

/// The slot of a request is free then.
void RunningBatch::end(RunningRequest &request,
                       const Result<std::vector<Hypothesis>> &result) {
  std::unique_ptr<RunningRequest> own = std::move(slots[size_t(request.slot)]);
  prompts.leave(own->slot);
  ended(std::move(own), result);
}

void RunningBatch::endAll(const Status &status) {
  decoding.clear();
  prompting.clear();
  unencoded.clear();
  chosen.clear();
  next.clear();
  session.dropRows();
  for (std::unique_ptr<RunningRequest> &slot : slots)
    if (slot)
      end(*slot, status);
  prompts.forgetAll();
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// Encodes sources together, and gives each to the slot of its request; that
/// of several samples once.
Status RunningBatch::encodeGroup(const std::vector<RunningRequest *> &group) {
  std::vector<TokenIds> sources;
  std::vector<int32_t> numbers;
  SourceFeatures features;
  for (const RunningRequest *request : group) {
    const TokenIds &source = request->sources.front();
    bool isAnother = sources.empty() || sources.back() != source;
    numbers.push_back(int32_t(sources.size()) - !isAnother);
    if (!isAnother)
      continue;
    sources.push_back(source);
    if (form == DecoderForm::ShortlistStep)
      features.candidates.push_back(
          request->demand.features.candidates.front());
  }
  DecoderRequest asked{form};
  asked.preparesOnly = true;
  if (Status status = encoder.begin(sources, asked, features); !status.ok())
    return status;
  for (size_t i = 0; i < group.size(); ++i)
    if (Status status = session.adopt(group[i]->slot, encoder, numbers[i]);
        !status.ok())
      return status;
  if (Status status = session.sendSources(); !status.ok())
    return status;
  return encoder.finish();
}

/// Encodes what has joined: sources of similar lengths together.
Status RunningBatch::encodeSources() {
  auto lengthOf = [](const RunningRequest *request) {
    return int64_t(request->sources.front().size());
  };
  std::vector<RunningRequest *> all = std::exchange(unencoded, {});
  std::sort(all.begin(), all.end(), [&](auto *a, auto *b) {
    return lengthOf(a) != lengthOf(b) ? lengthOf(a) > lengthOf(b)
                                      : a->sources < b->sources;
  });
  std::vector<RunningRequest *> group;
  // If memory is short for some, others go on.
  auto encode = [&] {
    Status status = group.empty() ? Status::success() : encodeGroup(group);
    if (!status.ok() && !encoder.deviceFailure().ok())
      return status;
    for (RunningRequest *request : group)
      if (!status.ok()) {
        prompting.erase(std::find(prompting.begin(), prompting.end(), request));
        end(*request, status);
      }
    group.clear();
    return Status::success();
  };
  for (RunningRequest *request : all) {
    int64_t longest = lengthOf(group.empty() ? request : group.front());
    if (lengthOf(request) * 4 < longest * 3 ||
        int64_t(group.size() + 1) * longest > kGroupTokens)
      if (Status status = encode(); !status.ok())
        return status;
    group.push_back(request);
  }
  if (Status status = encode(); !status.ok())
    return status;
  return all.empty() || form != DecoderForm::ShortlistStep ? Status::success()
                                                           : setCandidates();
}

/// Steps have the candidates of those that have a slot.
Status RunningBatch::setCandidates() {
  std::vector<const TokenIds *> lists;
  for (const std::unique_ptr<RunningRequest> &request : slots)
    lists.push_back(request ? &request->batch->candidates.front() : nullptr);
  return session.setCandidates(lists);
}

/// Gives rows to those whose inputs are in their caches, unless the logits
/// behind these do.
Status RunningBatch::addReadyRows() {
  if (isPrompted())
    return Status::success();
  for (RunningRequest *request : std::deque<RunningRequest *>(prompting)) {
    auto count = int64_t(request->inputs.size());
    if (prompts.computed(request->slot) < count)
      continue;
    if (Status status = addRow(*request, count); !status.ok())
      return status;
    request->rows = 1;
    decoding.push_back(request);
  }
  return Status::success();
}
