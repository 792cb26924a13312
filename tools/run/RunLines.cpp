//===- RunLines.cpp - What heddle-run does with lines ---------------------===//
//
// The streams of heddle.h between standard input and standard output.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunLines.h"

#include "tools/Progress.h"
#include "tools/run/AnswerLines.h"
#include "tools/run/InputLines.h"
#include "tools/run/LineNotices.h"
#include "tools/run/RunSetup.h"
#include "tools/run/RunVectors.h"

#include <cstdio>
#include <functional>
#include <utility>

using namespace heddle;

/// The lines of an input, from 0.
using AnswerFormat = std::function<std::string(
    int64_t number, const heddle_answer_text *answers, size_t count)>;

/// The line of an input that was skipped; none in lists, where each entry has
/// the number of its input.
static std::string formatSkipped(const RunOptions &options) {
  return options.nBest ? "" : "\n";
}

namespace {
/// Prints the answers of a stream, and says how many there were.
class Printer {
public:
  /// The lines of an input, from 0, which may have been skipped.
  using Format = std::function<std::string(int64_t number,
                                           const heddle_answer_text *answers,
                                           size_t count, bool isSkipped)>;

  Printer(Run &run, OutputWriter &output, Progress &progress, Format format)
      : run(run), output(output), progress(progress),
        format(std::move(format)) {}

  /// Borrows this object.
  heddle_sink sink() {
    return {
        this,
        [](void *context, const heddle_answer_text *answers, size_t count) {
          static_cast<Printer *>(context)->print(answers, count);
          return 0;
        },
        [](void *context) { return static_cast<Printer *>(context)->flush(); },
        [](void *context, size_t, const char *sentence) {
          static_cast<Printer *>(context)->notices.add(sentence);
        }};
  }
  void reportNotices() const { notices.report(); }
  /// Why printing ended the stream, if it did.
  const Status &status() const { return failure; }

private:
  void print(const heddle_answer_text *answers, size_t count) {
    bool isSkipped = notices.count(count > 0);
    output.print(format(printed + waiting, answers, count, isSkipped));
    ++waiting;
  }
  int flush() {
    failure = output.flush();
    warnOfGpu(run);
    if (!failure.ok())
      return 1;
    progress.addLines(size_t(waiting));
    printed += waiting;
    waiting = 0;
    return 0;
  }

  Run &run;
  OutputWriter &output;
  Progress &progress;
  const Format format;
  LineNotices notices;
  /// Inputs whose answers are written, and those that are behind them.
  int64_t printed = 0, waiting = 0;
  Status failure = Status::success();
};
} // namespace

/// One of the streams of heddle.h.
using Stream = heddle_status (*)(heddle_session *, const heddle_source *,
                                 const heddle_sink *);

/// Prints what becomes of the input and of what `targets` says of it.
static Status print(Run &run, Stream stream, const std::string &targets,
                    const RunOptions &options, OutputWriter &output,
                    const AnswerFormat &format) {
  Result<InputLines> input =
      InputLines::open(options.texts, targets, options.split);
  if (!input.ok())
    return input.status();
  Status status = Status::success();
  {
    Progress progress = Progress::ofLines(options.texts.empty());
    Printer printer(run, output, progress,
                    [&](int64_t number, const heddle_answer_text *answers,
                        size_t count, bool isSkipped) {
                      std::string text = isSkipped
                                             ? formatSkipped(options)
                                             : format(number, answers, count);
                      // Running text ends as it does.
                      if (options.split && input->lacksEnd(number))
                        text.pop_back();
                      return text;
                    });
    heddle_source source = input->source();
    heddle_sink sink = printer.sink();
    status = statusOf(stream(run.session.get(), &source, &sink));
    warnOfGpu(run);
    printer.reportNotices();
    if (!printer.status().ok())
      return printer.status();
  }
  if (!status.ok())
    return status;
  // One list is for all lines.
  if (run.allowedLines > 1 && run.allowedLines > input->linesRead())
    return Status::error("line ", input->linesRead() + 1, " of '",
                         options.allowed, "' belongs to no line of input");
  return reportRun(run, options);
}

Status heddle::printAnswers(const RunOptions &options, OutputWriter &output) {
  Result<Run> run = beginRun(options);
  if (!run.ok())
    return run.status();
  auto hasTask = [&](const char *task) {
    return heddle_model_has_task(run->model.get(), task) != 0;
  };
  bool wantsVectors = options.plain || !options.output.empty();
  if (wantsVectors || (hasTask("embed") && !hasTask("generate")))
    return writeVectors(*run, options, output);
  return print(
      *run, heddle_translate_stream, options.prefix, options, output,
      [&](int64_t number, const heddle_answer_text *answers, size_t count) {
        return formatAnswers(number, answers, count, options);
      });
}

Status heddle::printScores(const RunOptions &options, OutputWriter &output) {
  Result<Run> run = beginRun(options);
  if (!run.ok())
    return run.status();
  Perplexity perplexity;
  Status status =
      print(*run, heddle_score_stream, options.score, options, output,
            [&](int64_t, const heddle_answer_text *answers, size_t count) {
              if (count > 0)
                perplexity.add(*answers);
              return formatScores(answers, count);
            });
  if (status.ok())
    fprintf(stderr, "%s\n", perplexity.describe().c_str());
  return status;
}
