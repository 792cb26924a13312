//===- ShortTypeTest.h - Tests that bf16 and f16 share ----------*- C++ -*-===//
//
// A ShortType says how modules spell bf16 or f16, how tests round to it, and
// which shapes they take. A test that both types have is one member function of
// ShortTypeTest, which a test of Bf16Test and one of F16Test call. Each of
// these suites runs on the levels that have code for its type.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_LINEAR_SHORTTYPETEST_H
#define HEDDLE_TEST_KERNELS_LINEAR_SHORTTYPETEST_H

#include "test/kernels/linear/LinearCases.h"

#include <utility>

namespace heddle::test {

/// What tests know of a float of 16 bits.
struct ShortType {
  /// In modules: the type, and the kind of parameters that are rounded to it.
  const char *name, *rounded;
  /// The bits of the nearest value, and the value of such bits.
  uint16_t (*bitsOf)(float);
  float (*valueOf)(uint16_t);
  /// Whether all levels round a NaN to the same bits, those of bitsOf.
  bool hasOneNaN;
  /// A value that rounds to infinity.
  float infinite;
  /// Depth and columns of linears.
  std::vector<std::pair<int64_t, int64_t>> shapes;

  /// Whether a kernel that rounds `value` may write these bits.
  bool accepts(float value, uint16_t bits) const;
  std::vector<float> round(std::vector<float> values) const;
  /// `text` with TYPE and ROUNDED replaced.
  std::string fillType(const std::string &text) const;
};
const ShortType &bf16();
const ShortType &f16();

/// All sizes of tiles, whole and below.
inline constexpr int64_t kLinearRows = 75;

/// The function "linear_3x8" and its parameters: y = round(x) W + b with an
/// `epilogue`, which may have a residual %r and may round to TYPE.
std::string linearText(const ShortType &type, int64_t depth, int64_t columns,
                       const std::string &epilogue = "");
/// Such a function "NAME_3x8" without the parameters.
std::string linearEntry(const ShortType &type, const std::string &name,
                        int64_t depth, int64_t columns,
                        const std::string &epilogue);

class ShortTypeTest : public LayerTest {
protected:
  explicit ShortTypeTest(const ShortType &type) : type(type) {}

  /// Round ties and their neighbours.
  void expectRounding();
  /// Linears of random numbers, an infinity and a NaN. If `alsoRounded`,
  /// linears that round max(y, 0) are compared with y, too.
  void expectLinears(bool alsoRounded);
  /// Logits of whole numbers, of a table and of rows gathered from it.
  void expectCandidateLogits();

  /// Runs an entry and expects that its "y" is `expected` in the short type.
  void expectRounded(const EntryRunner &code, const std::string &entry,
                     int64_t rows, const Values &values,
                     const std::vector<float> &expected) const;

  const ShortType &type;
};

class Bf16Test : public ShortTypeTest {
protected:
  Bf16Test() : ShortTypeTest(bf16()) {}
};

class F16Test : public ShortTypeTest {
protected:
  F16Test() : ShortTypeTest(f16()) {}
};

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_LINEAR_SHORTTYPETEST_H
