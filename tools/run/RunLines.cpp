//===- RunLines.cpp - What heddle-run does with lines ---------------------===//
//
// The streams of heddle.h between standard input and standard output.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunLines.h"

#include "tools/Progress.h"
#include "tools/run/AnswerLines.h"
#include "tools/run/InputLines.h"
#include "tools/run/RunLabels.h"
#include "tools/run/RunNearest.h"
#include "tools/run/RunRanking.h"
#include "tools/run/RunSetup.h"
#include "tools/run/RunVectors.h"
#include "tools/run/StreamPrinter.h"

#include <cstdio>
#include <functional>
#include <tuple>
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
/// Prints the answers of a stream.
struct AnswerPrinter {
  /// The lines of an input, from 0, which may have been skipped.
  using Format = std::function<std::string(int64_t number,
                                           const heddle_answer_text *answers,
                                           size_t count, bool isSkipped)>;

  StreamPrinter lines;
  const Format format;

  /// Borrows this object.
  heddle_sink sink() {
    return {this,
            [](void *context, const heddle_answer_text *answers, size_t count) {
              static_cast<AnswerPrinter *>(context)->print(answers, count);
              return 0;
            },
            [](void *context) {
              return static_cast<AnswerPrinter *>(context)->lines.flush();
            },
            [](void *context, size_t, const char *sentence) {
              static_cast<AnswerPrinter *>(context)->lines.notice(sentence);
            }};
  }
  void print(const heddle_answer_text *answers, size_t count) {
    bool isSkipped = lines.begin(count > 0);
    lines.end(format(lines.next(), answers, count, isSkipped));
  }
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
    AnswerPrinter printer = {
        StreamPrinter(run, output, progress),
        [&](int64_t number, const heddle_answer_text *answers, size_t count,
            bool isSkipped) {
          std::string text = isSkipped ? formatSkipped(options)
                                       : format(number, answers, count);
          // Running text ends as it does.
          if (options.split && input->lacksEnd(number))
            text.pop_back();
          return text;
        }};
    heddle_source source = input->source();
    heddle_sink sink = printer.sink();
    status = statusOf(stream(run.session.get(), &source, &sink));
    if (Status written = printer.lines.finish(); !written.ok())
      return written;
  }
  if (!status.ok())
    return status;
  // One list is for all lines.
  if (run.allowedLines > 1 && run.allowedLines > input->linesRead())
    return Status::error("line ", input->linesRead() + 1, " of '",
                         options.allowed, "' belongs to no line of input");
  return reportRun(run, options);
}

/// Whether a task gives labels or answers.
static bool givesLabels(std::string_view task) {
  return task != "generate" && task != "embed";
}

/// Whether what a task gives stands somewhere in a text.
static bool hasPlaces(std::string_view task) {
  return givesLabels(task) && task != "classify";
}

/// What is asked of the model: the task that is named, or the first one that it
/// has. Vectors are written to files and have flags of their own, labels and
/// answers are what there are several of, and what is plain is no translation.
static std::string taskFor(const Run &run, const RunOptions &options) {
  if (!options.task.empty())
    return options.task;
  if (options.question)
    return "answer";
  if (options.pairs || !options.second.empty() || options.rank)
    return heddle_model_has_task(run.model.get(), "classify") || options.rank ||
                   !heddle_model_has_task(run.model.get(), "answer")
               ? "classify"
               : "answer";
  if (!options.output.empty() || !options.vectors.empty())
    return "embed";
  if (options.aggregates)
    return "tag";
  bool wantsLabels = options.top && options.nearest.empty();
  std::string_view first = options.plain ? "embed" : "";
  for (std::string_view task : kTaskNames) {
    if (!heddle_model_has_task(run.model.get(), task.data()))
      continue;
    if (!(options.plain && task == "generate") &&
        !(wantsLabels && !givesLabels(task)) &&
        !(options.byteOffsets && !hasPlaces(task)))
      return std::string(task);
    first = first.empty() ? task : first;
  }
  return std::string(first.empty() ? "generate" : first);
}

/// Whether the only text is continued where it stands, so that what follows is
/// printed as it comes, in lines of its own.
static bool isContinued(const Run &run, const RunOptions &options) {
  bool wantsText = !options.ids && !options.scores && !options.nBest &&
                   !options.tokenScores && !options.aligns &&
                   options.prefix.empty();
  return wantsText && options.texts.size() == 1 &&
         heddle_model_continues_texts(run.model.get()) &&
         heddle_session_tells_tokens(run.session.get());
}

/// Prints what continues the only text, token by token.
static Status printContinuation(Run &run, const RunOptions &options,
                                OutputWriter &output) {
  auto printToken = [](void *context, size_t, int32_t, const char *text,
                       size_t size, int) {
    auto *to = static_cast<OutputWriter *>(context);
    to->print({text, size});
    return size > 0 && !to->flush().ok() ? 1 : 0;
  };
  Status status =
      statusOf(heddle_session_on_token(run.session.get(), printToken, &output));
  if (!status.ok())
    return status;
  status = print(run, heddle_translate_stream, options.prefix, options, output,
                 [](int64_t, const heddle_answer_text *, size_t) {
                   return std::string("\n");
                 });
  // What could not be written has ended the text: that is the reason to tell.
  Status written = output.flush();
  return written.ok() ? status : written;
}

Status heddle::printAnswers(const RunOptions &options, OutputWriter &output) {
  Result<Run> run = beginRun(options);
  if (!run.ok())
    return run.status();
  std::string task = taskFor(*run, options);
  std::string vectors = options.output.empty() ? options.vectors : "--output";
  bool wantsSeveral = options.top && options.nearest.empty();
  for (auto [flag, isFor, what] :
       {std::tuple(options.translates, "generate", "generated text"),
        {wantsSeveral && !givesLabels(task) ? "--top" : "", "",
         "labels and answers"},
        {vectors, "embed", "vectors"},
        {options.aggregates ? "--aggregate" : "", "tag", "labels of tokens"},
        {options.byteOffsets && !hasPlaces(task) ? "--in-bytes" : "", "",
         "places of labels and answers"}})
    if (!flag.empty() && task != isFor)
      return Status::error(
          flag, " is for ", what, ", but '", options.file, "' is asked to ",
          task == "answer" ? "answer questions" : task + " texts");
  if (task == "answer" && options.ids)
    return Status::error("--ids takes ids, but questions are asked of texts");
  if (!options.nearest.empty())
    return printNearest(*run, options, output);
  if (task == "embed")
    return writeVectors(*run, options, output);
  if (options.rank)
    return printRanking(*run, options, output);
  if (task != "generate")
    return printLabels(*run, task, options, output);
  if (isContinued(*run, options))
    return printContinuation(*run, options, output);
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
