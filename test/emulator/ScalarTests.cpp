//===- ScalarTests.cpp - Arithmetic of one thread -------------------------===//
//
// Integer and half-width intrinsics, and assembly, on words of one thread.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"
#include "test/emulator/assembly/Numbers.h"
#include "test/emulator/warps/WarpKernels.h"

#include <cmath>

using namespace heddle::emulator;

namespace {

class ScalarTest : public KernelTest {
protected:
  uint32_t compute(const std::string &text, std::vector<uint32_t> in) {
    std::vector<uint32_t> out(1, 0xdeadbeef);
    EXPECT_TRUE(load(text)) << problem << "\n" << text;
    if (!problem.empty())
      return 0;
    pass(in);
    pass(out);
    EXPECT_EQ(run(), "");
    return out[0];
  }
  uint32_t intrinsic(const std::string &name, const std::string &type,
                     const std::string &result, std::vector<uint32_t> in) {
    return compute(
        intrinsicKernel("llvm.nvvm." + name, times(in.size(), type), {result}),
        in);
  }
  uint32_t assembly(const std::string &text, const std::string &type,
                    std::vector<uint32_t> in) {
    return compute(assemblyKernel(text, times(in.size(), type), {type}), in);
  }
};

uint32_t bits(float value) { return bitsAs<uint32_t>(value); }

TEST_F(ScalarTest, DotsOfBytes) {
  const std::vector<uint32_t> in = {0x80ff0102, 0x7f030405, 1000};
  // Bytes from the lowest: 2, 1, -1 or 255, -128 or 128.
  EXPECT_EQ(intrinsic("idp4a.s.s", "i32", "i32", in),
            uint32_t(1000 + 2 * 5 + 4 - 3 - 128 * 127));
  EXPECT_EQ(intrinsic("idp4a.u.u", "i32", "i32", in),
            uint32_t(1000 + 2 * 5 + 4 + 255 * 3 + 128 * 127));
}

TEST_F(ScalarTest, PermutesBytes) {
  EXPECT_EQ(intrinsic("prmt", "i32", "i32", {0x33221100, 0x77665584, 0x5410}),
            0x55841100u);
  // The upper bit of a nibble copies the sign.
  EXPECT_EQ(intrinsic("prmt", "i32", "i32", {0x33221100, 0x77665584, 0x0c81}),
            0x00ff0011u);
}

TEST_F(ScalarTest, MultipliesHighHalves) {
  EXPECT_EQ(intrinsic("mulhi.i", "i32", "i32", {0x80000000, 4}), 0xfffffffeu);
  EXPECT_EQ(intrinsic("mulhi.ui", "i32", "i32", {0x80000000, 4}), 2u);
}

TEST_F(ScalarTest, PacksTheFirstOperandIntoTheUpperHalf) {
  EXPECT_EQ(intrinsic("ff2bf16x2.rn", "float", "<2 x bfloat>",
                      {bits(1.0f), bits(-2.0f)}),
            0x3f80c000u);
  EXPECT_EQ(intrinsic("ff2f16x2.rn.relu", "float", "<2 x half>",
                      {bits(1.0f), bits(-2.0f)}),
            0x3c000000u);
}

TEST_F(ScalarTest, RoundsToTf32) {
  // Half way between two: away from zero, or to the even one.
  EXPECT_EQ(intrinsic("f2tf32.rna", "float", "i32", {0x3f801000}), 0x3f802000u);
  EXPECT_EQ(intrinsic("f2tf32.rn", "float", "i32", {0x3f801000}), 0x3f800000u);
  EXPECT_EQ(intrinsic("f2tf32.rn", "float", "i32", {0x3f803000}), 0x3f804000u);
}

TEST_F(ScalarTest, NansOfMinimaAndMaxima) {
  const uint32_t one = bits(1.0f), nan = bits(NAN);
  EXPECT_EQ(intrinsic("fmax.f", "float", "float", {one, nan}), one);
  EXPECT_TRUE(std::isnan(
      bitsAs<float>(intrinsic("fmax.nan.f", "float", "float", {one, nan}))));
  EXPECT_EQ(intrinsic("fmin.ftz.f", "float", "float", {bits(1e-40f), one}), 0u);
  EXPECT_EQ(intrinsic("fma.rn.ftz.f", "float", "float",
                      {bits(2.0f), bits(3.0f), bits(1.0f)}),
            bits(7.0f));
  EXPECT_EQ(intrinsic("saturate.f", "float", "float", {bits(3.0f)}), one);
}

TEST_F(ScalarTest, ConvertsWithARounding) {
  EXPECT_EQ(intrinsic("f2i.rn", "float", "i32", {bits(2.5f)}), 2u);
  EXPECT_EQ(intrinsic("f2i.rz", "float", "i32", {bits(-2.7f)}), uint32_t(-2));
  EXPECT_EQ(intrinsic("f2i.rp", "float", "i32", {bits(2.1f)}), 3u);
  EXPECT_EQ(intrinsic("f2ui.rm", "float", "i32", {bits(-3.0f)}), 0u);
}

TEST_F(ScalarTest, ComputesInAssembly) {
  EXPECT_EQ(assembly("ex2.approx.ftz.f32 $0, $1;", "float", {bits(3.0f)}),
            bits(8.0f));
  EXPECT_EQ(assembly("tanh.approx.f32 $0, $1;", "float", {bits(0.5f)}),
            bits(std::tanh(0.5f)));
  EXPECT_EQ(assembly("fma.rn.f32 $0, $1, $2, 0f3F800000;", "float",
                     {bits(2.0f), bits(3.0f)}),
            bits(7.0f));
  EXPECT_EQ(assembly("cvt.rn.bf16x2.f32 $0, $1, $2;", "i32",
                     {bits(1.0f), bits(-2.0f)}),
            0x3f80c000u);
  EXPECT_EQ(assembly("cvt.rna.tf32.f32 $0, $1;", "i32", {0x3f801000}),
            0x3f802000u);
  EXPECT_EQ(assembly("mul.bf16x2 $0, $1, $2;", "i32", {0x40004040, 0x40004000}),
            0x408040c0u);
}

TEST_F(ScalarTest, BranchesInAssembly) {
  // Counts the bits of a word.
  const std::string text =
      "{\\0A.reg .b32 left, bit;\\0A.reg .pred more;\\0A"
      "mov.b32 left, $1;\\0Amov.b32 $0, 0;\\0A"
      "again:\\0Asetp.eq.u32 more, left, 0;\\0A@more bra done;\\0A"
      "and.b32 bit, left, 1;\\0Aadd.u32 $0, $0, bit; // one more\\0A"
      "shr.u32 left, left, 1;\\0Abra.uni again;\\0Adone:\\0A}";
  EXPECT_EQ(assembly(text, "i32", {0xf00f0001}), 9u);
}

TEST_F(ScalarTest, NamesInstructionsItDoesNotKnow) {
  EXPECT_FALSE(load(assemblyKernel("cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;",
                                   times(2, "i32"), {"i32"})));
  EXPECT_EQ(problem,
            "unknown assembly 'cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2' in 'k'");
}

} // namespace
