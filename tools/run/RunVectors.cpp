//===- RunVectors.cpp - What heddle-run does with an embedder -------------===//
//
// A stream of lines becomes rows of a file, or lines of numbers.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunVectors.h"

#include "tools/SignalCleanup.h"
#include "tools/run/AnswerLines.h"
#include "tools/run/InputLines.h"
#include "tools/run/NpyWriter.h"
#include "tools/run/StreamPrinter.h"

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
struct VectorPrinter {
  StreamPrinter lines;
  const bool isPlain;
  /// Null if vectors are printed.
  NpyWriter *file;

  /// Borrows this object.
  heddle_vector_sink sink() {
    return {this,
            [](void *context, const float *values, size_t width) {
              return static_cast<VectorPrinter *>(context)->take(values, width);
            },
            [](void *context) {
              return static_cast<VectorPrinter *>(context)->lines.flush();
            },
            [](void *context, size_t, const char *sentence) {
              static_cast<VectorPrinter *>(context)->lines.notice(sentence);
            }};
  }
  int take(const float *values, size_t width) {
    lines.begin(values != nullptr);
    if (!file)
      lines.end(formatVector(values, width, isPlain));
    else if (Status status = file->append(values); status.ok())
      lines.end();
    else
      lines.fail(std::move(status));
    return lines.hasFailed();
  }
};
} // namespace

Status heddle::writeVectors(Run &run, const RunOptions &options,
                            OutputWriter &output) {
  heddle_session *session = run.session.get();
  size_t width = 0;
  if (Status status = statusOf(heddle_vector_width(session, &width));
      !status.ok())
    return status;
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
    VectorPrinter printer = {StreamPrinter(run, output, progress),
                             options.plain, file ? &*file : nullptr};
    heddle_source source = input->source();
    heddle_vector_sink sink = printer.sink();
    status = statusOf(heddle_embed_stream(session, &source, &sink));
    if (Status written = printer.lines.finish(); !written.ok())
      return written;
  }
  if (status.ok() && file)
    status = file->commit();
  return status.ok() ? reportRun(run, options) : status;
}
