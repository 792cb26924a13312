//===- RunLines.cpp - What heddle-run does with lines ---------------------===//
//
// Read lines, run them, write the answers, until the input ends. What is
// translated or encoded runs in batches of similar length, by several workers
// over one model, each with a session and threads of its own.
//
//===----------------------------------------------------------------------===//

#include "tools/RunLines.h"

#include "runtime/Generate.h"
#include "runtime/HiddenStates.h"
#include "runtime/NpyWriter.h"
#include "runtime/TargetScores.h"
#include "runtime/TeacherForcing.h"
#include "tools/AnswerLines.h"
#include "tools/BatchPipeline.h"
#include "tools/LengthBatches.h"
#include "tools/ProfileReport.h"
#include "tools/SignalCleanup.h"
#include "tools/SourceReader.h"
#include "tools/TargetReader.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <unistd.h>

using namespace heddle;

static constexpr int64_t kDefaultBatch = 16;
/// Padded source tokens of a batch.
static constexpr int64_t kBatchTokens = 4096;
/// Batches that are read before they are divided by length.
static constexpr int64_t kWindowBatches = 16;

namespace {

/// Counts lines on standard error, where somebody watches a long run whose
/// input and output are elsewhere.
class Progress {
public:
  explicit Progress(const RunOptions &options)
      : shown(options.texts.empty() && isatty(STDERR_FILENO) &&
              !isatty(STDIN_FILENO) && !isatty(STDOUT_FILENO)) {}
  ~Progress() {
    if (shown)
      fprintf(stderr, "\r\033[K");
  }

  void add(size_t count) {
    lines += count;
    if (shown)
      fprintf(stderr, "\r%zu lines", lines);
  }

private:
  bool shown;
  size_t lines = 0;
};

} // namespace

Status heddle::checkGlobalTokens(const Manifest &manifest,
                                 const RunOptions &options) {
  const Entry &encode = *manifest.entry("encode");
  if (options.globalTokens && !encode.argument("global", ArgumentKind::Input))
    return Status::error("--global is given, but '", options.file,
                         "' knows no global tokens");
  return {};
}

static Result<SourceReader> openSources(const Model &model,
                                        const RunOptions &options) {
  if (!options.ids && !model.tokenizer())
    return Status::error("'", options.file,
                         "' has no tokenizer, expected --ids");
  if (Status status = checkGlobalTokens(model.manifest(), options);
      !status.ok())
    return status;
  Result<LineReader> lines = options.texts.empty()
                                 ? LineReader::standardInput()
                                 : LineReader::texts(options.texts);
  if (!lines.ok())
    return lines.status();
  return SourceReader(model, std::move(*lines), options.ids, options.maxSource);
}

static BatchLimits batchLimits(const RunOptions &options) {
  return {options.batch.value_or(kDefaultBatch), kBatchTokens};
}

static Result<TargetReader> openTargets(const Model &model,
                                        const std::string &path,
                                        const RunOptions &options,
                                        TargetPart part) {
  if (!options.ids && !model.tokenizer())
    return Status::error("'", options.file,
                         "' has no tokenizer, expected --ids");
  return TargetReader::open(model, path, options.ids, part);
}

/// What the model and the command line say of a search.
static Result<SearchOptions> searchFor(const Model &model,
                                       const RunOptions &options) {
  SearchOptions search = options.search;
  search.wantsSums = options.scores || options.nBest;
  if (search.samples && !search.beams)
    search.beams = 1;
  if (!options.badWords.empty()) {
    Result<TargetReader> reader =
        openTargets(model, options.badWords, options, TargetPart::Any);
    if (!reader.ok())
      return reader.status();
    Result<std::vector<TokenIds>> words = reader->readAll();
    if (!words.ok())
      return words.status();
    words->erase(std::remove(words->begin(), words->end(), TokenIds()),
                 words->end());
    search.badWords = std::move(*words);
  }
  if (search.suppress)
    for (int32_t id : *search.suppress)
      if (id >= model.manifest().targetVocabulary)
        return Status::error("--suppress has the id ", id,
                             ", expected ids from 0 to ",
                             model.manifest().targetVocabulary - 1);
  Result<Generation> settings = settingsFor(model.manifest(), search);
  if (!settings.ok())
    return settings.status();
  if (options.nBest && *options.nBest > settings->beams)
    return Status::error("--n-best is ", *options.nBest, " but '", options.file,
                         "' searches with ", settings->beams,
                         settings->beams == 1 ? " beam" : " beams",
                         " (--beam N asks for more)");
  return search;
}

