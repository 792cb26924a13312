//===- WarpgroupTests.cpp - wgmma against formulas, and without its wait --===//
//
// Matrices are written to shared memory as "Asynchronous warpgroup-level matrix
// shared memory layout" of the PTX ISA draws them, by the host, through a bulk
// copy; sums come back in the fragments that it draws, too.
//
//===----------------------------------------------------------------------===//

#include "test/emulator/KernelTest.h"
#include "test/emulator/assembly/Numbers.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

using namespace heddle::emulator;

namespace {

struct Case {
  const char *type;
  int bits;
  int n;
  /// Bytes of a row of an atom: 16 for none.
  int swizzle;
  bool isATransposed = false, isBTransposed = false;
  bool isAInRegisters = false;
};

/// How a kernel differs from one that is right.
struct Bugs {
  bool hasFence = true, hasWait = true, hasCommit = true;
  std::string betweenProducts, beforeWait, behindWait;
};

uint32_t encode(const Case &form, double value) {
  std::string type = form.type;
  if (type == "bf16")
    return toBf16(static_cast<float>(value));
  if (type == "f16")
    return toHalf(static_cast<float>(value));
  if (type == "tf32")
    return bitsAs<uint32_t>(static_cast<float>(value)) & 0xffffe000;
  return uint8_t(int8_t(std::lround(30 * value)));
}
double decode(const Case &form, uint32_t bits) {
  std::string type = form.type;
  if (type == "bf16")
    return fromBf16(bits);
  if (type == "f16")
    return fromHalf(bits);
  if (type == "tf32")
    return bitsAs<float>(bits);
  return int8_t(bits);
}

/// A matrix of `rows` rows of m or n, as it stands in shared memory.
struct SharedMatrix {
  std::vector<uint8_t> bytes;
  int leading = 16, stride = 16;

  SharedMatrix(const Case &form, int rows, bool isTransposed,
               const std::function<uint32_t(int, int)> &element);
};

SharedMatrix::SharedMatrix(const Case &form, int rows, bool isTransposed,
                           const std::function<uint32_t(int, int)> &element) {
  int size = form.bits / 8, k = 32 / size, width = form.swizzle;
  bool isPlain = width == 16;
  // Atoms of eight rows, one behind the other: first along rows' direction.
  int atom = 8 * width;
  bytes.resize(std::max(rows * 32, rows / 8 * atom) + 4096);
  stride = leading = atom;
  if (!isTransposed && isPlain)
    leading = rows / 8 * atom;
  if (isTransposed) {
    // Along m or n, and along k.
    int acrossAtoms = std::max(1, rows * 2 / width);
    (isPlain ? stride : leading) = atom;
    (isPlain ? leading : stride) = acrossAtoms * atom;
  }
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < k; ++i) {
      int place;
      if (isTransposed) {
        int each = width / 2;
        place = row / each * (isPlain ? stride : leading) +
                i / 8 * (isPlain ? leading : stride) + i % 8 * width +
                row % each * 2;
      } else {
        int byte = i * size;
        place = row / 8 * stride + row % 8 * width +
                (isPlain ? byte / 16 * leading + byte % 16 : byte);
      }
      int chunk = place / 16 % 8;
      int moved = chunk ^ (place / 128 % 8 & (width / 16 - 1));
      place += 16 * (moved - chunk);
      uint32_t word = element(row, i);
      std::memcpy(&bytes[place], &word, size);
    }
}

class WarpgroupTest : public KernelTest {
protected:
  std::string kernel(const Case &form, const SharedMatrix &a,
                     const SharedMatrix &b, const Bugs &bugs);
  /// Multiplies random matrices twice, one product added to the other.
  std::string multiply(const Case &form, const Bugs &bugs = {});

  std::mt19937 random{3};
  double draw() {
    return std::uniform_real_distribution<double>(-2, 2)(random);
  }
};

std::string number(int64_t value) { return std::to_string(value); }

