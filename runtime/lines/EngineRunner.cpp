//===- EngineRunner.cpp - Batches of lines through an engine --------------===//
//
// A batch is done when the last of its lines is. If some fail, the first one in
// the order of lines is told.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/EngineRunner.h"

#include <utility>

using namespace heddle;

/// A batch whose answers are gathered.
struct EngineRunner::OpenBatch {
  const Batch &batch;
  std::function<void(Answers)> done;
  Answers answers;
  size_t left;

  void fail(size_t sentence, const Status &status) {
    if (answers.failed && batch.lines[*answers.failed] <= batch.lines[sentence])
      return;
    answers.failed = sentence;
    answers.failure = status;
  }
  void finishOne() {
    if (--left == 0)
      done(std::move(answers));
  }
};

EngineRunner::EngineRunner(std::unique_ptr<Engine> engine, OpenEngine open,
                           int64_t slots, RequestOf requestOf,
                           AnswerOf answerOf,
                           const std::optional<RunnerLimit> &limit)
    : engine(std::move(engine)), openEngine(std::move(open)), slots(slots),
      requestOf(std::move(requestOf)), answerOf(std::move(answerOf)),
      limit(limit) {
  if (limit)
    limit->memory.add(*this);
}

EngineRunner::~EngineRunner() {
  if (!limit)
    return;
  if (isInside) {
    engine.reset();
    limit->memory.exit();
  }
  limit->memory.remove(*this);
}

/// Takes its share, in which the engine is.
void EngineRunner::enter() {
  if (!limit || isInside)
    return;
  limit->memory.enter();
  isInside = true;
  if (engine)
    return;
  // Without an engine all is answered otherwise.
  if (auto opened = openEngine(); opened.ok())
    engine = std::move(*opened);
}

void EngineRunner::exitIfIdle() {
  if (!isInside || isBusy())
    return;
  isInside = false;
  limit->memory.exit();
}

Status EngineRunner::submit(const std::shared_ptr<OpenBatch> &open,
                            size_t sentence) {
  if (!engine)
    return Status::error("no engine has memory");
  EngineRequest request = requestOf(open->batch, sentence);
  request.finished = [this, open,
                      sentence](const Result<std::vector<Hypothesis>> &found) {
    if (found.ok())
      open->answers.all[sentence] = answerOf(*found);
    else
      open->fail(sentence, found.status());
    --unfinished;
    open->finishOne();
  };
  Result<uint64_t> number = engine->submit(std::move(request));
  unfinished += number.ok();
  return number.status();
}

/// Answers what the engine cannot, while nobody has its share.
void EngineRunner::answerOtherwise(OpenBatch &open,
                                   const std::vector<size_t> &sentences) {
  while (isBusy())
    (void)engine->step().ok();
  // Before others may ask for it.
  engine.reset();
  exitIfIdle();
  for (size_t sentence : sentences) {
    Answers found = limit->answer(open.batch, sentence);
    if (!found.failure.ok())
      open.fail(sentence, found.failure);
    else if (!found.skipped.empty())
      open.answers.skipped.emplace_back(sentence, found.skipped.front().second);
    else
      open.answers.all[sentence] = std::move(found.all.front());
  }
}

void EngineRunner::begin(const Batch &batch,
                         std::function<void(Answers)> done) {
  size_t count = batch.lines.size();
  auto open = std::make_shared<OpenBatch>(OpenBatch{
      batch, std::move(done), Answers(std::vector<Answer>(count)), count});
  enter();
  std::vector<size_t> refused;
  for (size_t i = 0; i < count; ++i) {
    Status status = submit(open, i);
    if (status.ok())
      continue;
    if (!limit)
      open->fail(i, status);
    refused.push_back(i);
  }
  if (limit && !refused.empty())
    answerOtherwise(*open, refused);
  for (size_t i = 0; i < refused.size(); ++i)
    open->finishOne();
  exitIfIdle();
}

void EngineRunner::advance() {
  // Requests hear of a failure themselves.
  (void)engine->step().ok();
  exitIfIdle();
}
