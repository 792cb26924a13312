//===- PlainKernelTests.cpp - Kernels whose threads never wait ------------===//

#include "KernelTest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace heddle::emulator;

namespace {

using PlainKernelTest = KernelTest;

const char kScale[] = R"(
define ptx_kernel void @k(ptr addrspace(1) %values, i32 %count, float %factor) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %base = mul i32 %b, %n
  %i = add i32 %base, %x
  %in = icmp slt i32 %i, %count
  br i1 %in, label %do, label %end
do:
  %p = getelementptr float, ptr addrspace(1) %values, i32 %i
  %v = load float, ptr addrspace(1) %p, align 4
  %w = fmul float %v, %factor
  store float %w, ptr addrspace(1) %p, align 4
  br label %end
end:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
)";

TEST_F(PlainKernelTest, RunsEveryThreadOfEveryBlock) {
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  ASSERT_TRUE(load(kScale)) << problem;
  pass(values);
  pass(1000);
  pass(3.0f);
  launch.grid = {8, 1, 1};
  launch.block = {128, 1, 1};
  EXPECT_EQ(run(), "");
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 3.0f * static_cast<float>(i));
}

TEST_F(PlainKernelTest, FailsBehindAnAllocation) {
  std::vector<float> values(1000);
  ASSERT_TRUE(load(kScale)) << problem;
  pass(values);
  pass(1001);
  pass(3.0f);
  launch.grid = {8, 1, 1};
  launch.block = {128, 1, 1};
  std::string sentence = run();
  EXPECT_EQ(sentence.find("kernel 'k', block (7, 0, 0), thread (104, 0, 0): "
                          "reads 4 bytes at 0x"),
            0u)
      << sentence;
  EXPECT_NE(sentence.find("0 bytes behind the allocation of 4000 bytes at 0x"),
            std::string::npos)
      << sentence;
  EXPECT_EQ(code, 700);
}

TEST_F(PlainKernelTest, FailsAtAnAddressThatIsNotAligned) {
  std::vector<float> values(16);
  ASSERT_TRUE(load(kScale)) << problem;
  memory.add(values.data(), 64);
  passWord(reinterpret_cast<uint64_t>(values.data()) + 2);
  pass(1);
  pass(3.0f);
  std::string sentence = run();
  EXPECT_NE(sentence.find("which is not a multiple of 4"), std::string::npos)
      << sentence;
  EXPECT_EQ(code, 716);
}

