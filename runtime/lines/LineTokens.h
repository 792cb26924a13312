//===- LineTokens.h - Lines as token ids, and back --------------*- C++ -*-===//
//
// What a line is to a model: text that its tokenizer reads, or ids. Here, and
// nowhere behind, ids of a source are checked: an error can name their line.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_LINETOKENS_H
#define HEDDLE_RUNTIME_LINES_LINETOKENS_H

#include "runtime/Result.h"
#include "runtime/lines/Languages.h"
#include "runtime/lines/Lines.h"
#include "runtime/session/Model.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heddle {

/// Ids separated by spaces. The error begins with a verb ("has ...").
Result<TokenIds> parseIds(std::string_view line);
/// The inverse.
std::string formatIds(const TokenIds &ids);

/// What a line is of a target. To text that begins one the first token is added
/// that the model is forced to write, or else that of its tokenizer, if it
/// has one; to text that is a whole one its end, too. Ids stand for themselves.
enum class TargetPart { Any, Beginning, Whole };

/// Borrows the model. Any number of threads may use it. Errors begin with a
/// verb.
class LineTokens {
public:
  /// `ids` says that texts are ids.
  /// `maxSource` is the most tokens of a source, in place of what the model
  /// says; `settingPrefix` stands before its name in errors.
  LineTokens(const Model &model, bool ids,
             std::optional<int64_t> maxSource = {},
             std::string settingPrefix = {}, RequestLanguages languages = {})
      : model(model), ids(ids),
        maxSource(maxSource ? maxSource
                            : model.manifest().generation.maxSourceLength),
        settingPrefix(std::move(settingPrefix)), languages(languages) {}

  /// The ids of a source, which Model::checkSource accepts, or none for a line
  /// without a token. A line that is too long for the model or for `maxSource`
  /// fails, or with `cut` loses what is too much in front of its end, which
  /// stays; `cut` then says so, beginning with a verb.
  Result<TokenIds> source(const LineText &line,
                          std::string *cut = nullptr) const;
  /// The ids of a target, which Model::checkTarget accepts, or of one of any
  /// length checkTargetIds, or of a beginning checkPrefix. Ids stand for
  /// themselves.
  Result<TokenIds> target(const LineText &line, TargetPart part,
                          bool ofAnyLength = false) const;
  /// The ids of a target's words, each as it is at the beginning of a text and
  /// behind a space; none that stand for unknown text.
  Result<TokenIds> tokensOfWords(std::string_view line) const;
  /// The text of a target; empty without a tokenizer.
  std::string text(const TokenIds &target) const;
  /// The first token of a source that its text is made of, and the one behind
  /// the last: without those that stand around texts. All if texts are ids.
  std::pair<size_t, size_t> textOf(const TokenIds &source) const;
  /// What each token of a source stands for in its text, without spaces around
  /// it; empty for special ones.
  std::vector<std::string> spellings(const std::string &source) const;
  /// Whether a token of a target is part of its text, not special or its end.
  /// All are if texts are ids.
  bool isOfText(int32_t target) const;
  /// Whether it is the token of a target that stands for unknown text.
  bool isUnknown(int32_t target) const {
    return target == model.manifest().tokenizer.unknown;
  }
  /// How the model generates in the languages of the request.
  Generation generation() const;
  /// The file of the model.
  const std::string &file() const { return model.artifact().path(); }
  /// Fails if the model has no tokenizer: a line of text is nothing to it.
  Status checkTokenizer() const;

private:
  std::optional<int64_t> mostSource() const;
  size_t endOf(const TokenIds &source) const;
  Result<TokenIds> parseSource(const LineText &line) const;
  Result<TokenIds> parseTarget(const LineText &line, TargetPart part) const;

  const Model &model;
  bool ids;
  std::optional<int64_t> maxSource;
  std::string settingPrefix;
  RequestLanguages languages;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_LINETOKENS_H
