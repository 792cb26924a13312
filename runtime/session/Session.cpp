//===- Session.cpp - One batch at a time through a model ------------------===//
//
// A batch is laid out (SessionLayout.cpp), then encoded, then decoded step by
// step or at once. What moves from the host to the device and back is said
// here.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include <algorithm>
#include <cstring>

using namespace heddle;

/// Of so many i32, which have a place: there is no overflow.
static int64_t bytesOfNumbers(int64_t count) {
  return count * int64_t(sizeof(int32_t));
}

/// No position that a chunk has, and no id.
static constexpr int32_t kNone = -1;

Result<int64_t> Session::bytesFor(const std::vector<TokenIds> &sources,
                                  const DecoderRequest &request,
                                  const SourceFeatures &features) {
  Result<Layout> layout = plan(sources, request, features);
  if (!layout.ok())
    return layout.status();
  return *workspace.size();
}

Status Session::begin(const std::vector<TokenIds> &sources,
                      const DecoderRequest &request,
                      const SourceFeatures &features) {
  Result<Layout> layout = plan(sources, request, features);
  if (!layout.ok())
    return layout.status();
  if (Status status = workspace.take(); !status.ok())
    return ofBatch(status);
  settle(*layout);
  if (Status status = device->makeReady(dims[Dim::Rows]); !status.ok())
    return status;
  fillInputs(batchOf(sources, features));
  if (Status status = findDecoderResults(); !status.ok())
    return status;
  goesOn.resize(sources.size());
  setRows(dims[Dim::Batch]);
  if (Status status = send(batchInputs); !status.ok())
    return status;
  if (encode.entry)
    if (Status status = call(encode); !status.ok())
      return status;
  if (task.entry)
    return call(task);
  return prepare.entry ? call(prepare) : Status::success();
}

void Session::fillInputs(const SourceBatch &batch) {
  for (size_t i = 0; i < sourceValues.size(); ++i)
    sourceInputs()[i]->fill(batch, dims, sourceValues[i]);
  for (int64_t i = 0; i < dims[Dim::Batch]; ++i) {
    sentences[i] = int32_t(i);
    caches[i] = sentenceCaches[i] = int32_t(i * rowsPerSentence());
    positions[i] = 0;
  }
}

/// What stands around a step's entry.
CallFrame Session::frameOfStep() const {
  CallFrame frame;
  if (historyPlace)
    frame.history = HistoryWrite{
        workspace.at(*historyPlace), workspace.at(positionPlace),
        workspace.at(cachePlace), dims[Dim::Rows], dims[Dim::Capacity]};
  if (merge) {
    frame.merge = merge;
    frame.merge->rows = dims[Dim::Rows];
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
  char *spare = spareRows ? workspace.at(spareRows->states) : nullptr;
  for (const State &state : states)
    if (Status status = device->moveRows(
            {state.rows, state.rowBytes, state.rowBytes, spare}, parents);
        !status.ok())
      return status;
  if (historyPlace) {
    int32_t used = *std::max_element(positions, positions + rows());
    if (Status status = device->moveRows({workspace.at(*historyPlace),
                                          bytesOfNumbers(dims[Dim::Capacity]),
                                          bytesOfNumbers(used), spare},
                                         parents);
        !status.ok())
      return status;
  }
  for (int32_t *numbers : {positions, sentences, caches})
    moveHostRows({reinterpret_cast<char *>(numbers), bytesOfNumbers(1),
                  bytesOfNumbers(1),
                  spareRows ? workspace.hostAt(spareRows->numbers) : nullptr},
                 parents);
  rowCount = static_cast<int64_t>(parents.size());
  // Children of one parent write to caches of their own, any of the sentence's:
  // the slots of a position are written once.
  for (int64_t row = 0, number = 0; historyPlace && row < rows(); ++row) {
    bool isSame = row > 0 && sentences[row] == sentences[row - 1];
    number = isSame ? number + 1 : 0;
    caches[row] =
        static_cast<int32_t>(sentences[row] * rowsPerSentence() + number);
  }
  setRows(rows());
  return Status::success();
}

/// Goes on with so many rows. A device may want calls of more: those behind
/// them begin sentences that have ended, whose caches nobody reads any more.
void Session::setRows(int64_t count) {
  rowCount = dims[Dim::Rows] = count;
  std::fill(goesOn.begin(), goesOn.end(), false);
  for (int64_t row = 0; row < count; ++row)
    goesOn[size_t(sentences[row])] = true;
  int64_t ended = std::count(goesOn.begin(), goesOn.end(), false);
  int64_t rounded = std::min(device->roundRows(count), dims[Dim::Caches]);
  if (rounded - count > ended * rowsPerSentence())
    return;
  dims[Dim::Rows] = rounded;
  int64_t cache = 0;
  for (int64_t row = count; row < rounded; ++row, ++cache) {
    while (goesOn[size_t(cache / rowsPerSentence())])
      ++cache;
    caches[row] = static_cast<int32_t>(cache);
    sentences[row] = static_cast<int32_t>(cache / rowsPerSentence());
    decoderIds[row] = positions[row] = 0;
    *forbidden(row) = kNone;
  }
}
