//===- Generate.cpp - Target sentences for source sentences ---------------===//
//
// What a search asks of a session, and the loop that runs it. Alternatives take
// two runs: one to the first free token of each sentence, and one of a sentence
// for each of its best tokens there. Several samples of a sentence are several
// sentences.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Generate.h"

#include "runtime/search/Alignments.h"
#include "runtime/search/BeamedSearch.h"
#include "runtime/search/Demand.h"
#include "runtime/search/SingleSearch.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace heddle;

/// What sums and samples have of each logit of a row: copies and weights.
static constexpr int64_t kBytesOfLogit = 32;
//===----------------------------------------------------------------------===//
// What it takes
//===----------------------------------------------------------------------===//

/// What finding the first tokens asks for: sums of one row a sentence.
static SearchOptions optionsOfFirst(SearchOptions options) {
  options.beams = 1;
  options.wantsSums = true;
  return options;
}

/// The demand of optionsOfFirst(options).
static Result<Demand> demandOfFirst(const Model &model, const Session &session,
                                    const std::vector<TokenIds> &sources,
                                    const std::vector<TokenIds> &prefixes,
                                    const SearchOptions &options) {
  Result<Demand> demand = demandOf(model, sources, prefixes,
                                   optionsOfFirst(options), session.ensemble());
  if (demand.ok() && demand->request.form == DecoderForm::BestStep)
    demand->request.best = options.alternatives;
  return demand;
}

static Result<int64_t> bytesOf(const Result<Demand> &demand, const Model &model,
                               Session &session,
                               const std::vector<TokenIds> &sources,
                               const SearchOptions &options) {
  if (!demand.ok())
    return demand.status();
  Result<int64_t> bytes =
      session.bytesFor(sources, demand->request, demand->features);
  if (!bytes.ok())
    return bytes;
  // Tokens of rows and of finished hypotheses, and their scores.
  int64_t lists =
      2 * demand->settings.beams + BeamSearch::mostKept(demand->settings);
  int64_t tokens = (options.tokenScores ? 2 : 1) * int64_t(sources.size()) *
                   lists * demand->room;
  for (const TokenIds &list : demand->features.candidates)
    tokens += int64_t(list.size());
  int64_t result = *bytes + tokens * int64_t(sizeof(int32_t));
  // A row of logits is copied for sums, and sorted for samples.
  if (options.wantsSums || options.samples)
    result += kBytesOfLogit * model.manifest().targetVocabulary;
  return result;
}

/// What alignments take behind a search.
static Result<int64_t> bytesOfAlignments(const Demand &demand, Session &session,
                                         const std::vector<TokenIds> &sources,
                                         const SearchOptions &options) {
  int64_t longest = 0;
  for (const TokenIds &source : sources)
    longest = std::max(longest, int64_t(source.size()));
  Result<int64_t> bytes = bytesToAlign(session, sources, demand.request.length);
  int64_t hypotheses = std::max(options.nBest.value_or(1),
                                demand.settings.coveragePenalty != 0
                                    ? BeamSearch::mostKept(demand.settings)
                                    : 1) *
                       int64_t(sources.size());
  return bytes.ok() ? *bytes + hypotheses * demand.room * longest *
                                   int64_t(sizeof(float))
                    : bytes;
}

