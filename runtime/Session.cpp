//===- Session.cpp - One batch at a time through a model ------------------===//
//
// A batch is laid out before it runs: the runtime's own inputs get a place,
// then each entry's outputs and states; inputs and prepared arguments take the
// place of what they name. EntryContract.h has made sure that it exists, with
// the shape that is written or read here.
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"

#include "runtime/FloatEnvironment.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace heddle;

/// No position of a sentence, and behind all that are.
static constexpr int32_t kNoPosition = std::numeric_limits<int32_t>::max();

/// The bytes of `count` rows of `width` four-byte elements.
static std::optional<int64_t> bytesOf(int64_t count, int64_t width = 1) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, width, &bytes) ||
      __builtin_mul_overflow(bytes, 4, &bytes))
    return std::nullopt;
  return bytes;
}

Status Session::begin(const std::vector<TokenIds> &sources, DecoderForm form,
                      int64_t length, const std::vector<TokenIds> &candidates,
                      int64_t forbidden) {
  if (sources.empty())
    return Status::error("a batch has no sentence");
  size_t longest = 1, widest = 1;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (Status status = model.checkSource(sources[i]); !status.ok())
      return Status::error("sentence ", i + 1, " of a batch ",
                           status.message());
    longest = std::max(longest, sources[i].size());
  }
  for (const TokenIds &list : candidates)
    widest = std::max(widest, list.size());
  if (form == DecoderForm::ShortlistStep && candidates.size() != sources.size())
    return Status::error("a batch of ", sources.size(), " sentences has ",
                         candidates.size(), " lists of candidates");
  if (Status status = findEntries(form); !status.ok())
    return status;

  dims[Dim::Batch] = dims[Dim::Rows] = dims[Dim::Caches] =
      static_cast<int64_t>(sources.size());
  dims[Dim::Source] = static_cast<int64_t>(longest);
  dims[Dim::Target] = dims[Dim::Capacity] = std::max<int64_t>(length, 1);
  dims[Dim::Shortlist] = static_cast<int64_t>(widest);
  dims[Dim::Forbidden] = std::max<int64_t>(forbidden, 1);
  dims[Dim::Globals] = std::max<int64_t>(int64_t(globalTokens.size()), 1);
  if (Status status = layOut(form, dims[Dim::Target]); !status.ok())
    return Status::error("a batch of ", sources.size(), " sentences with ",
                         longest, " source and ", dims[Dim::Target],
                         " target tokens ", status.message());
  fillInputs(sources, candidates);
  findDecoderResults();
  call(encode);
  if (prepare.entry)
    call(prepare);
  return Status::success();
}

/// The role of a decoder's form.
static Role roleOf(DecoderForm form) {
  switch (form) {
  case DecoderForm::None:
    return Role::Encode;
  case DecoderForm::Full:
    return Role::Full;
  case DecoderForm::Step:
  case DecoderForm::ShortlistStep:
    return Role::Step;
  case DecoderForm::GreedyStep:
    return Role::Greedy;
  }
  __builtin_unreachable();
}

Status Session::findEntries(DecoderForm form) {
  encode.entry = model.entryPoint(Role::Encode);
  prepare.entry = decode.entry = nullptr;
  if (form == DecoderForm::None)
    return Status::success();
  bool hasCandidates = form == DecoderForm::ShortlistStep;
  decode.entry = model.entryPoint(roleOf(form), hasCandidates);
  if (!decode.entry)
    return Status::error(
        "'", model.artifact().path(), "' has no decoder with the role '",
        nameOf(roleOf(form)), hasCandidates ? "' over candidates" : "'");
  // Where a decoder has nothing to prepare it has no entry for that.
  if (form != DecoderForm::Full)
    prepare.entry = model.entryPoint(Role::Prepare, hasCandidates);
  return Status::success();
}

