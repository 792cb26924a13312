//===- Session.cpp - One batch at a time through a model ------------------===//
//
// A batch is laid out before it runs: the runtime's own inputs get a place,
// then each entry's outputs and states; inputs and prepared arguments take the
// place of what they name. EntryContract.h has made sure that it exists, with
// the shape that is written or read here.
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <tuple>

using namespace heddle;

/// No position of a sentence, and behind all that are.
static constexpr int32_t kNoPosition = std::numeric_limits<int32_t>::max();

/// No position that a chunk has.
static constexpr int32_t kNone = -1;

/// The bytes of `count` rows of `width` four-byte elements.
static std::optional<int64_t> bytesOf(int64_t count, int64_t width = 1) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, width, &bytes) ||
      __builtin_mul_overflow(bytes, 4, &bytes))
    return std::nullopt;
  return bytes;
}

/// Finds the entries of a batch, its dimensions, and a place for all it needs.
Result<Session::Layout> Session::plan(const std::vector<TokenIds> &sources,
                                      const DecoderRequest &request,
                                      const std::vector<TokenIds> &candidates) {
  if (sources.empty())
    return Status::error("a batch has no sentence");
  size_t longest = 1, widest = 1;
  for (const TokenIds &source : sources) {
    assert(model.checkSource(source).ok() && "whoever made it has checked it");
    longest = std::max(longest, source.size());
  }
  for (const TokenIds &list : candidates)
    widest = std::max(widest, list.size());
  if (request.form == DecoderForm::ShortlistStep &&
      candidates.size() != sources.size())
    return Status::error("a batch of ", sources.size(), " sentences has ",
                         candidates.size(), " lists of candidates");
  if (Status status = findEntries(request); !status.ok())
    return status;

  dims[Dim::Batch] = static_cast<int64_t>(sources.size());
  dims[Dim::Rows] = dims[Dim::Caches] =
      dims[Dim::Batch] * request.rowsPerSentence;
  dims[Dim::Source] = static_cast<int64_t>(longest);
  dims[Dim::Target] = dims[Dim::Capacity] =
      std::max<int64_t>(request.length, 1);
  dims[Dim::Wanted] =
      request.form == DecoderForm::Chunk ? dims[Dim::Target] : 1;
  if (request.chunk > 0)
    dims[Dim::Target] = request.chunk;
  dims[Dim::Shortlist] = static_cast<int64_t>(widest);
  dims[Dim::Forbidden] = std::max<int64_t>(request.forbidden, 1);
  dims[Dim::Best] = std::max<int64_t>(request.best, 1);
  dims[Dim::Globals] = std::max<int64_t>(int64_t(globalTokens.size()), 1);
  return layOut(request);
}

/// Says of which batch it is that there is no memory.
Status Session::ofBatch(const Status &status) const {
  return Status::error("a batch of ", dims[Dim::Batch], " sentences with ",
                       dims[Dim::Source], " source and ", dims[Dim::Capacity],
                       " target tokens ", status.message());
}

Result<int64_t> Session::bytesFor(const std::vector<TokenIds> &sources,
                                  const DecoderRequest &request,
                                  const std::vector<TokenIds> &candidates) {
  Result<Layout> layout = plan(sources, request, candidates);
  if (!layout.ok())
    return layout.status();
  return *workspace.size();
}

Status Session::begin(const std::vector<TokenIds> &sources,
                      const DecoderRequest &request,
                      const std::vector<TokenIds> &candidates) {
  Result<Layout> layout = plan(sources, request, candidates);
  if (!layout.ok())
    return layout.status();
  if (Status status = workspace.take(); !status.ok())
    return ofBatch(status);
  settle(*layout);
  if (Status status = device->makeReady(); !status.ok())
    return status;
  fillInputs(sources, candidates);
  if (Status status = findDecoderResults(); !status.ok())
    return status;
  dims[Dim::Rows] = dims[Dim::Batch];
  if (Status status = send(batchInputs); !status.ok())
    return status;
  if (Status status = call(encode); !status.ok())
    return status;
  return prepare.entry ? call(prepare) : Status::success();
}

