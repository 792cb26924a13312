//===- RunArrays.cpp - What heddle-run writes as arrays -------------------===//
//
// The header of such a file says how many lines there are, and the longest:
// what is written is known before the first line runs.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunArrays.h"

#include "tools/Progress.h"
#include "tools/SignalCleanup.h"
#include "tools/run/InputLines.h"
#include "tools/run/LineNotices.h"
#include "tools/run/RunSetup.h"
#include "tools/run/vectors/NpyWriter.h"

#include <algorithm>
#include <utility>

using namespace heddle;

using Ids = std::vector<int32_t>;

static size_t longestOf(const std::vector<Ids> &lines) {
  size_t longest = 0;
  for (const Ids &line : lines)
    longest = std::max(longest, line.size());
  return longest;
}

/// What heddle.h takes of ids that are here.
static heddle_input inputOf(const Ids &source) {
  static constexpr int32_t kNone = 0;
  heddle_input input = {};
  input.ids = source.empty() ? &kNone : source.data();
  input.id_count = source.size();
  return input;
}

static bool skips(const heddle_session &session) {
  return heddle_session_on_error(&session) == std::string_view("skip");
}

/// The ids of a line, as --on-error has it if there are notices to give.
static Result<Ids> encodeSource(const heddle_session &session,
                                const std::string &line,
                                const std::string &name, LineNotices *notices) {
  Result<Ids> ids = encodeText(session, HEDDLE_SOURCE, line, name);
  std::string_view rule = heddle_session_on_error(&session);
  if (!ids.ok() && notices && rule == "crop") {
    Result<Ids> cut =
        encodeText(session, HEDDLE_SOURCE | HEDDLE_CROP, line, name);
    if (!cut.ok())
      return cut;
    notices->add(ids.message() + "; it is cut");
    ids = std::move(cut);
  } else if (!ids.ok() && notices && skips(session)) {
    notices->add(ids.message());
    notices->count(/*hasAnswer=*/false);
    return Ids();
  }
  if (ids.ok() && notices)
    notices->count(/*hasAnswer=*/true);
  return ids;
}

/// The next sources, at most `most`; fewer if the input ends.
static Result<std::vector<Ids>> readSources(InputLines &input,
                                            const heddle_session &session,
                                            int64_t first, size_t most,
                                            LineNotices *notices = nullptr) {
  std::vector<Ids> sources;
  while (sources.size() < most) {
    Result<std::optional<std::string>> line = input.next();
    if (!line.ok() && notices && skips(session) && input.skipTooLong()) {
      notices->add(line.message());
      notices->count(/*hasAnswer=*/false);
      sources.emplace_back();
      continue;
    }
    if (!line.ok())
      return line.status();
    if (!*line)
      break;
    Result<Ids> source =
        encodeSource(session, **line,
                     input.nameOf(first + int64_t(sources.size())), notices);
    if (!source.ok())
      return source.status();
    sources.push_back(std::move(*source));
  }
  return sources;
}

/// All lines of a file as ids of targets.
static Result<std::vector<Ids>> readTargets(const std::string &path,
                                            const heddle_session &session) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines.ok())
    return lines.status();
  std::vector<Ids> targets;
  for (;;) {
    Result<std::optional<std::string>> line = lines->next();
    if (!line.ok())
      return line.status();
    if (!*line)
      return targets;
    Result<Ids> target = encodeText(session, HEDDLE_TARGET | HEDDLE_IDS, **line,
                                    lines->nameOf(lines->linesRead() - 1));
    if (!target.ok())
      return target.status();
    targets.push_back(std::move(*target));
  }
}

namespace {
/// Puts rows of numbers where they belong in a file.
struct RowWriter {
  NpyWriter &writer;
  /// Where the first input of a call stands.
  size_t firstLine = 0;
  /// Of lines without rows, if there may be some.
  LineNotices *notices = nullptr;
  Status failure = Status::success();

  static int take(void *context, size_t input, size_t first, size_t rows,
                  const float *values, size_t) {
    auto *self = static_cast<RowWriter *>(context);
    // Another worker's rows may come before all workers have stopped.
    if (!self->failure.ok())
      return 1;
    if (rows == 0 && self->notices) {
      self->notices->skipCounted(heddle_error());
      self->failure = self->writer.writeMissing(
          int64_t(self->firstLine + input), /*column=*/0);
      return !self->failure.ok();
    }
    self->failure = self->writer.write(int64_t(self->firstLine + input),
                                       int64_t(first), values, int64_t(rows));
    return !self->failure.ok();
  }
  /// What became of a call that filled rows.
  Status of(heddle_status called) const {
    return failure.ok() ? statusOf(called) : failure;
  }
};
} // namespace

