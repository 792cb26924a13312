//===- RangedLogitsCases.h - Modules of logits in ranges --------*- C++ -*-===//
//
// What tests of largest_logits and best_logits share: vocabularies, and modules
// with logits beside what is kept of them, of x as it is and of the types that
// it is rounded and quantised to.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_LINEAR_RANGEDLOGITSCASES_H
#define HEDDLE_TEST_KERNELS_LINEAR_RANGEDLOGITSCASES_H

#include "test/kernels/LayerTest.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::test {

/// What of a vocabulary a test has.
struct RangedCase {
  int64_t depth, vocabulary, range;

  std::string name() const;
  int64_t ranges() const { return (vocabulary + range - 1) / range; }
  /// Whether a sample on a GPU has a call of as many rows: one of each shape of
  /// blocks, and of a large vocabulary, which the emulator takes seconds for,
  /// of few rows and of more than a block.
  bool isSampled(int64_t rows) const {
    return rows == 3 || rows == 97 || (rows == 21 && vocabulary < 1000);
  }
};

/// A vocabulary below a panel, ranges of one, and ranges of several chunks, of
/// which the last panel is cut.
inline const RangedCase kRangedCases[] = {
    {12, 5, 32}, {36, 100, 32}, {256, 1700, 1152}};

/// The types of products; --quick takes one.
std::vector<const char *> productTypes();

/// A function, and its parameters, that returns all logits of x [rows, DEPTH]
/// as "logits", %y [rows, VOCABULARY], and what `op` makes of them without
/// %forbidden [rows, any number].
struct RangedModule {
  /// Arguments behind x and forbidden, and types and names behind "logits".
  std::string arguments, results;
  /// "%v, %i = transformer.largest_logits", what follows its operands, the
  /// types of more operands and of its results, and what is returned.
  std::string op, rest, operandTypes, resultTypes, returned;
};

/// The module for a case and a type, whose entry is TYPE_NAME. In its texts
/// DEPTH, VOCABULARY, RANGE and RANGES are replaced.
std::string fillRanged(const RangedModule &module, const RangedCase &sizes,
                       const std::string &type);

/// The module of all cases, and their parameters.
std::string fillAllRanged(const RangedModule &module, const std::string &type,
                          Weights &weights);

/// The parameters of a case; `bias` where it is not empty.
void addWeights(const RangedCase &sizes, Weights &weights,
                const std::vector<float> &bias = {});

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_LINEAR_RANGEDLOGITSCASES_H
