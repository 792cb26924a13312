//===- Spans.cpp - Spans of text from labels of tokens --------------------===//
//
// Tokens, then words, then spans: each step joins neighbours.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Spans.h"

#include <algorithm>
#include <utility>

using namespace heddle;

static constexpr std::string_view kOutside = "O";

std::string_view heddle::nameOfSpan(std::string_view label) {
  size_t dash = label.find('-');
  return dash == std::string_view::npos ? label : label.substr(dash + 1);
}

/// The label that a span is of, "PER" of "B-PER" and "I-PER".
static std::string_view tagOf(std::string_view label) {
  bool isMarked = label.substr(0, 2) == "B-" || label.substr(0, 2) == "I-";
  return isMarked ? label.substr(2) : label;
}

static size_t bestOf(const std::vector<float> &scores) {
  return size_t(std::max_element(scores.begin(), scores.end()) -
                scores.begin());
}

/// A token with its best label.
static Label labelOf(const ScoredToken &token,
                     const std::vector<float> &scores) {
  size_t best = bestOf(scores);
  return {int32_t(best), scores[best], token.token, token.id, token.place};
}

/// The place from the beginning of one to the end of another.
static TokenPlace join(const TokenPlace &first, const TokenPlace &last) {
  TokenPlace place = first;
  place.bytes.end = last.bytes.end;
  place.characters.end = last.characters.end;
  return place;
}

/// The scores of a word's tokens.
static std::vector<float> scoresOfWord(const ScoredToken *begin,
                                       const ScoredToken *end,
                                       Aggregation aggregation) {
  if (aggregation == Aggregation::Max)
    return std::max_element(begin, end,
                            [](const ScoredToken &a, const ScoredToken &b) {
                              return a.scores[bestOf(a.scores)] <
                                     b.scores[bestOf(b.scores)];
                            })
        ->scores;
  if (aggregation == Aggregation::First)
    return begin->scores;
  std::vector<float> means;
  for (size_t label = 0; label < begin->scores.size(); ++label) {
    double sum = 0;
    for (const ScoredToken *token = begin; token != end; ++token)
      sum += token->scores[label];
    means.push_back(float(sum / double(end - begin)));
  }
  return means;
}

static std::vector<Label> labelWords(const std::vector<ScoredToken> &tokens,
                                     Aggregation aggregation) {
  std::vector<Label> words;
  const ScoredToken *end = tokens.data() + tokens.size();
  for (const ScoredToken *begin = tokens.data(); begin != end;) {
    const ScoredToken *next =
        std::find_if(begin + 1, end, [](const ScoredToken &token) {
          return !token.place.continuesWord;
        });
    Label word = labelOf(*begin, scoresOfWord(begin, next, aggregation));
    word.place = join(begin->place, (next - 1)->place);
    words.push_back(word);
    begin = next;
  }
  return words;
}

/// Joins neighbours of one tag, of which none but the first begins a span.
static std::vector<Label> joinSpans(const std::vector<Label> &parts,
                                    const std::vector<std::string> &labels) {
  auto nameOf = [&](const Label &label) {
    return std::string_view(labels[size_t(label.id)]);
  };
  std::vector<Label> spans;
  for (size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    double sum = 0;
    do
      sum += parts[end++].score;
    while (end < parts.size() && nameOf(parts[end]).substr(0, 2) != "B-" &&
           tagOf(nameOf(parts[end])) == tagOf(nameOf(parts[end - 1])));
    Label span = parts[begin];
    span.score = float(sum / double(end - begin));
    span.place = join(span.place, parts[end - 1].place);
    spans.push_back(span);
  }
  return spans;
}

std::vector<Label> heddle::findSpans(const std::vector<ScoredToken> &tokens,
                                     const std::vector<std::string> &labels,
                                     Aggregation aggregation) {
  std::vector<Label> found;
  if (aggregation == Aggregation::None || aggregation == Aggregation::Simple)
    for (const ScoredToken &token : tokens)
      found.push_back(labelOf(token, token.scores));
  else
    found = labelWords(tokens, aggregation);
  if (aggregation != Aggregation::None)
    found = joinSpans(found, labels);
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const Label &label) {
                               std::string_view name = labels[size_t(label.id)];
                               return (aggregation == Aggregation::None
                                           ? name
                                           : nameOfSpan(name)) == kOutside;
                             }),
              found.end());
  return found;
}

std::vector<Label> heddle::withoutOverlaps(const std::vector<Label> &spans) {
  auto length = [](const Label &span) {
    return span.place.characters.end - span.place.characters.begin;
  };
  auto beginOf = [](const Label &span) { return span.place.characters.begin; };
  // Of those that begin at one place, the first windows' first.
  std::vector<std::pair<uint32_t, size_t>> order;
  for (size_t i = 0; i < spans.size(); ++i)
    order.push_back({beginOf(spans[i]), i});
  std::sort(order.begin(), order.end());
  std::vector<Label> kept;
  for (auto [begin, index] : order) {
    const Label &span = spans[index];
    bool overlaps = !kept.empty() && begin >= beginOf(kept.back()) &&
                    begin < kept.back().place.characters.end;
    if (!overlaps)
      kept.push_back(span);
    else if (std::pair(length(span), span.score) >
             std::pair(length(kept.back()), kept.back().score))
      kept.back() = span;
  }
  return kept;
}
