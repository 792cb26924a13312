//===- Session.cpp - One batch at a time through a model ------------------===//
//
// A batch is laid out (SessionLayout.cpp), then encoded, then decoded step by
// step or at once. What moves from the host to the device and back is said
// here.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include <algorithm>

using namespace heddle;

Result<int64_t> Session::bytesFor(const std::vector<TokenIds> &sources,
                                  const DecoderRequest &request,
                                  const SourceFeatures &features) {
  Result<Layout> layout = plan(sources, request, features);
  if (!layout.ok())
    return layout.status();
  Result<int64_t> more = bytesForOthers(sources, request, features);
  return more.ok() ? bytes() + *more : more;
}

Status Session::begin(const std::vector<TokenIds> &sources,
                      const DecoderRequest &request,
                      const SourceFeatures &features) {
  Result<Layout> layout = plan(sources, request, features);
  if (!layout.ok())
    return layout.status();
  // What the batch before has shared is no memory of the block.
  if (beginnings)
    release();
  caches.clear();
  states.clear();
  if (Status status = workspace.take(); !status.ok())
    return ofBatch(status);
  settle(*layout);
  if (Status status = device->makeReady(dims[Dim::Rows]); !status.ok())
    return status;
  SourceBatch batch = batchOf(sources, request, features);
  for (size_t i = 0; i < sourceValues.size(); ++i)
    sourceInputs()[i]->fill(batch, dims, sourceValues[i]);
  if (Status status = findDecoderResults(); !status.ok())
    return status;
  makeBeginnings();
  touchedPositions.assign(hasSlots ? size_t(dims[Dim::Caches]) : 0, 0);
  decoder.begin(spareRows);
  measureAdopted();
  if (Status status = workspace.send(batchInputs); !status.ok())
    return status;
  if (encode.entry)
    if (Status status = call(encode); !status.ok())
      return status;
  if (task.entry)
    return call(task);
  if (prepare.entry)
    if (Status status = call(prepare); !status.ok())
      return status;
  return beginOthers(sources, request, features);
}

/// What stands around a step's entry.
CallFrame Session::frameOfStep() const {
  CallFrame frame;
  frame.history = decoder.historyWrite();
  if (merge) {
    frame.merge = merge;
    frame.merge->rows = dims[Dim::Rows];
    if (decode.entry->description->role == Role::Best)
      frame.merge->count = dims[Dim::Best];
  }
  return frame;
}

/// Runs an entry; what the host reads of it is there then.
Status Session::call(Binding &binding, const CallFrame &frame) {
  const Entry &entry = *binding.entry->description;
  for (size_t i = 0; i < entry.dims.size(); ++i)
    binding.dims[i] = entry.dims[i].in(dims);
  HeddleCall call = {};
  call.buffers = binding.buffers.data();
  call.dims = binding.dims.data();
  call.arena = arena;
  call.weights = model.weights();
  call.parallelFor = pool ? ThreadPool::parallelFor : nullptr;
  call.pool = pool;
  call.threads = pool ? pool->size() : 1;
  call.profile = profile;
  call.scratch = scratch;
  call.scratchBytes = model.scratchBytes() + deviceScratch;
  int64_t start = profile ? profile->now(profile) : 0;
  if (Status status =
          device->call(binding.entry->run, call,
                       {binding.buffers.size(), binding.dims.size()}, frame);
      !status.ok())
    return status;
  if (profile)
    profile->addEntry(size_t(&entry - model.manifest().entries.data()),
                      binding.dims.data(), start, profile->now(profile));
  return workspace.fetch(binding.results);
}

Status Session::runFull() {
  if (Status status = workspace.send(decoder.ofStep()); !status.ok())
    return status;
  Status status = call(decode);
  bool runs = status.ok() && !others.empty() &&
              decode.entry->description->role == Role::Full;
  return runs ? runOthers(dims[Dim::Batch], dims[Dim::Target], /*isStep=*/false)
              : status;
}

Status Session::runPrefill(const std::vector<TokenIds> &inputs,
                           const std::vector<int64_t> &from,
                           const LogitsOfPosition &tell) {
  std::vector<PromptPiece> pieces;
  for (size_t i = 0; i < inputs.size(); ++i) {
    int64_t count = int64_t(inputs[i].size());
    pieces.push_back({int32_t(i), /*position=*/0,
                      from.empty() ? count : from[i], inputs[i].data(), count});
  }
  decoder.setPast(inputs);
  if (Status status = workspace.send(decoder.ofPast()); !status.ok())
    return status;
  Status status = extend(pieces, tell);
  return status.ok() ? prefillOthers(inputs) : status;
}

