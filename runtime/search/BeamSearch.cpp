//===- BeamSearch.cpp - The best sequences of one sentence ----------------===//
//
// All beams begin in the one row that a sentence has, but the first one is far
// ahead of the others. If a step leaves fewer sequences that go on than
// there are beams, what is done goes on, too, as far behind. Such beams hold
// places until there are enough real ones again: what they end with counts
// if an early end looks for as many hypotheses as beams, and is dropped at
// the end.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/BeamSearch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;

/// The sum of beams that are not there, and the score of hypotheses that are
/// not.
static constexpr float kNothing = -1e9f;
static constexpr float kLowest = -std::numeric_limits<float>::infinity();

int64_t BeamSearch::width(const Generation &generation) {
  if (generation.earlyStopping == EarlyStopping::Shrink)
    return generation.beams;
  int64_t ends = static_cast<int64_t>(generation.eos.size());
  return std::max<int64_t>(2, 1 + ends) * generation.beams;
}

int64_t BeamSearch::mostFinished(const Generation &generation) {
  double wanted =
      std::round(generation.patience * static_cast<double>(generation.beams));
  return std::max<int64_t>(static_cast<int64_t>(wanted), 1);
}

int64_t BeamSearch::mostKept(const Generation &generation) {
  // A step finishes as many as beams at most.
  int64_t more = generation.coveragePenalty != 0 ? generation.beams : 0;
  return mostFinished(generation) + more;
}

void BeamSearch::begin(const Generation &settings, int64_t mostTokens,
                       int64_t room, bool withTokenScores) {
  size_t count = static_cast<size_t>(settings.beams);
  generation = &settings;
  limit = mostTokens;
  wanted = mostFinished(settings);
  kept = mostKept(settings);
  length = 0;
  mayImprove = true;
  wantsTokenScores = withTokenScores;
  scores.assign(wantsTokenScores ? count : 0, {});
  beams.assign(count, {0, kNothing});
  beams.front().sum = 0;
  running.reserve(count);
  candidates.reserve(count * static_cast<size_t>(width(settings)));
  finished.clear();
  finished.reserve(static_cast<size_t>(kept));
  spare.resize(static_cast<size_t>(kept));
  for (TokenIds &tokens : spare)
    tokens.reserve(static_cast<size_t>(room));
}

/// The best ones of all beams, descending.
void BeamSearch::findCandidates(const std::vector<BestContinuations> &rows) {
  candidates.clear();
  for (size_t beam = 0; beam < beams.size(); ++beam) {
    const BestContinuations &row = rows[size_t(beams[beam].row)];
    for (int64_t i = 0; i < row.count; ++i)
      candidates.push_back({beams[beam].sum + row.logProbabilities[i],
                            static_cast<int32_t>(beam), row.ids[i],
                            row.logProbabilities[i]});
  }
  auto isBetter = [](const Candidate &a, const Candidate &b) {
    if (a.sum != b.sum)
      return a.sum > b.sum;
    return a.beam != b.beam ? a.beam < b.beam : a.token < b.token;
  };
  auto end = candidates.begin() +
             std::min<ptrdiff_t>(width(*generation),
                                 static_cast<ptrdiff_t>(candidates.size()));
  std::partial_sort(candidates.begin(), end, candidates.end(), isBetter);
  candidates.erase(end, candidates.end());
}

bool BeamSearch::isDone(const Candidate &candidate) const {
  return length + 1 == limit ||
         std::count(generation->eos.begin(), generation->eos.end(),
                    candidate.token) != 0;
}

float BeamSearch::score(float sum, int64_t tokens) const {
  float words =
      static_cast<float>(generation->wordPenalty) * static_cast<float>(tokens);
  return (sum - words) /
         static_cast<float>(
             std::pow(static_cast<double>(tokens), generation->lengthPenalty));
}

/// No less than what a running beam can become at any length up to the limit.
float BeamSearch::bestPossibleScore(float sum) const {
  double penalty = generation->lengthPenalty;
  float best = score(sum, penalty > 0 ? limit : length);
  if (generation->wordPenalty == 0)
    return best;
  auto reward = [&](int64_t tokens) {
    return -generation->wordPenalty *
           std::pow(static_cast<double>(tokens), 1 - penalty);
  };
  // Either part at the length that is best for it.
  best = sum / static_cast<float>(std::pow(
                   static_cast<double>(penalty > 0 ? limit : length), penalty));
  return best + static_cast<float>(std::max(reward(length), reward(limit)));
}

