// What kernels of a GPU promise beside formulas: f32 that are a CPU's to the
// bit where an element's operations are its own, queries whose bits do not
// depend on the heads beside them, and dilated windows that are windows of what
// stands in them.

#include "test/kernels/LayerTest.h"

#include <cstring>

using namespace heddle;
using namespace heddle::test;

namespace {
class GridTest : public testing::Test {
protected:
  static constexpr char kCpu[] = "x86-64-v3";
  static std::string gpu() { return std::string(kCpu) + kEmulatedGpu; }

  void SetUp() override {
    if (!machineHas(gpu()))
      GTEST_SKIP() << "this machine does not run " << gpu();
  }

  static EntryRunner compile(const std::string &module,
                             const std::string &target) {
    Result<EntryRunner> code = EntryRunner::compile(
        module, {}, {target, /*reference=*/false, /*flags=*/""});
    EXPECT_TRUE(code.ok()) << code.message();
    return std::move(*code);
  }

  /// An output or state of one call.
  static std::vector<float>
  run(const EntryRunner &code, const std::string &entry,
      const std::vector<std::pair<Dim, int64_t>> &dims, const Values &values,
      const Ids &ids, const std::string &result) {
    Result<EntryCall> call = code.prepare(entry, dims);
    EXPECT_TRUE(call.ok()) << call.message();
    for (const auto &[name, all] : values)
      call->set(name, all);
    for (const auto &[name, all] : ids)
      call->set(name, all);
    (*call)();
    Status status = call->checkGuards();
    EXPECT_TRUE(status.ok()) << status.message();
    return call->get(result);
  }
};
} // namespace

static void expectSameBits(const std::vector<float> &found,
                           const std::vector<float> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(float)), 0)
        << "at " << i << ": " << found[i] << " and " << expected[i];
}

static constexpr int64_t kBatch = 2, kLength = 11, kWidth = 24;

TEST_F(GridTest, ActivationsAreACpusToTheBit) {
  std::string module;
  const std::vector<std::string> kinds = {
      "relu", "gelu", "gelu_tanh", "quick_gelu", "silu", "tanh", "sigmoid"};
  for (const std::string &kind : kinds)
    module += fill(R"(
func.func @KIND(%x: tensor<?x24xf32> {transformer.name = "x",
                                      transformer.dims = ["rows"]})
    -> (tensor<?x24xf32> {transformer.name = "y"}) {
  %y = transformer.activation KIND %x : (tensor<?x24xf32>) -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}
)",
                   {{"KIND", kind}});
  EntryRunner cpu = compile(module, kCpu), device = compile(module, gpu());
  constexpr int64_t kRows = 40;
  Values values = {{"x", randomValues(kRows * kWidth, 1, 8)}};
  for (const std::string &kind : kinds) {
    SCOPED_TRACE(kind);
    auto runOn = [&](const EntryRunner &code) {
      return run(code, kind, {{Dim::Rows, kRows}}, values, {}, "y");
    };
    expectSameBits(runOn(device), runOn(cpu));
  }
}

TEST_F(GridTest, RecurrencesAreACpusToTheBit) {
  std::string module = R"(
func.func @full(%f: tensor<?x?x24xf32> {transformer.name = "f",
                    transformer.dims = ["batch", "target"]},
                %v: tensor<?x?x24xf32> {transformer.name = "v",
                    transformer.dims = ["batch", "target"]})
    -> (tensor<?x?x24xf32> {transformer.name = "y"}) {
  %y = transformer.recurrence %f, %v
    : (tensor<?x?x24xf32>, tensor<?x?x24xf32>) -> tensor<?x?x24xf32>
  return %y : tensor<?x?x24xf32>
}
func.func @step(%f: tensor<?x24xf32> {transformer.name = "f",
                                      transformer.dims = ["rows"]},
                %v: tensor<?x24xf32> {transformer.name = "v",
                                      transformer.dims = ["rows"]},
                %c: tensor<?x24xf32> {transformer.name = "c",
                    transformer.state, transformer.dims = ["rows"]})
    -> (tensor<?x24xf32>) {
  %y = transformer.recurrence step %f, %v into %c
    : (tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>)
      -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}
)";
  EntryRunner cpu = compile(module, kCpu), device = compile(module, gpu());
  std::vector<float> f = randomValues(kBatch * kLength * kWidth, 1, 9),
                     v = randomValues(kBatch * kLength * kWidth, 2);
  // Of which there is nothing in the first state but its sign.
  f[0] = 200;
  v[0] = -1;
  auto runFull = [&](const EntryRunner &code) {
    return run(code, "full", {{Dim::Batch, kBatch}, {Dim::Target, kLength}},
               {{"f", f}, {"v", v}}, {}, "y");
  };
  expectSameBits(runFull(device), runFull(cpu));
  int64_t rows = kBatch * kLength;
  auto runStep = [&](const EntryRunner &code) {
    return run(code, "step", {{Dim::Rows, rows}},
               {{"f", f}, {"v", v}, {"c", randomValues(rows * kWidth, 3)}}, {},
               "c");
  };
  expectSameBits(runStep(device), runStep(cpu));
}