static BatchPipeline::Answers translate(const Model &model, Session &session,
                                        const Batch &batch,
                                        const RunOptions &options,
                                        const SearchOptions &search) {
  auto found = generate(model, session, batch.sources, batch.targets, search);
  if (!found.ok())
    return found.status();
  std::vector<std::string> answers;
  for (const std::vector<Hypothesis> &hypotheses : *found)
    answers.push_back(formatAnswer(model, hypotheses, options));
  return answers;
}

namespace {
/// What a worker has beside its session; null where nobody asks for it.
struct Equipment {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Profile> profile;
  SessionOptions options;
};
} // namespace

static Result<std::vector<Equipment>> equipWorkers(const Model &model,
                                                   const RunOptions &options) {
  std::vector<Equipment> workers(
      static_cast<size_t>(options.workers.value_or(1)));
  for (Equipment &worker : workers) {
    if (options.profile)
      worker.profile = std::make_unique<Profile>(model.manifest());
    if (options.threads.value_or(1) > 1) {
      auto pool = ThreadPool::create(*options.threads);
      if (!pool.ok())
        return pool.status();
      worker.pool = std::move(*pool);
    }
    worker.options.pool = worker.pool.get();
    worker.options.profile = worker.profile.get();
    if (options.globalTokens)
      worker.options.globalTokens = *options.globalTokens;
  }
  return workers;
}

/// Runs all batches, each worker with a session of its own.
static Status runBatches(const Model &model,
                         const std::vector<Equipment> &workers,
                         BatchPipeline::Ends ends,
                         const std::function<BatchPipeline::Answers(
                             Session &session, const Batch &batch)> &answer) {
  BatchPipeline pipeline(std::move(ends), int64_t(workers.size()));
  return pipeline.run([&](int64_t worker) {
    Session session(model, workers[static_cast<size_t>(worker)].options);
    while (std::optional<BatchPipeline::Task> task = pipeline.take())
      pipeline.put(*task, answer(session, task->batch));
  });
}

/// Ends a run that went well.
static Status report(const Model &model, const RunOptions &options,
                     const std::vector<Equipment> &workers) {
  if (!options.profile)
    return Status::success();
  std::vector<const Profile *> profiles;
  for (const Equipment &worker : workers)
    profiles.push_back(worker.profile.get());
  return reportProfile(model, profiles, options.threads.value_or(1),
                       *options.profile);
}

/// What is said of the targets of a window's lines; the lines before one of
/// which nothing is said are answered.
static std::vector<TokenIds> readTargetsOf(SourceReader::Lines &lines,
                                           TargetReader &reader) {
  std::vector<TokenIds> targets;
  auto fail = [&](Status status) {
    lines.sources.resize(targets.size());
    lines.last = true;
    lines.failure = std::move(status);
    return targets;
  };
  while (targets.size() < lines.sources.size()) {
    Result<std::optional<TokenIds>> target = reader.next();
    if (!target.ok())
      return fail(target.status());
    if (!*target)
      return fail(Status::error(reader.where(),
                                " is the last, but the input has more lines"));
    targets.push_back(std::move(**target));
  }
  if (lines.last && lines.failure.ok())
    if (Result<std::optional<TokenIds>> more = reader.next();
        !more.ok() || *more)
      lines.failure = more.ok() ? Status::error(reader.where(),
                                                " belongs to no line of input")
                                : more.status();
  return targets;
}

