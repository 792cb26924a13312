//===- LayerTest.cpp - What tests of kernels share ------------------------===//
//
// Rows are run together and in batches of a few sizes: a row's bits may depend
// on nothing but the row.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"
#include "test/kernels/Bf16Numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <sstream>
#include <string_view>

using namespace heddle;
using namespace heddle::test;

HEDDLE_FOR_EVERY_CODE(LayerTest);

static bool isOnGpu(const CodeChoice &choice) {
  return choice.target.find("+emulated") != std::string::npos;
}

std::vector<CodeChoice> test::everyCode() {
  return {{"x86-64-v3", /*reference=*/true, ""},
          {"x86-64-v3", /*reference=*/false, ""},
          {"x86-64-v4", /*reference=*/false, ""},
          {std::string("x86-64-v3") + kEmulatedGpu, /*reference=*/false, ""}};
}

std::vector<CodeChoice> test::everyCodeOfShortTypes() {
  std::vector<CodeChoice> codes = everyCode();
  for (const char *target :
       {"avx512-bf16", "amx", "x86-64-v3+tiles", "avx512-bf16+tiles"})
    codes.push_back({target, /*reference=*/false, ""});
  return codes;
}

std::vector<CodeChoice> test::andHopper(std::vector<CodeChoice> codes) {
  codes.push_back({std::string("x86-64-v3") + kEmulatedHopper,
                   /*reference=*/false, ""});
  return codes;
}

std::vector<CodeChoice> test::everyCodeOfInt8() {
  std::vector<CodeChoice> codes = everyCodeOfShortTypes();
  for (const char *target : {"avx-vnni", "avx512-vnni"})
    codes.push_back({target, /*reference=*/false, ""});
  return codes;
}

/// "all", "sample" or "quick", of which the second is the default.
static std::string_view cellsToRun() {
  const char *cells = std::getenv("HEDDLE_CELLS");
  return cells ? cells : "sample";
}

bool test::runsEveryCell() { return cellsToRun() == "all"; }
bool test::runsOneCell() { return cellsToRun() == "quick"; }

static const char *const kInBf16 = "--dtype bf16";
static const char *const kInF16 = "--dtype f16";

std::vector<CodeChoice> test::hopperOfBf16() {
  return {{std::string("x86-64-v3") + kEmulatedHopper, /*reference=*/false,
           kInBf16}};
}

std::vector<CodeChoice> test::everyCodeAndType() {
  std::vector<CodeChoice> codes = everyCode(), inBf16 = everyCode();
  inBf16 = andHopper(std::move(inBf16));
  for (const char *target : {"avx512-bf16", "amx", "avx512-bf16+tiles"})
    inBf16.push_back({target, /*reference=*/false, ""});
  for (CodeChoice code : inBf16) {
    // It emulates bf16 as v3 does, in vectors of what has them; and the gallery
    // has attention in bf16 on a GPU.
    if ((code.target == "x86-64-v4" || isOnGpu(code)) && !runsEveryCell())
      continue;
    code.flags = kInBf16;
    codes.push_back(code);
  }
  return codes;
}

std::vector<CodeChoice> test::everyCodeInAnyType() {
  std::vector<CodeChoice> codes;
  for (const CodeChoice &code : everyCodeAndType())
    if (runsEveryCell() || !(code.reference || isOnGpu(code)))
      codes.push_back(code);
  for (CodeChoice code : andHopper(everyCode())) {
    code.flags = kInF16;
    codes.push_back(code);
  }
  return codes;
}

/// "int8w_bf16" of "--dtype int8w --activation-dtype bf16": the last word of
/// each value, or of a flag that has none.
static std::string shortNameOf(const std::string &flags) {
  std::string name, flag, word;
  for (std::istringstream words(flags); words >> word;) {
    std::string last = word.substr(word.rfind('-') + 1);
    if (word[0] == '-')
      flag = last;
    else
      name += (name.empty() ? "" : "_") + last;
  }
  return name.empty() ? flag : name;
}

