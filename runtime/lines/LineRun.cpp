//===- LineRun.cpp - A job over lines, by several workers -----------------===//
//
// The sizes of windows and batches, and what connects a pipeline to a job.
// Within a limit of memory a worker asks what a batch takes before it takes it.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/LineRun.h"

#include "runtime/session/MemoryPlan.h"
#include "runtime/session/SessionMemory.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <type_traits>
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

/// What a line counts at least within a limit.
static constexpr int64_t kLeastLineBytes = 32;
/// The tokens of a sentence that each of several workers has memory for.
static constexpr int64_t kUsualTokens = 64;

/// What becomes of lines that somebody who is asked to stop comes to.
static Status cancellation() { return Status::error("the run was cancelled"); }

/// Part of a batch.
static Batch partOf(const Batch &batch, size_t first, size_t count) {
  auto part = [&](const auto &all) {
    auto begin = all.begin() + static_cast<ptrdiff_t>(first);
    return std::decay_t<decltype(all)>(begin,
                                       begin + static_cast<ptrdiff_t>(count));
  };
  auto partOfSome = [&](const auto &all) {
    return all.empty() ? all : part(all);
  };
  const SourceFeatures &features = batch.features;
  return {part(batch.sources),
          part(batch.targets),
          {partOfSome(features.candidates), partOfSome(features.types),
           partOfSome(features.promptTokens), partOfSome(features.places),
           partOfSome(features.others)},
          part(batch.lines),
          part(batch.numbers)};
}

namespace {
/// The session of a worker, with a share of the memory if that is limited.
class WorkerSession {
public:
  WorkerSession(const Workers &workers, int64_t number, SessionMemory *memory)
      : workers(workers), number(number), memory(memory) {
    if (memory)
      memory->add(get());
  }
  ~WorkerSession() {
    if (memory)
      memory->remove(get());
  }
  WorkerSession(const WorkerSession &) = delete;

  Session &get() const { return workers.session(number); }
  /// As Workers has it.
  bool goOnWithCpu() {
    if (memory)
      memory->remove(get());
    bool goesOn = workers.goOnWithCpu(number);
    if (memory)
      memory->add(get());
    return goesOn;
  }

private:
  const Workers &workers;
  const int64_t number;
  SessionMemory *const memory;
};

/// One run of a job, within a limit or without one.
class LineRun {
public:
  LineRun(const Workers &workers, const LineRunOptions &options,
          LineSource &source, LineJob &job)
      : workers(workers), options(options), source(source), job(job),
        count(std::clamp<int64_t>(options.mostLines.value_or(workers.count()),
                                  1, workers.count())) {}

  Status planMemory();
  Status run(const AnswerWriter &write);

private:
  Result<int64_t> bytesForOne(Session &session, int64_t tokens) const;
  bool isLarge(const Line &line) const;
  Result<Sentence> encode(int64_t number, const Line &line);
  Result<Sentence> encodeOrSkip(int64_t number, const Line &line);
  std::vector<Batch> divide(Sentences sentences, bool isFull) const;
  std::unique_ptr<BatchPipeline::Runner> makeRunner(int64_t number);
  Result<std::vector<Answer>> answerOnce(WorkerSession &own,
                                         const Batch &batch);
  Answers answer(WorkerSession &own, const Batch &batch);
  Answers answerWithin(WorkerSession &own, const Batch &batch);
  Result<int64_t> cut(Session &session, const Batch &batch, size_t first,
                      Batch &part) const;
  BatchPipeline::Limits limits() const;
  Status ofLimit(const std::string &subject, const Status &needs) const;
  Status refuse(int64_t line, int64_t bytes) const;
  int64_t mostSentences() const {
    return options.batch.value_or(kDefaultBatch);
  }

  const Workers &workers;
  const LineRunOptions &options;
  LineSource &source;
  LineJob &job;
  int64_t count;
  /// With a limit.
  std::optional<MemoryPlan> plan;
  std::optional<SessionMemory> memory;
};
} // namespace

/// What a sentence of so many tokens, or as many as the model takes, needs.
Result<int64_t> LineRun::bytesForOne(Session &session, int64_t tokens) const {
  const Manifest &manifest = workers.model().manifest();
  const Generation &generation = manifest.generation;
  for (std::optional<int64_t> most :
       {manifest.sourcePositions, generation.maxSourceLength})
    tokens = std::min(tokens, most.value_or(tokens));
  Batch one;
  one.sources.emplace_back(size_t(tokens), 0);
  one.targets.emplace_back();
  one.lines.push_back(0);
  return job.bytesFor(session, one);
}

