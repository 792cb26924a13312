//===- SimilarityTests.cpp - Similarity regions against formulas ----------===//
//
// Scores of the literature, and regions that move elements in every way, in the
// full form, over a memory and over a ring, beside formulas in double.
// Sentences run alone, too: a batch may not change their bits.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::test;

static constexpr int64_t kHeads = 4, kKeyHeads = 2;

namespace {
using Vector = std::vector<double>;
struct Kind {
  std::string name;
  int64_t queryWidth, keyWidth, valueWidth;
  /// %s of %q : QVECTOR and %k : KVECTOR, with %table : TENSOR.
  std::string region;
  std::vector<int64_t> table;
  std::function<double(const Vector &q, const Vector &k, const Vector &table)>
      score;
  std::string normalizer = "";
  std::function<double(double)> weight = {};
};
} // namespace

static double dot(const Vector &a, const Vector &b) {
  double sum = 0;
  for (size_t d = 0; d < a.size(); ++d)
    sum += a[d] * b[d];
  return sum;
}
static double squaredDistance(const Vector &a, const Vector &b) {
  double sum = 0;
  for (size_t d = 0; d < a.size(); ++d)
    sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

static const Kind kKinds[] = {
    // Luong et al. 2015 (arXiv:1508.04025): dot, general of a diagonal, concat.
    {"dot",
     40,
     40,
     24,
     R"(
    %p = arith.mulf %q, %k : QVECTOR
    %s = vector.reduction <add>, %p : QVECTOR into f32)",
     {1},
     [](const Vector &q, const Vector &k, const Vector &) {
       return dot(q, k);
     }},
    {"general",
     16,
     16,
     33,
     R"(
    %w = transformer.lookup %table[] : TENSOR -> QVECTOR
    %wq = arith.mulf %q, %w : QVECTOR
    %p = arith.mulf %wq, %k : QVECTOR
    %s = vector.reduction <add>, %p : QVECTOR into f32)",
     {16},
     [](const Vector &q, const Vector &k, const Vector &table) {
       Vector wq;
       for (size_t d = 0; d < q.size(); ++d)
         wq.push_back(q[d] * table[d]);
       return dot(wq, k);
     }},
    // Rows 0 and 1 are W, row 2 begins with v.
    {"concat",
     24,
     40,
     8,
     R"(
    %zeros = arith.constant dense<0.0> : vector<64xf32>
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %i2 = arith.constant 2 : i32
    %half = vector.insert_strided_slice %q, %zeros {offsets = [0], strides = [1]} : QVECTOR into vector<64xf32>
    %hs = vector.insert_strided_slice %k, %half {offsets = [24], strides = [1]} : KVECTOR into vector<64xf32>
    %w0 = transformer.lookup %table[%i0] : TENSOR -> vector<64xf32>
    %w1 = transformer.lookup %table[%i1] : TENSOR -> vector<64xf32>
    %p0 = arith.mulf %w0, %hs : vector<64xf32>
    %p1 = arith.mulf %w1, %hs : vector<64xf32>
    %s0 = vector.reduction <add>, %p0 : vector<64xf32> into f32
    %s1 = vector.reduction <add>, %p1 : vector<64xf32> into f32
    %sums = vector.from_elements %s0, %s1 : vector<2xf32>
    %hidden = math.tanh %sums : vector<2xf32>
    %v = transformer.lookup %table[%i2] : TENSOR -> vector<64xf32>
    %v2 = vector.extract_strided_slice %v {offsets = [0], sizes = [2], strides = [1]} : vector<64xf32> to vector<2xf32>
    %p = arith.mulf %v2, %hidden : vector<2xf32>
    %s = vector.reduction <add>, %p : vector<2xf32> into f32)",
     {3, 64},
     [](const Vector &q, const Vector &k, const Vector &table) {
       double s = 0;
       for (int64_t u = 0; u < 2; ++u) {
         double sum = 0;
         for (int64_t d = 0; d < 64; ++d)
           sum += table[u * 64 + d] * (d < 24 ? q[d] : k[d - 24]);
         s += table[128 + u] * std::tanh(sum);
       }
       return s;
     }},
    // Bahdanau et al. 2014 (arXiv:1409.0473).
    {"additive",
     32,
     32,
     32,
     R"(
    %sum = arith.addf %q, %k : QVECTOR
    %hidden = math.tanh %sum : QVECTOR
    %w = transformer.lookup %table[] : TENSOR -> QVECTOR
    %p = arith.mulf %hidden, %w : QVECTOR
    %s = vector.reduction <add>, %p : QVECTOR into f32)",
     {32},
     [](const Vector &q, const Vector &k, const Vector &table) {
       double s = 0;
       for (int64_t d = 0; d < 32; ++d)
         s += table[d] * std::tanh(q[d] + k[d]);
       return s;
     }},
    // An exponential of distances, over its own sum.
    {"rbf",
     17,
     17,
     64,
     R"(
    %x = arith.subf %q, %k : QVECTOR
    %p = arith.mulf %x, %x : QVECTOR
    %distance = vector.reduction <add>, %p : QVECTOR into f32
    %s = arith.negf %distance : f32)",
     {1},
     [](const Vector &q, const Vector &k, const Vector &) {
       return -squaredDistance(q, k);
     }},
    {"smoothing",
     9,
     9,
     5,
     R"(
    %x = arith.subf %q, %k : QVECTOR
    %p = arith.mulf %x, %x : QVECTOR
    %zero = arith.constant 0.0 : f32
    %s = vector.reduction <add>, %p, %zero : QVECTOR into f32)",
     {1},
     [](const Vector &q, const Vector &k, const Vector &) {
       return squaredDistance(q, k);
     },
     R"(normalizer {
  ^bb0(%d: f32):
    %one = arith.constant 1.0 : f32
    %sum = arith.addf %d, %one : f32
    %w = arith.divf %one, %sum : f32
    transformer.yield %w : f32
  })",
     [](double s) { return 1 / (1 + s); }},
    // Two phases: what a query and a key have of their own, and together.
    {"cosine",
     64,
     64,
     64,
     R"(
    %p = arith.mulf %q, %k : QVECTOR
    %qq = arith.mulf %q, %q : QVECTOR
    %kk = arith.mulf %k, %k : QVECTOR
    %dot = vector.reduction <add>, %p : QVECTOR into f32
    %q2 = vector.reduction <add>, %qq : QVECTOR into f32
    %k2 = vector.reduction <add>, %kk : QVECTOR into f32
    %squares = arith.mulf %q2, %k2 : f32
    %norms = math.sqrt %squares : f32
    %five = arith.constant 5.0 : f32
    %cosine = arith.divf %dot, %norms : f32
    %s = arith.mulf %cosine, %five : f32)",
     {1},
     [](const Vector &q, const Vector &k, const Vector &) {
       return 5 * dot(q, k) / std::sqrt(dot(q, q) * dot(k, k));
     }},
    // A softmax inside: the second loop needs what the first one found.
    {"phases",
     20,
     20,
     12,
     R"(
    %x = arith.subf %q, %k : QVECTOR
    %a = math.absf %x : QVECTOR
    %most = vector.reduction <maximumf>, %a : QVECTOR into f32
    %least = vector.reduction <minnumf>, %a : QVECTOR into f32
    %all = vector.broadcast %most : f32 to QVECTOR
    %below = arith.subf %a, %all : QVECTOR
    %e = math.exp %below : QVECTOR
    %sum = vector.reduction <add>, %e : QVECTOR into f32
    %d = arith.addf %sum, %least : f32
    %s = arith.negf %d : f32)",
     {1},
     [](const Vector &q, const Vector &k, const Vector &) {
       double most = 0, least = 1e30, sum = 0;
       for (int64_t d = 0; d < 20; ++d) {
         most = std::max(most, std::abs(q[d] - k[d]));
         least = std::min(least, std::abs(q[d] - k[d]));
       }
       for (int64_t d = 0; d < 20; ++d)
         sum += std::exp(std::abs(q[d] - k[d]) - most);
       return -sum - least;
     }},
    // Keys of three parts, the best of which counts.
    {"parts",
     16,
     48,
     16,
     R"(
    %k0 = vector.extract_strided_slice %k {offsets = [0], sizes = [16], strides = [1]} : KVECTOR to QVECTOR
    %k1 = vector.extract_strided_slice %k {offsets = [16], sizes = [16], strides = [1]} : KVECTOR to QVECTOR
    %m = vector.shape_cast %k : KVECTOR to vector<3x16xf32>
    %k2 = vector.extract %m[2] : QVECTOR from vector<3x16xf32>
    %p0 = arith.mulf %q, %k0 : QVECTOR
    %p1 = arith.mulf %q, %k1 : QVECTOR
    %s0 = vector.reduction <add>, %p0 : QVECTOR into f32
    %s1 = vector.reduction <add>, %p1 : QVECTOR into f32
    %zero = arith.constant dense<0.0> : QVECTOR
    %p2 = vector.fma %q, %k2, %zero : QVECTOR
    %s2 = vector.reduction <add>, %p2, %zero_f : QVECTOR into f32
    %s01 = arith.maximumf %s0, %s1 : f32
    %s = arith.maximumf %s01, %s2 : f32)",
     {1},
     [](const Vector &q, const Vector &k, const Vector &) {
       double most = -1e30;
       for (int64_t part = 0; part < 3; ++part)
         most = std::max(most, dot(q, Vector(k.begin() + 16 * part,
                                             k.begin() + 16 * (part + 1))));
       return most;
     }},
    // Halves that change places, as in a rotary embedding.
    {"shuffled",
     64,
     64,
     8,
     R"(
    %turned = vector.shuffle %k, %k [32, 33, 34, 35, 36, 37, 38, 39, 40, 41,
      42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,
      60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77,
      78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95]
      : QVECTOR, QVECTOR
    %p = arith.mulf %q, %turned : QVECTOR
    %s = vector.reduction <add>, %p : QVECTOR into f32)",
     {1},
     [](const Vector &q, const Vector &k, const Vector &) {
       double s = 0;
       for (int64_t d = 0; d < 64; ++d)
         s += q[d] * k[(d + 32) % 64];
       return s;
     }},
    // Every way to move elements; the transpose of q, as 3 by 4, has no two
    // neighbours that were.
    {"moves",
     12,
     4,
     10,
     R"(
    %m = vector.shape_cast %q : QVECTOR to vector<3x4xf32>
    %t = vector.transpose %m, [1, 0] : vector<3x4xf32> to vector<4x3xf32>
    %b = vector.broadcast %k : KVECTOR to vector<3x4xf32>
    %u = vector.transpose %b, [1, 0] : vector<3x4xf32> to vector<4x3xf32>
    %n = arith.mulf %t, %u : vector<4x3xf32>
    %r = vector.extract %n[1] : vector<3xf32> from vector<4x3xf32>
    %n2 = vector.insert %r, %n [3] : vector<3xf32> into vector<4x3xf32>
    %e:4 = vector.to_elements %k : KVECTOR
    %f = vector.from_elements %e#3, %e#0, %e#2 : vector<3xf32>
    %n3 = vector.insert_strided_slice %f, %n2 {offsets = [0, 0], strides = [1]} : vector<3xf32> into vector<4x3xf32>
    %c = arith.constant dense<[1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5, 0.5, -1.0]> : QVECTOR
    %l = vector.shape_cast %n3 : vector<4x3xf32> to QVECTOR
    %w = arith.mulf %l, %c : QVECTOR
    %x = vector.extract %q[5] : f32 from QVECTOR
    %y = vector.insert %x, %w [0] : f32 into QVECTOR
    %s = vector.reduction <add>, %y : QVECTOR into f32)",
     {1},
     [](const Vector &q, const Vector &k, const Vector &) {
       double n[4][3];
       for (int64_t a = 0; a < 4; ++a)
         for (int64_t b = 0; b < 3; ++b)
           n[a][b] = q[b * 4 + a] * k[a];
       std::copy_n(n[1], 3, n[3]);
       n[0][0] = k[3], n[0][1] = k[0], n[0][2] = k[2];
       const double c[] = {1, 2, 2, 2, 2, 3, 0.5, 0.5, 0.5, 0.5, 0.5, -1};
       double s = q[5];
       for (int64_t d = 1; d < 12; ++d)
         s += n[d / 3][d % 3] * c[d];
       return s;
     }},
    // Rows of a table by what a query and what a key holds.
    {"lookups",
     18,
     18,
     16,
     R"(
    %q0 = vector.extract %q[0] : f32 from QVECTOR
    %k0 = vector.extract %k[0] : f32 from QVECTOR
    %two = arith.constant 2.0 : f32
    %qs = arith.mulf %q0, %two : f32
    %ks = arith.mulf %k0, %two : f32
    %qi = arith.fptosi %qs : f32 to i32
    %ki = arith.fptosi %ks : f32 to i32
    %one = arith.constant 1 : i32
    %qj = arith.addi %qi, %one : i32
    %kj = arith.addi %ki, %one : i32
    %qw = transformer.lookup %table[%qj] : TENSOR -> QVECTOR
    %kw = transformer.lookup %table[%kj] : TENSOR -> QVECTOR
    %a = arith.mulf %q, %qw : QVECTOR
    %b = arith.mulf %k, %kw : QVECTOR
    %p = arith.mulf %a, %b : QVECTOR
    %s = vector.reduction <add>, %p : QVECTOR into f32)",
     {3, 18},
     [](const Vector &q, const Vector &k, const Vector &table) {
       auto row = [](double x) {
         return std::clamp<int64_t>(int64_t(x * 2) + 1, 0, 2);
       };
       double s = 0;
       for (int64_t d = 0; d < 18; ++d)
         s += q[d] * table[row(q[0]) * 18 + d] * k[d] *
              table[row(k[0]) * 18 + d];
       return s;
     }},
    // Neither depends on both; and whole numbers.
    {"apart",
     8,
     24,
     8,
     R"(
    %half = arith.constant 0.5 : f32
    %halves = vector.broadcast %half : f32 to KVECTOR
    %e = math.tanh %k : KVECTOR
    %is = arith.cmpf ogt, %k, %halves : KVECTOR
    %bits = arith.extui %is : vector<24xi1> to vector<24xi32>
    %count = vector.reduction <add>, %bits : vector<24xi32> into i32
    %c = arith.sitofp %count : i32 to f32
    %t = vector.reduction <add>, %e : KVECTOR into f32
    %most = vector.reduction <maxnumf>, %q : QVECTOR into f32
    %sum = arith.addf %c, %t : f32
    %s = arith.mulf %sum, %most : f32)",
     {1},
     [](const Vector &q, const Vector &k, const Vector &) {
       double s = 0;
       for (double x : k)
         s += std::tanh(x) + (x > 0.5);
       return s * *std::max_element(q.begin(), q.end());
     }}};