void test::PrintTo(const CodeChoice &choice, std::ostream *stream) {
  std::string name = choice.target == "avx512-vnni"
                         ? choice.target
                         : choice.target.substr(choice.target.rfind('-') + 1);
  std::replace(name.begin(), name.end(), '-', '_');
  std::replace(name.begin(), name.end(), '+', '_');
  bool isHopper = choice.target.find(kEmulatedHopper) != std::string::npos;
  *stream << (choice.reference  ? "reference"
              : isHopper        ? "hopper"
              : isOnGpu(choice) ? "gpu"
                                : name);
  if (!choice.flags.empty())
    *stream << "_of_" << shortNameOf(choice.flags);
}

bool LayerTest::takesSample() {
  return isOnGpu(GetParam()) && !runsEveryCell();
}

/// Levels whose code comes from the same emitters, for other widths or with
/// loops in place of instructions.
static constexpr std::pair<std::string_view, std::string_view> kTwins[] = {
    {"x86-64-v3", "x86-64-v4"}, {"avx512-bf16", "avx512-bf16+tiles"}};

/// Tests that take the first of two twins; all others take the second.
static constexpr std::string_view kTakeFirst[] = {
    "AttentionBf16Test.RoundsWeightsAndResults",
    "AttentionTest.FullForm",
    "AttentionTest.PaddingChangesNoBits",
    "AttentionTest.RowsKeepTheirBitsBesideHostileOnes",
    "BestLogitsTest.AgreesWithLogits",
    "Bf16Test.CandidateLogits",
    "Bf16Test.GeluOfWhatIsRounded",
    "Bf16Test.JoinedLinears",
    "Bf16Test.LinearsRoundWhatTheyWrite",
    "Bf16Test.ReadsNothingBehindTheLastRow",
    "Bf16Test.RoundsToTheNearest",
    "Bf16Test.SumsOfWholeNumbersAreExact",
    "Bf16Test.Tables",
    "DeepLinearTest.SumsOfWholeNumbersAreExact",
    "F16Test.CandidateLogits",
    "F16Test.RoundsToTheNearest",
    "LargestLogitsTest.AgreesWithLogits",
    "LargestLogitsTest.ThreadsChangeNoBit",
    "LayerTest.AddAndMultiply",
    "LayerTest.CandidateLogits",
    "LayerTest.ChunkLeavesWhatStepsWrite",
    "LayerTest.CopyAndFill",
    "LayerTest.Embedding",
    "LayerTest.Linear",
    "LayerTest.SplitLinear",
    "LinearAttentionTest.Causal",
    "LinearAttentionTest.CausalRowsDoNotSeeWhatFollows",
    "LinearAttentionTest.FullForm",
    "LinearAttentionTest.SentencesKeepTheirBits",
    "PoolTest.VectorsOfLengthOne",
    "QuantizedTest.CandidateLogits",
    "QuantizedTest.FakeVectors",
    "QuantizedTest.LinearWithScalesOfVectors",
    "QuantizedTest.ManyWideRows",
    "QuantizedTest.Tables",
    "RegionOpTest.Conversions",
    "RegionOpTest.Floats",
    "RegionOpTest.Integers",
    "ShortFfnTest.RoundsHiddenVectors",
    "ShortFfnTest.ScalesHiddenVectors",
    "ShortRowsTest.AreThoseOfAnOpOfTheirOwn",
    "SimilarityTest.FullAndStepForms",
    "SparseMaskTest.FullForm",
    "SparseMaskTest.PaddingChangesNoBits",
    "WeightRangeTest.BitsOfQueries",
};

