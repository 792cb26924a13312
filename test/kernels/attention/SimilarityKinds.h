//===- SimilarityKinds.h - Similarity regions and formulas ------*- C++ -*-===//

#ifndef HEDDLE_TEST_KERNELS_ATTENTION_SIMILARITYKINDS_H
#define HEDDLE_TEST_KERNELS_ATTENTION_SIMILARITYKINDS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::test {

/// A similarity of queries and keys as IR and as its definition.
struct SimilarityKind {
  std::string name;
  int64_t queryWidth, keyWidth, valueWidth;
  /// %s of %q : QVECTOR and %k : KVECTOR, with %table : TENSOR; %zero_f is 0.
  std::string region;
  /// Sizes of the table.
  std::vector<int64_t> table;
  std::function<double(const std::vector<double> &q,
                       const std::vector<double> &k,
                       const std::vector<double> &table)>
      score;
  /// Softmax where there is none; its weight of a score.
  std::string normalizer = "";
  std::function<double(double)> weight = {};
};

/// Scores of the literature, and regions that move elements in every way.
const std::vector<SimilarityKind> &similarityKinds();

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_ATTENTION_SIMILARITYKINDS_H