std::string WarpgroupTest::kernel(const Case &form, const SharedMatrix &a,
                                  const SharedMatrix &b, const Bugs &bugs) {
  int count = form.n / 2, k = 256 / form.bits;
  bool isInteger = form.bits == 8;
  std::string type = isInteger ? "i32" : "float",
              letter = isInteger ? "r" : "f";
  std::string result = "{ ", registers, constraints, ties, zeros, passed;
  for (int i = 0; i < count; ++i) {
    result += (i ? ", " : "") + type;
    registers += (i ? ", $" : "$") + number(i);
    constraints += "=" + letter + ",";
    ties += number(i) + ",";
    zeros += type + (isInteger ? " 0, " : " 0.0, ");
    passed += (i ? ", " : "") + type + " %s" + number(i);
  }
  result += " }";
  int at = 2 * count;
  std::string aText = form.isAInRegisters
                          ? "{$" + number(at) + ", $" + number(at + 1) + ", $" +
                                number(at + 2) + ", $" + number(at + 3) + "}"
                          : "$" + number(at);
  at += form.isAInRegisters ? 4 : 1;
  std::string scales = isInteger ? "" : ", 1, 1";
  if (form.bits == 16)
    scales += (form.isAInRegisters ? std::string()
                                   : ", " + number(form.isATransposed)) +
              ", " + number(form.isBTransposed);
  auto product = [&](const std::string &name, const std::string &sums,
                     int adds) {
    std::string text =
        "  %" + name + " = call " + result +
        " asm sideeffect \"{\\0A.reg .pred p;\\0Asetp.ne.b32 p, $" +
        number(at + 1) + ", 0;\\0Awgmma.mma_async.sync.aligned.m64n" +
        number(form.n) + "k" + number(k) + (isInteger ? ".s32." : ".f32.") +
        form.type + "." + form.type + " {" + registers + "}, " + aText + ", $" +
        number(at) + ", p" + scales + ";\\0A}\", \"" + constraints + ties +
        (form.isAInRegisters ? "r,r,r,r," : "l,") + "l,r\"(" + sums + ", " +
        (form.isAInRegisters ? "i32 %a0, i32 %a1, i32 %a2, i32 %a3"
                             : std::string("i64 %da")) +
        ", i64 %db, i32 " + number(adds) + ")\n";
    for (int i = 0; i < count; ++i)
      text += "  %" + name + number(i) + " = extractvalue " + result + " %" +
              name + ", " + number(i) + "\n";
    return text;
  };
  auto sumsOf = [&](const std::string &name) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += (i ? ", " : "") + type + " %" + name + number(i);
    return text;
  };
  uint64_t mode = form.swizzle == 128  ? 1
                  : form.swizzle == 64 ? 2
                  : form.swizzle == 32 ? 3
                                       : 0;
  auto descriptor = [&](const std::string &name, const std::string &tile,
                        const SharedMatrix &matrix) {
    uint64_t bits = mode << 62 | uint64_t(matrix.stride / 16) << 32 |
                    uint64_t(matrix.leading / 16) << 16;
    return "  %" + name + "i = ptrtoint ptr addrspace(3) " + tile +
           " to i32\n  %" + name + "s = lshr i32 %" + name + "i, 4\n  %" +
           name + "z = zext i32 %" + name + "s to i64\n  %" + name +
           " = or i64 %" + name + "z, " + number(static_cast<int64_t>(bits)) +
           "\n";
  };
  int aBytes = a.bytes.size() / 16 * 16, bBytes = b.bytes.size() / 16 * 16;
  std::string text =
      "@ta = internal addrspace(3) global [" + number(aBytes) +
      " x i8] undef, align 1024\n@tb = internal addrspace(3) global [" +
      number(bBytes) +
      " x i8] undef, align 1024\n"
      "@full = internal addrspace(3) global i64 undef, align 8\n"
      "define ptx_kernel void @k(ptr addrspace(1) %ga, ptr addrspace(1) %gb, "
      "ptr addrspace(1) %fa, ptr addrspace(1) %out) {\n"
      "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "  %isFirst = icmp eq i32 %t, 0\n"
      "  br i1 %isFirst, label %ask, label %ready\n"
      "ask:\n"
      "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @full, i32 "
      "1)\n"
      "  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()\n"
      "  %x = call i64 "
      "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
      "addrspace(3) @full, i32 " +
      number(aBytes + bBytes) +
      ")\n"
      "  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr "
      "addrspace(3) @ta, ptr addrspace(3) @full, ptr addrspace(1) %ga, i32 " +
      number(aBytes) +
      ", i64 0, i1 false)\n"
      "  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr "
      "addrspace(3) @tb, ptr addrspace(3) @full, ptr addrspace(1) %gb, i32 " +
      number(bBytes) +
      ", i64 0, i1 false)\n"
      "  br label %ready\n"
      "ready:\n"
      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
      "  br label %wait\n"
      "wait:\n"
      "  %done = call i1 "
      "@llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr "
      "addrspace(3) @full, i32 0)\n"
      "  br i1 %done, label %go, label %wait\n"
      "go:\n" +
      descriptor("da", "@ta", a) + descriptor("db", "@tb", b);
  if (form.isAInRegisters)
    for (int r = 0; r < 4; ++r)
      text += "  %am" + number(r) + " = mul i32 %t, 4\n  %ai" + number(r) +
              " = add i32 %am" + number(r) + ", " + number(r) + "\n  %ap" +
              number(r) +
              " = getelementptr i32, ptr addrspace(1) %fa, i32 %ai" +
              number(r) + "\n  %a" + number(r) +
              " = load i32, ptr addrspace(1) %ap" + number(r) + ", align 4\n";
  if (bugs.hasFence)
    text += "  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n";
  zeros.resize(zeros.size() - 2);
  text += product("p", zeros, 0) + bugs.betweenProducts +
          product("q", sumsOf("p"), 1);
  if (bugs.hasCommit)
    text += "  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()\n";
  text += bugs.beforeWait;
  // Sums pass through the wait.
  text += "  %s = call " + result + " asm sideeffect \"" +
          (bugs.hasWait ? "wgmma.wait_group.sync.aligned 0;" : "") + "\", \"" +
          constraints + ties.substr(0, ties.size() - 1) + "\"(" + sumsOf("q") +
          ")\n" + bugs.behindWait;
  for (int i = 0; i < count; ++i) {
    std::string n = number(i);
    text += "  %s" + n + " = extractvalue " + result + " %s, " + n + "\n  %om" +
            n + " = mul i32 %t, " + number(count) + "\n  %oi" + n +
            " = add i32 %om" + n + ", " + n + "\n  %op" + n +
            " = getelementptr i32, ptr addrspace(1) %out, i32 %oi" + n +
            "\n  store " + type + " %s" + n + ", ptr addrspace(1) %op" + n +
            ", align 4\n";
  }
  return text +
         "  ret void\n}\n"
         "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
         "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
         "declare void @llvm.nvvm.fence.proxy.async.shared_cta()\n"
         "declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()\n"
         "declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)\n"
         "declare i64 "
         "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
         "addrspace(3), i32)\n"
         "declare i1 "
         "@llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr "
         "addrspace(3), i32)\n"
         "declare void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr "
         "addrspace(3), ptr addrspace(3), ptr addrspace(1), i32, i64, i1)\n"
         "declare void @llvm.nvvm.wgmma.fence.sync.aligned()\n"
         "declare void @llvm.nvvm.wgmma.commit_group.sync.aligned()\n"
         "declare void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64)\n";
}