/// Those of all tokens of a sequence.
std::vector<float> BeamSearch::scoresOf(const Candidate &candidate) const {
  std::vector<float> all = scores[size_t(beams[size_t(candidate.beam)].row)];
  all.push_back(candidate.logProbability);
  return all;
}

/// Keeps a sequence that is complete if it is among the best.
void BeamSearch::finish(const Candidate &candidate, const TokenIds &tokens) {
  Hypothesis hypothesis{{}, candidate.sum, score(candidate.sum, length + 1)};
  auto place = std::upper_bound(finished.begin(), finished.end(), hypothesis,
                                [](const Hypothesis &a, const Hypothesis &b) {
                                  return a.score > b.score;
                                });
  if (static_cast<int64_t>(finished.size()) == kept) {
    if (place == finished.end())
      return;
    // The memory of the worst one.
    size_t index = static_cast<size_t>(place - finished.begin());
    hypothesis.tokens = std::move(finished.back().tokens);
    finished.pop_back();
    place = finished.begin() + static_cast<ptrdiff_t>(index);
  } else {
    hypothesis.tokens = std::move(spare.back());
    spare.pop_back();
  }
  hypothesis.tokens.assign(tokens.begin(), tokens.end());
  hypothesis.tokens.push_back(candidate.token);
  if (wantsTokenScores)
    hypothesis.logProbabilities = scoresOf(candidate);
  finished.insert(place, std::move(hypothesis));
}

bool BeamSearch::hasRunning() const {
  return !running.empty() && running.front().sum > kNothing;
}

/// Whether nothing that follows can matter, behind a step.
bool BeamSearch::isOver() {
  if (shrinks())
    return running.empty();
  bool countsToTheEnd = generation->earlyStopping == EarlyStopping::Never;
  float best = running.empty()  ? kLowest
               : countsToTheEnd ? bestPossibleScore(running.front().sum)
                                : score(running.front().sum, length);
  float worst = isFull() ? finished[size_t(wanted - 1)].score : kNothing;
  mayImprove = mayImprove && best > worst && hasRunning();
  bool isFullAtOnce =
      isFull() && generation->earlyStopping == EarlyStopping::AtOnce;
  return !mayImprove || isFullAtOnce;
}

void BeamSearch::advance(const std::vector<BestContinuations> &rows,
                         const RowTokens &tokens, int64_t first,
                         std::vector<Continuation> &next) {
  findCandidates(rows);
  running.clear();
  nextScores.clear();
  size_t begin = next.size(), count = static_cast<size_t>(generation->beams);
  if (shrinks()) {
    count -= finished.size();
    // Those of beams that were never there take no place.
    while (!candidates.empty() &&
           (candidates.size() > count || candidates.back().sum <= kNothing))
      candidates.pop_back();
  }
  auto goOn = [&](const Candidate &candidate, float sum) {
    if (running.size() == count)
      return;
    running.push_back({static_cast<int32_t>(running.size()), sum});
    if (wantsTokenScores)
      nextScores.push_back(scoresOf(candidate));
    next.push_back(
        {static_cast<int32_t>(first) + beams[size_t(candidate.beam)].row,
         candidate.token});
  };
  for (size_t rank = 0; rank < candidates.size(); ++rank) {
    const Candidate &candidate = candidates[rank];
    if (!isDone(candidate))
      goOn(candidate, candidate.sum);
    else if (rank < count && score(candidate.sum, length + 1) > kNothing)
      finish(candidate, tokens[first + beams[size_t(candidate.beam)].row]);
  }
  for (const Candidate &candidate : candidates)
    if (isDone(candidate) && !shrinks())
      goOn(candidate, candidate.sum + kNothing);
  ++length;
  if (!isOver()) {
    std::swap(beams, running);
    std::swap(scores, nextScores);
    return;
  }
  next.resize(begin);
  // Beams that were never there have ended, too.
  for (auto each = finished.begin(); each != finished.end();) {
    if (each->sum > kNothing) {
      ++each;
      continue;
    }
    spare.push_back(std::move(each->tokens));
    each = finished.erase(each);
  }
}
