//===- Embedding.h - Text to vectors ----------------------------*- C++ -*-===//
//
// The job of an embedder: each line becomes a vector, as sentence-transformers
// 5.2.3 makes it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_EMBEDDING_H
#define HEDDLE_RUNTIME_LINES_EMBEDDING_H

#include "runtime/Result.h"
#include "runtime/lines/Lines.h"
#include "runtime/lines/TextJob.h"
#include "runtime/lines/TextReading.h"
#include "runtime/lines/Workers.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// How lines are embedded.
struct EmbedOptions : TextOptions {
  /// The name of a prompt of the model, or "" for none; absent for the model's
  /// default.
  std::optional<std::string> prompt;
  /// Only the first elements of a vector are given; all if it has no more.
  std::optional<int64_t> dimensions;
  /// Vectors have length 1, behind the cut to their dimensions.
  bool normalizes = false;
};

/// Fails, naming the settings with `settingPrefix`, if the model has no such
/// prompt or fewer dimensions.
Status checkEmbedOptions(const Model &model, const EmbedOptions &options,
                         const std::string &settingPrefix);

/// Elements of a vector that is given.
int64_t widthOf(const Model &model, const EmbedOptions &options);

/// Vectors f32 [width] of lines, as answers. Borrows all that it is made of;
/// options have been checked.
std::unique_ptr<TextJob> makeEmbedJob(const Model &model,
                                      const EmbedOptions &options,
                                      const LineSource &source);

/// Takes the vectors of consecutive lines, in order: f32 [width], or none of a
/// line that has failed. `notice` is what LineAnswer says. Called by one thread
/// at a time, and `flush` behind what was ready together.
struct VectorWriter {
  std::function<Status(const std::vector<float> &vector,
                       const std::string &notice)>
      write;
  std::function<Status()> flush;
};

/// Embeds each line. Errors name the line, or are those of runTask.
Status embedLines(const Workers &workers, const LineRunOptions &options,
                  const EmbedOptions &embed, LineSource &source,
                  const VectorWriter &writer);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_EMBEDDING_H