/// The role of a decoder's form.
static Role roleOf(DecoderForm form) {
  switch (form) {
  case DecoderForm::Chunk:
    return Role::Chunk;
  case DecoderForm::None:
    return Role::Encode;
  case DecoderForm::Full:
    return Role::Full;
  case DecoderForm::Step:
  case DecoderForm::ShortlistStep:
    return Role::Step;
  case DecoderForm::GreedyStep:
    return Role::Greedy;
  case DecoderForm::BestStep:
    return Role::Best;
  }
  __builtin_unreachable();
}

Status Session::findEntries(const DecoderRequest &request) {
  DecoderForm form = request.form;
  encode.entry = model.entryPoint(Role::Encode);
  prepare.entry = chunk.entry = decode.entry = nullptr;
  if (form == DecoderForm::None)
    return Status::success();
  bool hasCandidates = form == DecoderForm::ShortlistStep;
  // Rows that part share their past; without caches there is none to share.
  if (roleOf(form) == Role::Step && request.rowsPerSentence > 1)
    decode.entry = model.entryPoint(Role::Beam, hasCandidates);
  if (!decode.entry)
    decode.entry = model.entryPoint(roleOf(form), hasCandidates);
  if (!decode.entry)
    return Status::error(
        "'", model.artifact().path(), "' has no decoder with the role '",
        nameOf(roleOf(form)), hasCandidates ? "' over candidates" : "'");
  if (request.chunk > 0) {
    chunk.entry = model.entryPoint(Role::Chunk, hasCandidates);
    if (!chunk.entry)
      return Status::error("'", model.artifact().path(),
                           "' has no decoder with the role 'chunk'");
  }
  // Where a decoder has nothing to prepare it has no entry for that.
  if (form != DecoderForm::Full)
    prepare.entry = model.entryPoint(Role::Prepare, hasCandidates);
  return Status::success();
}