/// Whether a test leaves its level to --all, since it takes the level's twin,
/// which this machine has. In bf16 there is one of the first pair.
static bool isLeftToTwin(const CodeChoice &choice, std::string_view test) {
  if (choice.reference || runsEveryCell())
    return false;
  bool takesFirst = std::find(std::begin(kTakeFirst), std::end(kTakeFirst),
                              test) != std::end(kTakeFirst);
  for (auto [first, second] : kTwins) {
    std::string_view taken = takesFirst ? first : second;
    if (choice.target != first && choice.target != second)
      continue;
    bool isAlone = first == kTwins[0].first && choice.flags == kInBf16;
    return choice.target != taken && !isAlone && machineHas(std::string(taken));
  }
  return false;
}

/// The test that --quick runs by emulated tiles.
static constexpr std::string_view kQuickTiles = "QuantizedTest.ManyWideRows";

/// Whether tools/check --quick takes a level: the best one of this machine
/// without AMX that all tests have, in the types that a test's modules say, and
/// of one test emulated tiles.
static bool isQuick(const CodeChoice &choice, std::string_view test) {
  if (choice.reference || isOnGpu(choice) || !choice.flags.empty())
    return false;
  if (test == kQuickTiles)
    return choice.target == "avx512-bf16+tiles";
  return choice.target == (machineHas("x86-64-v4") ? "x86-64-v4" : "x86-64-v3");
}

/// As "AttentionTest.FullForm", for all its instances.
static std::string testName(const testing::TestInfo &test) {
  std::string name = test.test_suite_name() + std::string(".") + test.name();
  return name.substr(0, name.find('/'));
}

// A test of another name would take the other twin, and --quick no tiles.
TEST(ListedNamesTest, AreThoseOfTests) {
  const testing::UnitTest &program = *testing::UnitTest::GetInstance();
  std::set<std::string> names;
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const testing::TestSuite &suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j)
      names.insert(testName(*suite.GetTestInfo(j)));
  }
  for (std::string_view name : kTakeFirst)
    EXPECT_EQ(names.count(std::string(name)), 1u)
        << "kTakeFirst names '" << name << "', which is no test here";
  EXPECT_EQ(names.count(std::string(kQuickTiles)), 1u)
      << "kQuickTiles names '" << kQuickTiles << "', which is no test here";
}

void LayerTest::SetUp() {
  if (!machineHas(GetParam().target))
    GTEST_SKIP() << "this machine does not run " << GetParam().target;
  std::string name =
      testName(*testing::UnitTest::GetInstance()->current_test_info());
  if (runsOneCell() && !isQuick(GetParam(), name))
    GTEST_SKIP() << "--quick takes one level";
  if (!runsOneCell() && isLeftToTwin(GetParam(), name))
    GTEST_SKIP() << "a sample leaves the level to other tests: --all";
}

/// What an artifact follows from.
static std::string keyOf(const std::string &module, const Weights &weights,
                         const CodeChoice &choice) {
  std::string key = module + '\n' + choice.target +
                    (choice.reference ? " reference " : " ") + choice.flags;
  for (const auto &[name, weight] : weights) {
    key += '\n' + name;
    for (int64_t extent : weight.shape)
      key += ' ' + std::to_string(extent);
    std::string_view bytes(reinterpret_cast<const char *>(weight.values.data()),
                           weight.values.size() * sizeof(float));
    key += ' ' + std::to_string(std::hash<std::string_view>()(bytes));
  }
  return key;
}

void LayerTest::withCode(const std::string &module, const Weights &weights,
                         const std::function<void(const EntryRunner &)> &body) {
  // Tests take nearly all of their time to compile.
  // Never destroyed: a driver, which is loaded later, ends before.
  static auto &compiled = *new std::map<std::string, EntryRunner>;
  std::string key = keyOf(module, weights, GetParam());
  auto known = compiled.find(key);
  if (known == compiled.end()) {
    Result<EntryRunner> code =
        EntryRunner::compile(module, weights, GetParam());
    ASSERT_TRUE(code.ok()) << code.message();
    known = compiled.emplace(std::move(key), std::move(*code)).first;
  }
  body(known->second);
}

