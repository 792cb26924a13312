// Linear attention against sums over pairs of positions, in all forms; and rows
// whose bits may depend on nothing but their own sentence up to the last key.

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
/// A feature map as IR, and as its definition.
struct Features {
  std::string name, text;
  std::function<std::vector<double>(std::vector<double>)> map;
};

struct Heads {
  int64_t count, kvCount, keyWidth, valueWidth;
};

struct Case {
  Features features;
  Heads heads;

  std::string name() const {
    return features.name + "_" + std::to_string(heads.count) + "_" +
           std::to_string(heads.keyWidth) + "_" +
           std::to_string(heads.valueWidth);
  }
};

struct Sizes {
  int64_t batch, queries, keys;
};
} // namespace

static std::function<std::vector<double>(std::vector<double>)>
elementwise(double (*function)(double)) {
  return [=](std::vector<double> x) {
    std::transform(x.begin(), x.end(), x.begin(), function);
    return x;
  };
}

static const Features kElu = {"elu", "", elementwise([](double x) {
                                return x > 0 ? x + 1 : std::exp(x);
                              })};
static const Features kRelu = {
    "relu", "features relu",
    elementwise([](double x) { return std::max(x, 0.0); })};
static const Features kTaylor = {
    "taylor", "features taylor", [](std::vector<double> x) {
      double squares = 0;
      for (double each : x)
        squares += each * each;
      for (double &each : x)
        each *= squares ? 1 / std::sqrt(squares) : 0;
      x.push_back(1);
      return x;
    }};
/// 1 / (1 + x^2): what is behind the width of a head would be 1.
static const Features kRegion = {
    "region", R"(features {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %square = arith.mulf %x, %x : f32
      %sum = arith.addf %square, %one : f32
      %f = arith.divf %one, %sum : f32
      transformer.yield %f : f32
    })",
    elementwise([](double x) { return 1 / (1 + x * x); })};

static std::vector<Case> cases() {
  std::vector<Case> result;
  for (const Features &features : {kElu, kRelu, kTaylor, kRegion})
    for (const Heads &heads : {Heads{2, 2, 32, 32}, Heads{4, 2, 24, 40}})
      result.push_back({features, heads});
  // Widths of less than a vector, of blocks, and of no whole vector.
  for (const Heads &heads :
       {Heads{2, 1, 7, 9}, Heads{3, 1, 64, 64}, Heads{1, 1, 130, 128}})
    for (const Features &features : {kElu, kTaylor})
      result.push_back({features, heads});
  result.push_back({kElu, {1, 1, 1, 33}});
  // Of reference loops.
  result.push_back({kElu, {1, 1, 264, 8}});
  return result;
}

static std::string moduleOf(const Case &each, const std::string &text,
                            const std::string &element) {
  auto number = [](int64_t value) { return std::to_string(value); };
  const Heads &heads = each.heads;
  bool isTaylor = each.features.name == "taylor";
  return fill(text, {{"NAME", each.name()},
                     {"MAP", each.features.text},
                     {"KVHEADS", number(heads.kvCount)},
                     {"HEADS", number(heads.count)},
                     {"FEATURES", number(heads.keyWidth + isTaylor)},
                     {"HEADWIDTH", number(heads.valueWidth)},
                     {"QWIDTH", number(heads.count * heads.keyWidth)},
                     {"KWIDTH", number(heads.kvCount * heads.keyWidth)},
                     {"VWIDTH", number(heads.kvCount * heads.valueWidth)},
                     {"YWIDTH", number(heads.count * heads.valueWidth)},
                     {"ELEMENT", element}});
}

static const char *const kFullForm = R"(
func.func @full_NAME(
    %q: tensor<?x?xQWIDTHxELEMENT> {transformer.name = "q",
                                transformer.dims = ["batch", "target"]},
    %k: tensor<?x?xKWIDTHxELEMENT> {transformer.name = "k",
                                transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVWIDTHxELEMENT> {transformer.name = "v",
                                transformer.dims = ["batch", "source"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]})
    -> (tensor<?x?xYWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.linear_attention %q, %k, %v lengths(%lengths)
    {heads = HEADS : i64, kv_heads = KVHEADS : i64} MAP
    : (tensor<?x?xQWIDTHxELEMENT>, tensor<?x?xKWIDTHxELEMENT>,
       tensor<?x?xVWIDTHxELEMENT>, tensor<?xi32>) -> tensor<?x?xYWIDTHxf32>
  return %y : tensor<?x?xYWIDTHxf32>
}
)";

