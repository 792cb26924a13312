//===- EngineRunner.cpp - Batches of lines through an engine --------------===//
//
// A batch is done when the last of its lines is. If some fail, the first one in
// the order of lines is told.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/EngineRunner.h"

#include <utility>

using namespace heddle;

namespace {
/// A batch whose answers are gathered.
struct OpenBatch {
  const Batch &batch;
  std::function<void(Answers)> done;
  Answers answers;
  size_t left;

  void fail(size_t sentence, const Status &status);
};
} // namespace

void OpenBatch::fail(size_t sentence, const Status &status) {
  if (answers.failed && batch.lines[*answers.failed] <= batch.lines[sentence])
    return;
  answers.failed = sentence;
  answers.failure = status;
}

void EngineRunner::begin(const Batch &batch,
                         std::function<void(Answers)> done) {
  size_t count = batch.lines.size();
  auto open = std::make_shared<OpenBatch>(OpenBatch{
      batch, std::move(done), Answers(std::vector<Answer>(count)), count});
  unfinished += int64_t(count);
  for (size_t i = 0; i < count; ++i) {
    auto finish = [this, open,
                   i](const Result<std::vector<Hypothesis>> &found) {
      if (found.ok())
        open->answers.all[i] = answerOf(*found);
      else
        open->fail(i, found.status());
      --unfinished;
      if (--open->left == 0)
        open->done(std::move(open->answers));
    };
    EngineRequest request = requestOf(batch, i);
    request.finished = finish;
    if (Result<uint64_t> number = engine->submit(std::move(request));
        !number.ok())
      finish(number.status());
  }
}

void EngineRunner::advance() {
  // Requests hear of a failure themselves.
  (void)engine->step().ok();
}
