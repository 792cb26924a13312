//===- RunVectors.cpp - What heddle-run does with an embedder -------------===//
//
// A stream of lines becomes rows of a file, or lines of numbers.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunVectors.h"

#include "tools/SignalCleanup.h"
#include "tools/run/AnswerLines.h"
#include "tools/run/InputLines.h"
#include "tools/run/StreamPrinter.h"
#include "tools/run/vectors/NpyWriter.h"
#include "tools/run/vectors/VectorFormats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace heddle;

/// A vector in a type that files have.
static std::string storeVector(heddle_vector_type type, const float *values,
                               size_t width) {
  std::string stored(heddle_vector_bytes(type, width), '\0');
  heddle_store_vectors(type, values, 1, width, stored.data());
  return stored;
}

/// An element of a stored vector. A float holds each integer of a byte.
static float elementOf(const std::string &stored, heddle_vector_type type,
                       size_t index) {
  auto read = [&](auto element) {
    std::memcpy(&element, stored.data() + index * sizeof element,
                sizeof element);
    return float(element);
  };
  switch (type) {
  case HEDDLE_VECTOR_FLOAT32:
    return read(float());
  case HEDDLE_VECTOR_FLOAT16:
    return read(_Float16());
  case HEDDLE_VECTOR_INT8:
    return read(int8_t());
  case HEDDLE_VECTOR_BITS:
    return read(uint8_t());
  }
  return 0;
}

/// The line of a vector, null if its input was skipped.
static std::string formatVector(const VectorFormat &format, const float *values,
                                size_t width, bool isPlain) {
  if (!values)
    return isPlain ? "\n" : "{\"vector\": null}\n";
  std::string stored = storeVector(format.type, values, width);
  std::string text = isPlain ? "" : "{\"vector\": [";
  for (size_t i = 0; i < format.columns(width); ++i) {
    text += i == 0 ? "" : isPlain ? " " : ", ";
    // JSON has no other numbers.
    float element = elementOf(stored, format.type, i);
    text += isPlain ? formatNumber(element) : formatJsonNumber(element);
  }
  return text + (isPlain ? "\n" : "]}\n");
}

/// Whether numbers of a vector weigh words.
static bool isSparse(const heddle_model *model, size_t width) {
  size_t size;
  for (size_t i = 0; i < width; ++i)
    if (heddle_vector_word(model, i, &size))
      return true;
  return false;
}

/// The line of a sparse vector: the words that weigh anything, the heaviest
/// first.
static std::string formatWeights(const heddle_model *model, const float *values,
                                 size_t width) {
  if (!values)
    return "{\"weights\": null}\n";
  std::vector<size_t> words;
  for (size_t i = 0; i < width; ++i)
    if (values[i] != 0)
      words.push_back(i);
  // What is no number stands first.
  auto rank = [&](size_t i) {
    return std::isnan(values[i]) ? std::numeric_limits<float>::infinity()
                                 : values[i];
  };
  std::sort(words.begin(), words.end(), [&](size_t a, size_t b) {
    return rank(a) != rank(b) ? rank(a) > rank(b) : a < b;
  });
  std::string text = "{\"weights\": {";
  for (size_t i : words) {
    size_t size;
    const char *word = heddle_vector_word(model, i, &size);
    text += i == words.front() ? "" : ", ";
    text += quoteJson(word ? std::string(word, size) : "#" + std::to_string(i));
    text += ": " + formatJsonNumber(values[i]);
  }
  return text + "}}\n";
}

namespace {
/// Takes the vectors of a stream.
struct VectorPrinter {
  StreamPrinter lines;
  const VectorFormat &format;
  const size_t width;
  const bool isPlain;
  /// Of sparse vectors that are printed with words; otherwise null.
  const heddle_model *model;
  /// Null if vectors are printed.
  NpyWriter *file;

  /// Borrows this object.
  heddle_vector_sink sink() {
    return {this,
            [](void *context, const float *values, size_t) {
              return static_cast<VectorPrinter *>(context)->take(values);
            },
            [](void *context) {
              return static_cast<VectorPrinter *>(context)->lines.flush();
            },
            [](void *context, size_t, const char *sentence) {
              static_cast<VectorPrinter *>(context)->lines.notice(sentence);
            }};
  }
  int take(const float *values) {
    lines.begin(values != nullptr);
    if (model)
      lines.end(formatWeights(model, values, width));
    else if (!file)
      lines.end(formatVector(format, values, width, isPlain));
    else if (Status status = append(values); status.ok())
      lines.end();
    else
      lines.fail(std::move(status));
    return lines.hasFailed();
  }
  /// A line that was skipped is a row of NaN, or what becomes of that.
  Status append(const float *values) {
    std::vector<float> missing(values ? 0 : width,
                               std::numeric_limits<float>::quiet_NaN());
    return file->append(
        storeVector(format.type, values ? values : missing.data(), width)
            .data());
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
  const VectorFormat &format = kVectorFormats[options.vectorType];
  SignalCleanup cleanup;
  std::optional<NpyWriter> file;
  if (!options.output.empty()) {
    Result<NpyWriter> writer = NpyWriter::createRows(
        options.output, int64_t(format.columns(width)), format.element);
    if (!writer.ok())
      return writer.status();
    file.emplace(std::move(*writer));
    cleanup.watch(file->temporaryPath());
  }
  Status status = Status::success();
  {
    Progress progress = Progress::ofLines(options.texts.empty());
    const heddle_model *model = run.model.get();
    bool hasWords = !options.plain && !file &&
                    format.type == HEDDLE_VECTOR_FLOAT32 &&
                    isSparse(model, width);
    VectorPrinter printer = {StreamPrinter(run, output, progress),
                             format,
                             width,
                             options.plain,
                             hasWords ? model : nullptr,
                             file ? &*file : nullptr};
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
