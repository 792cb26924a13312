//===- SimilarityTests.cpp - Similarity regions against formulas ----------===//
//
// Scores of the literature, and regions that move elements in every way, in the
// full form, over a memory and over a ring, beside formulas in double.
// Sentences run alone, too: a batch may not change their bits.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"
#include "test/kernels/attention/SimilarityKinds.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::test;

using Vector = std::vector<double>;

static constexpr int64_t kHeads = 4, kKeyHeads = 2;

static std::string product(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text;
}

/// Three entries: the full form, a step over a memory, a step over a ring.
static std::string moduleOf(const SimilarityKind &kind,
                            const std::string &element) {
  const char *attend = R"(
  %table = transformer.weight @table_NAME : TENSOR
  %zero_f = arith.constant 0.0 : f32
  %padding = transformer.mask.padding %lengths : tensor<?xi32>
  %causal = transformer.mask.causal
  %mask = transformer.mask.and %padding, %causal
  %y = transformer.attention %query, %key, %value mask(%mask) FORM
    {heads = 4 : i64, kv_heads = 2 : i64} similarity {
  ^bb0(%q: QVECTOR, %k: KVECTOR): REGION
    transformer.yield %s : f32
  } NORMALIZER : (QUERIES, KEYS, VALUES, !transformer.mask TYPES) -> RESULT
  return %y : RESULT
}
)";
  const char *arguments = R"(
func.func @ENTRY_NAME(
    %query: QUERIES {transformer.name = "q", transformer.dims = [QDIMS]},
    %key: KEYS {transformer.name = "k", transformer.dims = [KDIMS]},
    %value: VALUES {transformer.name = "v", transformer.dims = [KDIMS]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]} MORE)
    -> (RESULT {transformer.name = "y"}) {)";
  const char *more = R"(,
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})";
  auto entry = [&](const std::string &name, const std::string &rows,
                   const std::string &queryDims, const std::string &keyDims,
                   const std::string &form) {
    bool isStep = !form.empty();
    auto tensor = [&](const std::string &dims, int64_t width,
                      const std::string &type) {
      return "tensor<" + dims + std::to_string(width) + "x" + type + ">";
    };
    std::string text = std::string(arguments) + attend;
    std::string queries = tensor(rows, kHeads * kind.queryWidth, element);
    return fill(
        text,
        {{"ENTRY", name},
         {"QUERIES", queries},
         {"KEYS", tensor("?x?x", kKeyHeads * kind.keyWidth, element)},
         {"VALUES", tensor("?x?x", kKeyHeads * kind.valueWidth, element)},
         {"RESULT", tensor(rows, kHeads * kind.valueWidth, "f32")},
         {"QDIMS", queryDims},
         {"KDIMS", keyDims},
         {"MORE", isStep ? more : ""},
         {"FORM", form},
         {"TYPES", isStep ? ", tensor<?xi32>, tensor<?xi32>" : ""},
         {"REGION", kind.region},
         {"NORMALIZER", kind.normalizer},
         {"NAME", kind.name},
         {"QVECTOR", "vector<" + std::to_string(kind.queryWidth) + "xf32>"},
         {"KVECTOR", "vector<" + std::to_string(kind.keyWidth) + "xf32>"},
         {"TENSOR", "tensor<" + product(kind.table) + "f32>"}});
  };
  return fill("transformer.parameter @table_NAME : tensor<SIZESf32>\n",
              {{"NAME", kind.name}, {"SIZES", product(kind.table)}}) +
         entry("full", "?x?x", R"("batch", "target")", R"("batch", "source")",
               "") +
         entry("memory", "?x", R"("rows")", R"("batch", "source")",
               "at %positions of %sentences shared") +
         entry("ring", "?x", R"("rows")", R"("rows", "capacity")",
               "at %positions of %sentences");
}

namespace {
/// Queries, keys and values of some sentences of one length.
struct Inputs {
  int64_t batch, length;
  std::vector<float> q, k, v;
  std::vector<int32_t> lengths;
};

/// A row of the result, and how far a weight's error of one part of its size
/// moves it at most.
struct Row {
  Vector y, perError;
};
} // namespace