TEST_F(PlainKernelTest, NamesWhatItDoesNotKnow) {
  EXPECT_FALSE(load(R"(
define ptx_kernel void @k() {
  call void @__nv_unknown()
  ret void
}
declare void @__nv_unknown()
)"));
  EXPECT_EQ(problem, "unknown function '__nv_unknown' in 'k'");
  EXPECT_FALSE(load(R"(
define ptx_kernel void @k() {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.envreg3()
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.envreg3()
)"));
  EXPECT_EQ(problem,
            "unknown intrinsic 'llvm.nvvm.read.ptx.sreg.envreg3' in 'k'");
}

TEST_F(PlainKernelTest, FailsOutsideOfALocalVariable) {
  const std::string text = R"(
define ptx_kernel void @k(ptr addrspace(1) %values) {
  %local = alloca [4 x i32], align 4
  %i = load i32, ptr addrspace(1) %values, align 4
  %p = getelementptr [4 x i32], ptr %local, i32 0, i32 %i
  store i32 7, ptr %p, align 4
  %q = getelementptr [4 x i32], ptr %local, i32 0, i32 3
  %v = load i32, ptr %q, align 4
  store i32 %v, ptr addrspace(1) %values, align 4
  ret void
}
)";
  std::vector<int32_t> values = {3};
  EXPECT_EQ(run(text, values), "");
  EXPECT_EQ(values[0], 7);
  values = {4};
  std::string sentence = run(text, values);
  EXPECT_NE(sentence.find("outside of the thread's own variable"),
            std::string::npos)
      << sentence;
}

TEST_F(PlainKernelTest, ReadsTablesAndParametersByValue) {
  const std::string text = R"(
@table = addrspace(4) constant [4 x float] [float 1.0, float 2.0, float 4.0, float 8.0], align 4
define ptx_kernel void @k(ptr byval([128 x i8]) align 128 %map, ptr addrspace(1) %out) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr [4 x float], ptr addrspace(4) @table, i32 0, i32 %x
  %v = load float, ptr addrspace(4) %p, align 4
  %q = getelementptr float, ptr %map, i32 %x
  %w = load float, ptr %q, align 4
  %s = fadd float %v, %w
  %o = getelementptr float, ptr addrspace(1) %out, i32 %x
  store float %s, ptr addrspace(1) %o, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)";
  std::vector<float> map(32, 0.5f), out(4);
  ASSERT_TRUE(load(text)) << problem;
  pass(0);
  pass(out);
  launch.block = {4, 1, 1};
  // The parameter itself is behind the pointer.
  struct {
    alignas(128) float values[32];
  } byValue;
  std::copy(map.begin(), map.end(), byValue.values);
  const Kernel *kernel = program->kernel("k", problem);
  ASSERT_EQ(kernel->info.parameters.size(), 2u);
  EXPECT_EQ(kernel->info.parameters[0].size, 128u);
  EXPECT_EQ(kernel->info.parameters[1].offset, 128u);
  uint64_t address = reinterpret_cast<uint64_t>(out.data());
  launch.parameters = {&byValue, &address};
  std::optional<Failure> failure = machine.run(*kernel, launch, memory);
  EXPECT_FALSE(failure) << failure->sentence;
  EXPECT_EQ(out, (std::vector<float>{1.5f, 2.5f, 4.5f, 8.5f}));
}

/// A kernel that stores one f32 function of its input.
std::string unary(const std::string &body, const std::string &declarations) {
  return "define ptx_kernel void @k(ptr addrspace(1) %values) {\n"
         "  %x = load float, ptr addrspace(1) %values, align 4\n" +
         body +
         "  store float %y, ptr addrspace(1) %values, align 4\n"
         "  ret void\n}\n" +
         declarations;
}

TEST_F(PlainKernelTest, ComputesApproximations) {
  auto compute = [&](const std::string &name, float x) {
    std::vector<float> values = {x};
    std::string sentence =
        run(unary("  %y = call float @llvm.nvvm." + name + "(float %x)\n",
                  "declare float @llvm.nvvm." + name + "(float)\n"),
            values);
    EXPECT_EQ(sentence, "") << name;
    return values[0];
  };
  EXPECT_FLOAT_EQ(compute("ex2.approx.f32", 1.5f), std::exp2(1.5f));
  EXPECT_FLOAT_EQ(compute("lg2.approx.f", 5.0f), std::log2(5.0f));
  EXPECT_FLOAT_EQ(compute("rsqrt.approx.f", 5.0f), 1 / std::sqrt(5.0f));
  EXPECT_FLOAT_EQ(compute("rcp.approx.ftz.f", 5.0f), 0.2f);
  EXPECT_FLOAT_EQ(compute("sqrt.approx.f", 5.0f), std::sqrt(5.0f));
  EXPECT_FLOAT_EQ(compute("sin.approx.f", 1.0f), std::sin(1.0f));
  EXPECT_FLOAT_EQ(compute("cos.approx.f", 1.0f), std::cos(1.0f));
  // A subnormal is a zero with .ftz, and itself without.
  EXPECT_EQ(compute("sqrt.approx.ftz.f", 1e-40f), 0.0f);
  EXPECT_NE(compute("sqrt.approx.f", 1e-40f), 0.0f);
}

/// A kernel that stores one i32 of its first.
std::string integer(const std::string &body) {
  return "define ptx_kernel void @k(ptr addrspace(1) %values) {\n"
         "  %x = load i32, ptr addrspace(1) %values, align 4\n" +
         body +
         "  store i32 %y, ptr addrspace(1) %values, align 4\n"
         "  ret void\n}\n";
}

TEST_F(PlainKernelTest, DivisionsByZeroAreTold) {
  for (std::string operation : {"sdiv", "urem"}) {
    std::string text = integer("  %y = " + operation + " i32 100, %x\n");
    std::vector<int> values = {7};
    EXPECT_EQ(run(text, values), "");
    EXPECT_EQ(values[0], operation == "sdiv" ? 14 : 2);
    values = {0};
    EXPECT_EQ(run(text, values),
              "kernel 'k', block (0, 0, 0), thread (0, 0, 0): an integer is "
              "divided by zero, or overflows");
  }
}

TEST_F(PlainKernelTest, ConversionsSaturate) {
  std::string text = integer("  %f = bitcast i32 %x to float\n"
                             "  %y = fptosi float %f to i32\n");
  for (auto [from, to] :
       {std::pair(1e20f, INT32_MAX), std::pair(-7.9f, -7), std::pair(NAN, 0)}) {
    std::vector<float> values = {from};
    EXPECT_EQ(run(text, values), "");
    int32_t result;
    std::memcpy(&result, values.data(), sizeof(result));
    EXPECT_EQ(result, to);
  }
}

TEST_F(PlainKernelTest, TrapsAreTold) {
  std::vector<int> values = {1};
  EXPECT_EQ(run(integer("  %y = add i32 %x, 1\n"
                        "  call void @llvm.trap()\n") +
                    "declare void @llvm.trap()\n",
                values),
            "kernel 'k', block (0, 0, 0), thread (0, 0, 0): a trap, or an "
            "assertion that failed");
}

TEST_F(PlainKernelTest, LocalMemoryHasALimit) {
  auto text = [](int count) {
    return integer("  %local = alloca [" + std::to_string(count) +
                   " x i32], align 4\n"
                   "  %p = getelementptr i32, ptr %local, i32 %x\n"
                   "  store i32 5, ptr %p, align 4\n"
                   "  %y = load i32, ptr %p, align 4\n");
  };
  std::vector<int> values = {130000};
  EXPECT_EQ(run(text(131072), values), "");
  EXPECT_EQ(values[0], 5);
  EXPECT_EQ(run(text(131073), values),
            "kernel 'k': 524292 bytes of a thread's own memory, the limit is "
            "524288");
}

TEST_F(PlainKernelTest, CallsFunctionsButNotThemselves) {
  auto text = [](const std::string &callee) {
    return integer("  %y = call i32 @twice(i32 %x)\n") +
           "define internal i32 @twice(i32 %x) noinline {\n"
           "  %y = call i32 @" +
           callee +
           "(i32 %x)\n  %z = add i32 %y, %y\n  ret i32 %z\n}\n"
           "define internal i32 @same(i32 %x) noinline {\n  ret i32 %x\n}\n";
  };
  std::vector<int> values = {21};
  EXPECT_EQ(run(text("same"), values), "");
  EXPECT_EQ(values[0], 42);
  EXPECT_EQ(run(text("twice"), values), "recursion in 'twice'");
}

/// Without checks the same code runs.
TEST_F(PlainKernelTest, ChecksMayBeOff) {
  setenv("HEDDLE_EMULATOR_CHECKS", "none", 1);
  std::vector<float> values(8, 1.0f);
  ASSERT_TRUE(load(kScale)) << problem;
  memory.add(values.data(), 16);
  passWord(reinterpret_cast<uint64_t>(values.data()));
  pass(8);
  pass(3.0f);
  launch.block = {8, 1, 1};
  EXPECT_EQ(run(), "");
  unsetenv("HEDDLE_EMULATOR_CHECKS");
  EXPECT_EQ(values, std::vector<float>(8, 3.0f));
}

} // namespace