static std::string product(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text;
}

/// Three entries: the full form, a step over a memory, a step over a ring.
static std::string moduleOf(const Kind &kind, const std::string &element) {
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
static Row formula(const Kind &kind, const Inputs &in, const Vector &table,
                   int64_t b, int64_t i, int64_t first = 0) {
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
  Inputs inputsOf(const Kind &kind, int64_t length, int64_t batch) {
    auto values = [&](int64_t columns, unsigned seed, float scale) {
      return inType(randomValues(batch * length * columns, seed, scale));
    };
    Inputs in{batch,
              length,
              values(kHeads * kind.queryWidth, 1, 1),
              values(kKeyHeads * kind.keyWidth, 2, 1),
              values(kKeyHeads * kind.valueWidth, 3, 1),
              {}};
    for (int64_t b = 0; b < batch; ++b)
      in.lengths.push_back(length - b * length / 3);
    return in;
  }

  /// Sums of up to 70 weights, of scores whose sums have errors of some 1e-6.
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

  void checkFull(const EntryRunner &code, const Kind &kind, const Inputs &in,
                 const Vector &table) {
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
  void checkMemory(const EntryRunner &code, const Kind &kind, const Inputs &in,
                   const Vector &table) {
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
  void checkRing(const EntryRunner &code, const Kind &kind, Inputs in,
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
  std::string module;
  Weights weights;
  for (const Kind &kind : kKinds) {
    int64_t count = 1;
    for (int64_t size : kind.table)
      count *= size;
    module += moduleOf(kind, elementType());
    weights["table_" + kind.name] = {kind.table, randomValues(count, 4)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (const Kind &kind : kKinds)
      for (auto [length, batch] :
           {std::pair<int64_t, int64_t>(1, 1), {7, 1}, {33, 2}, {70, 1}}) {
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