Status heddle::writeLogits(const RunOptions &options) {
  Result<Run> run = beginRun(options);
  if (!run.ok())
    return run.status();
  heddle_session *session = run->session.get();
  Result<std::vector<Ids>> targets = readTargets(options.teacher, *session);
  if (!targets.ok())
    return targets.status();
  Result<InputLines> input = InputLines::open(options.texts);
  if (!input.ok())
    return input.status();
  SignalCleanup cleanup;
  Result<NpyWriter> writer = NpyWriter::create(
      options.logits, {int64_t(targets->size()), int64_t(longestOf(*targets)),
                       heddle_model_target_vocabulary(run->model.get())});
  if (!writer.ok())
    return writer.status();
  cleanup.watch(writer->temporaryPath());

  Progress progress = Progress::ofLines(options.texts.empty());
  RowWriter rows = {*writer};
  for (bool isLast = false; !isLast;) {
    size_t first = rows.firstLine;
    Result<std::vector<Ids>> sources =
        readSources(*input, *session, int64_t(first), size_t(options.batch));
    if (!sources.ok())
      return sources.status();
    size_t count = sources->size();
    isLast = count < size_t(options.batch);
    if (first + count > targets->size() ||
        (isLast && first + count < targets->size()))
      return Status::error("'", options.teacher, "' has ", targets->size(),
                           " lines of targets but the input has ",
                           isLast ? "" : "at least ", first + count, " lines");
    std::vector<heddle_input> inputs;
    for (size_t i = 0; i < count; ++i) {
      const Ids &target = (*targets)[first + i];
      if ((*sources)[i].empty())
        return Status::error("line ", first + i + 1,
                             " of the input has no token");
      inputs.push_back(inputOf((*sources)[i]));
      heddle_input taught = inputOf(target);
      inputs.back().target_ids = taught.ids;
      inputs.back().target_id_count = taught.id_count;
    }
    Status status =
        rows.of(heddle_logits(session, inputs.data(), count,
                              options.form.c_str(), RowWriter::take, &rows));
    warnOfGpu(*run);
    for (size_t i = first; i < first + count && status.ok(); ++i)
      status = writer->writeMissing(int64_t(i), int64_t((*targets)[i].size()));
    if (!status.ok())
      return status;
    rows.firstLine += count;
    progress.addLines(count);
  }
  Status status = writer->commit();
  return status.ok() ? reportRun(*run, options) : status;
}

Status heddle::writeHiddenStates(const RunOptions &options) {
  Result<Run> run = beginRun(options);
  if (!run.ok())
    return run.status();
  heddle_session *session = run->session.get();
  size_t width = 0;
  if (Status status = statusOf(heddle_hidden_width(run->model.get(), &width));
      !status.ok())
    return status;
  Result<InputLines> input = InputLines::open(options.texts);
  if (!input.ok())
    return input.status();
  LineNotices notices;
  Result<std::vector<Ids>> sources =
      readSources(*input, *session, /*first=*/0, SIZE_MAX, &notices);
  if (!sources.ok())
    return sources.status();
  size_t count = sources->size();
  SignalCleanup cleanup;
  Result<NpyWriter> writer = NpyWriter::create(
      options.hidden,
      {int64_t(count), int64_t(longestOf(*sources)), int64_t(width)});
  if (!writer.ok())
    return writer.status();
  cleanup.watch(writer->temporaryPath());
  std::vector<heddle_input> inputs;
  for (size_t line = 0; line < count; ++line) {
    const Ids &source = (*sources)[line];
    if (Status status =
            writer->writeMissing(int64_t(line), int64_t(source.size()));
        !status.ok())
      return status;
    inputs.push_back(inputOf(source));
  }
  RowWriter rows = {*writer, /*firstLine=*/0, &notices};
  Status status = rows.of(heddle_hidden_states(session, inputs.data(), count,
                                               RowWriter::take, &rows));
  warnOfGpu(*run);
  notices.report();
  if (status.ok())
    status = writer->commit();
  return status.ok() ? reportRun(*run, options) : status;
}
