//===- DecoderRows.cpp - What a batch gives to its decoder ----------------===//
//
// Rows of one sentence stand together, and each has one of the caches of that
// sentence to write to.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/DecoderRows.h"

#include <algorithm>

using namespace heddle;

/// No id.
static constexpr int32_t kNone = -1;

/// Of so many i32, which have a place: there is no overflow.
static int64_t bytesOfNumbers(int64_t count) {
  return count * int64_t(sizeof(int32_t));
}

/// The key of an input in Places.
static Places::key_type inputNamed(const char *name) {
  return {ArgumentKind::Input, name};
}

void DecoderRows::place(const DecoderRequest &request, bool hasHistory,
                        Places &shared) {
  auto place = [&](int64_t count, int64_t width = 1) {
    return workspace.placeNumbers(count, width);
  };
  int64_t rows = dims[Dim::Rows];
  prefillInputs.begin = workspace.sharedEnd();
  prefillRows.place(request.prefill > 0 ||
                    request.form == DecoderForm::Prefill);
  prefillInputs.end = workspace.sharedEnd();
  historyPlace = std::nullopt;
  if (hasHistory)
    shared[inputNamed("history")] =
        historyPlace.emplace(place(rows, dims[Dim::Capacity]));
  steps.begin = workspace.sharedEnd();
  idsPlace = isOfWholeTargets(request.form)
                 ? place(dims[Dim::Batch], dims[Dim::Target])
                 : place(rows);
  positionsPlace = place(rows);
  sentencesPlace = place(rows);
  cachesPlace = place(rows);
  forbiddenPlace = shared[inputNamed("forbidden")] =
      place(rows, dims[Dim::Forbidden]);
  steps.end = workspace.sharedEnd();
}

void DecoderRows::shareOfStep(Places &shared) const {
  shared[inputNamed("ids")] = idsPlace;
  // Tokens of sources have some, too.
  shared[inputNamed("positions")] = positionsPlace;
  shared[inputNamed("sentences")] = sentencesPlace;
  shared[inputNamed("caches")] = cachesPlace;
}

void DecoderRows::begin(const std::optional<SpareRows> &spareRows) {
  spare = spareRows;
  auto integers = [&](Place place) {
    return reinterpret_cast<int32_t *>(workspace.hostAt(place));
  };
  decoderIds = integers(idsPlace);
  positions = integers(positionsPlace);
  sentences = integers(sentencesPlace);
  caches = integers(cachesPlace);
  forbiddenIds = integers(forbiddenPlace);
  prefillRows.settle();
  history = historyPlace ? integers(*historyPlace) : nullptr;
  for (int64_t i = 0; i < dims[Dim::Batch]; ++i) {
    sentences[i] = int32_t(i);
    caches[i] = int32_t(i * perSentence());
    positions[i] = 0;
  }
  goesOn.resize(size_t(dims[Dim::Batch]));
  held.assign(goesOn.size(), false);
  setCount(dims[Dim::Batch]);
}

void DecoderRows::setPast(const std::vector<std::vector<int32_t>> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    positions[i] = int32_t(inputs[i].size());
    if (history)
      std::fill_n(history + int64_t(i) * dims[Dim::Capacity], positions[i],
                  caches[i]);
  }
}

PlaceRange DecoderRows::join(int32_t sentence, int64_t position) {
  int64_t row = rowCount;
  sentences[row] = sentence;
  positions[row] = int32_t(position);
  caches[row] = int32_t(sentence * perSentence());
  setCount(row + 1);
  if (!history)
    return {};
  std::fill_n(history + row * dims[Dim::Capacity], position, caches[row]);
  int64_t bytes = bytesOfNumbers(dims[Dim::Capacity]);
  Place first = *historyPlace;
  first.offset += row * bytes;
  return {first, {Part::Shared, first.offset + bytesOfNumbers(position)}};
}

DecoderRows::Saved DecoderRows::save() const {
  Saved rows;
  rows.sentences.assign(sentences, sentences + rowCount);
  rows.positions.assign(positions, positions + rowCount);
  rows.caches.assign(caches, caches + rowCount);
  rows.held = held;
  for (int64_t row = 0; history && row < rowCount; ++row) {
    const int32_t *own = history + row * dims[Dim::Capacity];
    rows.histories.emplace_back(own, own + positions[row]);
  }
  return rows;
}