static const char *const kCausalForm = R"(
func.func @causal_NAME(
    %q: tensor<?x?xQWIDTHxELEMENT> {transformer.name = "q",
                                transformer.dims = ["batch", "source"]},
    %k: tensor<?x?xKWIDTHxELEMENT> {transformer.name = "k",
                                transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVWIDTHxELEMENT> {transformer.name = "v",
                                transformer.dims = ["batch", "source"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]})
    -> (tensor<?x?xYWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.linear_attention %q, %k, %v lengths(%lengths) causal
    {heads = HEADS : i64, kv_heads = KVHEADS : i64} MAP
    : (tensor<?x?xQWIDTHxELEMENT>, tensor<?x?xKWIDTHxELEMENT>,
       tensor<?x?xVWIDTHxELEMENT>, tensor<?xi32>) -> tensor<?x?xYWIDTHxf32>
  return %y : tensor<?x?xYWIDTHxf32>
}
)";

static const char *const kStepForm = R"(
func.func @step_NAME(
    %q: tensor<?xQWIDTHxELEMENT> {transformer.name = "q",
                              transformer.dims = ["rows"]},
    %k: tensor<?xKWIDTHxELEMENT> {transformer.name = "k",
                              transformer.dims = ["rows"]},
    %v: tensor<?xVWIDTHxELEMENT> {transformer.name = "v",
                              transformer.dims = ["rows"]},
    %s: tensor<?xKVHEADSxFEATURESxHEADWIDTHxf32> {transformer.name = "s",
      transformer.state, transformer.dims = ["rows"]},
    %z: tensor<?xKVHEADSxFEATURESxf32> {transformer.name = "z",
      transformer.state, transformer.dims = ["rows"]})
    -> (tensor<?xYWIDTHxf32> {transformer.name = "y"},
        tensor<?xKVHEADSxFEATURESxHEADWIDTHxf32>,
        tensor<?xKVHEADSxFEATURESxf32>) {
  %zero = arith.constant 0 : index
  %rows = tensor.dim %q, %zero : tensor<?xQWIDTHxELEMENT>
  %empty = tensor.empty(%rows) : tensor<?xYWIDTHxf32>
  %y:3 = transformer.linear_attention step %q, %k, %v into %empty, %s, %z
    {heads = HEADS : i64, kv_heads = KVHEADS : i64} MAP
    : (tensor<?xQWIDTHxELEMENT>, tensor<?xKWIDTHxELEMENT>,
       tensor<?xVWIDTHxELEMENT>, tensor<?xYWIDTHxf32>,
       tensor<?xKVHEADSxFEATURESxHEADWIDTHxf32>,
       tensor<?xKVHEADSxFEATURESxf32>)
      -> (tensor<?xYWIDTHxf32>, tensor<?xKVHEADSxFEATURESxHEADWIDTHxf32>,
          tensor<?xKVHEADSxFEATURESxf32>)
  return %y#0, %y#1, %y#2
    : tensor<?xYWIDTHxf32>, tensor<?xKVHEADSxFEATURESxHEADWIDTHxf32>,
      tensor<?xKVHEADSxFEATURESxf32>
}
)";

