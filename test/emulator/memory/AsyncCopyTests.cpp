//===- AsyncCopyTests.cpp - cp.async, mbarriers and bulk copies -----------===//
//
// Copies that were waited for, and the same kernels without the wait.
//
//===----------------------------------------------------------------------===//

#include "test/emulator/KernelTest.h"
#include "test/emulator/warps/WarpKernels.h"

#include <numeric>

using namespace heddle::emulator;

namespace {

const char kBarrier[] =
    "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

class AsyncCopyTest : public KernelTest {
protected:
  void expectFailure(const std::string &text, const std::string &part) {
    std::string sentence = runWith(text);
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
  }
  /// Runs with 32 threads; `in` are 0, 1, 2...
  std::string runWith(const std::string &text) {
    in.resize(32 * 4 + 4);
    // cp.async needs 16 bytes.
    first = in.data();
    while (reinterpret_cast<uintptr_t>(first) % 16)
      ++first;
    std::iota(first, first + 128, 0);
    out.assign(32, -1);
    if (!load(text))
      return problem;
    memory.add(first, 512);
    passWord(reinterpret_cast<uint64_t>(first));
    pass(out);
    launch.block = {32, 1, 1};
    return run();
  }

  std::vector<int> in, out;
  int *first = nullptr;
};

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// Two copies of 16 bytes a thread, each a group, to two tiles; %o0 is the
/// second word of the neighbour's first copy.
std::string copyKernel(const std::string &between,
                       const std::string &size = "") {
  std::string name = "llvm.nvvm.cp.async.cg.shared.global.16" +
                     std::string(size.empty() ? "" : ".s");
  std::string types = size.empty() ? "" : ", i32";
  std::string operand = size.empty() ? "" : ", i32 " + size;
  auto copy = [&](int tile) {
    return "  call void @" + name + "(ptr addrspace(3) %p" +
           std::to_string(tile) + ", ptr addrspace(1) %g" + operand + ")\n" +
           "  call void @llvm.nvvm.cp.async.commit.group()\n";
  };
  return "@tiles = internal addrspace(3) global [2 x [32 x [4 x i32]]] undef, "
         "align 16\n" +
         wordKernel(
             0, 1,
             "  %w = mul i32 %t, 4\n"
             "  %g = getelementptr i32, ptr addrspace(1) %in, i32 %w\n"
             "  %p0 = getelementptr [2 x [32 x [4 x i32]]], ptr addrspace(3) "
             "@tiles, i32 0, i32 0, i32 %t\n"
             "  %p1 = getelementptr [2 x [32 x [4 x i32]]], ptr addrspace(3) "
             "@tiles, i32 0, i32 1, i32 %t\n"
             "  %other = xor i32 %t, 1\n"
             "  %q = getelementptr [2 x [32 x [4 x i32]]], ptr addrspace(3) "
             "@tiles, i32 0, i32 0, i32 %other, i32 1\n" +
                 copy(0) + copy(1) + between +
                 "  %o0 = load i32, ptr addrspace(3) %q, align 4\n",
             "declare void @" + name + "(ptr addrspace(3), ptr addrspace(1)" +
                 types +
                 ")\n"
                 "declare void @llvm.nvvm.cp.async.commit.group()\n"
                 "declare void @llvm.nvvm.cp.async.wait.group(i32)\n"
                 "declare void "
                 "@llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n");
}

std::string waitFor(int groups) {
  return "  call void @llvm.nvvm.cp.async.wait.group(i32 " +
         std::to_string(groups) + ")\n";
}

TEST_F(AsyncCopyTest, CopiesAreThereWhenTheirGroupWasWaitedFor) {
  for (int groups : {0, 1}) {
    EXPECT_EQ(runWith(copyKernel(waitFor(groups) + kBarrier)), "");
    for (int t = 0; t < 32; ++t)
      EXPECT_EQ(out[t], 4 * (t ^ 1) + 1);
  }
}

TEST_F(AsyncCopyTest, FailsWithoutTheWait) {
  const std::string part =
      "thread (31, 0, 0): reads shared byte 484, to which an asynchronous copy "
      "of thread (30, 0, 0) is under way: nobody has waited for it";
  expectFailure(copyKernel(kBarrier), part);
  // One group too many may be under way.
  expectFailure(copyKernel(waitFor(2) + kBarrier), part);
}

TEST_F(AsyncCopyTest, FailsWithoutTheBarrierBehindTheWait) {
  expectFailure(copyKernel(kBarrier + waitFor(1)), "is under way");
  expectFailure(copyKernel(waitFor(1)), "nobody wrote");
}

TEST_F(AsyncCopyTest, FillsWithZeros) {
  EXPECT_EQ(runWith(copyKernel(waitFor(0) + kBarrier, "4")), "");
  for (int t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], 0);
}

