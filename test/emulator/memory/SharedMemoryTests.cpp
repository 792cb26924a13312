//===- SharedMemoryTests.cpp - Races, deadlocks, bytes nobody wrote -------===//
//
// Each bug is planted in a kernel that is right without it.
//
//===----------------------------------------------------------------------===//

#include "test/emulator/KernelTest.h"
#include "test/emulator/warps/WarpKernels.h"

#include <cstdlib>
#include <numeric>

using namespace heddle::emulator;

namespace {

const char kBarrier[] =
    "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
const char kWarpBarrier[] = "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n";
const char kDeclarations[] =
    "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
    "declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)\n"
    "declare void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32, i32)\n"
    "declare void @llvm.nvvm.bar.warp.sync(i32)\n";

/// %o0 = what thread `partner` put into shared memory: between the store and
/// the load stands `between`, behind both `behind`.
std::string exchange(const std::string &between, const std::string &behind = "",
                     const std::string &partner = "xor i32 %t, 33") {
  return "@tile = internal addrspace(3) global [64 x i32] undef, align 16\n" +
         wordKernel(1, 1,
                    "  %p = getelementptr i32, ptr addrspace(3) @tile, i32 %t\n"
                    "  %other = " +
                        partner +
                        "\n"
                        "  %q = getelementptr i32, ptr addrspace(3) @tile, i32 "
                        "%other\n"
                        "  store i32 %i0, ptr addrspace(3) %p, align 4\n" +
                        between +
                        "  %o0 = load i32, ptr addrspace(3) %q, align 4\n" +
                        behind,
                    kDeclarations);
}

class SharedMemoryTest : public KernelTest {
protected:
  /// Runs with 64 threads, of which thread t reads 100 + t.
  std::string runWith(const std::string &text) {
    in.resize(64);
    out.assign(64, -1);
    std::iota(in.begin(), in.end(), 100);
    if (!load(text))
      return problem;
    pass(in);
    pass(out);
    launch.block = {64, 1, 1};
    return run();
  }
  void expectFailure(const std::string &text, const std::string &part) {
    std::string sentence = runWith(text);
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
  }

  std::vector<int> in, out;
};

TEST_F(SharedMemoryTest, BarriersOrderAccesses) {
  EXPECT_EQ(runWith(exchange(kBarrier)), "");
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], 100 + (t ^ 33));
}

TEST_F(SharedMemoryTest, FailsWithoutABarrier) {
  // Thread 0 comes first.
  expectFailure(exchange(""), "reads shared byte 132, which nobody wrote");
  // The second warp finds what the first one wrote: by luck.
  const char *partner = "and i32 %t, 31";
  EXPECT_EQ(runWith(exchange(kBarrier, "", partner)), "");
  expectFailure(exchange(kWarpBarrier, "", partner),
                "race: reads shared byte 124, which thread (31, 0, 0) writes "
                "without a barrier in between");
}

TEST_F(SharedMemoryTest, FailsIfItIsOverwrittenTooEarly) {
  const std::string overwrite = "  store i32 7, ptr addrspace(3) %p, align 4\n";
  EXPECT_EQ(runWith(exchange(kBarrier, kBarrier + overwrite)), "");
  expectFailure(exchange(kBarrier, overwrite),
                "race: reads shared byte 252, which thread (63, 0, 0) writes "
                "without a barrier in between");
}

TEST_F(SharedMemoryTest, WarpBarriersOrderAWarp) {
  EXPECT_EQ(runWith(exchange(kWarpBarrier, "", "xor i32 %t, 5")), "");
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], 100 + (t ^ 5));
  expectFailure(exchange("", "", "xor i32 %t, 31"), "which nobody wrote");
}

TEST_F(SharedMemoryTest, FailsBehindTheLaunchsSharedMemory) {
  auto shifted = [](int by) {
    return "@tile = internal addrspace(3) global [64 x i32] undef, align 16\n" +
           wordKernel(1, 1,
                      "  %at = add i32 %t, " + std::to_string(by) +
                          "\n  %p = getelementptr i32, ptr addrspace(3) @tile, "
                          "i32 %at\n"
                          "  store i32 %i0, ptr addrspace(3) %p, align 4\n"
                          "  %o0 = load i32, ptr addrspace(3) %p, align 4\n",
                      kDeclarations);
  };
  EXPECT_EQ(runWith(shifted(0)), "");
  expectFailure(shifted(1),
                "thread (63, 0, 0): a write of 4 bytes at shared offset 256, "
                "the launch has 256 bytes of shared memory");
  EXPECT_EQ(code, 700);
}