std::string WarpgroupTest::multiply(const Case &form, const Bugs &bugs) {
  int k = 256 / form.bits, n = form.n, each = 32 / form.bits;
  std::vector<uint32_t> a(64 * k), b(n * k);
  for (uint32_t &bits : a)
    bits = encode(form, draw());
  for (uint32_t &bits : b)
    bits = encode(form, draw());
  SharedMatrix sharedA(form, 64, form.isATransposed,
                       [&](int row, int i) { return a[row * k + i]; });
  SharedMatrix sharedB(form, n, form.isBTransposed,
                       [&](int row, int i) { return b[row * k + i]; });
  std::vector<uint32_t> fragments(128 * 4), out(128 * n / 2);
  for (int t = 0; t < 128; ++t)
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < each; ++i)
        fragments[t * 4 + r] |= a[(t / 32 * 16 + t % 32 / 4 + r % 2 * 8) * k +
                                  t % 4 * each + i + r / 2 * 4 * each]
                                << form.bits * i;
  if (!load(kernel(form, sharedA, sharedB, bugs)))
    return problem;
  // Bulk copies are of 16 bytes.
  auto passAligned = [&](std::vector<uint8_t> &bytes,
                         std::vector<uint8_t> &storage) {
    storage.resize(bytes.size() + 16);
    uint8_t *start = storage.data();
    while (reinterpret_cast<uintptr_t>(start) % 16)
      ++start;
    std::copy(bytes.begin(), bytes.end(), start);
    memory.add(start, bytes.size());
    passWord(reinterpret_cast<uint64_t>(start));
  };
  std::vector<uint8_t> storageA, storageB;
  passAligned(sharedA.bytes, storageA);
  passAligned(sharedB.bytes, storageB);
  pass(fragments);
  pass(out);
  launch.block = {128, 1, 1};
  std::string sentence = run();
  if (!sentence.empty())
    return sentence;
  int numWrong = 0;
  for (int t = 0; t < 128; ++t)
    for (int i = 0; i < n / 2; ++i) {
      int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8;
      int column = i / 4 * 8 + t % 4 * 2 + i % 2;
      double sum = 0, size = 0;
      for (int j = 0; j < k; ++j) {
        double term =
            2 * decode(form, a[row * k + j]) * decode(form, b[column * k + j]);
        sum += term;
        size += std::fabs(term);
      }
      uint32_t word = out[t * n / 2 + i];
      // f32: two sums, each rounded once.
      numWrong += form.bits == 8
                      ? static_cast<int32_t>(word) != std::lround(sum)
                      : !(std::fabs(bitsAs<float>(word) - sum) <= 2e-7 * size);
    }
  return numWrong ? number(numWrong) + " wrong sums" : "";
}