Result<Session::Layout> Session::layOut(const DecoderRequest &request) {
  workspace.restart();
  arenaBytes = deviceScratch = 0;
  int64_t batch = dims[Dim::Batch], rows = dims[Dim::Rows];
  auto place = [&](int64_t count, int64_t width = 1) {
    return workspace.placeShared(bytesOf(count, width));
  };
  auto key = [](const char *name) {
    return std::pair(ArgumentKind::Input, std::string_view(name));
  };
  // A state stays what it is for later entries, an output becomes `kind`.
  auto shareOutputs = [](const Binding &binding, ArgumentKind kind,
                         Places &shared) {
    ArgumentKind shares =
        kind == ArgumentKind::State ? kind : ArgumentKind::Output;
    const std::vector<Argument> &arguments =
        binding.entry->description->arguments;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].kind == shares)
        shared[{kind, arguments[i].name}] = binding.places[i];
  };

  bool isWhole =
      request.form == DecoderForm::Full || request.form == DecoderForm::Chunk;
  bool hasHistory = decode.entry && decode.entry->description->argument(
                                        "history", ArgumentKind::Input);
  bool hasChunk = request.chunk > 0 || request.form == DecoderForm::Chunk;
  batchInputs.begin = workspace.sharedEnd();
  Place sourcePlace = place(batch, dims[Dim::Source]);
  Place sentenceCachePlace = place(batch);
  Places shared = {
      {key("ids"), sourcePlace},
      {key("lengths"), place(batch)},
      {key("global"), place(batch, dims[Dim::Globals])},
      {key("candidates"), place(batch, dims[Dim::Shortlist])},
      {key("counts"), place(batch)},
      {key("target_lengths"), place(batch)},
      {key("wanted"), place(hasChunk ? batch : 0, dims[Dim::Wanted])},
  };
  Place chunkPlace = place(batch, request.chunk);
  batchInputs.end = workspace.sharedEnd();
  std::optional<Place> historyPlace;
  if (hasHistory)
    shared[key("history")] =
        historyPlace.emplace(place(rows, dims[Dim::Capacity]));
  stepInputs.begin = workspace.sharedEnd();
  Place decoderPlace = isWhole ? place(batch, dims[Dim::Target]) : place(rows);
  if (request.chunk == 0)
    chunkPlace = decoderPlace;
  shared[key("positions")] = place(rows);
  shared[key("sentences")] = place(rows);
  shared[key("caches")] = place(rows);
  shared[key("forbidden")] = place(rows, dims[Dim::Forbidden]);
  stepInputs.end = workspace.sharedEnd();
  Place positionsAt = shared[key("positions")],
        cachesAt = shared[key("caches")];
  bool hasNoDecoder = request.form == DecoderForm::None;
  if (Status status = bind(encode, shared, hasNoDecoder); !status.ok())
    return ofBatch(status);
  shareOutputs(encode, ArgumentKind::Input, shared);
  if (prepare.entry) {
    if (Status status = bind(prepare, shared); !status.ok())
      return ofBatch(status);
    shareOutputs(prepare, ArgumentKind::Prepared, shared);
  }
  shared[key("ids")] = decoderPlace;
  if (request.form == DecoderForm::Chunk)
    shared[key("caches")] = sentenceCachePlace;
  if (decode.entry)
    if (Status status = bind(decode, shared, /*hasResults=*/true); !status.ok())
      return ofBatch(status);
  if (chunk.entry) {
    shareOutputs(decode, ArgumentKind::State, shared);
    shared[key("ids")] = chunkPlace;
    shared[key("caches")] = sentenceCachePlace;
    if (Status status = bind(chunk, shared); !status.ok())
      return ofBatch(status);
  }
  Place arenaPlace = workspace.place(arenaBytes);
  std::optional<Place> sparePlace;
  if (request.rowsPerSentence > 1)
    sparePlace = workspace.placeShared(widestState());
  // One for each thread, or what a device gives its kernels: never both.
  Place scratchPlace = workspace.place(
      (pool ? pool->size() : 1) * model.scratchBytes() + deviceScratch);
  if (!workspace.size())
    return ofBatch(Status::error("needs more memory than 63 bits can address"));
  return Layout{sourcePlace,        decoderPlace,     chunkPlace,
                sentenceCachePlace, positionsAt,      cachesAt,
                historyPlace,       arenaPlace,       scratchPlace,
                sparePlace,         std::move(shared)};
}

/// Turns a plan into addresses, once the block stands.
void Session::settle(const Layout &layout) {
  auto integers = [&](Place place) {
    return reinterpret_cast<int32_t *>(workspace.hostAt(place));
  };
  auto input = [&](const char *name) {
    return integers(
        layout.shared.at({ArgumentKind::Input, std::string_view(name)}));
  };
  arena = workspace.at(layout.arena);
  scratch = workspace.at(layout.scratch);
  spareRows = layout.spare;
  sourceIds = integers(layout.source);
  decoderIds = integers(layout.decoder);
  lengths = input("lengths");
  globals = input("global");
  positions = integers(layout.positions);
  sentences = input("sentences");
  caches = integers(layout.caches);
  positionPlace = layout.positions;
  cachePlace = layout.caches;
  sentenceCaches = integers(layout.sentenceCaches);
  historyPlace = layout.history;
  history = historyPlace ? integers(*historyPlace) : nullptr;
  chunkIds = integers(layout.chunk);
  targetLengths = input("target_lengths");
  wanted = input("wanted");
  candidateIds = input("candidates");
  counts = input("counts");
  forbiddenIds = input("forbidden");
  for (Binding *binding : {&encode, &prepare, &chunk, &decode})
    if (binding->entry)
      connect(*binding);
}

