//===- SessionLayout.cpp - Where the buffers of a batch stand -------------===//
//
// A batch is laid out before it runs: the runtime's own inputs get a place,
// then each entry's outputs and states; inputs and prepared arguments take the
// place of what they name. EntryContract.h has made sure that it exists, with
// the shape that is written or read here.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include <algorithm>
#include <cassert>
#include <tuple>

using namespace heddle;

/// Whether a form goes on step by step, and not with all of a target at once.
static bool isOfSteps(DecoderForm form) {
  return form != DecoderForm::None && !isOfWholeTargets(form) &&
         form != DecoderForm::Prefill;
}

/// Finds the entries of a batch, its dimensions, and a place for all it needs.
Result<Session::Layout> Session::plan(const std::vector<TokenIds> &sources,
                                      const DecoderRequest &request,
                                      const SourceFeatures &features) {
  if (sources.empty())
    return Status::error("a batch has no sentence");
  size_t longest = 1;
  for (const TokenIds &source : sources) {
    assert(model.checkSource(source).ok() && "whoever made it has checked it");
    longest = std::max(longest, source.size());
  }
  if (request.form == DecoderForm::ShortlistStep && !request.sources &&
      features.candidates.size() != sources.size())
    return Status::error("a batch of ", sources.size(), " sentences has ",
                         features.candidates.size(), " lists of candidates");
  if (Status status = findEntries(request); !status.ok())
    return status;

  dims[Dim::Batch] = static_cast<int64_t>(sources.size());
  dims[Dim::Rows] = dims[Dim::Caches] =
      dims[Dim::Batch] * request.rowsPerSentence;
  dims[Dim::Source] = askedSource =
      request.sources.value_or(static_cast<int64_t>(longest));
  dims[Dim::Target] = dims[Dim::Capacity] = askedTarget =
      std::max<int64_t>(request.length, 1);
  // If steps follow, nobody sees more positions than there are tokens.
  if (isOfSteps(request.form)) {
    int64_t most =
        std::max<int64_t>(model.manifest().sourcePositions.value_or(INT64_MAX),
                          dims[Dim::Source]);
    dims[Dim::Source] =
        std::min(device->roundPositions(dims[Dim::Source]), most);
    dims[Dim::Capacity] = device->roundPositions(dims[Dim::Capacity]);
  }
  hasSlots = request.hasSlots;
  // Blocks and caches are whole pages, which costs addresses alone.
  constexpr int64_t block = SharedBeginnings::kBlock;
  sharesBeginnings = request.sharesBeginnings && device->hasPages() &&
                     dims[Dim::Capacity] > block;
  if (sharesBeginnings)
    dims[Dim::Capacity] = (dims[Dim::Capacity] + block - 1) / block * block;
  dims[Dim::Forbidden] = std::max<int64_t>(request.forbidden, 1);
  dims[Dim::Best] = std::max<int64_t>(request.best, 1);
  for (const SourceInput *input : sourceInputs())
    input->measure(batchOf(sources, request, features), dims);
  if (request.sources && request.form == DecoderForm::ShortlistStep)
    dims[Dim::Shortlist] = model.manifest().targetVocabulary;
  dims[Dim::Shortlist] = device->roundPositions(dims[Dim::Shortlist]);
  // Its rows are tokens, too, as those of a ragged source are.
  if (request.form == DecoderForm::Prefill)
    decoder.prefill().measure(dims[Dim::Target],
                              dims[Dim::Batch] * dims[Dim::Target]);
  else if (request.prefill > 0)
    decoder.prefill().measure(request.prefill, request.prefillLogits);
  return layOut(request);
}

/// Says of which batch it is that there is no memory.
Status Session::ofBatch(const Status &status) const {
  int64_t count = dims[Dim::Batch];
  if (model.manifest().promptsTarget)
    return Status::error("a batch of ", countOf(count, "text"), " with ",
                         countOf(askedTarget, "token"), " ", status.message());
  return Status::error("a batch of ", countOf(count, "sentence"), " with ",
                       askedSource, " source and ",
                       countOf(askedTarget, "target token"), " ",
                       status.message());
}

