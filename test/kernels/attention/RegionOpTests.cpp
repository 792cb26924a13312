//===- RegionOpTests.cpp - Every op that a region may hold ----------------===//
//
// One attention a type: its head h computes op h of a list, on operands that
// hold all that is special about the type. A sentence has one key, so that a
// result is a score. The list says what regions support: another op of arith or
// math belongs here. A similarity region has the same ops on vectors: of what a
// query holds, and of what its key does.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <cmath>
#include <limits>
#include <regex>

using namespace heddle;
using namespace heddle::test;

static constexpr float kInf = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Above, below and at the ends of integers and narrow floats; halfway.
static const std::vector<float> kNumbers = {
    0,     1,         -1,         2,     -3,    0.5,   -2.5, 7,
    31,    -32,       64,         127.5, -128,  200,   1e-3, 65519,
    65520, -7e4,      2147483648, -1e10, 1e30,  -3e38, kInf, -kInf,
    kNaN,  1.0039062, 3.1415927,  1e-7,  -1e-20};

/// %x and %y are of type T, the result %r, too, unless said otherwise. A
/// formula says what f32 and i32 give where arith does not.
struct Op {
  const char *text;
  const char *result = "T";
  double (*formula)(double x, double y) = nullptr;
};

/// The 32 bits of a number that may lie outside of them.
static double wrapped(double x) {
  return static_cast<int32_t>(static_cast<int64_t>(x));
}
template <typename Integer> static double limited(double x) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(x))
    return 0;
  // Not the largest i64, which no double is.
  return std::trunc(
      std::min(std::max(x, double(Limits::min())), double(Limits::max())));
}
static double integerPower(double x, double n) {
  if (n < 0)
    return x == 1 ? 1 : x == -1 ? (std::fmod(n, 2) == 0 ? 1 : -1) : 0;
  uint32_t power = 1, base = static_cast<uint32_t>(static_cast<int64_t>(x));
  for (uint32_t left = n; left > 0; left /= 2, base *= base)
    power *= left % 2 ? base : 1;
  return static_cast<int32_t>(power);
}

static const std::vector<Op> kFloatOps = {
    {"%r = arith.addf %x, %y : T"},
    {"%r = arith.subf %x, %y : T"},
    {"%r = arith.mulf %x, %y fastmath<fast> : T"},
    {"%r = arith.divf %x, %y : T"},
    {"%c = arith.constant 30.0 : T\n%r = arith.divf %x, %c : T"},
    {"%r = arith.remf %x, %y : T"},
    {"%r = arith.negf %x : T"},
    {"%r = arith.maximumf %x, %y : T"},
    {"%r = arith.maxnumf %x, %y : T"},
    {"%r = arith.minimumf %x, %y : T"},
    {"%r = arith.minnumf %x, %y : T"},
    {"%r = arith.cmpf olt, %x, %y : T", "i1"},
    {"%r = arith.cmpf une, %x, %y fastmath<nnan> : T", "i1"},
    {"%c = arith.cmpf ugt, %x, %y : T\n%r = arith.select %c, %x, %y : T"},
    {"%r = math.absf %x : T"},
    {"%r = math.acos %x : T"},
    {"%r = math.acosh %x : T"},
    {"%r = math.asin %x : T"},
    {"%r = math.asinh %x : T"},
    {"%r = math.atan %x : T"},
    {"%r = math.atan2 %x, %y : T"},
    {"%r = math.atanh %x : T"},
    {"%r = math.cbrt %x : T"},
    {"%r = math.ceil %x : T"},
    {"%c = arith.constant -1.0 : T\n%r = math.clampf %y to [%c, %x] : T", "T",
     [](double x, double y) -> double {
       return std::isnan(x) || std::isnan(y) ? kNaN
                                             : std::min(std::max(y, -1.0), x);
     }},
    {"%r = math.copysign %x, %y : T"},
    {"%r = math.cos %x : T"},
    {"%r = math.cosh %x : T"},
    {"%r = math.erf %x : T"},
    {"%r = math.erfc %x : T"},
    {"%r = math.exp %x : T"},
    {"%r = math.exp2 %x : T"},
    {"%r = math.expm1 %x : T"},
    {"%r = math.floor %x : T"},
    {"%r = math.fma %x, %y, %x : T"},
    {"%n = arith.fptosi %y : T to i32\n%r = math.fpowi %x, %n : T, i32", "T",
     [](double x, double y) -> double {
       return std::pow(x, limited<int32_t>(y));
     }},
    {"%r = math.isfinite %x : T", "i1"},
    {"%r = math.isinf %x : T", "i1"},
    {"%r = math.isnan %x : T", "i1"},
    {"%r = math.isnormal %x : T", "i1"},
    {"%r = math.log %x : T"},
    {"%r = math.log10 %x : T"},
    {"%r = math.log1p %x : T"},
    {"%r = math.log2 %x : T"},
    {"%r = math.powf %x, %y : T"},
    {"%r = math.round %x : T"},
    {"%r = math.roundeven %x : T"},
    {"%r = math.rsqrt %x : T"},
    {"%r = math.sin %x : T"},
    {"%c, %r = math.sincos %x : T"},
    {"%r = math.sinh %x : T"},
    {"%r = math.sqrt %x : T"},
    {"%r = math.tan %x : T"},
    {"%r = math.tanh %x : T"},
    {"%r = math.trunc %x : T"},
    {"%r = arith.fptosi %x : T to i8", "i8",
     [](double x, double y) -> double { return limited<int8_t>(x); }},
    {"%r = arith.fptoui %x : T to i16", "i16",
     [](double x, double y) -> double {
       return wrapped(int16_t(uint16_t(limited<uint16_t>(x))));
     }},
    {"%r = arith.fptosi %x : T to i64", "i64"},
    {"%n = arith.fptosi %x : T to i64\n%r = arith.sitofp %n : i64 to T"},
    {"%n = arith.fptoui %x : T to i32\n%r = arith.uitofp %n : i32 to T"},
};

