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

/// What a caller says in place of the model's settings, see Generation.
struct SearchOptions {
  /// Generated tokens, eos included: 1 or more.
  std::optional<int64_t> maxLength;
  /// No eos while fewer are generated, 0 for no such rule; a limit that comes
  /// earlier ends the sentence nevertheless.
  std::optional<int64_t> minLength;
  std::optional<int64_t> beams;
  std::optional<double> lengthPenalty, wordPenalty;
  std::optional<EarlyStopping> earlyStopping;
  std::optional<int64_t> noRepeatNgram;
  std::optional<double> repetitionPenalty;
  std::optional<bool> renormalizes;
  std::optional<std::vector<TokenIds>> badWords;
  std::optional<TokenIds> suppress;
  /// What may come, ascending, beside tokens that are forced: a list for all
  /// sentences, or one for each of several; empty where all may. The model's
  /// shortlist is not used then.
  std::vector<TokenIds> allowed;
  const TokenIds *allowedOf(size_t sentence) const {
    return allowed.empty()       ? nullptr
           : allowed.size() == 1 ? &allowed.front()
                                 : &allowed[sentence];
  }
  /// Draws tokens; settings of the model never do. With a temperature of 0 the
  /// search is greedy.
  bool samples = false;
  std::optional<double> temperature, topP, minP;
  std::optional<int64_t> topK;
  uint64_t seed = 0;
  /// Whether greedy hypotheses and samples have sums, too: of the model's own
  /// log-probabilities, or where they are normalised again of those. Those of
  /// a beam search always have.
  bool wantsSums = false;
  /// Whether hypotheses have the log-probability of each token; needs sums.
  bool wantsTokenScores = false;
  /// How many of the best first tokens behind a prefix are each gone on with; 0
  /// for a search as usual. Needs sums.
  int64_t alternatives = 0;
  /// Where the model has a shortlist.
  bool useShortlist = true;
  /// The token of the language to write, for models that have such
  /// (Languages.h).
  std::optional<int32_t> targetLanguage;
  /// Hears of each token that is generated for a sentence, behind those before
  /// it, on the thread that does it; a search with beams tells nothing. Where
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
