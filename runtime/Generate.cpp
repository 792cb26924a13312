//===- Generate.cpp - Target sentences for source sentences ---------------===//
//
// A search is a chooser for the decoding loop. What both kinds share - what a
// row has so far, its scores, forced prefixes - is in Search.
//
//===----------------------------------------------------------------------===//

#include "runtime/Generate.h"

#include "runtime/Constraints.h"
#include "runtime/DecodingLoop.h"
#include "runtime/Sampling.h"
#include "runtime/TokenScores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

using namespace heddle;

/// Room for results is taken before the first step, up to a length that no
/// sentence has: limits can be much larger than what is generated.
static constexpr int64_t kReservedTokens = 1 << 14;
/// What sums and samples have of each logit of a row: copies and weights.
static constexpr int64_t kBytesOfLogit = 32;
/// The most ids that a row may forbid where it does without logits: where they
/// grow with the tokens, those of a few pages.
static constexpr int64_t kMostForbidden = 1024;

//===----------------------------------------------------------------------===//
// What all searches share
//===----------------------------------------------------------------------===//

/// Whether a form takes what may not come, and does without logits.
static bool forbidsBefore(DecoderForm form) {
  return form == DecoderForm::GreedyStep || form == DecoderForm::BestStep;
}

namespace {
/// A batch that is decoded. Borrowed.
struct Batch {
  const Model &model;
  Session &session;
  const std::vector<TokenIds> &sources, &prefixes;
  const Generation &settings;
  DecoderForm form = DecoderForm::Step;
  /// The most tokens that each sentence may generate, and for how many a row
  /// has room from the beginning.
  std::vector<int64_t> limits = {};
  int64_t room = 0;
  /// Of a shortlist, one list a sentence; else empty.
  std::vector<TokenIds> candidates = {};
};

class Search : public Chooser {
public:
  explicit Search(const Batch &batch)
      : batch(batch), session(batch.session), settings(batch.settings),
        constraints(batch.settings, batch.model.manifest().targetVocabulary) {}

  /// Its hypotheses of each sentence, once the loop has ended.
  virtual std::vector<Hypothesis> take(size_t sentence) = 0;

  void prepare(int64_t row) override {
    if (forbidsBefore(batch.form))
      constraints.writeForbidden(soFar(row), session.forbidden(row),
                                 session.forbiddenWidth());
  }
  Status choose(int32_t sentence, int64_t first, int64_t count,
                std::vector<Continuation> &next) override {
    size_t length = tokens[first].size();
    if (!batch.prefixes.empty() && length < prefixOf(sentence).size())
      next.push_back({static_cast<int32_t>(first), prefixOf(sentence)[length]});
    else
      chooseFree(sentence, first, count, next);
    return Status::success();
  }

  RowTokens tokens;

protected:
  virtual void chooseFree(int32_t sentence, int64_t first, int64_t count,
                          std::vector<Continuation> &next) = 0;

  const TokenIds &prefixOf(int32_t sentence) const {
    return batch.prefixes[size_t(sentence)];
  }
  TokensSoFar soFar(int64_t row) const {
    size_t sentence = static_cast<size_t>(session.sentence(row));
    const TokenIds &ids = tokens[row];
    int64_t prefix =
        batch.prefixes.empty() ? 0 : int64_t(batch.prefixes[sentence].size());
    return {ids.data(), int64_t(ids.size()), prefix, batch.limits[sentence]};
  }
  NextTokenScores logitsOf(int64_t row) const {
    if (batch.candidates.empty()) {
      int64_t width = batch.model.manifest().targetVocabulary;
      return {session.logits() + row * width, width};
    }
    const TokenIds &list = batch.candidates[size_t(session.sentence(row))];
    return {session.logits() + row * session.candidateWidth(),
            int64_t(list.size()), list.data()};
  }

  const Batch &batch;
  Session &session;
  const Generation &settings;
  Constraints constraints;
};
} // namespace