/// Decides how many workers there are and what each may take.
Status LineRun::planMemory() {
  // What a run before has left counts for nobody.
  for (int64_t worker = 0; worker < count; ++worker)
    workers.session(worker).release();
  // That of a GPU is taken by sessions alone; what a driver takes of the host's
  // is not the run's affair.
  bool isOnGpu = workers.model().isOnGpu();
  plan.emplace(*options.maxMemory,
               isOnGpu ? std::nullopt : std::optional(anonymousMemory()),
               count);
  Session &session = workers.session(0);
  Result<int64_t> wanted = bytesForOne(session, kUsualTokens);
  Result<int64_t> least = bytesForOne(session, 1);
  if (!wanted.ok() || !least.ok())
    return wanted.ok() ? least.status() : wanted.status();
  if (Status status =
          plan->chooseWorkers(*wanted, *least, options.mayHaveFewerWorkers);
      !status.ok())
    return ofLimit("'" + workers.model().artifact().path() + "'", status);
  count = plan->workers();
  memory.emplace(plan->forSessions(), count);
  return Status::success();
}

/// What `subject` needs, beside the limit.
Status LineRun::ofLimit(const std::string &subject, const Status &needs) const {
  return Status::error(subject, " ", needs.message(), " (",
                       options.settingPrefix, "max-memory is ",
                       *options.maxMemory >> 20, ")");
}

Status LineRun::refuse(int64_t line, int64_t bytes) const {
  return ofLimit(source.nameOf(line), plan->refuse(bytes));
}

/// Whether a line becomes ids while nobody else works.
bool LineRun::isLarge(const Line &line) const {
  return memory && !workers.model().isOnGpu() &&
         line.bytes() * MemoryPlan::kBytesOfText >
             MemoryPlan::kBytesOfShortLine;
}

Result<Sentence> LineRun::encode(int64_t number, const Line &line) {
  if (workers.isCancelled())
    return cancellation();
  if (!line.failure.empty())
    return Status::error(line.failure);
  if (line.pair && !job.takesPairs())
    return Status::error(source.nameOf(number),
                         " is a pair of texts, expected one text");
  if (!isLarge(line))
    return job.encode(number, line);
  int64_t bytes = line.bytes() * MemoryPlan::kBytesOfText;
  if (bytes > memory->bytes())
    return refuse(number, bytes);
  std::optional<Result<Sentence>> sentence;
  memory->alone([&] { sentence = job.encode(number, line); });
  return std::move(*sentence);
}

Result<Sentence> LineRun::encodeOrSkip(int64_t number, const Line &line) {
  Result<Sentence> sentence = encode(number, line);
  if (sentence.ok() || options.onError != OnError::Skip)
    return sentence;
  return Sentence{{}, {}, sentence.message(), /*hasFailed=*/true};
}

/// How much is read together and ahead: fewer bytes within a limit.
BatchPipeline::Limits LineRun::limits() const {
  auto batches = [&](int64_t number) {
    LineLimits size = {number * mostSentences(), number * kBatchBytes};
    if (memory) {
      size.bytes = number * MemoryPlan::kBatchBytes / options.textsOfAnswer;
      size.lines =
          std::clamp<int64_t>(size.bytes / kLeastLineBytes, 1, size.lines);
    }
    return size;
  };
  return {batches(std::max(kWindowBatches, kWindowBatchesEach * count)),
          batches(kAheadEach * count)};
}

std::vector<Batch> LineRun::divide(Sentences sentences, bool isFull) const {
  BatchLimits limits = {mostSentences(), kBatchTokens};
  // Behind a full window comes another one.
  if (!options.batch && !isFull)
    limits.sentences = sentencesForAll(sentences, count, limits.sentences);
  return divideByLength(std::move(sentences), limits);
}

/// The longest part of a batch from a sentence on that keeps to a share, or
/// that sentence alone; and what it takes.
Result<int64_t> LineRun::cut(Session &session, const Batch &batch, size_t first,
                             Batch &part) const {
  for (size_t length = batch.lines.size() - first;; length = (length + 1) / 2) {
    part = partOf(batch, first, length);
    Result<int64_t> bytes = job.bytesFor(session, part);
    if (!bytes.ok() || *bytes <= memory->share() || length == 1)
      return bytes;
  }
}

Result<std::vector<Answer>> LineRun::answerOnce(WorkerSession &own,
                                                const Batch &batch) {
  auto answers = job.answer(own.get(), batch);
  if (answers.ok() || !own.goOnWithCpu() || !job.mayAnswerAgain())
    return answers;
  return job.answer(own.get(), batch);
}