/// Whether an entry returns what it keeps of ranges of the vocabulary.
static bool hasRanges(const Entry &entry) {
  return entry.role == Role::Greedy || entry.role == Role::Best;
}

/// Whether such an output has a list of logits or ids for each range.
static bool isList(const Argument &output) {
  return output.name != "maxima" && output.name != "sums";
}

/// Finds or makes the place of each argument, and asks for the arena. Results
/// are outputs that the host reads; lists of ranges it does not, where the
/// device makes one of them.
Status Session::bind(Binding &binding, const Places &shared, bool hasResults) {
  const Entry &entry = *binding.entry->description;
  bool merges = hasResults && hasRanges(entry) && device->mergesRanges();
  binding.places.clear();
  binding.merged = std::nullopt;
  binding.results.begin = workspace.sharedEnd();
  for (const Argument &argument : entry.arguments) {
    auto place = shared.find({argument.kind, argument.name});
    bool isOutput = argument.kind == ArgumentKind::Output;
    bool mayBeOwn = isOutput || argument.kind == ArgumentKind::State;
    if (!mayBeOwn || place != shared.end())
      binding.places.push_back(place->second);
    else if (hasResults && isOutput && !(merges && isList(argument)))
      binding.places.push_back(workspace.placeShared(argument.byteSize(dims)));
    else
      binding.places.push_back(workspace.place(argument.byteSize(dims)));
  }
  if (merges) {
    auto bytes = bytesOf(dims[Dim::Rows], dims[Dim::Best]);
    Place values = workspace.placeShared(bytes);
    binding.merged.emplace(values, workspace.placeShared(bytes));
  }
  binding.results.end = workspace.sharedEnd();
  binding.dims.clear();
  for (const Extent &dim : entry.dims)
    binding.dims.push_back(dim.in(dims));
  int64_t bytes = binding.entry->arenaSize(binding.dims.data());
  if (bytes < 0)
    return Status::error("needs an arena of ", bytes, " bytes for entry '",
                         entry.name, "'");
  arenaBytes = std::max(arenaBytes, bytes);
  deviceScratch =
      std::max(deviceScratch,
               device->rehearse(binding.entry->run,
                                {binding.places.size(), binding.dims.size()},
                                binding.dims.data()));
  return Status::success();
}

/// Whether rows move with `argument`: a state of theirs, or their history.
static bool isOfRows(const Argument &argument) {
  return argument.kind == ArgumentKind::State
             ? argument.shape.front().dim == Dim::Rows
             : argument.kind == ArgumentKind::Input &&
                   argument.name == "history";
}

/// Bytes of all rows of the widest that moves with them, or of an i32 for each.
int64_t Session::widestState() const {
  int64_t widest = bytesOf(dims[Dim::Rows]).value_or(0);
  if (decode.entry)
    for (const Argument &argument : decode.entry->description->arguments)
      if (isOfRows(argument))
        widest = std::max(widest, argument.byteSize(dims).value_or(0));
  return widest;
}

/// Turns places into addresses, once the block stands.
void Session::connect(Binding &binding) {
  binding.buffers.clear();
  for (Place place : binding.places)
    binding.buffers.push_back(workspace.at(place));
}

void Session::fillInputs(const std::vector<TokenIds> &sources,
                         const std::vector<TokenIds> &candidates) {
  // Any id would do: results do not depend on what stands behind a length.
  int32_t pad = model.manifest().generation.pad.value_or(0);
  if (pad >= model.manifest().sourceVocabulary)
    pad = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    int32_t *row = sourceIds + i * dims[Dim::Source];
    std::fill(std::copy(sources[i].begin(), sources[i].end(), row),
              row + dims[Dim::Source], pad);
    lengths[i] = static_cast<int32_t>(sources[i].size());
    sentences[i] = static_cast<int32_t>(i);
    caches[i] = sentenceCaches[i] =
        static_cast<int32_t>(static_cast<int64_t>(i) * rowsPerSentence());
    positions[i] = 0;
    row = globals + i * dims[Dim::Globals];
    auto behind =
        std::lower_bound(globalTokens.begin(), globalTokens.end(), lengths[i]);
    std::fill(std::copy(globalTokens.begin(), behind, row),
              row + dims[Dim::Globals], kNoPosition);
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    int32_t *row = candidateIds + i * dims[Dim::Shortlist];
    std::fill(std::copy(candidates[i].begin(), candidates[i].end(), row),
              row + dims[Dim::Shortlist], 0);
    counts[i] = static_cast<int32_t>(candidates[i].size());
  }
}

