//===- TargetReader.h - Lines of a file as target ids -----------*- C++ -*-===//
//
// What a user says of targets, a line each: ids, or text that the model's
// tokenizer reads.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_TARGETREADER_H
#define HEDDLE_TOOLS_TARGETREADER_H

#include "runtime/Model.h"
#include "runtime/Result.h"
#include "runtime/Session.h"
#include "tools/LineReader.h"

#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What a line is of a target. To text that begins one the first token is added
/// that the model is forced to write, or else that of its tokenizer, where it
/// has one; to text that is a whole one its end, too. Ids stand for themselves.
enum class TargetPart { Any, Beginning, Whole };

/// Borrows the model.
class TargetReader {
public:
  /// `ids` says that lines are ids; otherwise the model needs a tokenizer.
  static Result<TargetReader> open(const Model &model, const std::string &path,
                                   bool ids, TargetPart part);

  /// The next line, checked as a target of the model; nothing behind the last.
  Result<std::optional<TokenIds>> next();
  /// All that are left.
  Result<std::vector<TokenIds>> readAll();
  /// Names the line that next() returned: "line 3 of 'prefixes.txt'".
  std::string where() const { return lines.where(); }

private:
  TargetReader(const Model &model, LineReader lines, bool ids, TargetPart part)
      : model(model), lines(std::move(lines)), ids(ids), part(part) {}
  Result<TokenIds> parse(const std::string &line) const;

  const Model &model;
  LineReader lines;
  bool ids;
  TargetPart part;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_TARGETREADER_H
