//===- Search.cpp - What all searches of a batch share --------------------===//
//
// Log-probabilities are those of log-softmax over all logits, then changed by
// constraints, and normalised again only if that is asked for. The mean of an
// ensemble's log-probabilities is taken as it is, as Marian takes it.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Search.h"

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/search/TokenScores.h"

#include <cmath>

using namespace heddle;

void Search::prepare(int64_t row) {
  if (!forbidsBefore(batch.form))
    return;
  int32_t *ids = session.forbidden(row);
  int64_t last = session.forbiddenWidth() - 1;
  constraints.writeForbidden(soFar(row), ids, last);
  ids[last] = settings.renormalizes ? kSumsOfAllowed : -1;
}

Status Search::choose(int32_t sentence, int64_t first, int64_t count,
                      std::vector<Continuation> &next) {
  static const TokenIds kNone;
  const TokenIds &prefix =
      batch.prefixes.empty() ? kNone : batch.prefixes[size_t(sentence)];
  size_t length = tokensOf(first).size();
  if (length < prefix.size())
    next.push_back({static_cast<int32_t>(first), prefix[length]});
  else
    chooseFree(sentence, first, count, next);
  return Status::success();
}

float Search::sumOf(const NextTokenScores &logits) const {
  // Those of an ensemble are log-probabilities, or a mean of them.
  return session.ensemble() ? 0 : logSumExp(logits.values, logits.count);
}

TokensSoFar Search::soFar(int64_t row) const {
  size_t sentence = sentenceOf(row);
  const TokenIds &ids = tokensOf(row);
  int64_t prefix =
      batch.prefixes.empty() ? 0 : int64_t(batch.prefixes[sentence].size());
  return {ids.data(), int64_t(ids.size()), prefix, batch.limits[sentence],
          batch.options.allowedOf(sentence)};
}

NextTokenScores Search::logitsOf(int64_t row) const {
  if (batch.candidates.empty()) {
    int64_t width = batch.model.manifest().targetVocabulary;
    return {batch.told ? batch.told : session.logits() + row * width, width};
  }
  const TokenIds &list = batch.candidates[sentenceOf(row)];
  return {batch.told ? batch.told
                     : session.logits() + row * session.candidateWidth(),
          int64_t(list.size()), list.data()};
}

const GivenToken *Search::givenTo(int64_t row) const {
  if (batch.given.empty())
    return nullptr;
  const GivenToken &given = batch.given[sentenceOf(row)];
  return given.length == int64_t(tokensOf(row).size()) ? &given : nullptr;
}

BestContinuations Search::findContinuations(int64_t row, int64_t most,
                                            int32_t *ids,
                                            float *logProbabilities) {
  auto onlyOne = [&](int32_t id, float logProbability) {
    *ids = id;
    *logProbabilities = logProbability;
    return BestContinuations{ids, logProbabilities, 1};
  };
  if (const GivenToken *given = givenTo(row))
    return onlyOne(given->token, given->logProbability);
  if (auto forced = constraints.forced(soFar(row)))
    return forced->isSuppressed ? BestContinuations{ids, logProbabilities, 0}
                                : onlyOne(forced->token, 0);
  int64_t count = 0;
  if (form() == DecoderForm::BestStep) {
    // Sums are of what Search::prepare said.
    BestLogits logits = session.best(row);
    float sum = logSumExp(logits);
    if (std::isfinite(sum))
      count = findBest(logits, most, ids, logProbabilities);
    for (int64_t i = 0; i < count; ++i)
      logProbabilities[i] -= sum;
    return {ids, logProbabilities, count};
  }
  NextTokenScores logits = logitsOf(row);
  // Only a penalty tells logits from log-probabilities that are normalised
  // again.
  bool changes = constraints.changesScores(), isOwn = !settings.renormalizes;
  float sum = changes || isOwn ? sumOf(logits) : 0;
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
    count = findBest(logits.values, logits.count, most, ids);
  for (int64_t i = 0; i < count; ++i) {
    logProbabilities[i] = logits.values[ids[i]] - sum;
    ids[i] = logits.id(ids[i]);
  }
  return {ids, logProbabilities, count};
}