/// Answers a batch in as many parts as memory asks for.
Answers LineRun::answerWithin(WorkerSession &own, const Batch &batch) {
  Answers result{std::vector<Answer>()};
  auto fail = [&](size_t sentence, const Status &status) {
    if (result.failed && batch.lines[*result.failed] <= batch.lines[sentence])
      return;
    result.failed = sentence;
    result.failure = status;
  };
  for (size_t first = 0; first < batch.lines.size();
       first = result.all.size()) {
    Batch part;
    Result<int64_t> bytes = cut(own.get(), batch, first, part);
    if (!bytes.ok())
      return bytes.status();
    std::optional<Result<std::vector<Answer>>> answers;
    auto work = [&] { answers = answerOnce(own, part); };
    if (*bytes <= memory->share())
      memory->together(work);
    else if (*bytes <= memory->bytes())
      memory->alone(work);
    else
      answers = refuse(batch.lines[first], *bytes);
    if (*bytes > memory->bytes() && options.onError == OnError::Skip) {
      result.skipped.emplace_back(first, answers->status());
      result.all.emplace_back();
      continue;
    }
    if (answers->ok()) {
      std::move((*answers)->begin(), (*answers)->end(),
                std::back_inserter(result.all));
      continue;
    }
    auto earliest = std::min_element(part.lines.begin(), part.lines.end());
    fail(first + size_t(earliest - part.lines.begin()), answers->status());
    result.all.resize(first + part.lines.size());
  }
  return result;
}

Answers LineRun::answer(WorkerSession &own, const Batch &batch) {
  if (workers.isCancelled())
    return cancellation();
  if (memory)
    return answerWithin(own, batch);
  Result<std::vector<Answer>> answers = answerOnce(own, batch);
  if (!answers.ok())
    return answers.status();
  return std::move(*answers);
}

namespace {
/// Batches in a session, one after the other.
class SessionRunner : public BatchPipeline::Runner {
public:
  SessionRunner(const Workers &workers, int64_t number, SessionMemory *memory,
                std::function<Answers(WorkerSession &, const Batch &)> answer)
      : own(workers, number, memory), answer(std::move(answer)) {}
  void begin(const Batch &batch, std::function<void(Answers)> done) override {
    done(answer(own, batch));
  }

private:
  WorkerSession own;
  std::function<Answers(WorkerSession &, const Batch &)> answer;
};
} // namespace

std::unique_ptr<BatchPipeline::Runner> LineRun::makeRunner(int64_t number) {
  std::optional<RunnerLimit> limit;
  if (memory) {
    auto own = std::make_shared<WorkerSession>(workers, number, &*memory);
    limit.emplace(
        RunnerLimit{*memory, [this, own](const Batch &batch, size_t sentence) {
                      Answers found = answer(*own, partOf(batch, sentence, 1));
                      memory->release(own->get());
                      return found;
                    }});
  }
  if (auto runner = job.makeRunner(workers, number, mostSentences(), limit))
    return runner;
  return std::make_unique<SessionRunner>(
      workers, number, memory ? &*memory : nullptr,
      [this](WorkerSession &own, const Batch &batch) {
        return answer(own, batch);
      });
}

Status LineRun::run(const AnswerWriter &write) {
  BatchPipeline::Stages stages;
  stages.read = [&](const LineLimits &limits) {
    // A source that has nothing at the moment is asked again and again.
    return workers.isCancelled() ? Lines{{}, /*last=*/true, cancellation()}
                                 : source.next(limits);
  };
  stages.encode = [&](int64_t number, const Line &line) {
    return encodeOrSkip(number, line);
  };
  stages.waits = [&](const Line &line) { return isLarge(line); };
  stages.divide = [&](Sentences sentences, bool isFull) {
    return divide(std::move(sentences), isFull);
  };
  stages.write = write;
  stages.interrupt = [&] { source.interrupt(); };
  BatchPipeline pipeline(limits(), std::move(stages));
  std::function<std::unique_ptr<BatchPipeline::Runner>(int64_t)> make =
      [&](int64_t number) { return makeRunner(number); };
  return pipeline.run(count, options.mayHaveFewerWorkers ? 1 : count, make);
}

Status heddle::runLines(const Workers &workers, const LineRunOptions &options,
                        LineSource &source, LineJob &job,
                        const AnswerWriter &write) {
  LineRun run(workers, options, source, job);
  if (options.maxMemory)
    if (Status status = run.planMemory(); !status.ok())
      return status;
  return run.run(write);
}
