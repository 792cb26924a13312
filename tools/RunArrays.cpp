//===- RunArrays.cpp - What heddle-run writes as arrays -------------------===//
//
// The header of such a file says how many lines there are, and the longest:
// what is written is known before the first line runs.
//
//===----------------------------------------------------------------------===//

#include "tools/RunArrays.h"

#include "runtime/HiddenStates.h"
#include "runtime/LineRun.h"
#include "runtime/NpyWriter.h"
#include "runtime/TeacherForcing.h"
#include "tools/Progress.h"
#include "tools/RunSetup.h"
#include "tools/SignalCleanup.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace heddle;

/// What is read at a time.
static constexpr int64_t kReadLines = 1024, kReadBytes = 1 << 14;

static size_t longestOf(const std::vector<TokenIds> &lines) {
  size_t longest = 0;
  for (const TokenIds &line : lines)
    longest = std::max(longest, line.size());
  return longest;
}

namespace {
/// Sources, read batch by batch on one thread.
class SourceBatches {
public:
  SourceBatches(InputLines &input, const LineTokens &tokens)
      : input(input), tokens(tokens) {}

  /// The next ones.
  Result<std::vector<TokenIds>> next(const LineLimits &limits) {
    Lines lines = input.next(limits);
    std::vector<TokenIds> sources;
    for (const Line &line : lines.lines) {
      Result<TokenIds> source = tokens.source(line.text);
      if (!source.ok())
        return Status::error(input.nameOf(count), " ", source.message());
      sources.push_back(std::move(*source));
      ++count;
    }
    if (!lines.failure.ok())
      return lines.failure;
    ended = lines.last;
    return sources;
  }
  bool hasEnded() const { return ended; }

private:
  InputLines &input;
  const LineTokens &tokens;
  int64_t count = 0;
  bool ended = false;
};
} // namespace

Status heddle::writeLogits(const Model &model, const RunOptions &options) {
  Result<LineTokens> tokens = tokensFor(model, options);
  if (!tokens.ok())
    return tokens.status();
  LineTokens asIds(model, /*ids=*/true, options.maxSource);
  Result<std::vector<TokenIds>> targets =
      readTargets(options.teacher, asIds, TargetPart::Whole);
  if (!targets.ok())
    return targets.status();
  Result<InputLines> input = openInput(options);
  if (!input.ok())
    return input.status();
  SignalCleanup cleanup;
  Result<NpyWriter> writer = NpyWriter::create(
      options.logits, {int64_t(targets->size()), int64_t(longestOf(*targets)),
                       model.manifest().targetVocabulary});
  if (!writer.ok())
    return writer.status();
  cleanup.watch(writer->temporaryPath());

  auto workers = equipWorkers(model, options);
  if (!workers.ok())
    return workers.status();
  Session session(model, workers->options(0));
  Progress progress(options.texts.empty());
  SourceBatches batches(*input, *tokens);
  for (size_t first = 0; !batches.hasEnded();) {
    Result<std::vector<TokenIds>> sources =
        batches.next({options.batch.value_or(kDefaultBatch), kReadBytes});
    if (!sources.ok())
      return sources.status();
    bool isLast = batches.hasEnded();
    size_t count = sources->size();
    if (first + count > targets->size() ||
        (isLast && first + count < targets->size()))
      return Status::error("'", options.teacher, "' has ", targets->size(),
                           " lines of targets but the input has ",
                           isLast ? "" : "at least ", first + count, " lines");
    if (count == 0)
      break;
    auto empty = std::find(sources->begin(), sources->end(), TokenIds());
    if (empty != sources->end())
      return Status::error("line ", first + (empty - sources->begin()) + 1,
                           " of the input has no token");
    auto begin = targets->begin() + static_cast<ptrdiff_t>(first);
    std::vector<TokenIds> taught(begin, begin + static_cast<ptrdiff_t>(count));
    auto sink = [&](int64_t sentence, int64_t position, const float *logits) {
      return writer->write(int64_t(first) + sentence, position, logits);
    };
    Status status =
        scoreTargets(model, session, *sources, taught, options.form, sink);
    for (size_t i = 0; i < count && status.ok(); ++i)
      status =
          writer->writeMissing(int64_t(first + i), int64_t(taught[i].size()));
    if (!status.ok())
      return status;
    first += count;
    progress.add(count);
  }
  Status status = writer->commit();
  return status.ok() ? reportRun(*workers, options) : status;
}