static const std::vector<Op> kIntegerOps = {
    {"%r = arith.addi %x, %y overflow<nsw, nuw> : T"},
    {"%r = arith.subi %x, %y : T"},
    {"%r = arith.muli %x, %y : T"},
    {"%r = arith.divsi %x, %y : T", "T",
     [](double x, double y) -> double {
       return y == 0 ? 0 : wrapped(std::trunc(x / y));
     }},
    {"%r = arith.divui %x, %y exact : T"},
    {"%r = arith.ceildivsi %x, %y : T", "T",
     [](double x, double y) -> double {
       return y == 0 ? 0 : wrapped(std::ceil(x / y));
     }},
    {"%r = arith.ceildivui %x, %y : T"},
    {"%r = arith.floordivsi %x, %y : T", "T",
     [](double x, double y) -> double {
       return y == 0 ? 0 : wrapped(std::floor(x / y));
     }},
    {"%r = arith.remsi %x, %y : T", "T",
     [](double x, double y) -> double { return y == 0 ? x : std::fmod(x, y); }},
    {"%r = arith.remui %x, %y : T", "T",
     [](double x, double y) -> double {
       return y == 0 ? x
                     : wrapped(std::fmod(uint32_t(int64_t(x)),
                                         uint32_t(int64_t(y))));
     }},
    {"%r = arith.andi %x, %y : T"},
    {"%r = arith.ori %x, %y : T"},
    {"%r = arith.xori %x, %y : T"},
    {"%r = arith.shli %x, %y : T", "T",
     [](double x, double y) -> double {
       return y < 0 || y > 31 ? 0
                              : wrapped(std::fmod(std::ldexp(x, y), 1ll << 40));
     }},
    {"%r = arith.shrsi %x, %y : T", "T",
     [](double x, double y) -> double {
       return std::floor(std::ldexp(x, y < 0 || y > 31 ? -31 : -y));
     }},
    {"%r = arith.shrui %x, %y : T", "T",
     [](double x, double y) -> double {
       return y < 0 || y > 31
                  ? 0
                  : wrapped(std::floor(std::ldexp(uint32_t(int64_t(x)), -y)));
     }},
    {"%r = arith.maxsi %x, %y : T"},
    {"%r = arith.maxui %x, %y : T"},
    {"%r = arith.minsi %x, %y : T"},
    {"%r = arith.minui %x, %y : T"},
    {"%r = arith.cmpi slt, %x, %y : T", "i1"},
    {"%r = arith.cmpi uge, %x, %y : T", "i1"},
    {"%c = arith.cmpi ne, %x, %y : T\n%r = arith.select %c, %x, %y : T"},
    {"%r, %c = arith.addui_extended %x, %y : T, i1"},
    {"%c, %r = arith.mulsi_extended %x, %y : T"},
    {"%c, %r = arith.mului_extended %x, %y : T"},
    {"%r = math.absi %x : T"},
    {"%r = math.ctlz %x : T"},
    {"%r = math.cttz %x : T"},
    {"%r = math.ctpop %x : T"},
    {"%r = math.ipowi %x, %y : T", "T",
     [](double x, double y) -> double { return integerPower(x, y); }},
};