void DecoderRows::resume(const Saved &rows) {
  std::copy(rows.sentences.begin(), rows.sentences.end(), sentences);
  std::copy(rows.positions.begin(), rows.positions.end(), positions);
  std::copy(rows.caches.begin(), rows.caches.end(), caches);
  for (size_t row = 0; row < rows.histories.size(); ++row)
    std::copy(rows.histories[row].begin(), rows.histories[row].end(),
              history + int64_t(row) * dims[Dim::Capacity]);
  held = rows.held;
  setCount(int64_t(rows.sentences.size()));
}

std::vector<PromptPiece> DecoderRows::asPieces() const {
  std::vector<PromptPiece> pieces;
  for (int64_t row = 0; row < rowCount; ++row)
    pieces.push_back({sentences[row], positions[row], positions[row],
                      decoderIds + row, /*count=*/1});
  return pieces;
}

void DecoderRows::advance() {
  for (int64_t row = 0; row < rowCount; ++row)
    ++positions[row];
}

void DecoderRows::advance(int64_t row, int64_t count) {
  if (history)
    std::fill_n(history + row * dims[Dim::Capacity] + positions[row], count,
                caches[row]);
  positions[row] += int32_t(count);
}

std::optional<HistoryWrite> DecoderRows::historyWrite() const {
  if (!historyPlace)
    return std::nullopt;
  return HistoryWrite{workspace.at(*historyPlace), workspace.at(positionsPlace),
                      workspace.at(cachesPlace), dims[Dim::Rows],
                      dims[Dim::Capacity]};
}

/// Moves the history with its rows, as far as one has positions.
Status DecoderRows::keepHistory(const std::vector<int32_t> &parents) {
  int32_t used = *std::max_element(positions, positions + rowCount);
  return device.moveRows(
      {workspace.at(*historyPlace), bytesOfNumbers(dims[Dim::Capacity]),
       bytesOfNumbers(used), spare ? workspace.at(spare->states) : nullptr},
      parents);
}

Status DecoderRows::keep(const std::vector<int32_t> &parents) {
  if (historyPlace)
    if (Status status = keepHistory(parents); !status.ok())
      return status;
  for (int32_t *numbers : {positions, sentences, caches})
    moveHostRows({reinterpret_cast<char *>(numbers), bytesOfNumbers(1),
                  bytesOfNumbers(1),
                  spare ? workspace.hostAt(spare->numbers) : nullptr},
                 parents);
  int64_t count = int64_t(parents.size());
  // Children of one parent write to caches of their own, any of the sentence's:
  // the slots of a position are written once.
  for (int64_t row = 0, number = 0; historyPlace && row < count; ++row) {
    bool isSame = row > 0 && sentences[row] == sentences[row - 1];
    number = isSame ? number + 1 : 0;
    caches[row] = int32_t(sentences[row] * perSentence() + number);
  }
  setCount(count);
  return Status::success();
}

/// Goes on with so many rows. A device may want calls of more: those behind
/// them begin sentences that have ended, whose caches nobody reads any more.
void DecoderRows::setCount(int64_t count) {
  rowCount = dims[Dim::Rows] = count;
  goesOn = held;
  for (int64_t row = 0; row < count; ++row)
    goesOn[size_t(sentences[row])] = true;
  int64_t ended = std::count(goesOn.begin(), goesOn.end(), false);
  int64_t rounded = std::min(device.roundRows(count), dims[Dim::Caches]);
  if (rounded - count > ended * perSentence())
    return;
  dims[Dim::Rows] = rounded;
  int64_t cache = 0;
  for (int64_t row = count; row < rounded; ++row, ++cache) {
    while (goesOn[size_t(cache / perSentence())])
      ++cache;
    caches[row] = int32_t(cache);
    sentences[row] = int32_t(cache / perSentence());
    decoderIds[row] = positions[row] = 0;
    *forbidden(row) = kNone;
  }
}