TEST_F(SharedMemoryTest, FailsAtBytesThatNobodyWrote) {
  const std::string text =
      "@tile = internal addrspace(3) global [128 x i32] undef, align 16\n" +
      wordKernel(1, 1,
                 "  %at = add i32 %t, 64\n"
                 "  %p = getelementptr i32, ptr addrspace(3) @tile, i32 %at\n"
                 "  %o0 = load i32, ptr addrspace(3) %p, align 4\n",
                 kDeclarations);
  expectFailure(text, "reads shared byte 256, which nobody wrote");
}

TEST_F(SharedMemoryTest, FailsAtSharedAddressesThatAreNotAligned) {
  auto wide = [](int offset) {
    return "@tile = internal addrspace(3) global [264 x i32] undef, align "
           "16\n" +
           wordKernel(
               1, 1,
               "  %w = mul i32 %t, 4\n"
               "  %at = add i32 %w, " +
                   std::to_string(offset) +
                   "\n"
                   "  %p = getelementptr i32, ptr addrspace(3) @tile, i32 %at\n"
                   "  store <4 x i32> splat (i32 3), ptr addrspace(3) %p, "
                   "align "
                   "16\n"
                   "  %o0 = load i32, ptr addrspace(3) %p, align 4\n",
               kDeclarations);
  };
  EXPECT_EQ(runWith(wide(4)), "");
  expectFailure(wide(2), "a write of 16 bytes at shared offset 8, which is not "
                         "a multiple of 16");
  EXPECT_EQ(code, 716);
}

TEST_F(SharedMemoryTest, AtomicsAreNoRace) {
  auto count = [](const std::string &update) {
    return "@sum = internal addrspace(3) global i32 undef, align 4\n" +
           wordKernel(1, 1,
                      "  %isFirst = icmp eq i32 %t, 0\n"
                      "  br i1 %isFirst, label %init, label %go\n"
                      "init:\n"
                      "  store i32 0, ptr addrspace(3) @sum, align 4\n"
                      "  br label %go\n"
                      "go:\n" +
                          (kBarrier + update) + kBarrier +
                          "  %o0 = load i32, ptr addrspace(3) @sum, align 4\n",
                      kDeclarations);
  };
  EXPECT_EQ(runWith(count("  %x = atomicrmw add ptr addrspace(3) @sum, i32 %i0 "
                          "syncscope(\"block\") monotonic, align 4\n")),
            "");
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], 64 * 100 + 63 * 32);
  expectFailure(count("  %v = load i32, ptr addrspace(3) @sum, align 4\n"
                      "  %w = add i32 %v, %i0\n"
                      "  store i32 %w, ptr addrspace(3) @sum, align 4\n"),
                "race: ");
}

//===----------------------------------------------------------------------===//
// Barriers that somebody does not reach
//===----------------------------------------------------------------------===//

std::string forFirstWarp(const std::string &first, const std::string &second) {
  return wordKernel(1, 1,
                    "  %o0 = add i32 %i0, 1\n"
                    "  %isFirst = icmp ult i32 %t, 32\n"
                    "  br i1 %isFirst, label %one, label %two\n"
                    "one:\n" +
                        first + "  br label %end\ntwo:\n" + second +
                        "  br label %end\nend:\n",
                    kDeclarations);
}

TEST_F(SharedMemoryTest, NamesWhoWaitsAtADeadlock) {
  EXPECT_EQ(runWith(forFirstWarp(kBarrier, kBarrier)), "");
  EXPECT_EQ(runWith(forFirstWarp(kBarrier, "")),
            "kernel 'k', block (0, 0, 0): deadlock: threads 32 to 63 have "
            "ended; threads 0 to 31 wait at barrier 0 (32 of 64 threads are "
            "there)");
  EXPECT_EQ(code, 702);
}

TEST_F(SharedMemoryTest, NamedBarriersCountArrivals) {
  auto call = [](const char *kind, int number, int count) {
    return std::string("  call void @llvm.nvvm.barrier.cta.") + kind +
           ".aligned.count(i32 " + std::to_string(number) + ", i32 " +
           std::to_string(count) + ")\n";
  };
  EXPECT_EQ(runWith(forFirstWarp(call("sync", 1, 64), call("arrive", 1, 64))),
            "");
  EXPECT_EQ(runWith(forFirstWarp(call("sync", 1, 64), call("arrive", 2, 64))),
            "kernel 'k', block (0, 0, 0): deadlock: threads 32 to 63 have "
            "ended; threads 0 to 31 wait at barrier 1 (32 of 64 threads are "
            "there)");
  expectFailure(forFirstWarp(call("sync", 1, 64), call("sync", 1, 32)),
                "barrier 1 for 32 threads, others are there for 64");
  expectFailure(forFirstWarp(call("sync", 1, 60), ""), "a multiple of 32");
}