//===----------------------------------------------------------------------===//
// Greedy search and sampling
//===----------------------------------------------------------------------===//

namespace {
/// One row a sentence, which gets the likeliest token or one that is drawn.
class SingleSearch : public Search {
public:
  SingleSearch(const Batch &batch, const SearchOptions &options)
      : Search(batch), options(options), hypotheses(batch.sources.size()),
        sampler(settings) {
    for (Hypothesis &hypothesis : hypotheses)
      hypothesis.tokens.reserve(size_t(batch.room));
    if (!forbidsBefore(batch.form) && options.wantsSums)
      unchanged.reserve(size_t(batch.model.manifest().targetVocabulary));
    if (options.samples && settings.temperature > 0)
      for (const TokenIds &source : batch.sources)
        keys.push_back(sourceKey(source));
  }

  std::vector<Hypothesis> take(size_t sentence) override {
    return {std::move(hypotheses[sentence])};
  }

protected:
  void chooseFree(int32_t sentence, int64_t first, int64_t count,
                  std::vector<Continuation> &next) override;

private:
  struct Choice {
    int32_t token;
    float logProbability;
  };
  /// None where nothing may come, or nothing is a number.
  std::optional<Choice> chooseToken(int64_t row);
  std::optional<Choice> chooseFrom(int64_t row, NextTokenScores logits);
  std::optional<Choice> chooseFrom(const BestLogits &logits);
  std::optional<Sampler::Drawn> placeOf(int64_t row,
                                        const NextTokenScores &scores);

  const SearchOptions &options;
  std::vector<Hypothesis> hypotheses;
  Sampler sampler;
  /// Of each source, where tokens are drawn.
  std::vector<uint64_t> keys;
  /// Logits as they were, where constraints change them and sums are wanted.
  std::vector<float> unchanged;
};
} // namespace

/// Where the largest score stands, or one that is drawn, and where somebody
/// wants it its log-probability among them.
std::optional<Sampler::Drawn>
SingleSearch::placeOf(int64_t row, const NextTokenScores &scores) {
  std::optional<int64_t> largest = findLargest(scores);
  if (!largest)
    return std::nullopt;
  if (!keys.empty())
    return sampler.draw(scores.values, scores.count,
                        {options.seed, keys[size_t(session.sentence(row))],
                         /*sample=*/0, uint32_t(tokens[row].size())});
  double logProbability = 0;
  if (options.wantsSums && settings.renormalizes)
    logProbability =
        scores.values[*largest] - logSumExp(scores.values, scores.count);
  return Sampler::Drawn{*largest, logProbability};
}

std::optional<SingleSearch::Choice>
SingleSearch::chooseFrom(int64_t row, NextTokenScores logits) {
  bool wantsOwn = options.wantsSums && !settings.renormalizes;
  float sum = 0;
  if (wantsOwn) {
    sum = logSumExp(logits.values, logits.count);
    unchanged.assign(logits.values, logits.values + logits.count);
  }
  constraints.apply(soFar(row), logits);
  std::optional<Sampler::Drawn> place = placeOf(row, logits);
  if (!place)
    return std::nullopt;
  float logProbability = wantsOwn ? unchanged[size_t(place->index)] - sum
                         : options.wantsSums
                             ? static_cast<float>(place->logProbability)
                             : 0;
  return Choice{logits.id(place->index), logProbability};
}

std::optional<SingleSearch::Choice>
SingleSearch::chooseFrom(const BestLogits &logits) {
  int32_t id;
  float logit;
  if (findBest(logits, 1, &id, &logit) == 0)
    return std::nullopt;
  return Choice{id, logit - logSumExp(logits)};
}

std::optional<SingleSearch::Choice> SingleSearch::chooseToken(int64_t row) {
  if (auto forced = constraints.forced(soFar(row))) {
    if (forced->isSuppressed)
      return std::nullopt;
    return Choice{forced->token, 0};
  }
  if (batch.form == DecoderForm::GreedyStep) {
    std::optional<int32_t> largest = findLargest(session.largest(row));
    return largest ? std::optional(Choice{*largest, 0}) : std::nullopt;
  }
  if (batch.form == DecoderForm::BestStep)
    return chooseFrom(session.best(row));
  return chooseFrom(row, logitsOf(row));
}

