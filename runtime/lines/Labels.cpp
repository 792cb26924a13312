//===- Labels.cpp - Labels of texts, of tokens and of masks ---------------===//
//
// Scores are computed in double of a row's logits, before the best are taken.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Labels.h"

#include "runtime/lines/Spans.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

using namespace heddle;

/// The numbers of the `count` largest logits, the largest first, of equal ones
/// the first one first; what is no number is behind all.
static std::vector<int32_t> findLargest(const float *logits, int64_t width,
                                        int64_t count) {
  std::vector<int32_t> numbers(static_cast<size_t>(width));
  std::iota(numbers.begin(), numbers.end(), 0);
  auto isBefore = [&](int32_t a, int32_t b) {
    bool isNumberA = !std::isnan(logits[a]), isNumberB = !std::isnan(logits[b]);
    if (isNumberA != isNumberB)
      return isNumberA;
    return isNumberA && logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  std::partial_sort(numbers.begin(), numbers.begin() + count, numbers.end(),
                    isBefore);
  numbers.resize(static_cast<size_t>(count));
  return numbers;
}

namespace {
/// What a row's logits become, computed in double.
class Scores {
public:
  Scores(const float *logits, int64_t width, LabelScores kind)
      : logits(logits), kind(kind) {
    if (kind != LabelScores::Softmax)
      return;
    largest = *std::max_element(logits, logits + width);
    for (int64_t i = 0; i < width; ++i)
      sum += std::exp(double(logits[i]) - largest);
  }

  float of(int32_t label) const {
    double logit = logits[label];
    switch (kind) {
    case LabelScores::Softmax:
      return float(std::exp(logit - largest) / sum);
    case LabelScores::Sigmoid:
      return float(1 / (1 + std::exp(-logit)));
    case LabelScores::None:
      return logits[label];
    }
    __builtin_unreachable();
  }

private:
  const float *logits;
  const LabelScores kind;
  double largest = 0, sum = 0;
};

class LabelJob : public TextJob {
public:
  LabelJob(const Model &model, Role task, const LabelOptions &options,
           const LineSource &source)
      : TextJob(model, task), width(taskWidth(model, task)),
        top(std::min(options.top.value_or(task == Role::Classify ? width
                                          : task == Role::Tag ? 1
                                                              : kMaskGuesses),
                     width)),
        aggregation(task == Role::Tag ? options.aggregation : std::nullopt),
        reader(model, *model.manifest().textTask(task), options, source,
               {/*prompt=*/"",
                task == Role::Classify ? TextUse::Places::None
                                       : TextUse::Places::OfText,
                aggregation ? options.stride : std::nullopt}) {}

  Result<Sentence> encode(int64_t number, const Line &line) override {
    return reader.read(number, line);
  }
  /// Places are those of one text.
  bool takesPairs() const override { return task == Role::Classify; }
  Answer read(const Batch &batch, size_t text,
              const float *rows) const override;

private:
  std::vector<std::pair<int32_t, const float *>>
  placesOf(const TokenIds &source, const std::vector<TokenPlace> &places,
           const float *rows) const;

  const int64_t width, top;
  const std::optional<Aggregation> aggregation;
  const TextReader reader;
};
} // namespace

/// The tokens that get labels, each with its row of logits.
std::vector<std::pair<int32_t, const float *>>
LabelJob::placesOf(const TokenIds &source,
                   const std::vector<TokenPlace> &places,
                   const float *rows) const {
  if (task == Role::Classify)
    return {{0, rows}};
  std::vector<std::pair<int32_t, const float *>> found;
  if (task == Role::Fill) {
    for (int32_t token : masksOf(source, model.manifest())) {
      found.push_back({token, rows});
      rows += width;
    }
    return found;
  }
  for (size_t i = 0; i < source.size(); ++i)
    if (places.empty() || places[i].isOfText)
      found.push_back({int32_t(i), rows + int64_t(i) * width});
  return found;
}

Answer LabelJob::read(const Batch &batch, size_t text,
                      const float *rows) const {
  static const std::vector<TokenPlace> unknown;
  const TokenIds &source = batch.sources[text];
  const std::vector<TokenPlace> &places =
      batch.features.places.empty() ? unknown : batch.features.places[text];
  LabelScores kind = task == Role::Classify ? model.manifest().classify->scores
                                            : LabelScores::Softmax;
  std::vector<Label> labels;
  std::vector<ScoredToken> tokens;
  for (auto [token, logits] : placesOf(source, places, rows)) {
    Scores scores(logits, width, kind);
    TokenPlace place = places.empty() ? TokenPlace() : places[size_t(token)];
    int32_t tokenId = source[size_t(token)];
    if (aggregation) {
      ScoredToken &scored =
          tokens.emplace_back(ScoredToken{token, tokenId, place, {}});
      for (int32_t id = 0; id < width; ++id)
        scored.scores.push_back(scores.of(id));
      continue;
    }
    for (int32_t id : findLargest(logits, width, top))
      labels.push_back({id, scores.of(id), token, tokenId, place});
  }
  if (aggregation)
    labels = findSpans(tokens, model.manifest().tag->labels, *aggregation);
  return labels;
}

std::unique_ptr<TextJob> heddle::makeLabelJob(const Model &model, Role task,
                                              const LabelOptions &options,
                                              const LineSource &source) {
  return std::make_unique<LabelJob>(model, task, options, source);
}

std::vector<Label> heddle::takeLabels(LineAnswer &line,
                                      const LabelOptions &options) {
  auto labels = takeList<Label>(line.answer);
  return line.windows > 1 && options.aggregation ? withoutOverlaps(labels)
                                                 : labels;
}

Status heddle::labelLines(const Workers &workers, const LineRunOptions &options,
                          Role task, const LabelOptions &label,
                          LineSource &source, const LabelWriter &writer) {
  LabelJob job(workers.model(), task, label, source);
  return runLines(
      workers, options, source, job, [&](std::vector<LineAnswer> answers) {
        for (LineAnswer &line : answers) {
          std::vector<Label> labels = takeLabels(line, label);
          Status status =
              writer.write(line.hasFailed ? nullptr : &labels, line.notice);
          if (!status.ok())
            return status;
        }
        return writer.flush();
      });
}