/// The role of a decoder's form.
static Role roleOf(DecoderForm form, const Model &model) {
  switch (form) {
  case DecoderForm::Prefill:
    return model.prefillRole();
  case DecoderForm::None:
    return Role::Encode;
  case DecoderForm::Full:
    return Role::Full;
  case DecoderForm::Align:
    return Role::Align;
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
  encode.entry = request.sources ? nullptr : model.entryPoint(Role::Encode);
  task.entry = prepare.entry = prefill.entry = decode.entry = nullptr;
  if (request.task) {
    task.entry = model.entryPoint(*request.task);
    if (!task.entry)
      return Status::error("'", model.artifact().path(),
                           "' has no entry with the role '",
                           nameOf(*request.task), "'");
  }
  if (form == DecoderForm::None)
    return Status::success();
  bool hasCandidates = form == DecoderForm::ShortlistStep;
  // If a decoder has nothing to prepare it has no entry for that.
  if (!isOfWholeTargets(form) && !request.sources)
    prepare.entry = model.entryPoint(Role::Prepare, hasCandidates);
  if (request.preparesOnly)
    return Status::success();
  Role role = roleOf(form, model);
  // Rows that part share their past; without caches there is none to share.
  if (role == Role::Step && request.rowsPerSentence > 1)
    decode.entry = model.entryPoint(Role::Beam, hasCandidates);
  if (!decode.entry)
    decode.entry = model.entryPoint(role, hasCandidates);
  if (!decode.entry)
    return Status::error("'", model.artifact().path(),
                         "' has no decoder with the role '", nameOf(role),
                         hasCandidates ? "' over candidates" : "'");
  if (request.prefill > 0)
    prefill.entry = model.entryPoint(model.prefillRole(), hasCandidates);
  decoder.prefill().setRole(model.prefillRole());
  return Status::success();
}

/// Places what the host gives to entries.
Session::Layout Session::placeInputs(const DecoderRequest &request) {
  bool hasHistory = decode.entry && decode.entry->description->argument(
                                        "history", ArgumentKind::Input);
  Layout layout;
  batchInputs.begin = workspace.sharedEnd();
  for (const InputRole &role : isRagged ? raggedRoles() : sourceRoles()) {
    Place place = workspace.placeNumbers(dims[role.rows],
                                         role.width ? dims[*role.width] : 1);
    layout.shared[{ArgumentKind::Input, role.name}] = place;
    layout.sources.push_back(place);
  }
  batchInputs.end = workspace.sharedEnd();
  decoder.place(request, hasHistory, layout.shared);
  return layout;
}

/// Shows later entries what one leaves: a state stays what it is, an output
/// becomes `kind`.
void Session::shareOutputs(const Binding &binding, ArgumentKind kind,
                           Places &shared) {
  ArgumentKind shares =
      kind == ArgumentKind::State ? kind : ArgumentKind::Output;
  const std::vector<Argument> &arguments =
      binding.entry->description->arguments;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].kind == shares)
      shared[{kind, arguments[i].name}] = binding.places[i];
}

/// Takes the places of what an entry reads of sources that sentences adopt: all
/// that the host does not give.
Status Session::placeAdopted(const Binding &binding, Places &shared) {
  for (const Argument &argument : binding.entry->description->arguments) {
    bool isPrepared =
        argument.kind == ArgumentKind::Prepared ||
        (argument.kind == ArgumentKind::Input && !isInputRole(argument.name));
    if (!isPrepared || shared.count({argument.kind, argument.name}))
      continue;
    if (argument.shape.front().dim != Dim::Batch)
      return Status::error("has '", argument.name, "', ", describe(argument),
                           ", expected a row for each sentence");
    Place place = hasSlots ? workspace.placeTouched(argument.byteSize(dims))
                           : workspace.place(argument.byteSize(dims));
    shared[{argument.kind, argument.name}] = place;
    adopted.push_back({&argument, place});
  }
  return Status::success();
}

/// Binds the entries of a batch, each to what those before it leave.
Status Session::bindEntries(const DecoderRequest &request, Layout &layout) {
  DecoderForm form = request.form;
  Places &shared = layout.shared;
  bool isLast = form == DecoderForm::None && !task.entry;
  adopted.clear();
  for (const Binding *binding : {&decode, &prefill})
    if (request.sources && binding->entry)
      if (Status status = placeAdopted(*binding, shared); !status.ok())
        return status;
  if (encode.entry) {
    if (Status status = bind(encode, shared, isLast); !status.ok())
      return status;
    shareOutputs(encode, ArgumentKind::Input, shared);
  }
  if (task.entry)
    if (Status status = bind(task, shared, /*hasResults=*/true); !status.ok())
      return status;
  if (prepare.entry) {
    if (Status status = bind(prepare, shared); !status.ok())
      return status;
    shareOutputs(prepare, ArgumentKind::Prepared, shared);
  }
  if (form == DecoderForm::Prefill)
    decoder.prefill().share(shared);
  else
    decoder.shareOfStep(shared);
  if (decode.entry)
    if (Status status = bind(decode, shared, /*hasResults=*/true); !status.ok())
      return status;
  if (!prefill.entry)
    return Status::success();
  shareOutputs(decode, ArgumentKind::State, shared);
  decoder.prefill().share(shared);
  return bind(prefill, shared, /*hasResults=*/true);
}