TEST_F(AsyncCopyTest, FailsBehindTheSource) {
  std::string text = copyKernel(waitFor(0) + kBarrier);
  ASSERT_TRUE(load(text));
  in.assign(132, 1);
  out.assign(32, 0);
  int *start = in.data();
  while (reinterpret_cast<uintptr_t>(start) % 16)
    ++start;
  memory.add(start, 31 * 16 + 12);
  passWord(reinterpret_cast<uint64_t>(start));
  pass(out);
  launch.block = {32, 1, 1};
  std::string sentence = run();
  EXPECT_NE(sentence.find("thread (31, 0, 0): reads 16 bytes at 0x"),
            std::string::npos)
      << sentence;
}

//===----------------------------------------------------------------------===//
// mbarriers and bulk copies
//===----------------------------------------------------------------------===//

/// Thread 0 asks for 512 bytes and announces `announced`; all wait if `waits`.
const char kInitFence[] =
    "  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()\n";
const char kInitFenceDeclaration[] =
    "declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()\n";

std::string plainBulk(int announced, bool waits,
                      const std::string &initFence = kInitFence) {
  const std::string copy =
      "  call void asm sideeffect "
      "\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[$0], [$1], 512, [$2];\", \"r,l,r\"(i32 ptrtoint (ptr addrspace(3) "
      "@tile to i32), ptr addrspace(1) %in, i32 %barrier)\n";
  const std::string wait =
      "  call void asm sideeffect \"{\\0A.reg .pred P1;\\0AW:\\0A"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [$0], $1;\\0A"
      "@P1 bra.uni D;\\0Abra.uni W;\\0AD:\\0A}\", \"r,r,~{memory}\"("
      "i32 %barrier, i32 0)\n";
  return "@tile = internal addrspace(3) global [128 x i32] undef, align 1024\n"
         "@full = internal addrspace(3) global i64 undef, align 8\n" +
         wordKernel(
             0, 1,
             "  %barrier = ptrtoint ptr addrspace(3) @full to i32\n"
             "  %isFirst = icmp eq i32 %t, 0\n"
             "  br i1 %isFirst, label %init, label %ready\n"
             "init:\n"
             "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) "
             "@full, i32 1)\n" +
                 initFence +
                 "  br label %ready\n"
                 "ready:\n" +
                 std::string(kBarrier) +
                 "  br i1 %isFirst, label %ask, label %wait\n"
                 "ask:\n"
                 "  %s = call i64 "
                 "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
                 "addrspace(3) @full, i32 " +
                 std::to_string(announced) + ")\n" + copy +
                 "  br label %wait\nwait:\n" + (waits ? wait : "") +
                 (waits ? "" : kBarrier) +
                 "  %w = mul i32 %t, 4\n"
                 "  %q = getelementptr i32, ptr addrspace(3) @tile, i32 %w\n"
                 "  %o0 = load i32, ptr addrspace(3) %q, align 4\n",
             "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
             "declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), "
             "i32)\n"
             "declare i64 "
             "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
             "addrspace(3), i32)\n" +
                 std::string(kInitFenceDeclaration));
}

TEST_F(AsyncCopyTest, BulkCopiesAreThereWhenTheirPhaseIsOver) {
  EXPECT_EQ(runWith(plainBulk(512, true)), "");
  for (int t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], 4 * t);
}

TEST_F(AsyncCopyTest, FailsWithoutTheWaitForABulkCopy) {
  expectFailure(
      plainBulk(512, false),
      ", to which an asynchronous copy of thread (0, 0, 0) is under way");
}

TEST_F(AsyncCopyTest, WaitsForeverIfBytesWereAnnouncedWrongly) {
  expectFailure(plainBulk(528, true),
                "deadlock: threads 0 to 31 wait at the mbarrier at shared byte "
                "512 (phase 0: 0 of 1 arrivals missing, 528 bytes announced, "
                "512 under way)");
}

TEST_F(AsyncCopyTest, FailsWithoutAFenceBehindTheInitialisation) {
  expectFailure(plainBulk(512, true, ""),
                "behind which thread (0, 0, 0) made no fence.mbarrier_init or "
                "fence.proxy.async");
}

/// test_wait does not wait: others run between two questions.
TEST_F(AsyncCopyTest, QuestionsInALoopLetOthersRun) {
  std::string text = plainBulk(512, true);
  const std::string blocking = "try_wait";
  text.replace(text.find(blocking), blocking.size(), "test_wait");
  EXPECT_EQ(runWith(text), "");
  EXPECT_EQ(out[31], 4 * 31);
  text = plainBulk(528, true);
  text.replace(text.find(blocking), blocking.size(), "test_wait");
  expectFailure(text, "deadlock: threads 0 to 31 wait at the mbarrier");
}