EntryCall LayerTest::prepare(const EntryRunner &code, const std::string &entry,
                             const std::vector<std::pair<Dim, int64_t>> &dims) {
  Result<EntryCall> call = code.prepare(entry, dims);
  EXPECT_TRUE(call.ok()) << call.message();
  return std::move(*call);
}

bool LayerTest::isOfBf16() { return GetParam().flags == kInBf16; }
bool LayerTest::isOfF16() { return GetParam().flags == kInF16; }

std::string LayerTest::elementType() {
  return isOfBf16() ? "bf16" : isOfF16() ? "f16" : "f32";
}

std::vector<float> LayerTest::inType(std::vector<float> values) {
  if (isOfF16())
    for (float &value : values)
      value = static_cast<_Float16>(value);
  return isOfBf16() ? rounded(std::move(values)) : values;
}

void LayerTest::setInType(EntryCall &call, const std::string &name,
                          const std::vector<float> &values) {
  if (!isOfBf16() && !isOfF16())
    return call.set(name, values);
  std::vector<uint16_t> halves;
  for (float value : values) {
    auto half = static_cast<_Float16>(value);
    uint16_t bits;
    std::memcpy(&bits, &half, sizeof bits);
    halves.push_back(isOfF16() ? bits : roundedBits(value));
  }
  call.set(name, halves);
}

std::vector<float> LayerTest::runRows(const EntryRunner &code,
                                      const std::string &entry, int64_t first,
                                      int64_t rows, const Values &values,
                                      const Ids &ids) {
  EntryCall call = prepare(code, entry, {{Dim::Rows, rows}});
  auto set = [&](const std::string &name, const auto &all) {
    int64_t width = call.size(name) / rows;
    auto begin = all.begin() + first * width;
    std::copy(begin, begin + rows * width, [&] {
      using Number = typename std::decay_t<decltype(all)>::value_type;
      return call.data<Number>(name);
    }());
  };
  for (const auto &[name, all] : values)
    set(name, all);
  for (const auto &[name, all] : ids)
    set(name, all);
  call();
  Status status = call.checkGuards();
  EXPECT_TRUE(status.ok()) << status.message();
  return call.get("y");
}

/// All NaNs count as one.
static bool haveSameBits(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

std::vector<float> LayerTest::runInBatches(const EntryRunner &code,
                                           const std::string &entry,
                                           int64_t rows, const Values &values,
                                           const Ids &ids) {
  SCOPED_TRACE(entry);
  std::vector<float> together = runRows(code, entry, 0, rows, values, ids);
  for (int64_t batch : {1, 3, 7, 16, 20})
    for (int64_t first = 0; first + batch <= rows; first += 2 * batch) {
      std::vector<float> some = runRows(code, entry, first, batch, values, ids);
      int64_t width = some.size() / batch;
      EXPECT_TRUE(std::equal(some.begin(), some.end(),
                             together.begin() + first * width, haveSameBits))
          << "rows " << first << " to " << first + batch << " of " << rows;
    }
  return together;
}

std::string
test::fill(std::string text,
           const std::vector<std::pair<std::string, std::string>> &words) {
  for (const auto &[key, value] : words)
    for (size_t at = 0; (at = text.find(key, at)) != std::string::npos;
         at += value.size())
      text.replace(at, key.size(), value);
  return text;
}

std::vector<float> test::randomValues(int64_t count, unsigned seed,
                                      float scale) {
  std::mt19937 engine(seed);
  std::vector<float> result(count);
  for (float &value : result)
    value = scale * (static_cast<int32_t>(engine()) * 0x1p-31f);
  return result;
}

void test::expectNear(const std::vector<float> &found,
                      const std::vector<double> &expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(found[i])) << "at " << i << ": " << found[i];
      continue;
    }
    if (std::isinf(expected[i])) {
      ASSERT_EQ(found[i], expected[i]) << "at " << i;
      continue;
    }
    ASSERT_LE(std::abs(found[i] - expected[i]),
              tolerance * (1 + std::abs(expected[i])))
        << "at " << i << ": " << found[i] << ", expected " << expected[i];
  }
}