TEST_F(GridTest, PooledVectorsAreACpusToTheBit) {
  std::string module = R"(
func.func @pool(%x: tensor<?x?x24xf32> {transformer.name = "x",
                    transformer.dims = ["batch", "source"]},
                %n: tensor<?xi32> {transformer.name = "lengths",
                                   transformer.dims = ["batch"]},
                %first: tensor<?xi32> {transformer.name = "prompt",
                                       transformer.dims = ["batch"]})
    -> (tensor<?x144xf32> {transformer.name = "y"}) {
  %y = transformer.pool [cls, max, mean, mean_sqrt, weighted_mean, last] %x
    of %n from %first
    : (tensor<?x?x24xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x144xf32>
  return %y : tensor<?x144xf32>
}
)";
  EntryRunner cpu = compile(module, kCpu), device = compile(module, gpu());
  auto runOn = [&](const EntryRunner &code) {
    return run(
        code, "pool", {{Dim::Batch, 6}, {Dim::Source, kLength}},
        {{"x", randomValues(6 * kLength * kWidth, 1, 9)}},
        {{"lengths", {11, 10, 7, 3, 1, 0}}, {"prompt", {0, 3, 6, 3, 0, 0}}},
        "y");
  };
  expectSameBits(runOn(device), runOn(cpu));
}

TEST_F(GridTest, ProjectedSequencesAreACpusToTheBit) {
  // With and without pieces of 16 bytes; a head of its own matrix, and rows
  // that are no whole number of those of a thread.
  for (int64_t longest : {32, 37}) {
    std::string module = fill(R"(
func.func @project(%x: tensor<?x?x24xf32> {transformer.name = "x",
                       transformer.dims = ["batch", "source"]},
                   %e: tensor<2x11xLONGESTxf32> {transformer.name = "e"},
                   %n: tensor<?xi32> {transformer.name = "lengths",
                                      transformer.dims = ["batch"]})
    -> (tensor<?x11x24xf32> {transformer.name = "y"}) {
  %y = transformer.project_sequence %x, %e lengths(%n)
    : (tensor<?x?x24xf32>, tensor<2x11xLONGESTxf32>, tensor<?xi32>)
      -> tensor<?x11x24xf32>
  return %y : tensor<?x11x24xf32>
}
)",
                              {{"LONGEST", std::to_string(longest)}});
    EntryRunner cpu = compile(module, kCpu), device = compile(module, gpu());
    auto runOn = [&](const EntryRunner &code) {
      return run(code, "project", {{Dim::Batch, 3}, {Dim::Source, 31}},
                 {{"x", randomValues(3 * 31 * kWidth, 1)},
                  {"e", randomValues(2 * 11 * longest, 2)}},
                 {{"lengths", {31, 6, 0}}}, "y");
    };
    expectSameBits(runOn(device), runOn(cpu));
  }
}