static Result<std::vector<TokenIds>> readAll(InputLines &input,
                                             const LineTokens &tokens) {
  SourceBatches batches(input, tokens);
  std::vector<TokenIds> all;
  while (!batches.hasEnded()) {
    Result<std::vector<TokenIds>> sources =
        batches.next({kReadLines, kReadBytes});
    if (!sources.ok())
      return sources.status();
    std::move(sources->begin(), sources->end(), std::back_inserter(all));
  }
  return all;
}

namespace {
/// Lines of which no more is known than their number.
class CountedLines : public LineSource {
public:
  explicit CountedLines(int64_t count) : left(count) {}
  Lines next(const LineLimits &limits) override {
    Lines result;
    result.lines.resize(size_t(std::min(limits.lines, left)));
    left -= int64_t(result.lines.size());
    result.last = left == 0;
    return result;
  }
  std::string nameOf(int64_t number) const override {
    return "line " + std::to_string(number + 1) + " of the input";
  }

private:
  int64_t left;
};

/// Writes what the encoder makes of lines that have been read; answers nothing.
class HiddenStatesJob : public LineJob {
public:
  HiddenStatesJob(std::vector<TokenIds> &sources, const HiddenOutput &hidden,
                  NpyWriter &writer)
      : sources(sources), hidden(hidden), writer(writer) {}

  Result<Sentence> encode(int64_t number, const Line &) override {
    return Sentence{std::move(sources[size_t(number)]), {}};
  }
  Result<int64_t> bytesFor(Session &session, const Batch &batch) override {
    return session.bytesFor(batch.sources, DecoderRequest());
  }
  Result<std::vector<std::string>> answer(Session &session,
                                          const Batch &batch) override {
    auto sink = [&](int64_t sentence, int64_t tokens, const float *states) {
      return writer.write(batch.lines[size_t(sentence)], 0, states, tokens);
    };
    Status status = encodeSources(session, hidden, batch.sources, sink);
    if (!status.ok())
      return status;
    return std::vector<std::string>(batch.lines.size());
  }

private:
  std::vector<TokenIds> &sources;
  const HiddenOutput &hidden;
  NpyWriter &writer;
};
} // namespace

Status heddle::writeHiddenStates(const Model &model,
                                 const RunOptions &options) {
  Result<HiddenOutput> hidden = findHiddenOutput(model);
  if (!hidden.ok())
    return hidden.status();
  Result<LineTokens> tokens = tokensFor(model, options);
  if (!tokens.ok())
    return tokens.status();
  Result<InputLines> input = openInput(options);
  if (!input.ok())
    return input.status();
  Result<std::vector<TokenIds>> sources = readAll(*input, *tokens);
  if (!sources.ok())
    return sources.status();
  int64_t count = int64_t(sources->size());
  SignalCleanup cleanup;
  Result<NpyWriter> writer = NpyWriter::create(
      options.hidden, {count, int64_t(longestOf(*sources)), hidden->width});
  if (!writer.ok())
    return writer.status();
  cleanup.watch(writer->temporaryPath());
  for (int64_t line = 0; line < count; ++line)
    if (Status status = writer->writeMissing(
            line, int64_t((*sources)[size_t(line)].size()));
        !status.ok())
      return status;

  auto workers = equipWorkers(model, options);
  if (!workers.ok())
    return workers.status();
  Progress progress(options.texts.empty());
  CountedLines lines(count);
  HiddenStatesJob job(*sources, *hidden, *writer);
  Status status = runLines(*workers, lineRunOptions(options), lines, job,
                           [&](const std::vector<std::string> &answers) {
                             progress.add(answers.size());
                             return Status::success();
                           });
  if (status.ok())
    status = writer->commit();
  return status.ok() ? reportRun(*workers, options) : status;
}