/// The number at an index that is limited to the table of all pairs.
static double numberAt(double at) {
  double count = kNumbers.size();
  return kNumbers[std::fmod(std::min(std::max(at, 0.0), count * count - 1),
                            count)];
}

/// Of i32 only.
static const std::vector<Op> kConversions = {
    {"%c = arith.extsi %x : i32 to i64\n%r = arith.trunci %c : i64 to i32"},
    {"%c = arith.extui %x : i32 to i64\n"
     "%r = arith.trunci %c overflow<nsw> : i64 to i8",
     "i8"},
    {"%c = arith.index_castui %x : i32 to index\n"
     "%r = arith.index_cast %c : index to i32"},
    {"%r = arith.bitcast %x : i32 to f32", "f32"},
    {"%r = arith.uitofp %x : i32 to f32", "f32"},
    {"%r = transformer.lookup %table[%x] : tensor<PAIRSxf32> -> f32", "f32",
     [](double x, double) { return numberAt(x); }},
    {"%r = transformer.lookup %table[%y] : tensor<PAIRSxf32> -> f32", "f32",
     [](double, double y) { return numberAt(y); }}};

/// %to of type `type` from the f32 %from, or the other way round.
static std::string convert(const std::string &from, const std::string &to,
                           const std::string &type, bool isBack) {
  const char *forth = "TO = arith.addf FROM, %zero : f32\n", *back = forth;
  if (type == "f16" || type == "bf16")
    forth = "TO = arith.truncf FROM : f32 to TYPE\n",
    back = "TO = arith.extf FROM : TYPE to f32\n";
  else if (type == "f64")
    forth = "TO = arith.extf FROM : f32 to f64\n",
    back = "TO = arith.truncf FROM : f64 to f32\n";
  else if (type == "index")
    forth = "TO_i = arith.fptosi FROM : f32 to i64\n"
            "TO = arith.index_cast TO_i : i64 to index\n",
    back = "TO_i = arith.index_cast FROM : index to i64\n"
           "TO = arith.sitofp TO_i : i64 to f32\n";
  else if (type != "f32")
    forth = "TO = arith.fptosi FROM : f32 to TYPE\n",
    back = "TO = arith.sitofp FROM : TYPE to f32\n";
  return fill(isBack ? back : forth,
              {{"FROM", from}, {"TO", to}, {"TYPE", type}});
}

/// The op of `text` on vectors of two: their types in place of those of
/// numbers.
static std::string onVectors(std::string text) {
  auto replace = [&](const char *from, const char *to) {
    text = std::regex_replace(text, std::regex(from), to);
  };
  replace(R"((: |, |to )(bf16|[fi]\d+|index)\b)", "$1vector<2x$2>");
  replace(R"(constant (\S+))", "constant dense<$1>");
  replace("(select .*: )", "$1vector<2xi1>, ");
  return text;
}

/// The results of ops on %x and %y, one of which %h chooses; returns its name.
static std::string choose(const std::string &type, const std::vector<Op> &ops,
                          bool hasVectors, std::string &body) {
  auto line = [&](const std::string &text) {
    body += (hasVectors ? onVectors(text) : text) + "\n";
  };
  line(convert("%s", "%x", type, /*isBack=*/false));
  line(convert("%number", "%y", type, /*isBack=*/false));
  std::string sum = "%zero";
  for (size_t h = 0; h < ops.size(); ++h) {
    std::string each = std::to_string(h);
    line(fill(ops[h].text, {{"%r", "%r" + each},
                            {"%c", "%c" + each},
                            {"%n", "%n" + each},
                            {"T", type}}));
    line(convert("%r" + each, "%f" + each, fill(ops[h].result, {{"T", type}}),
                 /*isBack=*/true));
    body += fill("%hEACH = arith.constant EACH : i32\n"
                 "%isEACH = arith.cmpi eq, %h, %hEACH : i32\n",
                 {{"EACH", each}});
    std::string select = fill("%sumEACH = arith.select %isEACH, %fEACH, SUM : ",
                              {{"EACH", each}, {"SUM", sum}});
    body += select + (hasVectors ? "vector<2xf32>\n" : "f32\n");
    sum = "%sum" + each;
  }
  return sum;
}