/// Whether a state has a slot for each position: none is read before it is
/// written, and memory that no sentence is long enough for is never touched.
static bool isCache(const Argument &state) {
  return std::any_of(
      state.shape.begin(), state.shape.end(),
      [](const Extent &extent) { return extent.dim == Dim::Capacity; });
}

/// Finds the decoder's logits, or what it keeps of ranges of them, and its
/// states, of which those of constant size start with zeros.
Status Session::findDecoderResults() {
  states.clear();
  decoderLogits = nullptr;
  ofRanges = {};
  merge = std::nullopt;
  if (!decode.entry)
    return Status::success();
  const Entry &entry = *decode.entry->description;
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    const Argument &argument = entry.arguments[i];
    if (argument.kind != ArgumentKind::State)
      continue;
    char *rows = workspace.at(decode.places[i]);
    int64_t bytes = *argument.byteSize(dims); // Placed: no overflow.
    if (!isCache(argument))
      if (Status status = device->clear(rows, bytes); !status.ok())
        return status;
    // Caches stay where they are.
    if (isOfRows(argument))
      states.push_back({rows, bytes / dims[Dim::Rows]});
  }
  if (hasRanges(entry))
    findRanges();
  else
    decoderLogits =
        reinterpret_cast<float *>(workspace.hostAt(placeOf(decode, "logits")));
  return Status::success();
}

/// The place of an output that an entry has.
Place Session::placeOf(const Binding &binding, std::string_view output) {
  const std::vector<Argument> &arguments =
      binding.entry->description->arguments;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].kind == ArgumentKind::Output &&
        arguments[i].name == output)
      return binding.places[i];
  __builtin_unreachable();
}

/// Finds what GreedyStep or BestStep keeps of ranges.
void Session::findRanges() {
  const Entry &entry = *decode.entry->description;
  bool isBest = entry.role == Role::Best;
  auto numbers = [&](Place place) {
    return reinterpret_cast<const float *>(workspace.hostAt(place));
  };
  if (isBest) {
    ofRanges.maxima = numbers(placeOf(decode, "maxima"));
    ofRanges.sums = numbers(placeOf(decode, "sums"));
  }
  Place values = placeOf(decode, "values");
  Place ids = placeOf(decode, isBest ? "best" : "largest");
  ranges = entry.argument("values", ArgumentKind::Output)->shape[1].size;
  lists = decode.merged ? 1 : ranges;
  if (decode.merged) {
    auto [bestValues, bestIds] = *decode.merged;
    merge = RangeMerge{workspace.at(values),
                       workspace.at(ids),
                       workspace.at(bestValues),
                       workspace.at(bestIds),
                       /*rows=*/0,
                       ranges,
                       isBest ? dims[Dim::Best] : 1};
    std::tie(values, ids) = *decode.merged;
  }
  ofRanges.values = numbers(values);
  ofRanges.ids = reinterpret_cast<const int32_t *>(workspace.hostAt(ids));
}

/// What stands around a step's entry.
CallFrame Session::frameOfStep() const {
  CallFrame frame;
  if (historyPlace)
    frame.history =
        HistoryWrite{workspace.at(*historyPlace), workspace.at(positionPlace),
                     workspace.at(cachePlace), rows(), dims[Dim::Capacity]};
  if (merge) {
    frame.merge = merge;
    frame.merge->rows = rows();
  }
  return frame;
}

