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
static constexpr float kLowest = -std::numeric_limits<float>::infinity();

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
  Choice chooseToken(int64_t row);
  Choice chooseFrom(int64_t row, NextTokenScores logits);
  Choice chooseFrom(const BestLogits &logits);
  std::optional<int64_t> indexOf(int64_t row, const NextTokenScores &scores);

  const SearchOptions &options;
  std::vector<Hypothesis> hypotheses;
  Sampler sampler;
  /// Of each source, where tokens are drawn.
  std::vector<uint64_t> keys;
  /// Logits as they were, where constraints change them and sums are wanted.
  std::vector<float> unchanged;
};
} // namespace

/// The place of the largest score, or one that is drawn; none where no score is
/// a number.
std::optional<int64_t> SingleSearch::indexOf(int64_t row,
                                             const NextTokenScores &scores) {
  std::optional<int64_t> largest = findLargest(scores);
  if (keys.empty() || !largest || scores.values[*largest] == kLowest)
    return largest;
  return sampler.draw(scores.values, scores.count,
                      {options.seed, keys[size_t(session.sentence(row))],
                       /*sample=*/0, uint32_t(tokens[row].size())});
}

SingleSearch::Choice SingleSearch::chooseFrom(int64_t row,
                                              NextTokenScores logits) {
  float *values = logits.values;
  float sum = options.wantsSums ? logSumExp(values, logits.count) : 0;
  if (options.wantsSums) {
    unchanged.assign(values, values + logits.count);
    values = unchanged.data();
  }
  constraints.apply(soFar(row), logits);
  std::optional<int64_t> index = indexOf(row, logits);
  if (!index)
    return {settings.eos[0], kLowest};
  if (logits.values[*index] == kLowest)
    return {logits.id(*index), kLowest};
  return {logits.id(*index), options.wantsSums ? values[*index] - sum : 0};
}

SingleSearch::Choice SingleSearch::chooseFrom(const BestLogits &logits) {
  int32_t id;
  float logit, sum = logSumExp(logits);
  if (findBest(logits, 1, &id, &logit) == 1)
    return {id, logit - sum};
  // Nothing may come, or nothing is a number.
  return {std::isnan(sum) ? settings.eos[0] : kFirstId, kLowest};
}

SingleSearch::Choice SingleSearch::chooseToken(int64_t row) {
  if (auto forced = constraints.forced(soFar(row)))
    return forced->isSuppressed ? Choice{kFirstId, kLowest}
                                : Choice{forced->token, 0};
  if (batch.form == DecoderForm::GreedyStep)
    return {findLargest(session.largest(row)).value_or(settings.eos[0]), 0};
  if (batch.form == DecoderForm::BestStep)
    return chooseFrom(session.best(row));
  return chooseFrom(row, logitsOf(row));
}

void SingleSearch::chooseFree(int32_t sentence, int64_t first, int64_t,
                              std::vector<Continuation> &next) {
  Choice choice = chooseToken(first);
  Hypothesis &hypothesis = hypotheses[size_t(sentence)];
  hypothesis.sum += choice.logProbability;
  hypothesis.score = hypothesis.sum;
  bool isLast = soFar(first).generated() + 1 == batch.limits[size_t(sentence)];
  isLast |=
      std::count(settings.eos.begin(), settings.eos.end(), choice.token) != 0;
  if (options.onToken)
    options.onToken(sentence, tokens[first], choice.token, isLast);
  if (!isLast) {
    next.push_back({static_cast<int32_t>(first), choice.token});
    return;
  }
  hypothesis.tokens = tokens[first];
  hypothesis.tokens.push_back(choice.token);
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

BestContinuations BeamedSearch::findContinuations(int64_t row, int32_t *ids,
                                                  float *logProbabilities) {
  auto onlyOne = [&](int32_t id, float logProbability) {
    *ids = id;
    *logProbabilities = logProbability;
    return BestContinuations{ids, logProbabilities, 1};
  };
  if (auto forced = constraints.forced(soFar(row)))
    return forced->isSuppressed ? onlyOne(kFirstId, kLowest)
                                : onlyOne(forced->token, 0);
  if (batch.form == DecoderForm::BestStep) {
    BestLogits logits = session.best(row);
    float sum = logSumExp(logits);
    if (!std::isfinite(sum))
      return onlyOne(settings.eos[0], kLowest);
    int64_t count = findBest(logits, width, ids, logProbabilities);
    if (count == 0)
      return onlyOne(kFirstId, kLowest);
    for (int64_t i = 0; i < count; ++i)
      logProbabilities[i] -= sum;
    return {ids, logProbabilities, count};
  }
  NextTokenScores logits = logitsOf(row);
  float sum = logSumExp(logits.values, logits.count);
  if (!std::isfinite(sum))
    return onlyOne(settings.eos[0], kLowest);
  if (constraints.changesScores()) {
    for (int64_t i = 0; i < logits.count; ++i)
      logits.values[i] -= sum;
    sum = 0;
  }
  constraints.apply(soFar(row), logits);
  int64_t count = findBest(logits.values, logits.count, width, ids);
  if (count == 0)
    return onlyOne(kFirstId, kLowest);
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
/// the most that a row forbids.
static DecoderForm formFor(const Model &model, const Constraints &constraints,
                           const Generation &settings,
                           const SearchOptions &options, bool hasShortlist,
                           int64_t forbidden) {
  if (hasShortlist)
    return DecoderForm::ShortlistStep;
  bool needsLogits = (options.samples && settings.temperature > 0) ||
                     constraints.changesScores() || forbidden > kMostForbidden;
  bool needsSums = settings.beams > 1 || options.wantsSums;
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
    if (Status status = model.checkTarget(prefixes[i]); !status.ok())
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