/// A region whose head h computes op h for %s and a number of the sentence's;
/// or, on vectors, for what query and key begin with, where h stands behind.
static std::string moduleOf(const std::string &type, const std::vector<Op> &ops,
                            bool hasVectors) {
  std::string body, sum = choose(type, ops, hasVectors, body);
  std::string region = R"(score {
  ^bb0(%q0: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %s = arith.addf %q0, %zero : f32
    %number = transformer.lookup %table[%b] : tensor<PAIRSxf32> -> f32
    BODY
    transformer.yield SUM : f32
  })";
  if (hasVectors)
    region = R"(similarity {
  ^bb0(%pair: vector<2xf32>, %other: vector<2xf32>):
    %elements:2 = vector.to_elements %pair : vector<2xf32>
    %k0 = vector.extract %other[0] : f32 from vector<2xf32>
    %h = arith.fptosi %elements#1 : f32 to i32
    %s = vector.from_elements %elements#0, %k0 : vector<2xf32>
    %number = vector.from_elements %k0, %elements#0 : vector<2xf32>
    %zeros = vector.broadcast %zero : f32 to vector<2xf32>
    BODY
    %first = vector.extract SUM[0] : f32 from vector<2xf32>
    transformer.yield %first : f32
  })";
  if (hasVectors)
    body = std::regex_replace(body, std::regex("%zero\\b"), "%zeros");
  auto number = [](size_t value) { return std::to_string(value); };
  int64_t width = hasVectors ? 2 : 1;
  return fill(R"(
transformer.parameter @numbers : tensor<PAIRSxf32>
func.func @ops(
    %q: tensor<?xQUERIESxf32> {transformer.name = "q",
                               transformer.dims = ["rows"]},
    %k: tensor<?x?xWIDTHxf32> {transformer.name = "k",
                               transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x1xf32> {transformer.name = "v",
                           transformer.dims = ["batch", "source"]},
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?xHEADSxf32> {transformer.name = "y"}) {
  %table = transformer.weight @numbers : tensor<PAIRSxf32>
  %zero = arith.constant 0.0 : f32
  %y = transformer.attention %q, %k, %v at %positions of %sentences shared
    {heads = HEADS : i64, kv_heads = 1 : i64} REGION
    normalizer none
    : (tensor<?xQUERIESxf32>, tensor<?x?xWIDTHxf32>, tensor<?x?x1xf32>,
       tensor<?xi32>, tensor<?xi32>) -> tensor<?xHEADSxf32>
  return %y : tensor<?xHEADSxf32>
}
)",
              {{"REGION", region},
               {"BODY", body},
               {"SUM", hasVectors && sum == "%zero" ? "%zeros" : sum},
               {"HEADS", number(ops.size())},
               {"QUERIES", number(width * ops.size())},
               {"WIDTH", number(width)},
               {"PAIRS", number(kNumbers.size() * kNumbers.size())}});
}

class RegionOpTest : public LayerTest {
protected:
  void check(const std::string &type, const std::vector<Op> &ops,
             double tolerance, bool hasVectors = false);
};
HEDDLE_FOR_EVERY_CODE(RegionOpTest);

