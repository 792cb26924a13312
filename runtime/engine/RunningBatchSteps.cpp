//===- RunningBatchSteps.cpp - Prompts and rows, step by step -------------===//
//
// A step of a batch is one step of all rows, then a call for pieces of
// prompts, in the order in which requests came; if no row is a beam one call
// for both. A prompt that ends in it has its first token from that call, and a
// row from then on. Rows of a request stand together.
//
// A row may bring guesses of what follows it (prompt lookup; Saxena 2023). The
// step of all rows is then such a call, too, which computes each guess as a row
// of its own. The request chooses behind its token as ever, and goes on behind
// a guess if that is what it chose: the bits are those of as many steps.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/RunningBatch.h"

#include "runtime/code/KernelAbi.h"
#include "runtime/engine/PromptLookup.h"

#include <algorithm>

using namespace heddle;

/// Asks what follows the rows of a request; none ends it.
void RunningBatch::choose(RunningRequest &request, int64_t first,
                          int64_t count) {
  request.batch->firstRow = first;
  size_t begin = chosen.size();
  Status status =
      request.isCancelled()
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
  // A prompt is none of an answer.
  auto size = ptrdiff_t(isPrompted() ? request.request.source.size() : 0);
  for (Hypothesis &hypothesis : found) {
    hypothesis.given -= size;
    hypothesis.tokens.erase(hypothesis.tokens.begin(),
                            hypothesis.tokens.begin() + size);
  }
  end(request, std::move(found));
}

/// Gives each row its last token. Ids that none of them forbids, and logits
/// that none of them asks for, are left out of the step.
void RunningBatch::feed() {
  int64_t row = 0, forbidden = 1, best = 1;
  for (RunningRequest *request : decoding) {
    forbidden = std::max(forbidden, request->demand.request.forbidden);
    best = std::max(best, request->demand.request.best);
  }
  if (forbidsBefore(form))
    session.narrow(forbidden, best);
  for (RunningRequest *request : decoding) {
    request->batch->firstRow = row;
    for (int64_t number = 0; number < request->rows; ++number, ++row) {
      const TokenIds &tokens = request->search->tokens[number];
      session.ids()[row] = tokens.empty()
                               ? request->demand.settings.start.value_or(-1)
                               : tokens.back();
      request->search->prepare(row);
    }
  }
  std::lock_guard<std::mutex> lock(counts.mutex);
  counts.all.steps += row > 0;
  counts.all.stepRows += row;
}

/// The next token of all rows.
Status RunningBatch::stepRows() {
  if (session.rows() == 0)
    return Status::success();
  feed();
  if (Status status = session.runStep(); !status.ok())
    return status;
  int64_t row = 0;
  // Those that end are gone behind their choice.
  for (RunningRequest *request : decoding) {
    int64_t count = request->rows;
    choose(*request, row, count);
    row += count;
  }
  return Status::success();
}

/// Guesses what follows rows; whether there is a guess. A request whose guesses
/// were wrong has fewer the next time, and more again once all are right.
bool RunningBatch::guess() {
  int64_t count = 0, rows = session.rows();
  for (RunningRequest *each : decoding) {
    RunningRequest &request = *each;
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
  std::lock_guard<std::mutex> lock(counts.mutex);
  counts.all.guesses += count;
  return count > 0;
}

/// The next pieces of prompts, of at most `room` rows.
std::vector<PromptPiece> RunningBatch::takePieces(int64_t room) {
  std::vector<PromptPiece> pieces;
  int64_t rows = 0;
  for (RunningRequest *request : prompting) {
    if (prompts.isWaiting(request->slot))
      continue;
    const TokenIds &ids = request->inputs;
    int64_t size = int64_t(ids.size()), first = prompts.computed(request->slot);
    // What follows a prompt is said with it.
    PromptPiece piece{request->slot, first, size - isPrompted(),
                      ids.data() + first, std::min(size - first, room - rows)};
    if (piece.count == 0)
      break;
    pieces.push_back(piece);
    rows += piece.count;
  }
  for (const PromptPiece &piece : pieces)
    prompts.add(piece.sentence, piece.count);
  std::lock_guard<std::mutex> lock(counts.mutex);
  counts.all.prompts += !pieces.empty();
  counts.all.promptRows += rows;
  counts.all.sharedTokens = prompts.sharedTokens();
  return pieces;
}

/// A request has a row, with so many positions in its cache.
Status RunningBatch::addRow(RunningRequest &request, int64_t position) {
  prompting.erase(std::find(prompting.begin(), prompting.end(), &request));
  request.guesses.clear();
  request.right = 0;
  return session.join(request.slot, position);
}

/// Chooses behind a row's token or, if the guesses before it were chosen, its
/// next guess. Of one that is chosen the request goes on with the logits that
/// come next.
void RunningBatch::chooseBehind(RunningRequest &request, int64_t row,
                                float *logits) {
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
void RunningBatch::settle(RunningRequest &request, int64_t row) {
  int64_t count = int64_t(request.guesses.size());
  if (count == 0)
    return;
  session.accept(row, count, request.right);
  request.mostGuesses =
      request.right == count
          ? std::min(2 * request.mostGuesses, request.request.options.guesses)
          : std::max<int64_t>(request.right, 1);
  std::lock_guard<std::mutex> lock(counts.mutex);
  counts.all.rightGuesses += request.right;
}

/// The next pieces of prompts; who has the last of its own has a first token.
/// With `stepsRows` the next token of all rows beside them, and more of those
/// whose guesses are right.
Status RunningBatch::extendPrompts(bool stepsRows) {
  int64_t room = HEDDLE_EXTEND_ROWS, stepped = 0;
  std::vector<TokenIds> guesses;
  if (stepsRows) {
    feed();
    stepped = session.rows();
    for (RunningRequest *request : decoding) {
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
    RunningRequest *request = slots[size_t(slot)].get();
    if (row >= stepped) {
      if (Status status = addRow(*request, position + 1); !status.ok())
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
Status RunningBatch::keep() {
  fillGaps(next);
  decoding.clear();
  std::vector<int32_t> parents;
  std::vector<Continuation> own;
  for (const Chosen &each : next) {
    RunningRequest &request = *each.request;
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

/// Whether rows step in the call for prompts, or with guesses. Rows of beams
/// share their past in steps alone.
bool RunningBatch::areTogether() {
  bool isBeamed = std::any_of(
      decoding.begin(), decoding.end(),
      [](const RunningRequest *request) { return request->isBeamed(); });
  return mayMix && !isBeamed && session.rows() > 0 &&
         session.rows() < HEDDLE_EXTEND_ROWS && (guess() || !prompting.empty());
}

Status RunningBatch::step() {
  if (isIdle())
    return Status::success();
  if (Status status = encodeSources(); !status.ok())
    return status;
  if (Status status = addReadyRows(); !status.ok())
    return status;
  bool isOneCall = areTogether();
  if (!isOneCall)
    if (Status status = stepRows(); !status.ok())
      return status;
  if (extends)
    if (Status status = extendPrompts(isOneCall); !status.ok())
      return status;
  return keep();
}
