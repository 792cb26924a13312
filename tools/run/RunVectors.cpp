//===- RunVectors.cpp - What heddle-run does with an embedder -------------===//
//
// A stream of lines becomes rows of a file, or lines of numbers.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunVectors.h"

#include "tools/Progress.h"
#include "tools/SignalCleanup.h"
#include "tools/run/AnswerLines.h"
#include "tools/run/InputLines.h"
#include "tools/run/LineNotices.h"
#include "tools/run/NpyWriter.h"

#include <cmath>
#include <optional>
#include <string>

using namespace heddle;

/// The line of a vector, null if its input was skipped.
static std::string formatVector(const float *values, size_t width,
                                bool isPlain) {
  if (!values)
    return isPlain ? "\n" : "{\"vector\": null}\n";
  std::string text = isPlain ? "" : "{\"vector\": [";
  for (size_t i = 0; i < width; ++i) {
    text += i == 0 ? "" : isPlain ? " " : ", ";
    // JSON has no other numbers.
    text +=
        isPlain || std::isfinite(values[i]) ? formatNumber(values[i]) : "null";
  }
  return text + (isPlain ? "\n" : "]}\n");
}

namespace {
/// Takes the vectors of a stream.
class VectorPrinter {
public:
  /// Without a `file` vectors are printed.
  VectorPrinter(Run &run, bool isPlain, NpyWriter *file, OutputWriter &output,
                Progress &progress)
      : run(run), isPlain(isPlain), file(file), output(output),
        progress(progress) {}

  /// Borrows this object.
  heddle_vector_sink sink() {
    return {this,
            [](void *context, const float *values, size_t width) {
              return static_cast<VectorPrinter *>(context)->take(values, width);
            },
            [](void *context) {
              return static_cast<VectorPrinter *>(context)->flush();
            },
            [](void *context, size_t, const char *sentence) {
              static_cast<VectorPrinter *>(context)->notices.add(sentence);
            }};
  }
  void reportNotices() const { notices.report(); }
  /// Why writing ended the stream, if it did.
  const Status &status() const { return failure; }

private:
  int take(const float *values, size_t width) {
    notices.count(values != nullptr);
    if (file)
      failure = file->append(values);
    else
      output.print(formatVector(values, width, isPlain));
    ++waiting;
    return !failure.ok();
  }
  int flush() {
    if (!file)
      failure = output.flush();
    warnOfGpu(run);
    if (!failure.ok())
      return 1;
    progress.addLines(waiting);
    waiting = 0;
    return 0;
  }

  Run &run;
  const bool isPlain;
  NpyWriter *file;
  OutputWriter &output;
  Progress &progress;
  LineNotices notices;
  /// Inputs since the last flush.
  size_t waiting = 0;
  Status failure = Status::success();
};
} // namespace

Status heddle::writeVectors(Run &run, const RunOptions &options,
                            OutputWriter &output) {
  heddle_session *session = run.session.get();
  size_t width = 0;
  if (Status status = statusOf(heddle_vector_width(session, &width));
      !status.ok())
    return status;
  if (!options.translates.empty())
    return Status::error(options.translates, " is for translations, but '",
                         options.file, "' embeds texts");
  Result<InputLines> input = InputLines::open(options.texts);
  if (!input.ok())
    return input.status();
  SignalCleanup cleanup;
  std::optional<NpyWriter> file;
  if (!options.output.empty()) {
    Result<NpyWriter> writer =
        NpyWriter::createRows(options.output, int64_t(width));
    if (!writer.ok())
      return writer.status();
    file.emplace(std::move(*writer));
    cleanup.watch(file->temporaryPath());
  }
  Status status = Status::success();
  {
    Progress progress = Progress::ofLines(options.texts.empty());
    VectorPrinter printer(run, options.plain, file ? &*file : nullptr, output,
                          progress);
    heddle_source source = input->source();
    heddle_vector_sink sink = printer.sink();
    status = statusOf(heddle_embed_stream(session, &source, &sink));
    warnOfGpu(run);
    printer.reportNotices();
    if (!printer.status().ok())
      return printer.status();
  }
  if (status.ok() && file)
    status = file->commit();
  return status.ok() ? reportRun(run, options) : status;
}
