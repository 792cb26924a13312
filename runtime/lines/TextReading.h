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
  /// Texts that are too long are read in windows, of which each has so many
  /// tokens of the one before it; absent for what the task does by itself.
  std::optional<int64_t> stride;
};

/// What a task wants to know of texts.
struct TextUse {
  /// Stands in front of each text.
  std::string prompt = {};
  /// Tokens of the text, or of the second one of a pair, know their places.
  enum class Places { None, OfText, OfPair } places = Places::None;
  /// See TextOptions. In a pair, only the second text is cut.
  std::optional<int64_t> stride = {};
  /// Texts become vectors: Tokenizer::prepareForVector comes first.
  bool isForVector = false;
};

/// How many tokens of a text a task reads at once: fewer than the model says if
/// options ask for that, and no more than it has positions. Absent for all.
std::optional<size_t> mostTokens(const Model &model, const TextTask &task,
                                 const TextOptions &options);

/// Borrows all that it is made of. Any number of threads may use it.
class TextReader {
public:
  /// Of a task of the model.
  TextReader(const Model &model, const TextTask &task,
             const TextOptions &options, const LineSource &source, TextUse use);

  /// The ids of a line, which Model::checkSource accepts. A failure, and a
  /// notice that a text is cut, name the line.
  Result<Sentence> read(int64_t number, const Line &line) const;

private:
  std::string prepare(std::string text) const;
  int32_t countPromptTokens() const;
  Result<Sentence> read(const LineText &line,
                        const std::optional<std::string> &pair) const;
  Result<Sentence> readText(std::string_view text,
                            const std::optional<std::string> &pair) const;
  Result<std::vector<TextEncoding>>
  encode(std::string_view text, const std::optional<std::string> &pair,
         bool &isCut) const;
  Result<Sentence> take(TextEncoding encoding, std::string_view text) const;
  Status check(const TokenIds &source) const;

  const Model &model;
  const TextOptions &options;
  const LineSource &source;
  TextUse use;
  /// Tokens that are read at once.
  const std::optional<size_t> most;
  int32_t promptTokens = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_TEXTREADING_H