/// Answers lines with what `answer` makes of a batch and `print` of an answer,
/// in order. `targets` says something of each line, where there is one.
static Status answerLines(
    const Model &model, const RunOptions &options, OutputWriter &output,
    std::optional<TargetReader> targets,
    const std::function<BatchPipeline::Answers(Session &session,
                                               const Batch &batch)> &answer,
    const std::function<std::string(const std::string &)> &print) {
  Result<SourceReader> reader = openSources(model, options);
  if (!reader.ok())
    return reader.status();
  auto workers = equipWorkers(model, options);
  if (!workers.ok())
    return workers.status();
  Progress progress(options);
  BatchPipeline::Ends ends;
  ends.read = [&] {
    BatchLimits limits = batchLimits(options);
    SourceReader::Lines lines = reader->next(kWindowBatches * limits.sentences,
                                             kWindowBatches * limits.tokens);
    std::vector<TokenIds> said;
    if (targets)
      said = readTargetsOf(lines, *targets);
    size_t count = lines.sources.size();
    return Window{
        count,
        divideByLength(std::move(lines.sources), limits, std::move(said)),
        lines.last, std::move(lines.failure)};
  };
  ends.write = [&](const std::vector<std::string> &answers) {
    for (const std::string &each : answers)
      output.print(print(each));
    Status status = output.flush();
    if (status.ok())
      progress.add(answers.size());
    return status;
  };
  ends.interrupt = [&] { reader->interrupt(); };
  Status status = runBatches(model, *workers, std::move(ends), answer);
  return status.ok() ? report(model, options, *workers) : status;
}

Status heddle::translateLines(const Model &model, const RunOptions &options,
                              OutputWriter &output) {
  Result<SearchOptions> search = searchFor(model, options);
  if (!search.ok())
    return search.status();
  std::optional<TargetReader> prefixes;
  if (!options.prefix.empty()) {
    Result<TargetReader> opened =
        openTargets(model, options.prefix, options, TargetPart::Beginning);
    if (!opened.ok())
      return opened.status();
    prefixes.emplace(std::move(*opened));
  }
  int64_t number = 0;
  return answerLines(
      model, options, output, std::move(prefixes),
      [&](Session &session, const Batch &batch) {
        return translate(model, session, batch, options, *search);
      },
      [&](const std::string &answer) {
        return numberAnswer(number++, answer, options);
      });
}

Status heddle::printScores(const Model &model, const RunOptions &options,
                           OutputWriter &output) {
  Result<TargetReader> targets =
      openTargets(model, options.score, options, TargetPart::Whole);
  if (!targets.ok())
    return targets.status();
  Perplexity perplexity;
  Status status = answerLines(
      model, options, output, std::move(*targets),
      [&](Session &session, const Batch &batch) -> BatchPipeline::Answers {
        auto scores = scoreTokens(model, session, batch.sources, batch.targets);
        if (!scores.ok())
          return scores.status();
        std::vector<std::string> answers;
        for (const std::vector<float> &each : *scores)
          answers.push_back(formatScores(each));
        return answers;
      },
      [&](const std::string &answer) {
        perplexity.add(answer);
        return answer + "\n";
      });
  if (status.ok())
    fprintf(stderr, "%s\n", perplexity.describe().c_str());
  return status;
}

Status heddle::scoreLines(const Model &model, const RunOptions &options) {
  Result<TargetReader> teacher = TargetReader::open(
      model, options.teacher, /*ids=*/true, TargetPart::Whole);
  if (!teacher.ok())
    return teacher.status();
  Result<std::vector<TokenIds>> targets = teacher->readAll();
  if (!targets.ok())
    return targets.status();
  size_t longest = 0;
  for (const TokenIds &target : *targets)
    longest = std::max(longest, target.size());
  Result<SourceReader> reader = openSources(model, options);
  if (!reader.ok())
    return reader.status();
  SignalCleanup cleanup;
  Result<NpyWriter> writer = NpyWriter::create(
      options.logits, {int64_t(targets->size()), int64_t(longest),
                       model.manifest().targetVocabulary});
  if (!writer.ok())
    return writer.status();
  cleanup.watch(writer->temporaryPath());

  auto workers = equipWorkers(model, options);
  if (!workers.ok())
    return workers.status();
  Session session(model, workers->front().options);
  BatchLimits limits = batchLimits(options);
  Progress progress(options);
  size_t first = 0;
  for (bool last = false; !last;) {
    SourceReader::Lines batch = reader->next(limits.sentences, limits.tokens);
    if (!batch.failure.ok())
      return batch.failure;
    last = batch.last;
    size_t count = batch.sources.size();
    if (first + count > targets->size() ||
        (last && first + count < targets->size()))
      return Status::error("'", options.teacher, "' has ", targets->size(),
                           " lines of targets but the input has ",
                           last ? "" : "at least ", first + count, " lines");
    if (count == 0)
      break;
    auto empty =
        std::find(batch.sources.begin(), batch.sources.end(), TokenIds());
    if (empty != batch.sources.end())
      return Status::error("line ", first + (empty - batch.sources.begin()) + 1,
                           " of the input has no token");
    auto begin = targets->begin() + static_cast<ptrdiff_t>(first);
    std::vector<TokenIds> taught(begin, begin + static_cast<ptrdiff_t>(count));
    auto sink = [&](int64_t sentence, int64_t position, const float *logits) {
      return writer->write(int64_t(first) + sentence, position, logits);
    };
    Status status =
        scoreTargets(model, session, batch.sources, taught, options.form, sink);
    for (size_t i = 0; i < count && status.ok(); ++i)
      status =
          writer->writeMissing(int64_t(first + i), int64_t(taught[i].size()));
    if (!status.ok())
      return status;
    first += count;
    progress.add(count);
  }
  Status status = writer->commit();
  return status.ok() ? report(model, options, *workers) : status;
}