Result<Session::Layout> Session::layOut(const DecoderRequest &request) {
  workspace.restart();
  arenaBytes = deviceScratch = 0;
  Layout layout = placeInputs(request);
  if (Status status = bindEntries(request, layout); !status.ok())
    return ofBatch(status);
  layout.arena = workspace.place(arenaBytes);
  if (request.rowsPerSentence > 1)
    layout.spare = SpareRows{workspace.placeNumbers(dims[Dim::Rows]),
                             workspace.place(widestState())};
  // One for each thread, or what a device gives its kernels: never both.
  layout.scratch = workspace.place(
      (pool ? pool->size() : 1) * model.scratchBytes() + deviceScratch);
  if (!workspace.size())
    return ofBatch(Status::error("needs more memory than 63 bits can address"));
  return layout;
}

/// Turns a plan into addresses, once the block stands.
void Session::settle(const Layout &layout) {
  arena = workspace.at(layout.arena);
  scratch = workspace.at(layout.scratch);
  spareRows = layout.spare;
  sourceValues.clear();
  for (Place place : layout.sources)
    sourceValues.push_back(
        reinterpret_cast<int32_t *>(workspace.hostAt(place)));
  for (Binding *binding : {&encode, &task, &prepare, &prefill, &decode})
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

/// The slots of a state that has some for positions, or null: none is read
/// before it is written, and memory that no sentence is long enough for is
/// never touched.
static const Extent *slotsOf(const Argument &state) {
  auto found = std::find_if(
      state.shape.begin(), state.shape.end(),
      [](const Extent &extent) { return extent.dim == Dim::Capacity; });
  return found == state.shape.end() ? nullptr : &*found;
}

/// Finds or makes the place of each argument, and asks for the arena. Results
/// are outputs that the host reads; lists of ranges it does not, if the
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
    else if (hasSlots && !isOutput && slotsOf(argument))
      binding.places.push_back(workspace.placeTouched(argument.byteSize(dims)));
    else if (hasResults && isOutput && !(merges && isList(argument)))
      binding.places.push_back(workspace.placeShared(argument.byteSize(dims)));
    else
      binding.places.push_back(workspace.place(argument.byteSize(dims)));
  }
  if (merges) {
    auto place = [&] {
      return workspace.placeNumbers(dims[Dim::Rows], dims[Dim::Best]);
    };
    Place values = place();
    binding.merged.emplace(values, place());
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
  rehearse(binding);
  return Status::success();
}

/// Has the device rehearse an entry for each number of rows that its calls may
/// have: few rows may have kernels of their own. Of numbers that setRows leaves
/// as they are it is those that they would be rounded to, which are near.
void Session::rehearse(Binding &binding) {
  const std::vector<Extent> &extents = binding.entry->description->dims;
  bool hasRows =
      std::any_of(extents.begin(), extents.end(),
                  [](const Extent &dim) { return dim.dim == Dim::Rows; });
  int64_t most = dims[Dim::Rows];
  auto rehearseWith = [&](int64_t rows) {
    dims[Dim::Rows] = rows;
    for (size_t i = 0; i < extents.size(); ++i)
      binding.dims[i] = extents[i].in(dims);
    deviceScratch =
        std::max(deviceScratch,
                 device->rehearse(binding.entry->run,
                                  {binding.places.size(), binding.dims.size()},
                                  binding.dims.data()));
  };
  for (int64_t rows = 1; hasRows && rows < most;
       rows = device->roundRows(rows + 1))
    rehearseWith(rows);
  if (hasRows)
    rehearseWith(dims[Dim::Batch]);
  rehearseWith(most);
}

/// Whether rows move with `argument`: a state of theirs, or their history.
static bool isOfRows(const Argument &argument) {
  return argument.kind == ArgumentKind::State
             ? argument.shape.front().dim == Dim::Rows
             : argument.kind == ArgumentKind::Input &&
                   argument.name == "history";
}

/// Bytes of all rows of the widest that moves with them.
int64_t Session::widestState() const {
  int64_t widest = 0;
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
    binding.buffers.push_back({workspace.at(place)});
}

/// Finds the decoder's logits, or what it keeps of ranges of them, and its
/// states, of which those of constant size start with zeros.
Status Session::findDecoderResults() {
  states.clear();
  caches.clear();
  decoderLogits = prefillLogits = nullptr;
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
    const Extent *slots = slotsOf(argument);
    if (!slots)
      if (Status status = device->clear(rows, bytes); !status.ok())
        return status;
    // Caches stay where they are.
    if (isOfRows(argument))
      states.push_back({rows, bytes / dims[Dim::Rows]});
    else
      caches.push_back({rows, bytes / dims[Dim::Caches],
                        slots ? slots->in(dims) : 0, slots ? slots->size : 0});
  }
  if (prefill.entry)
    prefillLogits =
        reinterpret_cast<float *>(workspace.hostAt(placeOf(prefill, "logits")));
  if (hasRanges(entry))
    findRanges();
  else if (entry.role != Role::Align)
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