static Vector part(const std::vector<float> &values, int64_t row,
                   int64_t width) {
  return {values.begin() + row * width, values.begin() + (row + 1) * width};
}

/// Query i of sentence b over its keys from `first` on.
static Row formula(const SimilarityKind &kind, const Inputs &in,
                   const Vector &table, int64_t b, int64_t i,
                   int64_t first = 0) {
  Row row;
  for (int64_t h = 0; h < kHeads; ++h) {
    Vector q = part(in.q, (b * in.length + i) * kHeads + h, kind.queryWidth);
    std::vector<Vector> values;
    Vector weights;
    int64_t group = h / (kHeads / kKeyHeads);
    for (int64_t j = first; j <= i && j < in.lengths[b]; ++j) {
      int64_t at = (b * in.length + j) * kKeyHeads + group;
      double s = kind.score(q, part(in.k, at, kind.keyWidth), table);
      weights.push_back(kind.weight ? kind.weight(s) : std::exp(s));
      values.push_back(part(in.v, at, kind.valueWidth));
    }
    double total = 0;
    for (double weight : weights)
      total += weight;
    for (int64_t d = 0; d < kind.valueWidth; ++d) {
      double y = 0, perError = 0;
      for (size_t j = 0; j < weights.size(); ++j)
        y += weights[j] / total * values[j][d];
      for (size_t j = 0; j < weights.size(); ++j)
        perError += std::abs(weights[j] / total * (values[j][d] - y));
      row.y.push_back(y);
      row.perError.push_back(perError);
    }
  }
  return row;
}

class SimilarityTest : public LayerTest {
protected:
  Inputs inputsOf(const SimilarityKind &kind, int64_t length, int64_t batch) {
    auto values = [&](int64_t columns, unsigned seed, float scale) {
      return inType(randomValues(batch * length * columns, seed, scale));
    };
    Inputs in{batch,
              length,
              values(kHeads * kind.queryWidth, 1, 1),
              values(kKeyHeads * kind.keyWidth, 2, 1),
              values(kKeyHeads * kind.valueWidth, 3, 1),
              {}};
    auto spoil = [&](std::vector<float> &values, int64_t columns, int64_t row,
                     float value) {
      std::fill_n(values.begin() + row * columns, columns, value);
    };
    for (int64_t b = 0; b < batch; ++b) {
      in.lengths.push_back(length - b * length / 3);
      // What is no key may be anything.
      for (int64_t j = in.lengths[b]; j < length; ++j) {
        spoil(in.k, kKeyHeads * kind.keyWidth, b * length + j, NAN);
        spoil(in.v, kKeyHeads * kind.valueWidth, b * length + j, INFINITY);
      }
    }
    return in;
  }

  /// Sums of up to 300 weights, of scores whose sums have errors of some 1e-6.
  /// Weights of bf16 have one of 2^-9 of their size, twice in a quotient.
  void expectRow(const float *found, const Row &expected) {
    for (size_t d = 0; d < expected.y.size(); ++d)
      ASSERT_NEAR(found[d], expected.y[d],
                  5e-5 * (1 + std::abs(expected.y[d])) +
                      (isOfBf16() ? 1.01 * 0x1p-8 * expected.perError[d] : 0))
          << "at " << d;
  }

  static void run(EntryCall &call) {
    call();
    Status status = call.checkGuards();
    EXPECT_TRUE(status.ok()) << status.message();
  }

  void checkFull(const EntryRunner &code, const SimilarityKind &kind,
                 const Inputs &in, const Vector &table) {
    auto callWith = [&](int64_t first, int64_t batch) {
      EntryCall call = prepare(code, "full_" + kind.name,
                               {{Dim::Batch, batch},
                                {Dim::Target, in.length},
                                {Dim::Source, in.length}});
      auto set = [&](const char *name, const std::vector<float> &values) {
        int64_t size = values.size() / in.batch;
        setInType(call, name,
                  {values.begin() + first * size,
                   values.begin() + (first + batch) * size});
      };
      set("q", in.q);
      set("k", in.k);
      set("v", in.v);
      call.set("lengths",
               std::vector<int32_t>(in.lengths.begin() + first,
                                    in.lengths.begin() + first + batch));
      run(call);
      return call.get("y");
    };
    std::vector<float> y = callWith(0, in.batch);
    int64_t width = kHeads * kind.valueWidth, size = in.length * width;
    for (int64_t b = 0; b < in.batch; ++b) {
      for (int64_t i = 0; i < in.length; ++i)
        expectRow(&y[b * size + i * width], formula(kind, in, table, b, i));
      EXPECT_EQ(callWith(b, 1), std::vector<float>(y.begin() + b * size,
                                                   y.begin() + (b + 1) * size))
          << "sentence " << b << " alone";
    }
  }

