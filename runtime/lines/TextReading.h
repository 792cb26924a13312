//===- TextReading.h - Lines that a task reads once -------------*- C++ -*-===//
//
// How tasks of an encoder read lines: a text is cut to what the model reads of
// it, in tokens, special ones included, and may have a prompt in front.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_TEXTREADING_H
#define HEDDLE_RUNTIME_LINES_TEXTREADING_H

#include "runtime/Result.h"
#include "runtime/lines/BatchPipeline.h"
#include "runtime/lines/Lines.h"
#include "runtime/session/Model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// How lines are read.
struct TextOptions {
  /// In place of the most tokens that the model says; no more than it has
  /// positions.
  std::optional<int64_t> maxTokens;
  /// Texts that are too long fail instead of being cut.
  bool refusesLong = false;
  /// Lines are ids, which stand for themselves: they are never cut.
  bool ids = false;
};

/// Borrows all that it is made of. Any number of threads may use it.
class TextReader {
public:
  /// Of a task of the model. With `findsPlaces` tokens of texts know their
  /// places.
  TextReader(const Model &model, const TextTask &task,
             const TextOptions &options, const LineSource &source,
             std::string prompt, bool findsPlaces);

  /// The ids of a line, which Model::checkSource accepts. A failure, and a
  /// notice that a text is cut, name the line.
  Result<Sentence> read(int64_t number, const Line &line) const;

private:
  Result<Sentence> read(const LineText &line,
                        const std::optional<std::string> &pair) const;
  Result<Sentence> readText(std::string_view text,
                            const std::optional<std::string> &pair) const;
  Result<TextEncoding> encode(std::string_view text,
                              const std::optional<std::string> &pair,
                              bool &isCut) const;

  const Model &model;
  const TextOptions &options;
  const LineSource &source;
  /// Tokens that are read of a text.
  std::optional<size_t> most;
  /// What stands in front of each text, and how many tokens it has.
  std::string prompt;
  int32_t promptTokens = 0;
  const bool findsPlaces;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_TEXTREADING_H
