//===- Ensemble.h - Several models that decode as one -----------*- C++ -*-===//
//
// An ensemble is a first model and others with the same target vocabulary. Each
// reads a source by its own tokenizer, and all are fed the same target. What a
// search sees of a step is one row of log-probabilities: the weighted mean of
// those of the members, or the logarithm of the mean of their probabilities.
// Members are added in their order, element by element: bits depend on neither
// threads nor batches.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_ENSEMBLE_H
#define HEDDLE_RUNTIME_SEARCH_ENSEMBLE_H

#include "runtime/Result.h"

#include <cstdint>
#include <vector>

namespace heddle {

class Model;

/// What the mean is taken of.
enum class EnsembleMean { LogProbabilities, Probabilities };

/// What a session decodes with beside its own model, the first member. Borrows
/// models, and is borrowed by sessions: one with others stays where it is.
struct Ensemble {
  std::vector<const Model *> others = {};
  /// What the decoder of each of these is fed first.
  std::vector<int32_t> starts = {};
  /// One for each member; their sum is 1.
  std::vector<float> weights = {};
  EnsembleMean mean = EnsembleMean::LogProbabilities;

  /// Equal weights without any.
  void setWeights(const std::vector<double> &wanted);
};

/// Whether a model may be a member beside the first one: both translate, on the
/// CPU, and have the same target vocabulary, which is compared token by token
/// if both have a tokenizer. The error names both files.
Status checkMember(const Model &first, const Model &other);

/// Mixes the logits of a member into a row of the ensemble's log-probabilities,
/// which may be the same memory if it `begins` the row.
void mixMember(const float *logits, int64_t count, float weight,
               EnsembleMean mean, bool begins, float *mixed);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_ENSEMBLE_H