/// All lines: the file's header says how many there are, and the longest.
static Result<std::vector<TokenIds>> readAll(SourceReader &reader) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  std::vector<TokenIds> sources;
  for (;;) {
    SourceReader::Lines lines = reader.next(kAll, kAll);
    if (!lines.failure.ok())
      return lines.failure;
    std::move(lines.sources.begin(), lines.sources.end(),
              std::back_inserter(sources));
    if (lines.last)
      return sources;
  }
}

/// A file for the states of these lines, without any so far.
static Result<NpyWriter> createHidden(const std::string &path,
                                      const std::vector<TokenIds> &sources,
                                      int64_t width) {
  size_t longest = 0;
  for (const TokenIds &source : sources)
    longest = std::max(longest, source.size());
  return NpyWriter::create(path,
                           {int64_t(sources.size()), int64_t(longest), width});
}

static BatchPipeline::Answers encode(Session &session,
                                     const HiddenOutput &hidden,
                                     const Batch &batch, NpyWriter &writer) {
  auto sink = [&](int64_t sentence, int64_t tokens, const float *states) {
    int64_t line = int64_t(batch.lines[size_t(sentence)]);
    return writer.write(line, 0, states, tokens);
  };
  Status status = encodeSources(session, hidden, batch.sources, sink);
  if (!status.ok())
    return status;
  // Nothing is printed.
  return std::vector<std::string>(batch.lines.size());
}

Status heddle::encodeLines(const Model &model, const RunOptions &options) {
  Result<HiddenOutput> hidden = findHiddenOutput(model);
  if (!hidden.ok())
    return hidden.status();
  Result<SourceReader> reader = openSources(model, options);
  if (!reader.ok())
    return reader.status();
  Result<std::vector<TokenIds>> sources = readAll(*reader);
  if (!sources.ok())
    return sources.status();
  size_t count = sources->size();
  SignalCleanup cleanup;
  Result<NpyWriter> writer =
      createHidden(options.hidden, *sources, hidden->width);
  if (!writer.ok())
    return writer.status();
  cleanup.watch(writer->temporaryPath());
  for (size_t line = 0; line < count; ++line)
    if (Status status = writer->writeMissing(int64_t(line),
                                             int64_t((*sources)[line].size()));
        !status.ok())
      return status;

  auto workers = equipWorkers(model, options);
  if (!workers.ok())
    return workers.status();
  Progress progress(options);
  BatchPipeline::Ends ends;
  ends.read = [&] {
    return Window{count,
                  divideByLength(std::move(*sources), batchLimits(options)),
                  /*last=*/true, Status::success()};
  };
  ends.write = [&](const std::vector<std::string> &lines) {
    progress.add(lines.size());
    return Status::success();
  };
  ends.interrupt = [] {};
  Status status = runBatches(model, *workers, std::move(ends),
                             [&](Session &session, const Batch &batch) {
                               return encode(session, *hidden, batch, *writer);
                             });
  if (status.ok())
    status = writer->commit();
  return status.ok() ? report(model, options, *workers) : status;
}
