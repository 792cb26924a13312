//===- RunLines.cpp - What heddle-run does with lines ---------------------===//
//
// Read a batch, run it, write it, until the input ends. Translations do so in
// several workers: a session each, over one model.
//
//===----------------------------------------------------------------------===//

#include "tools/RunLines.h"

#include "runtime/GreedyDecoder.h"
#include "runtime/NpyWriter.h"
#include "runtime/TeacherForcing.h"
#include "tools/BatchPipeline.h"
#include "tools/SourceReader.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

using namespace heddle;

static constexpr int64_t kDefaultBatch = 16;

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

static Result<SourceReader> openSources(const Model &model,
                                        const RunOptions &options) {
  if (!options.ids && !model.tokenizer())
    return Status::error("'", options.file,
                         "' has no tokenizer, expected --ids");
  Result<LineReader> lines = options.texts.empty()
                                 ? LineReader::standardInput()
                                 : LineReader::texts(options.texts);
  if (!lines.ok())
    return lines.status();
  return SourceReader(model, std::move(*lines), options.ids);
}

/// How many lines run together: a person at a terminal waits for each one.
static int64_t batchSize(const RunOptions &options) {
  bool typed = options.texts.empty() && isatty(STDIN_FILENO);
  return options.batch.value_or(typed ? 1 : kDefaultBatch);
}

/// The sentences of a batch that have tokens, and where they stood in it.
static std::vector<TokenIds> takeNonEmpty(std::vector<TokenIds> &sources,
                                          std::vector<size_t> &indices) {
  std::vector<TokenIds> result;
  for (size_t i = 0; i < sources.size(); ++i)
    if (!sources[i].empty()) {
      result.push_back(std::move(sources[i]));
      indices.push_back(i);
    }
  return result;
}

/// The text of target ids, as one line whatever the model says.
static std::string textLine(const Model &model, const TokenIds &ids) {
  std::string text = model.tokenizer()->decode(ids);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// What becomes of a batch: its lines, then the failure behind them.
static BatchPipeline::Outcome translate(const Model &model, Session &session,
                                        SourceReader::Batch batch,
                                        const RunOptions &options) {
  std::vector<std::string> lines(batch.sources.size());
  std::vector<size_t> indices;
  std::vector<TokenIds> sources = takeNonEmpty(batch.sources, indices);
  if (!sources.empty()) {
    DecodeOptions decodeOptions;
    decodeOptions.maxLength = options.maxLength;
    decodeOptions.useShortlist = options.useShortlist;
    Result<std::vector<TokenIds>> targets =
        decodeGreedy(model, session, sources, decodeOptions);
    if (!targets.ok())
      return {{}, targets.status()};
    for (size_t i = 0; i < indices.size(); ++i)
      lines[indices[i]] = options.ids ? formatIds((*targets)[i])
                                      : textLine(model, (*targets)[i]);
  }
  return {std::move(lines), std::move(batch.failure)};
}

Status heddle::translateLines(const Model &model, const RunOptions &options,
                              OutputWriter &output) {
  Result<SourceReader> reader = openSources(model, options);
  if (!reader.ok())
    return reader.status();
  Progress progress(options);
  BatchPipeline::Ends ends;
  ends.read = [&] { return reader->next(batchSize(options)); };
  ends.write = [&](const std::vector<std::string> &lines) {
    for (const std::string &line : lines) {
      output.print(line);
      output.print("\n");
    }
    Status status = output.flush();
    if (status.ok())
      progress.add(lines.size());
    return status;
  };
  ends.interrupt = [&] { reader->interrupt(); };
  BatchPipeline pipeline(std::move(ends), options.workers.value_or(1));
  return pipeline.run([&] {
    Session session(model);
    while (std::optional<BatchPipeline::Task> task = pipeline.take())
      pipeline.put(task->number,
                   translate(model, session, std::move(task->batch), options));
  });
}

Status heddle::scoreLines(const Model &model, const RunOptions &options) {
  Result<std::vector<TokenIds>> targets = readTargets(model, options.teacher);
  if (!targets.ok())
    return targets.status();
  size_t longest = 0;
  for (const TokenIds &target : *targets)
    longest = std::max(longest, target.size());
  Result<SourceReader> reader = openSources(model, options);
  if (!reader.ok())
    return reader.status();
  Result<NpyWriter> writer = NpyWriter::create(
      options.logits, {int64_t(targets->size()), int64_t(longest),
                       model.manifest().targetVocabulary});
  if (!writer.ok())
    return writer.status();

  Session session(model);
  Progress progress(options);
  size_t first = 0;
  for (bool last = false; !last;) {
    SourceReader::Batch batch = reader->next(batchSize(options));
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
  return writer->commit();
}
