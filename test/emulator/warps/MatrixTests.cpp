//===- MatrixTests.cpp - mma, ldmatrix and stmatrix against formulas ------===//
//
// Matrices are put into fragments as "Matrix Fragments for mma.m16n8kK" and
// "ldmatrix" of the PTX ISA draw them, and compared with sums in fp64.
//
//===----------------------------------------------------------------------===//

#include "WarpKernels.h"
#include "test/emulator/KernelTest.h"
#include "test/emulator/assembly/Numbers.h"

#include <cmath>
#include <random>

using namespace heddle::emulator;

namespace {

/// An element type: how it is written, and what it is read as.
struct ElementType {
  const char *name;
  int bits;
  uint32_t (*encode)(double value);
  double (*decode)(uint32_t bits);
};

uint32_t encodeTf32(double value) {
  return bitsAs<uint32_t>(static_cast<float>(value)) & 0xffffe000;
}
const ElementType kBf16 = {"bf16", 16,
                           [](double v) -> uint32_t { return toBf16(v); },
                           [](uint32_t b) -> double { return fromBf16(b); }};
const ElementType kF16 = {"f16", 16,
                          [](double v) -> uint32_t { return toHalf(v); },
                          [](uint32_t b) -> double { return fromHalf(b); }};
const ElementType kTf32 = {"tf32", 32, encodeTf32, [](uint32_t b) -> double {
                             return bitsAs<float>(b);
                           }};
const ElementType kS8 = {
    "s8", 8,
    [](double v) -> uint32_t { return uint8_t(int8_t(std::lround(40 * v))); },
    [](uint32_t b) -> double { return int8_t(b); }};

class MatrixTest : public KernelTest {
protected:
  /// Words of lane l: A's, B's, C's. Returns D's, four a lane.
  void multiply(const std::string &text, const ElementType &type, int k,
                bool isInteger);

  std::mt19937 random{5};
  double draw() {
    return std::uniform_real_distribution<double>(-3, 3)(random);
  }
};

void MatrixTest::multiply(const std::string &text, const ElementType &type,
                          int k, bool isInteger) {
  std::vector<uint32_t> a(16 * k), b(k * 8);
  std::vector<double> c(16 * 8);
  for (uint32_t &bits : a)
    bits = type.encode(draw());
  for (uint32_t &bits : b)
    bits = type.encode(draw());
  for (double &number : c)
    number = isInteger ? std::lround(100 * draw())
                       : static_cast<double>(static_cast<float>(draw()));

  int each = 32 / type.bits, numA = 16 * k / each / 32, numB = numA / 2;
  int numInputs = numA + numB + 4;
  std::vector<uint32_t> in(32 * numInputs), out(32 * 4);
  for (int lane = 0; lane < 32; ++lane) {
    uint32_t *words = &in[lane * numInputs];
    int group = lane / 4, inGroup = lane % 4;
    for (int r = 0; r < numA; ++r)
      for (int i = 0; i < each; ++i) {
        int row = group + (r % 2 ? 8 : 0);
        int column = inGroup * each + i + (r >= 2 ? 4 * each : 0);
        words[r] |= a[row * k + column] << type.bits * i;
      }
    for (int r = 0; r < numB; ++r)
      for (int i = 0; i < each; ++i) {
        int row = inGroup * each + i + (r ? 4 * each : 0);
        words[numA + r] |= b[row * 8 + group] << type.bits * i;
      }
    for (int i = 0; i < 4; ++i) {
      double number = c[(group + (i >= 2 ? 8 : 0)) * 8 + inGroup * 2 + i % 2];
      words[numA + numB + i] =
          isInteger ? static_cast<uint32_t>(static_cast<int32_t>(number))
                    : bitsAs<uint32_t>(static_cast<float>(number));
    }
  }
  ASSERT_TRUE(load(text)) << problem << "\n" << text;
  pass(in);
  pass(out);
  launch.block = {32, 1, 1};
  ASSERT_EQ(run(), "");
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      int row = lane / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + i % 2;
      double sum = c[row * 8 + column], size = std::fabs(sum);
      for (int j = 0; j < k; ++j) {
        double product =
            type.decode(a[row * k + j]) * type.decode(b[j * 8 + column]);
        sum += product;
        size += std::fabs(product);
      }
      uint32_t word = out[lane * 4 + i];
      if (isInteger)
        EXPECT_EQ(static_cast<int32_t>(word), static_cast<int32_t>(sum));
      else
        // f32: one rounding of the sum.
        EXPECT_NEAR(bitsAs<float>(word), sum, 1e-7 * size);
    }
}

TEST_F(MatrixTest, MultipliesBf16) {
  for (int k : {8, 16}) {
    std::string shape = "m16n8k" + std::to_string(k);
    multiply(intrinsicKernel("llvm.nvvm.mma." + shape + ".row.col.bf16",
                             times(k / 4 + k / 8, "i32") + times(4, "float"),
                             times(4, "float")),
             kBf16, k, false);
  }
}

TEST_F(MatrixTest, MultipliesF16) {
  for (int k : {8, 16}) {
    std::string shape = "m16n8k" + std::to_string(k);
    multiply(
        intrinsicKernel("llvm.nvvm.mma." + shape + ".row.col.f32.f32",
                        times(k / 4 + k / 8, "<2 x half>") + times(4, "float"),
                        times(4, "float")),
        kF16, k, false);
  }
}

TEST_F(MatrixTest, MultipliesTf32) {
  for (int k : {4, 8}) {
    std::string shape = "m16n8k" + std::to_string(k);
    multiply(intrinsicKernel("llvm.nvvm.mma." + shape + ".row.col.tf32",
                             times(k / 2 + k / 4, "i32") + times(4, "float"),
                             times(4, "float")),
             kTf32, k, false);
  }
}

