//===- RunRanking.cpp - What heddle-run does to rank lines ----------------===//
//
// Lines are scored as they come. Nothing is printed before the last one: it may
// be the best.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunRanking.h"

#include "tools/run/AnswerLines.h"
#include "tools/run/BestLines.h"
#include "tools/run/InputLines.h"
#include "tools/run/StreamPrinter.h"

#include <utility>

using namespace heddle;

namespace {
/// Takes the scores of lines, each of which is a pair with the query.
class Ranking {
public:
  Ranking(InputLines &input, StreamPrinter &printer, const RunOptions &options)
      : printer(printer), options(options),
        best(options.top.value_or(SIZE_MAX)) {
    input.pairWith(*options.rank);
    input.onLine([this](const std::string &text) { underWay.add(text); });
  }

  /// Borrows this object.
  heddle_label_sink sink();
  void print(OutputWriter &output);

private:
  int take(const heddle_label *labels, size_t count);

  StreamPrinter &printer;
  const RunOptions &options;
  LinesUnderWay underWay;
  BestLines best;
  int64_t taken = 0;
};
} // namespace

int Ranking::take(const heddle_label *labels, size_t count) {
  std::string text = underWay.take();
  printer.begin(labels != nullptr);
  printer.end();
  int64_t number = taken++;
  if (!labels)
    return 0;
  if (count != 1) {
    printer.fail(Status::error("--rank takes a model with one label, but '",
                               options.file, "' has ", count));
    return 1;
  }
  best.add(number, labels->score, text);
  return 0;
}

heddle_label_sink Ranking::sink() {
  return {this,
          [](void *context, const heddle_label *labels, size_t count) {
            return static_cast<Ranking *>(context)->take(labels, count);
          },
          [](void *context) {
            return static_cast<Ranking *>(context)->printer.flush();
          },
          [](void *context, size_t, const char *sentence) {
            static_cast<Ranking *>(context)->printer.notice(sentence);
          }};
}

void Ranking::print(OutputWriter &output) {
  for (ScoredLine &line : best.take())
    output.print(formatRankedLine(
        {line.number, line.score, std::move(line.text)}, options.plain));
}

Status heddle::printRanking(Run &run, const RunOptions &options,
                            OutputWriter &output) {
  Result<InputLines> input = InputLines::open(options.texts);
  if (!input.ok())
    return input.status();
  Status status = Status::success();
  {
    Progress progress = Progress::ofLines(options.texts.empty());
    StreamPrinter printer(run, output, progress);
    Ranking ranking(*input, printer, options);
    heddle_source source = input->source();
    heddle_label_sink sink = ranking.sink();
    status =
        statusOf(heddle_classify_stream(run.session.get(), &source, &sink));
    if (Status scored = printer.finish(); !scored.ok())
      return scored;
    if (status.ok())
      ranking.print(output);
  }
  if (Status written = output.flush(); !written.ok())
    return written;
  return status.ok() ? reportRun(run, options) : status;
}