Result<int64_t> heddle::bytesToGenerate(const Model &model, Session &session,
                                        const std::vector<TokenIds> &sources,
                                        const std::vector<TokenIds> &given,
                                        const SearchOptions &options) {
  std::vector<TokenIds> prefixes = beginningsOf(model, sources, given);
  Result<Demand> demand =
      demandOf(model, sources, prefixes, options, session.ensemble());
  Result<int64_t> bytes = bytesOf(demand, model, session, sources, options);
  if (bytes.ok() &&
      (options.wantsAttention() || demand->settings.coveragePenalty != 0))
    if (Result<int64_t> more =
            bytesOfAlignments(*demand, session, sources, options);
        !more.ok() || *more > *bytes)
      bytes = more;
  if (!bytes.ok() || options.alternatives == 0)
    return bytes;
  Result<int64_t> first =
      bytesOf(demandOfFirst(model, session, sources, prefixes, options), model,
              session, sources, options);
  return first.ok() ? std::max(*first, *bytes) : first;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Begins the session's batch of what was asked for, whose demand moves into
/// the result.
static Result<SearchBatch> beginBatch(const Model &model, Session &session,
                                      const std::vector<TokenIds> &sources,
                                      const std::vector<TokenIds> &prefixes,
                                      const SearchOptions &options,
                                      Demand &demand) {
  if (Status status = session.begin(sources, demand.request, demand.features);
      !status.ok())
    return status;
  SearchBatch batch{model,    session,         sources,
                    prefixes, demand.settings, options};
  batch.form = demand.request.form;
  batch.limits = std::move(demand.limits);
  batch.room = demand.room;
  batch.candidates = std::move(demand.features.candidates);
  return batch;
}

/// Runs a search over a session that has begun.
static Status run(Search &search, SearchBatch &batch, const Demand &demand) {
  RowTokens &tokens = search.tokens;
  tokens.reset(int64_t(batch.sources.size()) * batch.settings.beams,
               batch.room);
  DecodingLoop loop(batch.session, tokens, search);
  int32_t start = batch.settings.start.value_or(-1);
  if (demand.request.prefill == 0) {
    if (batch.model.manifest().promptsTarget)
      for (size_t i = 0; i < batch.prefixes.size(); ++i)
        tokens.set(int64_t(i), {batch.prefixes[i].front()});
    return loop.run(start);
  }
  for (size_t i = 0; i < batch.prefixes.size(); ++i)
    tokens.set(int64_t(i), batch.prefixes[i]);
  if (demand.request.prefillLogits == 0) {
    Status status = batch.session.runPrefill(demand.prefill);
    return status.ok() ? loop.run(start) : status;
  }
  std::vector<int64_t> last;
  for (const TokenIds &prompt : demand.prefill)
    last.push_back(int64_t(prompt.size()) - 1);
  auto choose = [&](int64_t sentence, int64_t, float *logits) {
    batch.told = logits;
    // Each sentence has the row of its number.
    return loop.choose(int32_t(sentence), sentence, /*count=*/1);
  };
  if (Status status = batch.session.runPrefill(demand.prefill, last, choose);
      !status.ok())
    return status;
  batch.told = nullptr;
  Status status = loop.keep();
  return status.ok() ? loop.run(start) : status;
}

/// One search, of sentences for which a token may have been chosen.
static Result<std::vector<std::vector<Hypothesis>>> searchOnce(
    const Model &model, Session &session, const std::vector<TokenIds> &sources,
    const std::vector<TokenIds> &prefixes, const SearchOptions &options,
    std::vector<GivenToken> given = {}, std::vector<uint32_t> samples = {}) {
  Result<Demand> demand =
      demandOf(model, sources, prefixes, options, session.ensemble());
  if (!demand.ok())
    return demand.status();
  auto batch = beginBatch(model, session, sources, prefixes, options, *demand);
  if (!batch.ok())
    return batch.status();
  batch->given = std::move(given);
  batch->samples = std::move(samples);
  std::optional<SingleSearch> single;
  std::optional<BeamedSearch> beamed;
  Search &search = batch->settings.beams > 1
                       ? static_cast<Search &>(beamed.emplace(*batch))
                       : single.emplace(*batch);
  if (Status status = run(search, *batch, *demand); !status.ok())
    return status;
  std::vector<std::vector<Hypothesis>> results;
  for (size_t i = 0; i < sources.size(); ++i)
    results.push_back(search.take(i));
  return results;
}

/// The best tokens at the first free place of each sentence.
static Result<std::vector<std::vector<GivenToken>>> findFirstTokens(
    const Model &model, Session &session, const std::vector<TokenIds> &sources,
    const std::vector<TokenIds> &prefixes, const SearchOptions &options) {
  Result<Demand> demand =
      demandOfFirst(model, session, sources, prefixes, options);
  if (!demand.ok())
    return demand.status();
  auto batch = beginBatch(model, session, sources, prefixes, options, *demand);
  if (!batch.ok())
    return batch.status();
  FirstTokens search(*batch, options.alternatives);
  if (Status status = run(search, *batch, *demand); !status.ok())
    return status;
  std::vector<std::vector<GivenToken>> tokens;
  for (size_t i = 0; i < sources.size(); ++i)
    tokens.push_back(search.of(i));
  return tokens;
}

namespace {
/// One of several searches of a source.
struct OneOf {
  size_t source;
  std::optional<GivenToken> given;
  uint32_t sample = 0;
};
} // namespace

/// For each source the best hypothesis of each of its searches. As many run
/// together as there are sources: so they take no more memory than these.
static Result<std::vector<std::vector<Hypothesis>>>
searchEach(const Model &model, Session &session,
           const std::vector<TokenIds> &sources,
           const std::vector<TokenIds> &prefixes, const SearchOptions &options,
           const std::vector<OneOf> &all) {
  std::vector<std::vector<Hypothesis>> results(sources.size());
  for (size_t begin = 0; begin < all.size(); begin += sources.size()) {
    size_t end = std::min(begin + sources.size(), all.size());
    std::vector<TokenIds> ownSources, ownPrefixes;
    std::vector<GivenToken> given;
    std::vector<uint32_t> samples;
    SearchOptions own = options;
    if (options.allowed.size() > 1)
      own.allowed.clear();
    own.others.clear();
    for (size_t k = begin; k < end; ++k) {
      size_t i = all[k].source;
      ownSources.push_back(sources[i]);
      if (!prefixes.empty())
        ownPrefixes.push_back(prefixes[i]);
      if (options.allowed.size() > 1)
        own.allowed.push_back(options.allowed[i]);
      if (!options.others.empty())
        own.others.push_back(options.others[i]);
      if (all[k].given)
        given.push_back(*all[k].given);
      samples.push_back(all[k].sample);
    }
    auto found = searchOnce(model, session, ownSources, ownPrefixes, own,
                            std::move(given), std::move(samples));
    if (!found.ok())
      return found.status();
    for (size_t k = begin; k < end; ++k)
      for (Hypothesis &best : (*found)[k - begin]) {
        results[all[k].source].push_back(std::move(best));
        break;
      }
  }
  return results;
}

/// For each source one hypothesis a token that may come first.
static Result<std::vector<std::vector<Hypothesis>>> searchAlternatives(
    const Model &model, Session &session, const std::vector<TokenIds> &sources,
    const std::vector<TokenIds> &prefixes, const SearchOptions &options) {
  auto first = findFirstTokens(model, session, sources, prefixes, options);
  if (!first.ok())
    return first.status();
  std::vector<OneOf> all;
  for (size_t i = 0; i < sources.size(); ++i)
    for (const GivenToken &token : (*first)[i])
      all.push_back({i, token});
  return searchEach(model, session, sources, prefixes, options, all);
}

/// For each source several samples.
static Result<std::vector<std::vector<Hypothesis>>> searchSamples(
    const Model &model, Session &session, const std::vector<TokenIds> &sources,
    const std::vector<TokenIds> &prefixes, const SearchOptions &options) {
  std::vector<OneOf> all;
  for (size_t i = 0; i < sources.size(); ++i)
    for (int64_t sample = 0; sample < options.draws(); ++sample)
      all.push_back({i, std::nullopt, uint32_t(sample)});
  return searchEach(model, session, sources, prefixes, options, all);
}

/// Adds a coverage penalty to the scores of a sentence's hypotheses, which have
/// their attention, and orders them anew.
static void addCoverage(double penalty, std::vector<Hypothesis> &hypotheses) {
  for (Hypothesis &each : hypotheses) {
    size_t width = each.source.size();
    double sum = 0;
    for (size_t j = 0; j < width; ++j) {
      double coverage = 0;
      for (size_t t = 0; t < each.tokens.size(); ++t)
        coverage += double(each.attention[t * width + j]);
      if (coverage > 0)
        sum += std::log(std::min(coverage, 1.0));
    }
    each.score += float(penalty * sum);
  }
  // By insertion: equal ones keep their order.
  auto isBetter = [](const Hypothesis &a, const Hypothesis &b) {
    return a.score > b.score;
  };
  auto begin = hypotheses.begin();
  for (auto each = begin; each != hypotheses.end(); ++each)
    std::rotate(std::upper_bound(begin, each, *each, isBetter), each, each + 1);
}

/// Says of hypotheses what they attended to, and leaves those that are asked
/// for; as many run at a time as there are sources.
static Status addAttention(const Model &model, Session &session,
                           const std::vector<TokenIds> &sources,
                           const SearchOptions &options,
                           std::vector<std::vector<Hypothesis>> &found) {
  Result<Generation> settings = settingsFor(model.manifest(), options);
  if (!settings.ok())
    return settings.status();
  double penalty = settings->beams > 1 ? settings->coveragePenalty : 0;
  if (penalty == 0 && !options.wantsAttention())
    return Status::success();
  if (Status status = checkAligns(model); !status.ok())
    return Status::error("alignments are what '", model.artifact().path(), "' ",
                         status.message());
  size_t most = size_t(std::max(options.nBest.value_or(1),
                                std::max<int64_t>(options.alternatives, 1)));
  std::vector<TokenIds> ownSources, targets;
  std::vector<Hypothesis *> all;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (penalty == 0)
      found[i].resize(std::min(found[i].size(), most));
    for (Hypothesis &hypothesis : found[i]) {
      ownSources.push_back(sources[i]);
      targets.push_back(hypothesis.tokens);
      all.push_back(&hypothesis);
    }
  }
  auto rows = attentionOf(model, session, ownSources, targets, *settings->start,
                          sources.size());
  if (!rows.ok())
    return rows.status();
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->source = std::move(ownSources[i]);
    all[i]->attention = std::move((*rows)[i]);
  }
  for (std::vector<Hypothesis> &hypotheses : found) {
    if (penalty != 0)
      addCoverage(penalty, hypotheses);
    hypotheses.resize(std::min(hypotheses.size(), most));
  }
  return Status::success();
}

