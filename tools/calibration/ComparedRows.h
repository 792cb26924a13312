//===- ComparedRows.h - What models make of the same lines ------*- C++ -*-===//
//
// Calibration compares rows of numbers that a model computes of lines with
// those of the model in f32: of a model that generates the logits of targets,
// of others what their task is about, the logits of labels, places or words, or
// vectors.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_CALIBRATION_COMPAREDROWS_H
#define HEDDLE_TOOLS_CALIBRATION_COMPAREDROWS_H

#include "runtime/session/Session.h"
#include "tools/calibration/RowError.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <string>

namespace heddle {

/// Takes a row of a line, by their numbers; valid during the call.
using RowSink =
    std::function<void(size_t line, size_t row, llvm::ArrayRef<float> values)>;

/// How a table speaks of rows.
struct RowWords {
  /// "logits", and what a row is of, if a line has several: "token".
  std::string rows, unit;
  /// What may be another one: "next token"; empty for vectors.
  std::string choice;
};

class ComparedRows {
public:
  /// Reads the lines of a file, text or, if there is no tokenizer, ids, for a
  /// model in f32, which writes targets if it generates. Fails on a line that
  /// it cannot read, and if none has a token. Borrows the pool.
  static llvm::Expected<std::unique_ptr<ComparedRows>>
  read(const Model &f32, const std::string &path, ThreadPool &pool);
  virtual ~ComparedRows() = default;

  RowKind getKind() const { return kind; }
  const RowWords &getWords() const { return words; }
  size_t countLines() const { return sources.size(); }
  /// Rows of all lines, and bytes of all their numbers.
  size_t countRows() const { return rowCount; }
  size_t countBytes() const { return byteCount; }

  /// Hands out the rows that `model` makes of lines from number `first` on, of
  /// `count` or what is left; numbers of lines count from there.
  virtual llvm::Error score(const Model &model, size_t first, size_t count,
                            const RowSink &sink) = 0;

protected:
  ComparedRows(ThreadPool &pool, RowKind kind, RowWords words)
      : pool(pool), kind(kind), words(std::move(words)) {}

  ThreadPool &pool;
  RowKind kind;
  RowWords words;
  /// Ids of lines that have any.
  std::vector<TokenIds> sources;
  size_t rowCount = 0, byteCount = 0;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_CALIBRATION_COMPAREDROWS_H
