#include "test/kernels/attention/SimilarityKinds.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::test;

using Vector = std::vector<double>;

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

const std::vector<SimilarityKind> &test::similarityKinds() {
  static const std::vector<SimilarityKind> kinds = {
      // Luong et al. 2015 (arXiv:1508.04025): dot, general of a diagonal,
      // concat.
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
      // Every way to combine elements.
      {"reductions",
       6,
       6,
       16,
       R"(
    %sum = arith.addf %q, %k : QVECTOR
    %four = arith.constant dense<4.0> : QVECTOR
    %scaled = arith.mulf %sum, %four : QVECTOR
    %n = arith.fptosi %scaled : QVECTOR to vector<6xi32>
    %seven = arith.constant dense<7> : vector<6xi32>
    %m = arith.andi %n, %seven : vector<6xi32>
    %i0 = vector.reduction <minsi>, %n : vector<6xi32> into i32
    %i1 = vector.reduction <maxsi>, %n, %i0 : vector<6xi32> into i32
    %i2 = vector.reduction <minui>, %m : vector<6xi32> into i32
    %i3 = vector.reduction <maxui>, %m : vector<6xi32> into i32
    %i4 = vector.reduction <and>, %m : vector<6xi32> into i32
    %i5 = vector.reduction <or>, %m : vector<6xi32> into i32
    %i6 = vector.reduction <xor>, %m : vector<6xi32> into i32
    %all = vector.from_elements %i0, %i1, %i2, %i3, %i4, %i5, %i6 : vector<7xi32>
    %total = vector.reduction <add>, %all : vector<7xi32> into i32
    %half = arith.constant dense<0.5> : QVECTOR
    %f = vector.fma %q, %half, %four : QVECTOR
    %one = arith.constant 0.0005 : f32
    %product = vector.reduction <mul>, %f, %one : QVECTOR into f32
    %least = vector.reduction <minimumf>, %scaled : QVECTOR into f32
    %count = arith.sitofp %total : i32 to f32
    %tenth = arith.constant 0.1 : f32
    %part = arith.mulf %count, %tenth : f32
    %two = arith.addf %product, %least : f32
    %s = arith.addf %two, %part : f32)",
       {1},
       [](const Vector &q, const Vector &k, const Vector &) {
         int32_t total = 0, low = 100, high = -100;
         uint32_t least = 7, most = 0, all = 7, any = 0, odd = 0;
         double product = 0.0005, smallest = 1e30;
         for (int64_t d = 0; d < 6; ++d) {
           // As it is rounded before it becomes an integer.
           float scaled = (float(q[d]) + float(k[d])) * 4;
           int32_t n = int32_t(scaled);
           uint32_t m = n & 7;
           low = std::min(low, n), high = std::max(high, n);
           least = std::min(least, m), most = std::max(most, m);
           all &= m, any |= m, odd ^= m;
           product *= q[d] * 0.5 + 4;
           smallest = std::min<double>(smallest, scaled);
         }
         total = low + high + int32_t(least + most + all + any + odd);
         return product + smallest + 0.1 * total;
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
  return kinds;
}