Result<std::vector<std::vector<Hypothesis>>> heddle::generate(
    const Model &model, Session &session, const std::vector<TokenIds> &sources,
    const std::vector<TokenIds> &prefixes, const SearchOptions &options) {
  auto search = [&](const std::vector<TokenIds> &beginnings,
                    const SearchOptions &own) {
    if (own.alternatives > 0)
      return searchAlternatives(model, session, sources, beginnings, own);
    if (own.draws() > 1)
      return searchSamples(model, session, sources, beginnings, own);
    return searchOnce(model, session, sources, beginnings, own);
  };
  if (!model.manifest().promptsTarget) {
    auto found = search(prefixes, options);
    if (found.ok())
      if (Status status =
              addAttention(model, session, sources, options, *found);
          !status.ok())
        return status;
    return found;
  }
  // A prompt is none of an answer.
  SearchOptions own = options;
  auto behind = [&](int64_t sentence, const TokenIds &before) {
    return TokenIds(before.begin() +
                        ptrdiff_t(sources[size_t(sentence)].size()),
                    before.end());
  };
  if (options.onToken)
    own.onToken = [&](int64_t sentence, const TokenIds &before, int32_t token,
                      bool isLast) {
      options.onToken(sentence, behind(sentence, before), token, isLast);
    };
  auto found = search(beginningsOf(model, sources, prefixes), own);
  if (!found.ok())
    return found;
  for (size_t i = 0; i < sources.size(); ++i)
    for (Hypothesis &hypothesis : (*found)[i]) {
      hypothesis.given -= int64_t(sources[i].size());
      hypothesis.tokens.erase(hypothesis.tokens.begin(),
                              hypothesis.tokens.begin() +
                                  ptrdiff_t(sources[i].size()));
    }
  return found;
}