Status Session::layOut(DecoderForm form, int64_t length) {
  workspace.restart();
  arenaBytes = 0;
  int64_t batch = dims[Dim::Batch];
  auto place = [&](int64_t count, int64_t width = 1) {
    return workspace.place(bytesOf(count, width));
  };
  auto key = [](const char *name) {
    return std::pair(ArgumentKind::Input, std::string_view(name));
  };
  auto shareOutputs = [](const Binding &binding, ArgumentKind kind,
                         Places &shared) {
    const std::vector<Argument> &arguments =
        binding.entry->description->arguments;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].kind == ArgumentKind::Output)
        shared[{kind, arguments[i].name}] = binding.places[i];
  };

  int64_t sourcePlace = place(batch, dims[Dim::Source]);
  int64_t decoderPlace =
      form == DecoderForm::Full ? place(batch, length) : place(batch);
  Places shared = {
      {key("ids"), sourcePlace},
      {key("lengths"), place(batch)},
      {key("global"), place(batch, dims[Dim::Globals])},
      {key("positions"), place(batch)},
      {key("sentences"), place(batch)},
      {key("caches"), place(batch)},
      {key("candidates"), place(batch, dims[Dim::Shortlist])},
      {key("counts"), place(batch)},
      {key("forbidden"), place(batch, dims[Dim::Forbidden])},
  };
  if (Status status = bind(encode, shared); !status.ok())
    return status;
  shareOutputs(encode, ArgumentKind::Input, shared);
  if (prepare.entry) {
    if (Status status = bind(prepare, shared); !status.ok())
      return status;
    shareOutputs(prepare, ArgumentKind::Prepared, shared);
  }
  shared[key("ids")] = decoderPlace;
  if (decode.entry)
    if (Status status = bind(decode, shared); !status.ok())
      return status;
  int64_t arenaPlace = workspace.place(arenaBytes);
  // One for each thread, in words of 4 bytes.
  int64_t scratchPlace =
      place(pool ? pool->size() : 1, model.scratchBytes() / 4);
  if (Status status = workspace.take(); !status.ok())
    return status;

  auto integers = [&](int64_t offset) {
    return static_cast<int32_t *>(workspace.at(offset));
  };
  arena = workspace.at(arenaPlace);
  scratch = workspace.at(scratchPlace);
  sourceIds = integers(sourcePlace);
  decoderIds = integers(decoderPlace);
  lengths = integers(shared[key("lengths")]);
  globals = integers(shared[key("global")]);
  positions = integers(shared[key("positions")]);
  sentences = integers(shared[key("sentences")]);
  caches = integers(shared[key("caches")]);
  candidateIds = integers(shared[key("candidates")]);
  counts = integers(shared[key("counts")]);
  forbiddenIds = integers(shared[key("forbidden")]);
  for (Binding *binding : {&encode, &prepare, &decode})
    if (binding->entry)
      connect(*binding);
  return Status::success();
}

/// Finds or makes the place of each argument, and asks for the arena.
Status Session::bind(Binding &binding, const Places &shared) {
  const Entry &entry = *binding.entry->description;
  binding.places.clear();
  for (const Argument &argument : entry.arguments) {
    bool own = argument.kind == ArgumentKind::Output ||
               argument.kind == ArgumentKind::State;
    binding.places.push_back(own ? workspace.place(argument.byteSize(dims))
                                 : shared.at({argument.kind, argument.name}));
  }
  binding.dims.clear();
  for (const Extent &dim : entry.dims)
    binding.dims.push_back(dim.in(dims));
  int64_t bytes = binding.entry->arenaSize(binding.dims.data());
  if (bytes < 0)
    return Status::error("needs an arena of ", bytes, " bytes for entry '",
                         entry.name, "'");
  arenaBytes = std::max(arenaBytes, bytes);
  return Status::success();
}

/// Turns places into addresses, once the block stands.
void Session::connect(Binding &binding) {
  binding.buffers.clear();
  for (int64_t place : binding.places)
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
    sentences[i] = caches[i] = static_cast<int32_t>(i);
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

/// Finds the decoder's logits, or the largest of them and their ids, and its
/// states, which start with zeros.
void Session::findDecoderResults() {
  states.clear();
  decoderLogits = nullptr;
  if (!decode.entry)
    return;
  const std::vector<Argument> &arguments = decode.entry->description->arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind == ArgumentKind::Output) {
      if (arguments[i].type == ElementType::I32) {
        largestIds = static_cast<int32_t *>(decode.buffers[i]);
        ranges = arguments[i].shape.back().size;
      } else {
        decoderLogits = static_cast<float *>(decode.buffers[i]);
      }
    } else if (arguments[i].kind == ArgumentKind::State) {
      int64_t bytes = *arguments[i].byteSize(dims); // Placed: no overflow.
      std::memset(decode.buffers[i], 0, static_cast<size_t>(bytes));
      // Caches stay where they are.
      if (arguments[i].shape.front().dim == Dim::Rows)
        states.push_back(
            {static_cast<char *>(decode.buffers[i]), bytes / dims[Dim::Rows]});
    }
  }
}

void Session::call(Binding &binding) {
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
                  model.scratchBytes()};
  int64_t start = profile ? profile->now(profile) : 0;
  {
    FloatEnvironment environment;
    binding.entry->run(&call);
  }
  if (profile)
    profile->addEntry(profile->now(profile) - start);
}

void Session::runFull() { call(decode); }

void Session::runStep(int32_t position) {
  std::fill(positions, positions + rows(), position);
  call(decode);
}

void Session::finish(int64_t row) {
  int64_t last = rows() - 1;
  if (row != last) {
    for (const State &state : states)
      std::memcpy(state.rows + row * state.rowBytes,
                  state.rows + last * state.rowBytes,
                  static_cast<size_t>(state.rowBytes));
    sentences[row] = sentences[last];
    caches[row] = caches[last];
  }
  dims[Dim::Rows] = last;
}