  /// All queries of all sentences as rows of one step.
  void checkMemory(const EntryRunner &code, const SimilarityKind &kind,
                   const Inputs &in, const Vector &table) {
    int64_t rows = in.batch * in.length;
    EntryCall call = prepare(
        code, "memory_" + kind.name,
        {{Dim::Batch, in.batch}, {Dim::Source, in.length}, {Dim::Rows, rows}});
    std::vector<int32_t> positions, sentences;
    for (int64_t row = 0; row < rows; ++row) {
      positions.push_back(row % in.length);
      sentences.push_back(row / in.length);
    }
    setInType(call, "q", in.q);
    setInType(call, "k", in.k);
    setInType(call, "v", in.v);
    call.set("lengths", in.lengths);
    call.set("positions", positions);
    call.set("sentences", sentences);
    run(call);
    std::vector<float> y = call.get("y");
    for (int64_t row = 0; row < rows; ++row)
      expectRow(&y[row * kHeads * kind.valueWidth],
                formula(kind, in, table, sentences[row], positions[row]));
  }

  /// The last query of a sentence over a ring of fewer slots.
  void checkRing(const EntryRunner &code, const SimilarityKind &kind, Inputs in,
                 const Vector &table) {
    int64_t slots = std::max<int64_t>(1, in.length - 5);
    int64_t first = in.length - slots;
    in.lengths = {int32_t(in.length)};
    EntryCall call = prepare(code, "ring_" + kind.name,
                             {{Dim::Rows, 1}, {Dim::Capacity, slots}});
    auto set = [&](const char *name, const std::vector<float> &values,
                   int64_t width) {
      std::vector<float> ring(slots * width);
      for (int64_t j = first; j < in.length; ++j)
        std::copy_n(values.begin() + j * width, width,
                    ring.begin() + j % slots * width);
      setInType(call, name, ring);
    };
    int64_t width = kHeads * kind.queryWidth;
    setInType(call, "q",
              {in.q.begin() + (in.length - 1) * width,
               in.q.begin() + in.length * width});
    set("k", in.k, kKeyHeads * kind.keyWidth);
    set("v", in.v, kKeyHeads * kind.valueWidth);
    call.set("lengths", in.lengths);
    call.set("positions", std::vector<int32_t>{int32_t(in.length - 1)});
    run(call);
    expectRow(call.get("y").data(),
              formula(kind, in, table, 0, in.length - 1, first));
  }
};
HEDDLE_FOR_EVERY_CODE_AND_TYPE(SimilarityTest);

TEST_P(SimilarityTest, FullAndStepForms) {
  if (takesSample())
    GTEST_SKIP() << "the gallery has some of them on a GPU, --all has these";
  std::string module;
  Weights weights;
  for (const SimilarityKind &kind : similarityKinds()) {
    int64_t count = 1;
    for (int64_t size : kind.table)
      count *= size;
    module += moduleOf(kind, elementType());
    weights["table_" + kind.name] = {kind.table, randomValues(count, 4)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (const SimilarityKind &kind : similarityKinds())
      for (auto [length, batch] : {std::pair<int64_t, int64_t>(1, 1),
                                   {7, 1},
                                   {33, 2},
                                   {70, 1},
                                   {300, 1}}) {
        SCOPED_TRACE(kind.name + " " + std::to_string(length));
        const std::vector<float> &values = weights["table_" + kind.name].values;
        Vector table(values.begin(), values.end());
        Inputs in = inputsOf(kind, length, batch);
        checkFull(code, kind, in, table);
        checkMemory(code, kind, in, table);
        checkRing(code, kind, in, table);
      }
  });
}
