//===- SingleSearch.cpp - Greedy search and sampling ----------------------===//
//
// The score of a token is that of the model, before any constraint, unless
// probabilities are normalised again.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/SingleSearch.h"

#include "runtime/search/TokenScores.h"

#include <algorithm>

using namespace heddle;

SingleSearch::SingleSearch(const SearchBatch &batch)
    : Search(batch), options(batch.options), hypotheses(batch.sources.size()),
      sampler(settings) {
  for (Hypothesis &hypothesis : hypotheses) {
    hypothesis.tokens.reserve(size_t(batch.room));
    if (options.tokenScores)
      hypothesis.logProbabilities.reserve(size_t(batch.room));
  }
  if (options.wantsSums)
    unchanged.reserve(size_t(batch.model.manifest().targetVocabulary));
  if (options.samples && settings.temperature > 0)
    for (const TokenIds &source : batch.sources)
      keys.push_back(sourceKey(source));
}

DrawKey SingleSearch::keyOf(int64_t row) const {
  size_t sentence = sentenceOf(row);
  return {options.seed, keys[sentence],
          batch.samples.empty() ? 0 : batch.samples[sentence],
          uint32_t(tokensOf(row).size())};
}

/// Where the largest score stands, or one that is drawn, and, if somebody
/// wants it, its log-probability among them.
std::optional<Sampler::Drawn>
SingleSearch::placeOf(int64_t row, const NextTokenScores &scores) {
  std::optional<int64_t> largest = findLargest(scores);
  if (!largest)
    return std::nullopt;
  if (!keys.empty())
    return sampler.draw(scores.values, scores.count, keyOf(row));
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
    sum = sumOf(logits);
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
  if (const GivenToken *given = givenTo(row))
    return Choice{given->token, given->logProbability};
  if (auto forced = constraints.forced(soFar(row))) {
    if (forced->isSuppressed)
      return std::nullopt;
    return Choice{forced->token, 0};
  }
  if (form() == DecoderForm::GreedyStep) {
    std::optional<int32_t> largest = findLargest(session.largest(row));
    return largest ? std::optional(Choice{*largest, 0}) : std::nullopt;
  }
  if (form() == DecoderForm::BestStep)
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
      std::count(settings.eos.begin(), settings.eos.end(), choice->token) !=
          0 ||
      (options.endsText &&
       options.endsText(tokensOf(first), soFar(first).generated(),
                        choice->token));
  if (options.onToken)
    options.onToken(sentence, tokensOf(first), choice ? choice->token : -1,
                    isLast);
  if (choice) {
    hypothesis.sum += choice->logProbability;
    hypothesis.score = hypothesis.sum;
    if (options.tokenScores)
      hypothesis.logProbabilities.push_back(choice->logProbability);
  }
  if (!isLast) {
    next.push_back({static_cast<int32_t>(first), choice->token});
    return;
  }
  // If nothing may follow a sentence ends as it stands.
  hypothesis.given = soFar(first).prefix;
  hypothesis.tokens = tokensOf(first);
  if (choice)
    hypothesis.tokens.push_back(choice->token);
}