TEST_F(WarpgroupTest, MultipliesEveryTypeAndSwizzle) {
  for (int swizzle : {16, 32, 64, 128})
    for (Case form :
         {Case{"bf16", 16, 64, swizzle}, Case{"f16", 16, 8, swizzle},
          Case{"tf32", 32, 32, swizzle}, Case{"s8", 8, 16, swizzle}})
      EXPECT_EQ(multiply(form), "") << form.type << swizzle;
  EXPECT_EQ(multiply({"bf16", 16, 256, 128}), "");
}

TEST_F(WarpgroupTest, MultipliesTransposedMatrices) {
  for (int swizzle : {16, 32, 64, 128}) {
    EXPECT_EQ(multiply({"bf16", 16, 128, swizzle, false, true}), "") << swizzle;
    EXPECT_EQ(multiply({"f16", 16, 64, swizzle, true, false}), "") << swizzle;
    EXPECT_EQ(multiply({"bf16", 16, 64, swizzle, true, true}), "") << swizzle;
  }
}

TEST_F(WarpgroupTest, MultipliesRegisters) {
  for (Case form : {Case{"bf16", 16, 64, 128}, Case{"tf32", 32, 32, 128},
                    Case{"s8", 8, 16, 128}}) {
    form.isAInRegisters = true;
    EXPECT_EQ(multiply(form), "") << form.type;
  }
  EXPECT_EQ(multiply({"bf16", 16, 64, 128, false, true, true}), "");
}

const Case kPlain = {"bf16", 16, 16, 128};

TEST_F(WarpgroupTest, SumsAreGarbageBeforeTheirWait) {
  Bugs bugs;
  bugs.hasWait = false;
  EXPECT_EQ(multiply(kPlain, bugs), "1024 wrong sums");
  bugs = {};
  bugs.hasCommit = false;
  EXPECT_EQ(multiply(kPlain, bugs), "1024 wrong sums");
}