/// Queries of a step that read the sums of a memory.
static const char *const kMemoryForm = R"(
func.func @memory_NAME(
    %q: tensor<?xQWIDTHxELEMENT> {transformer.name = "q",
                              transformer.dims = ["rows"]},
    %k: tensor<?x?xKWIDTHxELEMENT> {transformer.name = "k",
                                transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVWIDTHxELEMENT> {transformer.name = "v",
                                transformer.dims = ["batch", "source"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?xYWIDTHxf32> {transformer.name = "y"}) {
  %s, %z = transformer.linear_attention.sums %k, %v lengths(%lengths)
    {heads = KVHEADS : i64} MAP
    : (tensor<?x?xKWIDTHxELEMENT>, tensor<?x?xVWIDTHxELEMENT>, tensor<?xi32>)
      -> (tensor<?xKVHEADSxFEATURESxHEADWIDTHxf32>,
          tensor<?xKVHEADSxFEATURESxf32>)
  %y = transformer.linear_attention.read %q, %s, %z of %sentences
    {heads = HEADS : i64} MAP
    : (tensor<?xQWIDTHxELEMENT>, tensor<?xKVHEADSxFEATURESxHEADWIDTHxf32>,
       tensor<?xKVHEADSxFEATURESxf32>, tensor<?xi32>) -> tensor<?xYWIDTHxf32>
  return %y : tensor<?xYWIDTHxf32>
}
)";

namespace {
/// What a call of a full form reads.
struct Inputs {
  std::vector<float> q, k, v;
  std::vector<int32_t> lengths;

  Inputs(const Heads &heads, const Sizes &sizes)
      : q(randomValues(
            sizes.batch * sizes.queries * heads.count * heads.keyWidth, 1, 2)),
        k(randomValues(
            sizes.batch * sizes.keys * heads.kvCount * heads.keyWidth, 2, 2)),
        v(randomValues(
            sizes.batch * sizes.keys * heads.kvCount * heads.valueWidth, 3)) {
    // The first sentence is full, the last has no key.
    for (int64_t b = 0; b < sizes.batch; ++b)
      lengths.push_back(sizes.batch == 1 ? sizes.keys
                                         : sizes.keys * (sizes.batch - 1 - b) /
                                               (sizes.batch - 1));
  }
};

/// The results of a case, from the scores of all pairs.
class Oracle {
public:
  Oracle(const Case &each, const Sizes &sizes, const Inputs &inputs)
      : heads(each.heads), sizes(sizes), inputs(inputs),
        queries(features(each, inputs.q, heads.count)),
        keys(features(each, inputs.k, heads.kvCount)) {}

  /// Appends y of query i of sentence b over its first `count` keys.
  void attend(int64_t b, int64_t i, int64_t count, std::vector<double> &y) {
    int64_t group = heads.count / heads.kvCount;
    for (int64_t h = 0; h < heads.count; ++h) {
      const std::vector<double> &q =
          queries[(b * sizes.queries + i) * heads.count + h];
      std::vector<double> sums(heads.valueWidth);
      double total = 0;
      for (int64_t j = 0; j < count; ++j) {
        int64_t row = (b * sizes.keys + j) * heads.kvCount + h / group;
        double score = 0;
        for (size_t f = 0; f < q.size(); ++f)
          score += q[f] * keys[row][f];
        total += score;
        for (int64_t d = 0; d < heads.valueWidth; ++d)
          sums[d] += score * inputs.v[row * heads.valueWidth + d];
      }
      for (double sum : sums)
        y.push_back(total == 0 ? 0 : sum / total);
    }
  }

private:
  std::vector<std::vector<double>>
  features(const Case &each, const std::vector<float> &rows, int64_t count) {
    std::vector<std::vector<double>> result;
    for (size_t at = 0; at < rows.size(); at += heads.keyWidth)
      result.push_back(each.features.map(
          {rows.begin() + at, rows.begin() + at + heads.keyWidth}));
    return result;
  }

  Heads heads;
  Sizes sizes;
  const Inputs &inputs;
  std::vector<std::vector<double>> queries, keys;
};

class LinearAttentionTest : public LayerTest {
protected:
  /// Means of values in [-1, 1] from sums of up to 300 keys times 130 features,
  /// none below 0 but with `taylor`, whose denominator is its count of keys
  /// beside them: errors of some hundred half units of the last place.
  static constexpr double kTolerance = 2e-5;

  static Inputs inputsOf(const Case &each, const Sizes &sizes) {
    Inputs inputs(each.heads, sizes);
    for (std::vector<float> *values : {&inputs.q, &inputs.k, &inputs.v})
      *values = inType(*values);
    return inputs;
  }

  static void set(EntryCall &call, const Inputs &inputs) {
    setInType(call, "q", inputs.q);
    setInType(call, "k", inputs.k);
    setInType(call, "v", inputs.v);
    call.set("lengths", inputs.lengths);
  }

  static std::vector<float> run(const EntryRunner &code,
                                const std::string &entry, const Sizes &sizes,
                                const Inputs &inputs,
                                ThreadPool *pool = nullptr) {
    EntryCall call = prepare(code, entry,
                             {{Dim::Batch, sizes.batch},
                              {Dim::Target, sizes.queries},
                              {Dim::Source, sizes.keys}});
    set(call, inputs);
    call(pool);
    Status status = call.checkGuards();
    EXPECT_TRUE(status.ok()) << status.message();
    return call.get("y");
  }

  void withCases(
      const char *form,
      const std::function<void(const EntryRunner &, const Case &)> &body) {
    std::string module;
    for (const Case &each : cases())
      module += moduleOf(each, form, elementType());
    withCode(module, {}, [&](const EntryRunner &code) {
      for (const Case &each : cases()) {
        SCOPED_TRACE(each.name());
        body(code, each);
      }
    });
  }
};
} // namespace

HEDDLE_FOR_EVERY_CODE_AND_TYPE(LinearAttentionTest);

TEST_P(LinearAttentionTest, FullForm) {
  withCases(kFullForm, [](const EntryRunner &code, const Case &each) {
    for (const Sizes &sizes : {Sizes{1, 1, 1}, Sizes{2, 7, 7}, Sizes{3, 33, 33},
                               Sizes{1, 40, 300}, Sizes{2, 65, 17}}) {
      SCOPED_TRACE(std::to_string(sizes.queries) + " x " +
                   std::to_string(sizes.keys));
      Inputs inputs = inputsOf(each, sizes);
      Oracle oracle(each, sizes, inputs);
      std::vector<double> expected;
      for (int64_t b = 0; b < sizes.batch; ++b)
        for (int64_t i = 0; i < sizes.queries; ++i)
          oracle.attend(b, i, inputs.lengths[b], expected);
      expectNear(run(code, "full_" + each.name(), sizes, inputs), expected,
                 kTolerance);
    }
  });
}

TEST_P(LinearAttentionTest, Causal) {
  withCases(kCausalForm, [](const EntryRunner &code, const Case &each) {
    for (int64_t length : {1, 7, 33, 64, 65, 200}) {
      SCOPED_TRACE(length);
      Sizes sizes = {length % 2 ? 3 : 1, length, length};
      Inputs inputs = inputsOf(each, sizes);
      Oracle oracle(each, sizes, inputs);
      std::vector<double> expected;
      for (int64_t b = 0; b < sizes.batch; ++b)
        for (int64_t i = 0; i < length; ++i)
          oracle.attend(b, i, std::min<int64_t>(i + 1, inputs.lengths[b]),
                        expected);
      expectNear(run(code, "causal_" + each.name(), sizes, inputs), expected,
                 kTolerance);
    }
  });
}

TEST_P(LinearAttentionTest, StepsCarrySums) {
  withCases(kStepForm, [](const EntryRunner &code, const Case &each) {
    Sizes sizes = {3, 70, 70};
    Inputs inputs = inputsOf(each, sizes);
    Oracle oracle(each, sizes, inputs);
    EntryCall step =
        prepare(code, "step_" + each.name(), {{Dim::Rows, sizes.batch}});
    auto setRows = [&](const char *name, const std::vector<float> &all,
                       int64_t at) {
      int64_t width = all.size() / (sizes.batch * sizes.keys);
      std::vector<float> rows;
      for (int64_t b = 0; b < sizes.batch; ++b) {
        auto begin = all.begin() + (b * sizes.keys + at) * width;
        rows.insert(rows.end(), begin, begin + width);
      }
      setInType(step, name, rows);
    };
    for (int64_t at = 0; at < sizes.keys; ++at) {
      setRows("q", inputs.q, at);
      setRows("k", inputs.k, at);
      setRows("v", inputs.v, at);
      step();
      std::vector<double> expected;
      for (int64_t b = 0; b < sizes.batch; ++b)
        oracle.attend(b, at, at + 1, expected);
      SCOPED_TRACE(at);
      expectNear(step.get("y"), expected, kTolerance);
    }
    EXPECT_TRUE(step.checkGuards().ok());
  });
}

TEST_P(LinearAttentionTest, RowsReadTheSumsOfTheirSentence) {
  withCases(kMemoryForm, [](const EntryRunner &code, const Case &each) {
    constexpr int64_t kRows = 5;
    Sizes sizes = {3, kRows, 40};
    Inputs inputs = inputsOf(each, sizes);
    Oracle oracle(each, sizes, inputs);
    std::vector<int32_t> sentences = {1, 0, 0, 2, 1};
    // Each row has the query of its number in its sentence.
    std::vector<double> expected;
    std::vector<float> queries;
    int64_t width = each.heads.count * each.heads.keyWidth;
    for (int64_t row = 0; row < kRows; ++row) {
      int64_t b = sentences[row];
      oracle.attend(b, row, inputs.lengths[b], expected);
      auto begin = inputs.q.begin() + (b * kRows + row) * width;
      queries.insert(queries.end(), begin, begin + width);
    }
    inputs.q = queries;
    EntryCall call = prepare(code, "memory_" + each.name(),
                             {{Dim::Rows, kRows},
                              {Dim::Batch, sizes.batch},
                              {Dim::Source, sizes.keys}});
    set(call, inputs);
    call.set("sentences", sentences);
    call();
    EXPECT_TRUE(call.checkGuards().ok());
    expectNear(call.get("y"), expected, kTolerance);
  });
}

/// The rows of sentence b that it has keys for.
static std::vector<float> rowsOf(const std::vector<float> &all, int64_t b,
                                 const Sizes &sizes, int64_t length) {
  int64_t width = all.size() / (sizes.batch * sizes.queries);
  auto begin = all.begin() + b * sizes.queries * width;
  return {begin, begin + length * width};
}

TEST_P(LinearAttentionTest, SentencesKeepTheirBits) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const char *form : {kFullForm, kCausalForm})
    withCases(form, [&](const EntryRunner &code, const Case &each) {
      std::string entry = (form == kFullForm ? "full_" : "causal_");
      entry += each.name();
      Sizes sizes = {4, 150, 150};
      Inputs inputs = inputsOf(each, sizes);
      // What is behind a length is no number.
      auto spoil = [&](std::vector<float> &values) {
        int64_t width = values.size() / (sizes.batch * sizes.keys);
        for (int64_t b = 0; b < sizes.batch; ++b)
          for (int64_t j = inputs.lengths[b]; j < sizes.keys; ++j)
            std::fill_n(&values[(b * sizes.keys + j) * width], width, kNaN);
      };
      for (std::vector<float> *values : {&inputs.q, &inputs.k, &inputs.v})
        spoil(*values);
      Result<std::unique_ptr<ThreadPool>> pool = ThreadPool::create(3);
      ASSERT_TRUE(pool.ok()) << pool.message();
      std::vector<float> together =
          run(code, entry, sizes, inputs, pool->get());
      for (int64_t b = 0; b < sizes.batch; ++b) {
        int64_t length = inputs.lengths[b];
        if (length == 0)
          continue;
        Sizes alone = {1, length, length};
        Inputs own(each.heads, alone);
        own.q = rowsOf(inputs.q, b, sizes, length);
        own.k = rowsOf(inputs.k, b, sizes, length);
        own.v = rowsOf(inputs.v, b, sizes, length);
        std::vector<float> expected = run(code, entry, alone, own);
        EXPECT_EQ(rowsOf(together, b, sizes, length), expected)
            << "sentence " << b;
      }
    });
}

TEST_P(LinearAttentionTest, CausalRowsDoNotSeeWhatFollows) {
  withCases(kCausalForm, [](const EntryRunner &code, const Case &each) {
    Sizes sizes = {1, 100, 100};
    Inputs inputs = inputsOf(each, sizes);
    std::string entry = "causal_" + each.name();
    std::vector<float> before = run(code, entry, sizes, inputs);
    constexpr int64_t kFirst = 42;
    for (std::vector<float> *values : {&inputs.q, &inputs.k, &inputs.v}) {
      int64_t width = values->size() / sizes.keys;
      std::fill(values->begin() + kFirst * width, values->end(),
                std::numeric_limits<float>::quiet_NaN());
    }
    std::vector<float> after = run(code, entry, sizes, inputs);
    EXPECT_EQ(rowsOf(before, 0, sizes, kFirst),
              rowsOf(after, 0, sizes, kFirst));
  });
}