TEST_F(MatrixTest, MultipliesS8) {
  for (int k : {16, 32}) {
    std::string shape = "m16n8k" + std::to_string(k);
    multiply(intrinsicKernel("llvm.nvvm.mma." + shape + ".row.col.s8",
                             times(k / 8 + k / 16 + 4, "i32"), times(4, "i32")),
             kS8, k, true);
  }
}

TEST_F(MatrixTest, MultipliesInAssembly) {
  multiply(assemblyKernel("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                          "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                          "{$10, $11, $12, $13};",
                          times(6, "i32") + times(4, "float"),
                          times(4, "float")),
           kBf16, 16, false);
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// Each lane writes 16 bytes to its place in shared memory and reads a
/// fragment: the place of row r is r ^ 3, so that addresses are not in order.
std::string loadKernel(int count, bool isTransposed) {
  std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" +
                     std::to_string(count) + (isTransposed ? ".trans" : "") +
                     ".b16.p3";
  std::string type = count == 1 ? "i32" : "{ i32";
  for (int i = 1; i < count; ++i)
    type += ", i32";
  type += count == 1 ? "" : " }";
  std::string body = R"(
  %x = xor i32 %t, 3
  %p = getelementptr [32 x [4 x i32]], ptr addrspace(3) @shared, i32 0, i32 %x
  %p1 = getelementptr i32, ptr addrspace(3) %p, i32 1
  %p2 = getelementptr i32, ptr addrspace(3) %p, i32 2
  %p3 = getelementptr i32, ptr addrspace(3) %p, i32 3
  store i32 %i0, ptr addrspace(3) %p, align 4
  store i32 %i1, ptr addrspace(3) %p1, align 4
  store i32 %i2, ptr addrspace(3) %p2, align 4
  store i32 %i3, ptr addrspace(3) %p3, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
)";
  body += "  %r = call " + type + " @" + name + "(ptr addrspace(3) %p)\n";
  for (int i = 0; i < count; ++i) {
    std::string number = std::to_string(i);
    body += "  %o" + number + " = " +
            (count == 1 ? "add i32 %r, 0\n"
                        : "extractvalue " + type + " %r, " + number + "\n");
  }
  return "@shared = internal addrspace(3) global [32 x [4 x i32]] undef, "
         "align 16\n" +
         wordKernel(4, count, body,
                    "declare void @llvm.nvvm.barrier.cta.sync.aligned.all("
                    "i32)\ndeclare " +
                        type + " @" + name + "(ptr addrspace(3))\n");
}

TEST_F(MatrixTest, LoadsMatrices) {
  for (int count : {1, 2, 4})
    for (bool isTransposed : {false, true}) {
      // Element (row, column) of matrix m is the number 256 m + 16 row +
      // column.
      auto number = [](int matrix, int row, int column) {
        return uint32_t(256 * matrix + 16 * row + column);
      };
      std::vector<uint32_t> in(32 * 4), out(32 * count);
      for (int lane = 0; lane < 32; ++lane)
        for (int word = 0; word < 4; ++word)
          in[lane * 4 + word] = number(lane / 8, lane % 8, 2 * word) |
                                number(lane / 8, lane % 8, 2 * word + 1) << 16;
      ASSERT_TRUE(load(loadKernel(count, isTransposed))) << problem;
      pass(in);
      pass(out);
      launch.block = {32, 1, 1};
      ASSERT_EQ(run(), "");
      for (int lane = 0; lane < 32; ++lane)
        for (int matrix = 0; matrix < count; ++matrix)
          for (int i = 0; i < 2; ++i) {
            int row = isTransposed ? lane % 4 * 2 + i : lane / 4;
            int column = isTransposed ? lane / 4 : lane % 4 * 2 + i;
            EXPECT_EQ(out[lane * count + matrix] >> 16 * i & 0xffff,
                      number(matrix, row, column));
          }
    }
}

/// What stmatrix stores is what ldmatrix loads.
TEST_F(MatrixTest, StoresMatrices) {
  for (std::string trans : {"", ".trans"}) {
    std::string type = "{ i32, i32, i32, i32 }";
    std::string text =
        "@shared = internal addrspace(3) global [32 x [4 x i32]] undef, "
        "align 16\n" +
        wordKernel(
            4, 4,
            "  %p = getelementptr [32 x [4 x i32]], ptr addrspace(3) @shared, "
            "i32 0, i32 %t\n"
            "  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4" +
                trans +
                ".b16.p3(ptr addrspace(3) %p, i32 %i0, i32 %i1, i32 %i2, i32 "
                "%i3)\n"
                "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n"
                "  %r = call " +
                type + " @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4" + trans +
                ".b16.p3(ptr addrspace(3) %p)\n"
                "  %o0 = extractvalue " +
                type + " %r, 0\n  %o1 = extractvalue " + type +
                " %r, 1\n  %o2 = extractvalue " + type +
                " %r, 2\n  %o3 = extractvalue " + type + " %r, 3\n",
            "declare void @llvm.nvvm.bar.warp.sync(i32)\n"
            "declare void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4" +
                trans +
                ".b16.p3(ptr addrspace(3), i32, i32, i32, i32)\n"
                "declare " +
                type + " @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4" + trans +
                ".b16.p3(ptr addrspace(3))\n");
    std::vector<uint32_t> in(32 * 4), out(32 * 4);
    for (uint32_t &word : in)
      word = random();
    ASSERT_TRUE(load(text)) << problem;
    pass(in);
    pass(out);
    launch.block = {32, 1, 1};
    ASSERT_EQ(run(), "");
    EXPECT_EQ(out, in);
  }
}

} // namespace