TEST_F(SharedMemoryTest, BarriersReducePredicates) {
  // 21 of 64 threads say yes.
  auto reduce = [](const std::string &kind, const std::string &type) {
    std::string name = "@llvm.nvvm.barrier.cta.red." + kind + ".aligned.all";
    return wordKernel(1, 1,
                      "  %m = urem i32 %i0, 3\n"
                      "  %p = icmp eq i32 %m, 2\n"
                      "  %r = call " +
                          type + " " + name + "(i32 0, i1 %p)\n" +
                          (type == "i1" ? "  %o0 = zext i1 %r to i32\n"
                                        : "  %o0 = add i32 %r, 0\n"),
                      "declare " + type + " " + name + "(i32, i1)\n");
  };
  for (auto [kind, type, expected] :
       {std::tuple("popc", "i32", 21), std::tuple("and", "i1", 0),
        std::tuple("or", "i1", 1)}) {
    EXPECT_EQ(runWith(reduce(kind, type)), "");
    EXPECT_EQ(out, std::vector<int>(64, expected)) << kind;
  }
}

TEST_F(SharedMemoryTest, FailsWhereAWarpParts) {
  const std::string other = "  call void @llvm.nvvm.bar.warp.sync(i32 1)\n";
  std::string text =
      wordKernel(1, 1,
                 "  %o0 = add i32 %i0, 1\n"
                 "  %isFirst = icmp eq i32 %t, 0\n"
                 "  br i1 %isFirst, label %one, label %end\n"
                 "one:\n" +
                     std::string(kWarpBarrier) + "  br label %end\nend:\n",
                 kDeclarations);
  EXPECT_EQ(runWith(text),
            "kernel 'k', block (0, 0, 0): deadlock: threads 1 to 63 have "
            "ended; threads 0 wait at bar.warp.sync (mask 0xffffffff, 0x1 are "
            "there)");
}

/// Blocks on several threads of the host have shared memory of their own.
TEST_F(SharedMemoryTest, BlocksRunOnSeveralThreadsOfTheHost) {
  setenv("HEDDLE_EMULATOR_THREADS", "3", 1);
  Machine threads;
  unsetenv("HEDDLE_EMULATOR_THREADS");
  in.resize(64);
  out.assign(64, -1);
  std::iota(in.begin(), in.end(), 100);
  ASSERT_TRUE(load(exchange(kBarrier))) << problem;
  memory.add(in.data(), 256);
  memory.add(out.data(), 256);
  uint64_t words[] = {reinterpret_cast<uint64_t>(in.data()),
                      reinterpret_cast<uint64_t>(out.data())};
  launch.parameters = {&words[0], &words[1]};
  launch.grid = {300, 1, 1};
  launch.block = {64, 1, 1};
  std::optional<Failure> failure =
      threads.run(*program->kernel("k", problem), launch, memory);
  EXPECT_FALSE(failure) << failure->sentence;
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], 100 + (t ^ 33));
}

/// Dynamic shared memory is where the module's own ends.
TEST_F(SharedMemoryTest, DynamicMemoryIsBehindStatic) {
  const std::string text =
      "@own = internal addrspace(3) global [3 x i32] undef, align 4\n"
      "@dynamic = external addrspace(3) global [0 x i8], align 128\n" +
      wordKernel(1, 1,
                 "  %base = ptrtoint ptr addrspace(3) @dynamic to i32\n"
                 "  %low = and i32 %base, 255\n"
                 "  %p = getelementptr i32, ptr addrspace(3) @dynamic, i32 %t\n"
                 "  store i32 %i0, ptr addrspace(3) %p, align 4\n"
                 "  %generic = addrspacecast ptr addrspace(3) %p to ptr\n"
                 "  %v = load i32, ptr %generic, align 4\n"
                 "  store i32 1, ptr addrspace(3) @own, align 4\n"
                 "  %o0 = add i32 %v, %low\n",
                 kDeclarations);
  in.assign(1, 5);
  out.assign(1, 0);
  ASSERT_TRUE(load(text)) << problem;
  pass(in);
  pass(out);
  launch.dynamicSharedBytes = 4;
  EXPECT_EQ(run(), "");
  // At a multiple of 128, and of no more.
  EXPECT_EQ(out[0], 5 + 128);
}

} // namespace
