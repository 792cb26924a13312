//===- LayerTest.h - What tests of kernels share ----------------*- C++ -*-===//
//
// Each test runs once for every ISA level, and once for the reference lowering;
// it is skipped where the machine lacks the level. Results are compared with
// formulas in double that stand in the tests.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_LAYERTEST_H
#define HEDDLE_TEST_KERNELS_LAYERTEST_H

#include "test/kernels/EntryRunner.h"
#include "gtest/gtest.h"

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace heddle::test {

/// Arguments by name.
using Values = std::map<std::string, std::vector<float>>;
using Ids = std::map<std::string, std::vector<int32_t>>;

class LayerTest : public testing::TestWithParam<CodeChoice> {
protected:
  void SetUp() override;

  /// Compiles a module's body for the test's level, once for all tests that
  /// have the same, and calls `body` with it.
  void withCode(const std::string &module, const Weights &weights,
                const std::function<void(const EntryRunner &)> &body);

  /// A call of an entry, which has to exist.
  static EntryCall prepare(const EntryRunner &code, const std::string &entry,
                           const std::vector<std::pair<Dim, int64_t>> &dims);

  /// Whether cases that are like others, but larger, are left to --all: on a
  /// GPU, since its emulator is slow.
  static bool takesSample();

  /// Whether the test runs in bf16 or f16; see HEDDLE_FOR_EVERY_CODE_AND_TYPE
  /// and everyCodeInAnyType.
  static bool isOfBf16();
  static bool isOfF16();
  /// The element type that the test's module has in its place.
  static std::string elementType();
  /// The values that the element type has for these.
  static std::vector<float> inType(std::vector<float> values);
  /// Sets an argument of that type.
  static void setInType(EntryCall &call, const std::string &name,
                        const std::vector<float> &values);

  /// The output "y" of one run over `rows` rows; expects intact guards. Inputs
  /// hold one run of values a row, of which the call takes rows
  /// [first, first + rows).
  static std::vector<float> runRows(const EntryRunner &code,
                                    const std::string &entry, int64_t first,
                                    int64_t rows, const Values &values,
                                    const Ids &ids = {});

  /// Runs all `rows` at once and, expecting the same bits, in smaller batches;
  /// returns the output.
  static std::vector<float> runInBatches(const EntryRunner &code,
                                         const std::string &entry, int64_t rows,
                                         const Values &values,
                                         const Ids &ids = {});
};

/// Whether `tools/check --all` runs the tests: all cells of a matrix of which
/// they take a sample otherwise.
bool runsEveryCell();

/// Whether `tools/check --quick` runs them: one cell of each.
bool runsOneCell();

/// The instances of a suite: tests end in "/reference", "/v3", "/v4" and
/// "/gpu", which an emulator runs, those of `everyCodeOfShortTypes` in the
/// names of more levels, too, and in "_tiles" where loops stand in for tiles.
/// An emulated sm_90a, in "/hopper", is for what it has other code for.
#define HEDDLE_FOR_EVERY_CODE(SUITE)                                           \
  INSTANTIATE_TEST_SUITE_P(, SUITE, testing::ValuesIn(everyCode()),            \
                           testing::PrintToStringParamName())
std::vector<CodeChoice> everyCode();
std::vector<CodeChoice> everyCodeOfShortTypes();
std::vector<CodeChoice> everyCodeOfInt8();
std::vector<CodeChoice> andHopper(std::vector<CodeChoice> codes);
/// That one in bf16, which attention by warpgroups is for.
std::vector<CodeChoice> hopperOfBf16();
/// And those of a suite whose tests run in bf16, too: in "_of_bf16" behind
/// that, a sample of the levels.
#define HEDDLE_FOR_EVERY_CODE_AND_TYPE(SUITE)                                  \
  INSTANTIATE_TEST_SUITE_P(, SUITE, testing::ValuesIn(everyCodeAndType()),     \
                           testing::PrintToStringParamName())
std::vector<CodeChoice> everyCodeAndType();
/// And those of one whose tests run in f16, too, on all of these: of the others
/// a sample.
std::vector<CodeChoice> everyCodeInAnyType();
void PrintTo(const CodeChoice &choice, std::ostream *stream);

/// `text` with each key of `words`, in capitals by custom, replaced.
std::string fill(std::string text,
                 const std::vector<std::pair<std::string, std::string>> &words);

/// Numbers in [-scale, scale), the same for a seed.
std::vector<float> randomValues(int64_t count, unsigned seed,
                                float scale = 1.0f);

/// Expects |found - expected| <= tolerance * (1 + |expected|) everywhere, and
/// NaN or infinity exactly where they are expected.
void expectNear(const std::vector<float> &found,
                const std::vector<double> &expected, double tolerance);

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_LAYERTEST_H