void SingleSearch::chooseFree(int32_t sentence, int64_t first, int64_t,
                              std::vector<Continuation> &next) {
  std::optional<Choice> choice = chooseToken(first);
  Hypothesis &hypothesis = hypotheses[size_t(sentence)];
  bool isLast =
      !choice ||
      soFar(first).generated() + 1 == batch.limits[size_t(sentence)] ||
      std::count(settings.eos.begin(), settings.eos.end(), choice->token) != 0;
  if (options.onToken)
    options.onToken(sentence, tokens[first], choice ? choice->token : -1,
                    isLast);
  if (choice) {
    hypothesis.sum += choice->logProbability;
    hypothesis.score = hypothesis.sum;
  }
  if (!isLast) {
    next.push_back({static_cast<int32_t>(first), choice->token});
    return;
  }
  // Where nothing may follow a sentence ends as it stands.
  hypothesis.tokens = tokens[first];
  if (choice)
    hypothesis.tokens.push_back(choice->token);
}

//===----------------------------------------------------------------------===//
// Beam search
//===----------------------------------------------------------------------===//

namespace {
class BeamedSearch : public Search {
public:
  explicit BeamedSearch(const Batch &batch)
      : Search(batch), searches(batch.sources.size()),
        width(BeamSearch::width(settings)), ids(size_t(width * settings.beams)),
        logProbabilities(ids.size()), best(size_t(settings.beams)) {
    for (size_t i = 0; i < searches.size(); ++i)
      searches[i].begin(settings, batch.limits[i], batch.room);
  }

  std::vector<Hypothesis> take(size_t sentence) override {
    return std::move(searches[sentence].hypotheses());
  }

protected:
  void chooseFree(int32_t sentence, int64_t first, int64_t count,
                  std::vector<Continuation> &next) override {
    for (int64_t row = 0; row < count; ++row)
      best[size_t(row)] =
          findContinuations(first + row, ids.data() + row * width,
                            logProbabilities.data() + row * width);
    searches[size_t(sentence)].advance(best, tokens, first, next);
  }

private:
  BestContinuations findContinuations(int64_t row, int32_t *ids,
                                      float *logProbabilities);

  std::vector<BeamSearch> searches;
  int64_t width;
  /// What follows the rows of a sentence, `width` a row.
  std::vector<int32_t> ids;
  std::vector<float> logProbabilities;
  std::vector<BestContinuations> best;
};
} // namespace

