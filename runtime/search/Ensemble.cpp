//===- Ensemble.cpp - Several models that decode as one -------------------===//
//
// The mean of probabilities is added in logarithms, from the larger of two
// terms on: log(a + b) = log a + log1p(b / a). So nothing underflows.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Ensemble.h"

#include "runtime/search/TokenScores.h"
#include "runtime/session/Model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace heddle;

void Ensemble::setWeights(const std::vector<double> &wanted) {
  std::vector<double> all = wanted;
  if (all.empty())
    all.assign(others.size() + 1, 1);
  double sum = std::accumulate(all.begin(), all.end(), 0.0);
  weights.clear();
  for (double weight : all)
    weights.push_back(float(weight / sum));
}

/// Whether a model translates, so that it may be a member of anything.
static Status checkTranslates(const Model &model) {
  const Manifest &manifest = model.manifest();
  const std::string &file = model.artifact().path();
  if (!manifest.generates || manifest.promptsTarget)
    return Status::error("an ensemble is of models that translate, but '", file,
                         "' ", manifest.describeTasks());
  if (!manifest.generation.start)
    return Status::error("'", file, "' has no start token to generate from");
  return model.isOnGpu()
             ? Status::error("an ensemble runs on the CPU, but '", file,
                             "' is loaded for a GPU: expected the device cpu")
             : Status::success();
}

Status heddle::checkMember(const Model &first, const Model &other) {
  for (const Model *model : {&first, &other})
    if (Status status = checkTranslates(*model); !status.ok())
      return status;
  const std::string &file = other.artifact().path(),
                    &firstFile = first.artifact().path();
  int32_t count = other.manifest().targetVocabulary,
          firstCount = first.manifest().targetVocabulary;
  if (count != firstCount)
    return Status::error("the members of an ensemble have one target "
                         "vocabulary, but '",
                         file, "' has ", count, " tokens and '", firstFile,
                         "' has ", firstCount);
  if (!first.tokenizer() || !other.tokenizer())
    return Status::success();
  // Twice: one that begins a word and one that does not are two tokens.
  for (int32_t id = 0; id < count; ++id)
    if (std::string text = other.tokenizer()->decode({id, id}),
        firstText = first.tokenizer()->decode({id, id});
        text != firstText)
      return Status::error("the members of an ensemble have one target "
                           "vocabulary, but the token ",
                           id, ", twice, is '", text, "' in '", file, "' and '",
                           firstText, "' in '", firstFile, "'");
  return Status::success();
}

/// log(e^a + e^b).
static float logOfSum(float a, float b) {
  float large = std::max(a, b), small = std::min(a, b);
  return small == -INFINITY ? large
                            : large + std::log1p(std::exp(small - large));
}

void heddle::mixMember(const float *logits, int64_t count, float weight,
                       EnsembleMean mean, bool begins, float *mixed) {
  float sum = logSumExp(logits, count);
  if (mean == EnsembleMean::LogProbabilities) {
    for (int64_t i = 0; i < count; ++i) {
      float own = weight * (logits[i] - sum);
      mixed[i] = begins ? own : mixed[i] + own;
    }
    return;
  }
  float shift = std::log(weight) - sum;
  for (int64_t i = 0; i < count; ++i) {
    float own = logits[i] + shift;
    mixed[i] = begins ? own : logOfSum(mixed[i], own);
  }
}