TEST_F(WarpgroupTest, FailsWithoutItsFence) {
  Bugs bugs;
  bugs.hasFence = false;
  std::string sentence = multiply(kPlain, bugs);
  EXPECT_NE(
      sentence.find("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
                    "without wgmma.fence since"),
      std::string::npos)
      << sentence;
}

TEST_F(WarpgroupTest, FailsIfWhatItReadsIsOverwritten) {
  const std::string overwrite =
      "  %wp = getelementptr i8, ptr addrspace(3) @ta, i32 %t\n"
      "  store i8 1, ptr addrspace(3) %wp, align 1\n";
  const std::string barrier =
      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  Bugs bugs;
  bugs.behindWait = barrier + overwrite;
  EXPECT_EQ(multiply(kPlain, bugs), "");
  bugs = {};
  bugs.beforeWait = barrier + overwrite;
  std::string sentence = multiply(kPlain, bugs);
  EXPECT_NE(sentence.find("race: writes shared byte 0, which wgmma of "
                          "warpgroup 0 reads without a barrier in between"),
            std::string::npos)
      << sentence;
}

/// Thread 127 comes first and ends both groups; thread 0, which waits for one
/// of them, must not know.
TEST_F(WarpgroupTest, WhoWaitedForAGroupKnowsNothingOfTheNext) {
  auto wait = [](int groups) {
    return "  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 " +
           number(groups) +
           ")\n"
           "  br i1 %isFirst, label %spoil, label %on\n"
           "spoil:\n"
           "  store i8 1, ptr addrspace(3) @ta, align 1\n"
           "  br label %on\n"
           "on:\n";
  };
  Bugs bugs;
  bugs.betweenProducts =
      "  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()\n";
  bugs.beforeWait = wait(0);
  EXPECT_EQ(multiply(kPlain, bugs), "");
  bugs.beforeWait = wait(1);
  std::string sentence = multiply(kPlain, bugs);
  EXPECT_NE(sentence.find("thread (0, 0, 0): race: writes shared byte 0, which "
                          "wgmma of warpgroup 0 reads"),
            std::string::npos)
      << sentence;
}

/// What threads write themselves, wgmma finds behind a fence between proxies.
TEST_F(WarpgroupTest, FailsWithoutAFenceBetweenProxies) {
  auto kernelOf = [&](const std::string &fence) {
    Bugs bugs;
    SharedMatrix a(kPlain, 64, false, [](int, int) { return 0x3f80; });
    std::string text = kernel(kPlain, a, a, bugs);
    const std::string go = "\ngo:\n";
    text.insert(text.find(go) + go.size(),
                "  %wi = mul i32 %t, 2\n"
                "  %wp = getelementptr i8, ptr addrspace(3) @ta, i32 %wi\n"
                "  store i16 0, ptr addrspace(3) %wp, align 2\n" +
                    fence +
                    "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 "
                    "0)\n");
    return text;
  };
  for (bool hasFence : {true, false}) {
    SharedMatrix a(kPlain, 64, false, [](int, int) { return 0x3f80; });
    alignas(16) static uint8_t bytes[1 << 15];
    std::vector<uint32_t> out(128 * 8);
    ASSERT_TRUE(load(kernelOf(
        hasFence ? "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n"
                 : "")))
        << problem;
    ASSERT_LE(a.bytes.size(), sizeof(bytes));
    memory.add(bytes, sizeof(bytes));
    for (int i = 0; i < 3; ++i)
      passWord(reinterpret_cast<uint64_t>(bytes));
    pass(out);
    launch.block = {128, 1, 1};
    std::string sentence = run();
    if (hasFence)
      EXPECT_EQ(sentence, "");
    else
      EXPECT_NE(sentence.find("wrote without fence.proxy.async in between"),
                std::string::npos)
          << sentence;
  }
}

} // namespace