/// Runs an entry; what the host reads of it is there then.
Status Session::call(Binding &binding, const CallFrame &frame) {
  const Entry &entry = *binding.entry->description;
  for (size_t i = 0; i < entry.dims.size(); ++i)
    binding.dims[i] = entry.dims[i].in(dims);
  HeddleCall call{binding.buffers.data(),
                  binding.dims.data(),
                  arena,
                  model.weights(),
                  pool ? ThreadPool::parallelFor : nullptr,
                  pool,
                  profile,
                  scratch,
                  model.scratchBytes() + deviceScratch,
                  /*device=*/nullptr};
  int64_t start = profile ? profile->now(profile) : 0;
  if (Status status =
          device->call(binding.entry->run, call,
                       {binding.buffers.size(), binding.dims.size()}, frame);
      !status.ok())
    return status;
  if (profile)
    profile->addEntry(size_t(&entry - model.manifest().entries.data()),
                      binding.dims.data(), start, profile->now(profile));
  return workspace.fetch(binding.results.begin, binding.results.end);
}

Status Session::runFull() {
  if (Status status = send(stepInputs); !status.ok())
    return status;
  return call(decode);
}

Status Session::runChunk(const std::vector<TokenIds> &inputs) {
  int64_t length = dims[Dim::Target], asked = dims[Dim::Wanted];
  bool isAll = !chunk.entry;
  for (size_t i = 0; i < inputs.size(); ++i) {
    int32_t *ids = chunkIds + i * length;
    std::fill(std::copy(inputs[i].begin(), inputs[i].end(), ids), ids + length,
              0);
    targetLengths[i] = static_cast<int32_t>(inputs[i].size());
    positions[i] = targetLengths[i];
    for (int64_t k = 0; k < asked; ++k)
      wanted[i * asked + k] = isAll ? static_cast<int32_t>(k) : kNone;
    if (history)
      std::fill_n(history + i * dims[Dim::Capacity], positions[i], caches[i]);
  }
  if (Status status = send({batchInputs.begin, stepInputs.end}); !status.ok())
    return status;
  return call(isAll ? decode : chunk);
}

Status Session::runStep() {
  if (Status status = send(stepInputs); !status.ok())
    return status;
  if (Status status = call(decode, frameOfStep()); !status.ok())
    return status;
  for (int64_t row = 0; row < rows(); ++row)
    ++positions[row];
  return Status::success();
}

Status Session::keep(const std::vector<int32_t> &parents) {
  char *spare = spareRows ? workspace.at(*spareRows) : nullptr;
  for (const State &state : states)
    if (Status status = device->moveRows(
            {state.rows, state.rowBytes, state.rowBytes, spare}, parents);
        !status.ok())
      return status;
  if (historyPlace) {
    int32_t used = *std::max_element(positions, positions + rows());
    if (Status status = device->moveRows({workspace.at(*historyPlace),
                                          *bytesOf(dims[Dim::Capacity]),
                                          *bytesOf(used), spare},
                                         parents);
        !status.ok())
      return status;
  }
  for (int32_t *numbers : {positions, sentences, caches})
    moveHostRows({reinterpret_cast<char *>(numbers), *bytesOf(1), *bytesOf(1),
                  spareRows ? workspace.hostAt(*spareRows) : nullptr},
                 parents);
  dims[Dim::Rows] = static_cast<int64_t>(parents.size());
  if (!historyPlace)
    return Status::success();
  // Children of one parent write to caches of their own, any of the sentence's:
  // the slots of a position are written once.
  for (int64_t row = 0, number = 0; row < rows(); ++row) {
    bool isSame = row > 0 && sentences[row] == sentences[row - 1];
    number = isSame ? number + 1 : 0;
    caches[row] =
        static_cast<int32_t>(sentences[row] * rowsPerSentence() + number);
  }
  return Status::success();
}