TEST_F(AsyncCopyTest, FailsAtAnMbarrierThatNobodyInitialised) {
  std::string text = plainBulk(512, true);
  const std::string init =
      "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @full, "
      "i32 1)\n";
  text.erase(text.find(init), init.size());
  expectFailure(text, "no mbarrier was initialised at shared byte 512");
}

/// Thread 1 arrives, writes and arrives again, before thread 0, which waits for
/// the first phase, goes on.
TEST_F(AsyncCopyTest, WhoWaitedForAPhaseKnowsNothingOfTheNext) {
  auto wait = [](int parity) {
    std::string number = std::to_string(parity);
    return "  %done" + number +
           " = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta("
           "ptr addrspace(3) @bar, i32 " +
           number + ")\n";
  };
  auto text = [](const std::string &waits) {
    return "@value = internal addrspace(3) global i32 undef, align 4\n"
           "@bar = internal addrspace(3) global i64 undef, align 8\n" +
           wordKernel(
               0, 0,
               "  %isFirst = icmp eq i32 %t, 0\n"
               "  br i1 %isFirst, label %init, label %ready\n"
               "init:\n"
               "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) "
               "@bar, i32 1)\n"
               "  br label %ready\n"
               "ready:\n" +
                   std::string(kBarrier) +
                   "  switch i32 %t, label %end [ i32 0, label %wait\n"
                   "                              i32 1, label %arrive ]\n"
                   "arrive:\n"
                   "  %a = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr "
                   "addrspace(3) @bar)\n"
                   "  store i32 1, ptr addrspace(3) @value, align 4\n"
                   "  %b = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr "
                   "addrspace(3) @bar)\n"
                   "  br label %end\n"
                   "wait:\n" +
                   waits +
                   "  store i32 2, ptr addrspace(3) @value, align 4\n"
                   "  br label %end\n"
                   "end:\n",
               "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
               "declare void @llvm.nvvm.mbarrier.init.shared(ptr "
               "addrspace(3), i32)\n"
               "declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr "
               "addrspace(3))\n"
               "declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta."
               "space.cta(ptr addrspace(3), i32)\n");
  };
  EXPECT_EQ(runWith(text(wait(0) + wait(1))), "");
  // Threads 2 to 31 run first, then 0: it waits.
  expectFailure(text(wait(0)),
                "thread (0, 0, 0): race: writes shared byte 0, which "
                "thread (1, 0, 0) writes without a barrier in "
                "between");
}

//===----------------------------------------------------------------------===//
// Bulk stores
//===----------------------------------------------------------------------===//

/// Threads write 4 t to shared memory; thread 0 stores all to the outputs.
std::string storeKernel(const std::string &fence, const std::string &wait) {
  return "@tile = internal addrspace(3) global [32 x i32] undef, align 128\n" +
         wordKernel(
             0, 0,
             "  %v = mul i32 %t, 4\n"
             "  %p = getelementptr i32, ptr addrspace(3) @tile, i32 %t\n"
             "  store i32 %v, ptr addrspace(3) %p, align 4\n" +
                 fence + kBarrier +
                 "  %isFirst = icmp eq i32 %t, 0\n"
                 "  br i1 %isFirst, label %store, label %end\n"
                 "store:\n"
                 "  call void "
                 "@llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr "
                 "addrspace(1) %out, ptr addrspace(3) @tile, i32 128, i64 0, "
                 "i1 "
                 "false)\n"
                 "  call void @llvm.nvvm.cp.async.bulk.commit.group()\n" +
                 wait + "  br label %end\nend:\n",
             "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
             "declare void @llvm.nvvm.fence.proxy.async.shared_cta()\n"
             "declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr "
             "addrspace(1), ptr addrspace(3), i32, i64, i1)\n"
             "declare void @llvm.nvvm.cp.async.bulk.commit.group()\n"
             "declare void @llvm.nvvm.cp.async.bulk.wait.group.read(i32)\n");
}

TEST_F(AsyncCopyTest, BulkStoresNeedAFenceAndAWait) {
  const std::string fence =
      "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n";
  const std::string wait =
      "  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)\n";
  auto store = [&](const std::string &text) {
    alignas(16) static int stored[32];
    if (!load(text))
      return problem;
    memory.add(stored, sizeof(stored));
    passWord(0);
    passWord(reinterpret_cast<uint64_t>(stored));
    launch.block = {32, 1, 1};
    std::string sentence = run();
    out.assign(stored, stored + 32);
    return sentence;
  };
  EXPECT_EQ(store(storeKernel(fence, wait)), "");
  for (int t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], 4 * t);
  std::string sentence = store(storeKernel("", wait));
  EXPECT_NE(sentence.find("wrote without fence.proxy.async in between"),
            std::string::npos)
      << sentence;
  sentence = store(storeKernel(fence, ""));
  EXPECT_NE(sentence.find("the thread ends while bulk stores read its shared "
                          "memory"),
            std::string::npos)
      << sentence;
}

} // namespace