void RegionOpTest::check(const std::string &type, const std::vector<Op> &ops,
                         double tolerance, bool hasVectors) {
  SCOPED_TRACE(type);
  int64_t heads = ops.size();
  std::vector<float> q, k, xs, numbers;
  std::vector<int32_t> sentences;
  for (float x : kNumbers)
    for (float y : kNumbers) {
      for (int64_t h = 0; h < heads; ++h) {
        q.push_back(x);
        if (hasVectors)
          q.push_back(h);
      }
      k.push_back(hasVectors ? y : 1);
      if (hasVectors)
        k.push_back(0);
      sentences.push_back(numbers.size());
      xs.push_back(x);
      numbers.push_back(y);
    }
  int64_t pairs = numbers.size();
  std::string module = moduleOf(type, ops, hasVectors);
  Weights weights = {{"numbers", {{pairs}, numbers}}};
  auto run = [&](const EntryRunner &code) {
    EntryCall call =
        prepare(code, "ops", {{Dim::Rows, pairs}, {Dim::Batch, pairs}});
    call.set("q", q);
    call.set("k", k);
    call.set("v", std::vector<float>(pairs, 1.0f));
    call.set("sentences", sentences);
    call();
    return call.get("y");
  };
  // Formulas know better than the reference where they are given.
  Result<EntryRunner> reference = EntryRunner::compile(
      module, weights, {"x86-64-v3", /*reference=*/true, ""});
  ASSERT_TRUE(reference.ok()) << reference.message();
  std::vector<float> expected = run(*reference);
  withCode(module, weights, [&](const EntryRunner &code) {
    std::vector<float> found = run(code);
    for (int64_t h = 0; h < heads; ++h) {
      SCOPED_TRACE(ops[h].text);
      std::vector<float> ours;
      std::vector<double> theirs;
      for (int64_t pair = 0; pair < pairs; ++pair) {
        double x = xs[pair], y = numbers[pair];
        if (type == "i32")
          x = limited<int32_t>(x), y = limited<int32_t>(y);
        ours.push_back(found[pair * heads + h]);
        theirs.push_back(ops[h].formula && (type == "i32" || type == "f32")
                             ? static_cast<float>(ops[h].formula(x, y))
                             : expected[pair * heads + h]);
      }
      expectNear(ours, theirs, tolerance);
    }
  });
}

TEST_P(RegionOpTest, Floats) {
  // Functions of libm and of VectorMath differ by some ulp.
  check("f32", kFloatOps, 1e-5);
  check("f64", kFloatOps, 1e-6);
  // Shorter types are f32 on a GPU: --all.
  if (takesSample())
    return;
  // One ulp, where those fall on two sides of a boundary.
  check("f16", kFloatOps, 1e-3);
  check("bf16", kFloatOps, 8e-3);
}

TEST_P(RegionOpTest, Conversions) { check("i32", kConversions, 1e-6); }

TEST_P(RegionOpTest, Integers) {
  for (const char *type : {"i1", "i8", "i16", "i32", "i64", "index"})
    if (!takesSample() || type == std::string("i8") ||
        type == std::string("i64"))
      check(type, kIntegerOps, 1e-6);
}

TEST_P(RegionOpTest, VectorsOfFloats) {
  if (takesSample())
    GTEST_SKIP() << "elements of vectors are scalars on a GPU: --all";
  check("f32", kFloatOps, 1e-5, /*hasVectors=*/true);
  check("f64", kFloatOps, 1e-6, /*hasVectors=*/true);
  check("f16", kFloatOps, 1e-3, /*hasVectors=*/true);
  check("bf16", kFloatOps, 8e-3, /*hasVectors=*/true);
}

TEST_P(RegionOpTest, VectorsOfIntegers) {
  if (takesSample())
    GTEST_SKIP() << "elements of vectors are scalars on a GPU: --all";
  for (const char *type : {"i1", "i8", "i16", "i32", "i64", "index"})
    check(type, kIntegerOps, 1e-6, /*hasVectors=*/true);
}

TEST(RegionOpPtxTest, Assembles) {
  if (!EntryRunner::canAssemble())
    GTEST_SKIP() << "there is no ptxas: see test/README.md";
  std::vector<float> numbers(kNumbers.size() * kNumbers.size());
  Weights weights = {{"numbers", {{int64_t(numbers.size())}, numbers}}};
  auto expectPtx = [&](const char *type, const std::vector<Op> &ops) {
    SCOPED_TRACE(type);
    Status status = EntryRunner::assemble(
        moduleOf(type, ops, /*hasVectors=*/false), weights, "sm_80", "sm_80");
    EXPECT_TRUE(status.ok()) << status.message();
  };
  for (const char *type : {"f16", "bf16", "f32", "f64"})
    expectPtx(type, kFloatOps);
  for (const char *type : {"i1", "i8", "i16", "i32", "i64", "index"})
    expectPtx(type, kIntegerOps);
  expectPtx("i32", kConversions);
}