/// Nothing where nothing may come, or where no log-probability is a number.
BestContinuations BeamedSearch::findContinuations(int64_t row, int32_t *ids,
                                                  float *logProbabilities) {
  if (auto forced = constraints.forced(soFar(row))) {
    *ids = forced->token;
    *logProbabilities = 0;
    return {ids, logProbabilities, forced->isSuppressed ? 0 : 1};
  }
  int64_t count = 0;
  if (batch.form == DecoderForm::BestStep) {
    // Where constraints forbid anything it is not normalised again.
    BestLogits logits = session.best(row);
    float sum = logSumExp(logits);
    if (std::isfinite(sum))
      count = findBest(logits, width, ids, logProbabilities);
    for (int64_t i = 0; i < count; ++i)
      logProbabilities[i] -= sum;
    return {ids, logProbabilities, count};
  }
  NextTokenScores logits = logitsOf(row);
  // Only a penalty tells logits from log-probabilities that are normalised
  // again.
  bool changes = constraints.changesScores(), isOwn = !settings.renormalizes;
  float sum = changes || isOwn ? logSumExp(logits.values, logits.count) : 0;
  if (changes && std::isfinite(sum)) {
    for (int64_t i = 0; i < logits.count; ++i)
      logits.values[i] -= sum;
    sum = 0;
  }
  if (std::isfinite(sum)) {
    constraints.apply(soFar(row), logits);
    if (!isOwn)
      sum = logSumExp(logits.values, logits.count);
  }
  if (std::isfinite(sum))
    count = findBest(logits.values, logits.count, width, ids);
  for (int64_t i = 0; i < count; ++i) {
    logProbabilities[i] = logits.values[ids[i]] - sum;
    ids[i] = logits.id(ids[i]);
  }
  return {ids, logProbabilities, count};
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

/// The cheapest form that tells a search what it needs to know. `forbidden` is
/// the most that a row forbids. The sums of BestStep are of all logits: those
/// of what is left need rows of logits, but where nothing is forbidden.
static DecoderForm formFor(const Model &model, const Constraints &constraints,
                           const Generation &settings,
                           const SearchOptions &options, bool hasShortlist,
                           int64_t forbidden) {
  if (hasShortlist)
    return DecoderForm::ShortlistStep;
  bool needsLogits = (options.samples && settings.temperature > 0) ||
                     constraints.changesScores() || forbidden > kMostForbidden;
  bool needsSums = settings.beams > 1 || options.wantsSums;
  needsLogits |= needsSums && settings.renormalizes && forbidden > 0;
  if (needsLogits || !model.entryPoint(needsSums ? Role::Best : Role::Greedy))
    return DecoderForm::Step;
  return needsSums ? DecoderForm::BestStep : DecoderForm::GreedyStep;
}

static Status checkPrefixes(const Model &model,
                            const std::vector<TokenIds> &sources,
                            const std::vector<TokenIds> &prefixes) {
  if (!prefixes.empty() && prefixes.size() != sources.size())
    return Status::error("a batch of ", sources.size(), " sentences has ",
                         prefixes.size(), " prefixes");
  for (size_t i = 0; i < prefixes.size(); ++i)
    if (Status status = model.checkPrefix(prefixes[i]); !status.ok())
      return Status::error("prefix ", i + 1, " of a batch ", status.message());
  return Status::success();
}

/// The start token and all but the last of each prefix; nothing where that is
/// empty.
static std::vector<TokenIds> inputsBefore(const std::vector<TokenIds> &prefixes,
                                          int32_t start) {
  std::vector<TokenIds> inputs;
  for (const TokenIds &prefix : prefixes) {
    inputs.emplace_back();
    if (prefix.empty())
      continue;
    inputs.back().push_back(start);
    inputs.back().insert(inputs.back().end(), prefix.begin(), prefix.end() - 1);
  }
  return inputs;
}

namespace {
/// What a search needs to know of a batch before a session begins it.
struct Demand {
  Generation settings;
  DecoderRequest request;
  /// As Batch has them.
  std::vector<int64_t> limits;
  int64_t room = 0;
  std::vector<TokenIds> candidates;
  /// What a prefix feeds before its last token; without a chunk that is fed
  /// step by step, and here is nothing.
  std::vector<TokenIds> chunk;
};
} // namespace

static Result<Demand> demandOf(const Model &model,
                               const std::vector<TokenIds> &sources,
                               const std::vector<TokenIds> &prefixes,
                               const SearchOptions &options) {
  const Manifest &manifest = model.manifest();
  if (!manifest.generation.start)
    return Status::error("'", model.artifact().path(),
                         "' has no start token to generate from");
  Result<Generation> settings = settingsFor(manifest, options);
  if (!settings.ok())
    return settings.status();
  if (Status status = checkPrefixes(model, sources, prefixes); !status.ok())
    return status;

  const Shortlist *shortlist =
      options.useShortlist ? model.shortlist() : nullptr;
  Constraints constraints(*settings, manifest.targetVocabulary);
  Demand demand;
  DecoderRequest &request = demand.request;
  request.rowsPerSentence = settings->beams;
  for (size_t i = 0; i < sources.size(); ++i) {
    int64_t prefix = prefixes.empty() ? 0 : int64_t(prefixes[i].size());
    if (prefix == 0)
      if (auto first = constraints.forced({nullptr, 0, 0, /*limit=*/2});
          first && first->isSuppressed)
        return Status::error("no token may come first: it has to be ",
                             first->token, ", which is suppressed");
    demand.limits.push_back(lengthLimit(*settings, int64_t(sources[i].size()),
                                        prefix, options.maxLength));
    request.length = std::max(request.length, prefix + demand.limits.back());
    if (shortlist)
      demand.candidates.push_back(shortlist->candidates(sources[i]));
  }
  demand.room = std::min(request.length, kReservedTokens);
  int64_t forbidden = constraints.mostForbidden(request.length);
  request.form =
      formFor(model, constraints, *settings, options, shortlist, forbidden);
  if (forbidsBefore(request.form))
    request.forbidden = forbidden;
  if (request.form == DecoderForm::BestStep && settings->beams > 1)
    request.best = BeamSearch::width(*settings);
  if (model.entryPoint(Role::Chunk, shortlist))
    demand.chunk = inputsBefore(prefixes, *manifest.generation.start);
  for (const TokenIds &input : demand.chunk)
    request.chunk = std::max(request.chunk, int64_t(input.size()));
  demand.settings = std::move(*settings);
  return demand;
}

Result<int64_t> heddle::bytesToGenerate(const Model &model, Session &session,
                                        const std::vector<TokenIds> &sources,
                                        const std::vector<TokenIds> &prefixes,
                                        const SearchOptions &options) {
  Result<Demand> demand = demandOf(model, sources, prefixes, options);
  if (!demand.ok())
    return demand.status();
  Result<int64_t> bytes =
      session.bytesFor(sources, demand->request, demand->candidates);
  if (!bytes.ok())
    return bytes;
  // Tokens of rows and of finished hypotheses.
  int64_t rows = int64_t(sources.size()) * demand->settings.beams;
  int64_t tokens = 3 * rows * demand->room;
  for (const TokenIds &list : demand->candidates)
    tokens += int64_t(list.size());
  int64_t result = *bytes + tokens * int64_t(sizeof(int32_t));
  // A row of logits is copied for sums, and sorted for samples.
  if (options.wantsSums || options.samples)
    result += kBytesOfLogit * model.manifest().targetVocabulary;
  return result;
}

Result<std::vector<std::vector<Hypothesis>>> heddle::generate(
    const Model &model, Session &session, const std::vector<TokenIds> &sources,
    const std::vector<TokenIds> &prefixes, const SearchOptions &options) {
  Result<Demand> demand = demandOf(model, sources, prefixes, options);
  if (!demand.ok())
    return demand.status();
  const DecoderRequest &request = demand->request;
  if (Status status = session.begin(sources, request, demand->candidates);
      !status.ok())
    return status;

  int32_t start = *model.manifest().generation.start;
  Batch batch{model,
              session,
              sources,
              prefixes,
              demand->settings,
              request.form,
              std::move(demand->limits),
              demand->room,
              std::move(demand->candidates)};
  std::optional<SingleSearch> single;
  std::optional<BeamedSearch> beamed;
  Search &search = batch.settings.beams > 1
                       ? static_cast<Search &>(beamed.emplace(batch))
                       : single.emplace(batch, options);
  search.tokens.reset(int64_t(sources.size()) * batch.settings.beams,
                      batch.room);
  if (request.chunk > 0) {
    if (Status status = session.runChunk(demand->chunk); !status.ok())
      return status;
    for (size_t i = 0; i < prefixes.size(); ++i)
      search.tokens.set(int64_t(i), prefixes[i]);
  }
  if (Status status = runSteps(session, start, search.tokens, search);
      !status.ok())
    return status;
  std::vector<std::vector<Hypothesis>> results;
  for (size_t i = 0; i < sources.size(); ++i)
    results.push_back(search.take(i));
  return results;
}