/// A step of three heads to a head of keys, whose mask asks for the head or
/// does not.
static std::string stepModule(const std::string &name, int64_t width,
                              const std::string &element) {
  bool isOfBf16 = element == "bf16";
  return fill(R"(
func.func @NAME_WIDTH_ELEMENT(
    %q: tensor<?xQWIDTHxf32> {transformer.name = "q",
                              transformer.dims = ["rows"]},
    %k: tensor<?x?xKWIDTHxf32> {transformer.name = "k",
                                transformer.dims = ["rows", "capacity"]},
    %v: tensor<?x?xKWIDTHxf32> {transformer.name = "v",
                                transformer.dims = ["rows", "capacity"]},
    %at: tensor<?xi32> {transformer.name = "positions",
                        transformer.dims = ["rows"]},
    %of: tensor<?xi32> {transformer.name = "sentences",
                        transformer.dims = ["rows"]})
    -> (tensor<?xQWIDTHxf32> {transformer.name = "y"}) {
  %window = transformer.mask.window [left = 600, right = 0]
  %asks = transformer.mask.where {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %zero = arith.constant 0 : i32
    %is = arith.cmpi sge, %h, %zero : i32
    transformer.yield %is : i1
  }
  %both = transformer.mask.and %window, %asks
  ROUND
  %y = transformer.attention %qs, %ks, %vs mask(MASK) at %at of %of
    {heads = 6 : i64, kv_heads = 2 : i64}
    : (tensor<?xQWIDTHxELEMENT>, tensor<?x?xKWIDTHxELEMENT>,
       tensor<?x?xKWIDTHxELEMENT>, !transformer.mask, tensor<?xi32>,
       tensor<?xi32>) -> tensor<?xQWIDTHxf32>
  return %y : tensor<?xQWIDTHxf32>
}
)",
              {{"NAME", name},
               {"ROUND", !isOfBf16 ? "" : R"(
  %qs = transformer.round %q : (tensor<?xQWIDTHxf32>) -> tensor<?xQWIDTHxbf16>
  %ks = transformer.round %k
    : (tensor<?x?xKWIDTHxf32>) -> tensor<?x?xKWIDTHxbf16>
  %vs = transformer.round %v
    : (tensor<?x?xKWIDTHxf32>) -> tensor<?x?xKWIDTHxbf16>
)"},
               {"%qs, %ks, %vs", isOfBf16 ? "%qs, %ks, %vs" : "%q, %k, %v"},
               {"MASK", name == "shared" ? "%window" : "%both"},
               {"QWIDTH", std::to_string(6 * width)},
               {"KWIDTH", std::to_string(2 * width)},
               {"WIDTH", std::to_string(width)},
               {"ELEMENT", element}});
}

/// A mask that asks for the head has a block for each head; others one for all
/// heads that share keys.
TEST_F(GridTest, HeadsThatShareKeysInAStepHaveTheirOwnBits) {
  const std::vector<std::pair<int64_t, std::string>> cases = {{48, "f32"},
                                                              {128, "bf16"}};
  std::string module;
  for (const auto &[width, element] : cases)
    for (const char *name : {"shared", "alone"})
      module += stepModule(name, width, element);
  EntryRunner device = compile(module, gpu());
  // Of two chunks, of one, and of one key.
  constexpr int64_t kRows = 3, kCapacity = 700;
  for (const auto &each : cases) {
    int64_t width = each.first;
    std::string element = each.second;
    SCOPED_TRACE(std::to_string(width) + " of " + element);
    auto runOf = [&](const std::string &name) {
      return run(device, name + "_" + std::to_string(width) + "_" + element,
                 {{Dim::Rows, kRows}, {Dim::Capacity, kCapacity}},
                 {{"q", randomValues(kRows * 6 * width, 1, 2)},
                  {"k", randomValues(kRows * kCapacity * 2 * width, 2, 2)},
                  {"v", randomValues(kRows * kCapacity * 2 * width, 3)}},
                 {{"positions", {699, 300, 0}}, {"sentences", {0, 0, 0}}}, "y");
    };
    expectSameBits(runOf("shared"), runOf("alone"));
  }
}

/// The keys of a dilated window are those of a window over the positions of one
/// remainder, and so are their tiles: those positions alone have the same bits.
TEST_F(GridTest, DilatedWindowsAreWindowsOfARemainder) {
  std::string module;
  for (const char *name : {"dilated", "plain"})
    module += fill(R"(
func.func @NAME(%q: tensor<?x?x32xf32> {transformer.name = "q",
                    transformer.dims = ["batch", "source"]},
                %k: tensor<?x?x32xf32> {transformer.name = "k",
                    transformer.dims = ["batch", "source"]},
                %v: tensor<?x?x32xf32> {transformer.name = "v",
                    transformer.dims = ["batch", "source"]})
    -> (tensor<?x?x32xf32> {transformer.name = "y"}) {
  %mask = transformer.mask.window [left = 70, right = 9, dilation = [DILATION]]
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
    : (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>,
       !transformer.mask) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
)",
                   {{"NAME", name},
                    {"DILATION", name == std::string("dilated") ? "3" : "1"}});
  EntryRunner device = compile(module, gpu());
  constexpr int64_t kPositions = 500, kDilation = 3, kColumns = 32;
  Values all = {{"q", randomValues(kPositions * kColumns, 1, 2)},
                {"k", randomValues(kPositions * kColumns, 2, 2)},
                {"v", randomValues(kPositions * kColumns, 3)}};
  std::vector<float> dilated =
      run(device, "dilated", {{Dim::Batch, 1}, {Dim::Source, kPositions}}, all,
          {}, "y");
  for (int64_t remainder = 0; remainder < kDilation; ++remainder) {
    SCOPED_TRACE(remainder);
    auto take = [&](const std::vector<float> &from) {
      std::vector<float> rows;
      for (int64_t i = remainder; i < kPositions; i += kDilation)
        rows.insert(rows.end(), from.begin() + i * kColumns,
                    from.begin() + (i + 1) * kColumns);
      return rows;
    };
    Values some;
    for (const auto &[name, values] : all)
      some[name] = take(values);
    int64_t count = int64_t(some["q"].size()) / kColumns;
    expectSameBits(take(dilated),
                   run(device, "plain", {{Dim::Batch, 1}, {Dim::Source, count}},
                       some, {}, "y"));
  }
}

