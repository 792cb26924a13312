//===- SearchOptions.h - What a caller says of a search ---------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_SEARCH_SEARCHOPTIONS_H
#define HEDDLE_RUNTIME_SEARCH_SEARCHOPTIONS_H

#include "runtime/Result.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace heddle {

/// The type of what a caller may say in place of a model.
template <typename T> struct AskedFor {
  using Type = std::optional<T>;
};
template <typename T> struct AskedFor<std::optional<T>> {
  using Type = std::optional<T>;
};

/// What a caller says in place of the model's settings, see Generation, and of
/// a search alone. The first fields are the rows of SearchSettings.def.
struct SearchOptions {
#define SETTING(KIND, FIELD, DEFAULT, ROW)                                     \
  AskedFor<setting_type::KIND>::Type FIELD;
#define CALLER_SETTING(KIND, FIELD, DEFAULT, ROW)                              \
  setting_type::KIND FIELD = DEFAULT;
#include "runtime/artifact/SearchSettings.def"
  /// What may come, ascending, beside tokens that are forced: a list for all
  /// sentences, or one for each of several; empty if all may. The model's
  /// shortlist is not used then.
  std::vector<TokenIds> allowed;
  const TokenIds *allowedOf(size_t sentence) const {
    return allowed.empty()       ? nullptr
           : allowed.size() == 1 ? &allowed.front()
                                 : &allowed[sentence];
  }
  /// Of each sentence, what each other member of an ensemble reads; none if all
  /// read the same.
  std::vector<std::vector<TokenIds>> others;
  /// Whether hypotheses have what they attended to.
  bool wantsAttention() const { return aligns || replacesUnknowns; }
  /// Samples of each sentence, independent of each other.
  int64_t draws() const { return samples ? nBest.value_or(1) : 1; }
  /// Whether greedy hypotheses and samples have sums, too: of the model's own
  /// log-probabilities or, if they are normalised again, of those. Those of
  /// a beam search always have.
  bool wantsSums = false;
  /// The token of the language to write, for models that have such
  /// (Languages.h).
  std::optional<int32_t> targetLanguage;
  /// Asked of each token whether it ends its sentence, given all tokens before
  /// it, and how many of them were generated: the last ones.
  std::function<bool(const TokenIds &before, int64_t generated, int32_t token)>
      endsText;
  /// Hears of each token that is generated for a sentence, behind those before
  /// it, on the thread that does it; a search with beams tells nothing. If
  /// nothing may follow, -1 comes last.
  std::function<void(int64_t sentence, const TokenIds &before, int32_t token,
                     bool isLast)>
      onToken;
};

/// The settings of a model with what the caller says. Fails on numbers that
/// mean nothing, on beams that are to be sampled, and on constraints that leave
/// nothing.
Result<Generation> settingsFor(const Manifest &manifest,
                               const SearchOptions &options);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_SEARCHOPTIONS_H
