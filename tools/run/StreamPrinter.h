//===- StreamPrinter.h - A stream of heddle.h on its way out ----*- C++ -*-===//
//
// What all sinks of heddle-run share: what becomes of inputs is written in
// their order, skipped and cut ones are counted, and progress is shown.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_STREAMPRINTER_H
#define HEDDLE_TOOLS_RUN_STREAMPRINTER_H

#include "tools/Progress.h"
#include "tools/run/LineNotices.h"
#include "tools/run/OutputWriter.h"
#include "tools/run/RunSetup.h"

#include <cstdint>
#include <string>

namespace heddle {

/// Borrows all that it is made of. One thread at a time.
class StreamPrinter {
public:
  StreamPrinter(Run &run, OutputWriter &output, Progress &progress)
      : run(run), output(output), progress(progress) {}

  /// The number of the next input, from 0.
  int64_t next() const { return printed + waiting; }
  /// Takes what a sink is told of the next input.
  void notice(const char *sentence) { notices.add(sentence); }
  /// Comes to the next input, which has an answer or not; true if it was
  /// skipped.
  bool begin(bool hasAnswer) { return notices.count(hasAnswer); }
  /// Ends it with its lines, if they are to be printed.
  void end(const std::string &lines = {}) {
    output.print(lines);
    ++waiting;
  }
  /// Ends the stream with a failure.
  void fail(Status status) { failure = std::move(status); }
  /// As a sink's function: not 0 ends the stream.
  int flush() {
    if (failure.ok())
      failure = output.flush();
    warnOfGpu(run);
    if (!failure.ok())
      return 1;
    progress.addLines(size_t(waiting));
    printed += waiting;
    waiting = 0;
    return 0;
  }

  /// Behind the stream: says what was counted. Fails if writing ended it.
  Status finish() {
    warnOfGpu(run);
    notices.report();
    return failure;
  }
  bool hasFailed() const { return !failure.ok(); }

private:
  Run &run;
  OutputWriter &output;
  Progress &progress;
  LineNotices notices;
  /// Inputs whose lines are written, and those that are behind them.
  int64_t printed = 0, waiting = 0;
  Status failure = Status::success();
};

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_STREAMPRINTER_H
