//===- Demand.cpp - What a search asks of a session -----------------------===//
//
// A search takes the cheapest form of a decode step that tells it what it
// needs: the largest logit, the best ones with their sums, or all of them.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Demand.h"

#include "runtime/search/BeamSearch.h"
#include "runtime/search/Search.h"

#include <algorithm>
#include <utility>

using namespace heddle;

/// Room for results is taken before the first step, up to a length that no
/// sentence has: limits can be much larger than what is generated.
static constexpr int64_t kReservedTokens = 1 << 14;

/// The cheapest form that tells a search what it needs to know. `forbidden` is
/// the most that a row forbids.
static DecoderForm formFor(const Model &model, const Constraints &constraints,
                           const Generation &settings,
                           const SearchOptions &options, bool hasShortlist,
                           bool isEnsemble, int64_t forbidden) {
  if (hasShortlist)
    return DecoderForm::ShortlistStep;
  if (isEnsemble)
    return DecoderForm::Step;
  bool needsLogits = (options.samples && settings.temperature > 0) ||
                     constraints.changesScores() ||
                     forbidden > kMostForbidden || !options.allowed.empty();
  bool needsSums = settings.beams > 1 || options.wantsSums;
  // An engine has one form for all requests, logits, of which sums have other
  // bits than those of ranges; a greedy token is the same.
  needsLogits |= needsSums && model.manifest().promptsTarget;
  if (needsLogits || !model.entryPoint(needsSums ? Role::Best : Role::Greedy))
    return DecoderForm::Step;
  return needsSums ? DecoderForm::BestStep : DecoderForm::GreedyStep;
}

static Status checkPrefixes(const Model &model,
                            const std::vector<TokenIds> &sources,
                            const std::vector<TokenIds> &prefixes) {
  if (!prefixes.empty() && prefixes.size() != sources.size())
    return Status::error("a batch of ",
                         countOf(int64_t(sources.size()), "sentence"), " has ",
                         prefixes.size(), " prefixes");
  for (size_t i = 0; i < prefixes.size(); ++i)
    if (Status status = model.checkPrefix(prefixes[i]); !status.ok())
      return Status::error("prefix ", i + 1, " of a batch ", status.message());
  return Status::success();
}

std::vector<TokenIds>
heddle::beginningsOf(const Model &model, const std::vector<TokenIds> &sources,
                     const std::vector<TokenIds> &prefixes) {
  if (!model.manifest().promptsTarget)
    return prefixes;
  std::vector<TokenIds> beginnings = sources;
  for (size_t i = 0; i < prefixes.size(); ++i)
    beginnings[i].insert(beginnings[i].end(), prefixes[i].begin(),
                         prefixes[i].end());
  return beginnings;
}

/// The start token, if there is one, and all but the last of each prefix;
/// nothing if that is empty.
static std::vector<TokenIds> inputsBefore(const std::vector<TokenIds> &prefixes,
                                          std::optional<int32_t> start) {
  std::vector<TokenIds> inputs;
  for (const TokenIds &prefix : prefixes) {
    inputs.emplace_back();
    if (prefix.empty())
      continue;
    if (start)
      inputs.back().push_back(*start);
    inputs.back().insert(inputs.back().end(), prefix.begin(), prefix.end() - 1);
  }
  return inputs;
}

/// What the other members of an ensemble ask for: positions for all that is
/// generated, and steps in place of a prefill if one of them has none.
static void takeMembers(const Ensemble &ensemble,
                        std::optional<int64_t> &positions, bool &prefills) {
  for (const Model *other : ensemble.others) {
    std::optional<int64_t> own = other->manifest().generation.maxTarget;
    if (own)
      positions = std::min(*own, positions.value_or(*own));
    prefills = prefills && other->entryPoint(other->prefillRole());
  }
}

Result<Demand> heddle::demandOf(const Model &model,
                                const std::vector<TokenIds> &sources,
                                const std::vector<TokenIds> &prefixes,
                                const SearchOptions &options,
                                const Ensemble *ensemble) {
  const Manifest &manifest = model.manifest();
  Result<Generation> settings = settingsFor(manifest, options);
  if (!settings.ok())
    return settings.status();
  bool prefills = true;
  if (ensemble)
    takeMembers(*ensemble, settings->maxTarget, prefills);
  // A prompt's first token is the first input.
  bool isPrompted = manifest.promptsTarget;
  if (isPrompted)
    settings->start = std::nullopt;
  else if (!settings->start)
    return Status::error("'", model.artifact().path(),
                         "' has no start token to generate from");
  if (Status status = checkPrefixes(model, sources, prefixes); !status.ok())
    return status;

  // Who says what may come has a list of his own.
  const Shortlist *shortlist =
      !options.withoutShortlist && options.allowed.empty() && !ensemble
          ? model.shortlist()
          : nullptr;
  Constraints constraints(*settings, manifest.targetVocabulary);
  Demand demand;
  DecoderRequest &request = demand.request;
  request.rowsPerSentence = settings->beams;
  for (size_t i = 0; i < sources.size(); ++i) {
    int64_t prefix = prefixes.empty() ? 0 : int64_t(prefixes[i].size());
    if (prefix == 0 && !isPrompted)
      if (auto first = constraints.forced({nullptr, 0, 0, /*limit=*/2});
          first && first->isSuppressed)
        return Status::error("no token may come first: it has to be ",
                             first->token, ", which is suppressed");
    demand.limits.push_back(lengthLimit(*settings, int64_t(sources[i].size()),
                                        prefix - isPrompted,
                                        options.maxLength));
    request.length = std::max(request.length, prefix + demand.limits.back());
    if (shortlist)
      demand.features.candidates.push_back(shortlist->candidates(sources[i]));
  }
  demand.features.others = options.others;
  demand.room = std::min(request.length, kReservedTokens);
  int64_t forbidden = constraints.mostForbidden(request.length);
  request.form = formFor(model, constraints, *settings, options, shortlist,
                         ensemble != nullptr, forbidden);
  // Behind them the mark that Search::prepare sets.
  if (forbidsBefore(request.form))
    request.forbidden = forbidden + 1;
  if (request.form == DecoderForm::BestStep && settings->beams > 1)
    request.best = BeamSearch::width(*settings);
  // Of prompts the last token is one, too: what follows it is said with it.
  if (isPrompted && model.prefillRole() == Role::Extend) {
    demand.prefill = prefixes;
    request.prefillLogits = int64_t(prefixes.size());
  } else if (prefills && model.entryPoint(model.prefillRole(), shortlist)) {
    demand.prefill = inputsBefore(prefixes, settings->start);
  }
  for (const TokenIds &input : demand.prefill)
    request.prefill = std::max(request.prefill, int64_t(input.size()));
  demand.settings = std::move(*settings);
  return demand;
}