TEST(GridPtxTest, Assembles) {
  if (!EntryRunner::canAssemble())
    GTEST_SKIP() << "there is no ptxas: see test/README.md";
  std::string module =
      stepModule("shared", 64, "f32") + stepModule("shared", 128, "bf16");
  const std::vector<std::pair<int64_t, const char *>> heads = {{64, "elu"},
                                                               {128, "taylor"}};
  for (const auto &[width, features] : heads)
    for (const char *order : {"causal", ""})
      module += fill(R"(
func.func @FEATURES_ORDER_HEAD(
    %q: tensor<?x?xWIDTHxf32> {transformer.name = "q",
                               transformer.dims = ["batch", "source"]},
    %k: tensor<?x?xWIDTHxf32> {transformer.name = "k",
                               transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xWIDTHxf32> {transformer.name = "v",
                               transformer.dims = ["batch", "source"]})
    -> (tensor<?x?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.linear_attention %q, %k, %v ORDER {heads = 2 : i64}
    features FEATURES
    : (tensor<?x?xWIDTHxf32>, tensor<?x?xWIDTHxf32>, tensor<?x?xWIDTHxf32>)
      -> tensor<?x?xWIDTHxf32>
  return %y : tensor<?x?xWIDTHxf32>
}
)",
                     {{"FEATURES", features},
                      {"ORDER", order},
                      {"HEAD", std::to_string(width)},
                      {"WIDTH", std::to_string(2 * width)}});
  // Steps, whose largest blocks have 512 threads.
  for (const auto &[width, features] : heads)
    module += fill(R"(
func.func @step_HEAD(
    %q: tensor<?xWIDTHxf32> {transformer.name = "q",
                             transformer.dims = ["rows"]},
    %k: tensor<?xWIDTHxf32> {transformer.name = "k",
                             transformer.dims = ["rows"]},
    %v: tensor<?xWIDTHxf32> {transformer.name = "v",
                             transformer.dims = ["rows"]},
    %s: tensor<?x2xALLxHEADxf32> {transformer.name = "s", transformer.state,
                                  transformer.dims = ["rows"]},
    %z: tensor<?x2xALLxf32> {transformer.name = "z", transformer.state,
                             transformer.dims = ["rows"]})
    -> (tensor<?xWIDTHxf32> {transformer.name = "y"},
        tensor<?x2xALLxHEADxf32>, tensor<?x2xALLxf32>) {
  %zero = arith.constant 0 : index
  %rows = tensor.dim %q, %zero : tensor<?xWIDTHxf32>
  %empty = tensor.empty(%rows) : tensor<?xWIDTHxf32>
  %y:3 = transformer.linear_attention step %q, %k, %v into %empty, %s, %z
    {heads = 2 : i64} features FEATURES
    : (tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>,
       tensor<?xWIDTHxf32>, tensor<?x2xALLxHEADxf32>, tensor<?x2xALLxf32>)
      -> (tensor<?xWIDTHxf32>, tensor<?x2xALLxHEADxf32>, tensor<?x2xALLxf32>)
  return %y#0, %y#1, %y#2
    : tensor<?xWIDTHxf32>, tensor<?x2xALLxHEADxf32>, tensor<?x2xALLxf32>
}
)",
                   {{"FEATURES", features},
                    {"HEAD", std::to_string(width)},
                    {"ALL", std::to_string(width + (width == 128))},
                    {"WIDTH", std::to_string(2 * width)}});
  Status status = EntryRunner::assemble(module, {}, "sm_80", "sm_80 sm_90");
  EXPECT_TRUE(status.ok()) << status.message();
}
