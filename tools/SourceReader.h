//===- SourceReader.h - Lines as token ids ----------------------*- C++ -*-===//
//
// Turns lines into ids that a model accepts, and gathers as many as are there:
// whoever writes one line and waits gets its answer.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_SOURCEREADER_H
#define HEDDLE_TOOLS_SOURCEREADER_H

#include "runtime/Model.h"
#include "runtime/Result.h"
#include "runtime/Session.h"
#include "tools/LineReader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Ids separated by spaces. The error begins with a verb ("has ...").
Result<TokenIds> parseIds(std::string_view line);
/// The inverse.
std::string formatIds(const TokenIds &ids);

/// Borrows the model.
class SourceReader {
public:
  struct Lines {
    /// Empty for a line without a token.
    std::vector<TokenIds> sources;
    /// No line follows: the input is at its end, or `failure` says why not.
    bool last = false;
    /// About the line behind `sources`, which can still be translated.
    Status failure = Status::success();
  };

  /// `ids` says that lines are ids; otherwise the model needs a tokenizer.
  /// `maxSource` is the most tokens of a line, in place of what the model says.
  SourceReader(const Model &model, LineReader lines, bool ids,
               std::optional<int64_t> maxSource)
      : model(model), lines(std::move(lines)), ids(ids),
        maxSource(maxSource ? maxSource
                            : model.manifest().generation.maxSourceLength) {}

  /// The next lines: at most `count`, none behind the one that brings their
  /// tokens to `tokens`, and only the first one is waited for.
  Lines next(int64_t count, int64_t tokens);
  /// Ends a wait of next() for input, from any thread.
  void interrupt() const { lines.interrupt(); }

private:
  Result<TokenIds> parse(std::string_view line) const;

  const Model &model;
  LineReader lines;
  bool ids;
  std::optional<int64_t> maxSource;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_SOURCEREADER_H
