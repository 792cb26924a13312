//===- LineRun.cpp - A job over lines, by several workers -----------------===//
//
// The sizes of windows and batches, and what connects a pipeline to a job.
//
//===----------------------------------------------------------------------===//

#include "runtime/LineRun.h"

#include <algorithm>
#include <memory>
#include <utility>

using namespace heddle;

/// Padded source tokens of a batch, and what it has of text.
static constexpr int64_t kBatchTokens = 4096;
static constexpr int64_t kBatchBytes = 4 * kBatchTokens;
/// Batches that are read before they are divided by length: so many, and so
/// many a worker.
static constexpr int64_t kWindowBatches = 16, kWindowBatchesEach = 4;
/// How far workers may be ahead of the output, in batches each: as much as the
/// window of one has, so that the last batch of a window runs beside the first
/// of the next.
static constexpr int64_t kAheadEach = 16;

static BatchPipeline::Limits limitsFor(int64_t workers, int64_t sentences) {
  auto batches = [&](int64_t count) {
    return LineLimits{count * sentences, count * kBatchBytes};
  };
  return {batches(std::max(kWindowBatches, kWindowBatchesEach * workers)),
          batches(kAheadEach * workers)};
}

Status heddle::runLines(const Workers &workers, const LineRunOptions &options,
                        LineSource &source, LineJob &job,
                        const AnswerWriter &write) {
  int64_t most = options.batch.value_or(kDefaultBatch);
  BatchPipeline::Stages stages;
  stages.read = [&](const LineLimits &limits) { return source.next(limits); };
  stages.encode = [&](int64_t number, const Line &line) {
    return job.encode(number, line);
  };
  stages.divide = [&](Sentences sentences, bool isFull) {
    BatchLimits limits = {most, kBatchTokens};
    // Behind a full window comes another one.
    if (!options.batch && !isFull)
      limits.sentences = sentencesForAll(sentences, workers.count(), most);
    return divideByLength(std::move(sentences), limits);
  };
  stages.write = write;
  stages.interrupt = [&] { source.interrupt(); };
  BatchPipeline pipeline(limitsFor(workers.count(), most), std::move(stages));
  int64_t least = options.mayHaveFewerWorkers ? 1 : workers.count();
  return pipeline.run(workers.count(), least, [&](int64_t number) {
    auto session =
        std::make_shared<Session>(workers.model(), workers.options(number));
    return [&job, session](const Batch &batch) -> Answers {
      Result<std::vector<std::string>> answers = job.answer(*session, batch);
      if (!answers.ok())
        return answers.status();
      return std::move(*answers);
    };
  });
}