void Session::accept(int64_t row, int64_t guesses, int64_t right) {
  decoder.advance(row, right);
  if (profile)
    profile->addGuesses(guesses, right);
}

Status Session::extend(const std::vector<PromptPiece> &pieces,
                       const LogitsOfPosition &tell,
                       const std::vector<TokenIds> *guesses) {
  PrefillRows &rows = decoder.prefill();
  Binding &binding = prefill.entry ? prefill : decode;
  float *logits = prefill.entry ? prefillLogits : decoderLogits;
  // A row of them has as many as the vocabulary, or as there are candidates.
  int64_t width =
      binding.entry->description->argument("logits", ArgumentKind::Output)
          ->shape.back()
          .in(dims);
  std::vector<PromptPiece> steps;
  std::vector<TokenIds> ids;
  if (guesses) {
    steps = decoder.asPieces();
    ids = *guesses;
    for (size_t row = 0; row < steps.size(); ++row) {
      ids[row].insert(ids[row].begin(), *steps[row].ids);
      steps[row].ids = ids[row].data();
      steps[row].count = int64_t(ids[row].size());
    }
    for (int64_t row = 0; row < decoder.count(); ++row)
      decoder.advance(row, /*count=*/1);
  }
  rows.begin(pieces, steps);
  while (rows.fill()) {
    if (isCancelled())
      return Status::error("the decoding was cancelled");
    if (Status status = touch(rows.writes()); !status.ok())
      return status;
    if (Status status = workspace.send(decoder.ofPrefill()); !status.ok())
      return status;
    if (Status status = call(binding); !status.ok())
      return status;
    for (const PrefillRows::Told &told : rows.told())
      if (Status status =
              tell(told.sentence, told.position, logits + told.row * width);
          !status.ok())
        return status;
  }
  return Status::success();
}

Status Session::runStep() {
  if (Status status = touch(decoder.writes()); !status.ok())
    return status;
  if (Status status = workspace.send(decoder.ofStep()); !status.ok())
    return status;
  if (Status status = call(decode, frameOfStep()); !status.ok())
    return status;
  if (!others.empty())
    if (Status status = runOthers(rows(), /*width=*/1, /*isStep=*/true);
        !status.ok())
      return status;
  decoder.advance();
  return Status::success();
}

Status Session::keep(const std::vector<int32_t> &parents) {
  char *spare = spareRows ? workspace.at(spareRows->states) : nullptr;
  for (const State &state : states)
    if (Status status = device->moveRows(
            {state.rows, state.rowBytes, state.rowBytes, spare}, parents);
        !status.ok())
      return status;
  for (auto &other : others)
    if (Status status = other->keep(parents); !status.ok())
      return status;
  return decoder.keep(parents);
}

Status Session::join(int32_t sentence, int64_t position) {
  for (const State &state : states)
    if (Status status = device->clear(
            state.rows + decoder.count() * state.rowBytes, state.rowBytes);
        !status.ok())
      return status;
  return workspace.send(decoder.join(sentence, position));
}

/// What the encoder, or what prepares the decoder, has left.
const char *Session::prepared(std::string_view name) const {
  for (const Binding *binding : {&prepare, &encode}) {
    if (!binding->entry)
      continue;
    const std::vector<Argument> &arguments =
        binding->entry->description->arguments;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].kind == ArgumentKind::Output &&
          arguments[i].name == name)
        return workspace.at(binding->places[i]);
  }
  __builtin_unreachable();
}

Status Session::setCandidates(const std::vector<const TokenIds *> &lists) {
  SourceFeatures features;
  for (const TokenIds *list : lists)
    features.candidates.push_back(list ? *list : TokenIds());
  const std::vector<TokenIds> sources(lists.size());
  SourceBatch batch{sources,          features,     inputSettings,
                    model.manifest(), std::nullopt, isRagged};
  // What a source has left for its candidates stays where it is.
  bool isPrepared = std::any_of(
      adopted.begin(), adopted.end(), [](const AdoptedArgument &each) {
        const std::vector<Extent> &shape = each.argument->shape;
        return std::any_of(shape.begin(), shape.end(), [](const Extent &of) {
          return of.dim == Dim::Shortlist;
        });
      });
  for (size_t i = 0; i < sourceRoles().size(); ++i) {
    std::string_view name = sourceRoles()[i].name;
    if (name != "candidates" && name != "counts")
      continue;
    if (!isPrepared)
      sourceInputs()[i]->measure(batch, dims);
    dims[Dim::Shortlist] = device->roundPositions(dims[Dim::Shortlist]);
    sourceInputs()[i]->fill(batch, dims, sourceValues[i]);
  }
  return sendSources();
}
