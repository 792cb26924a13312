//===- ClusterTests.cpp - Blocks that reach into each other's memory ------===//
//
// Two blocks of a cluster, and the same kernels with something missing.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include <numeric>

using namespace heddle::emulator;

namespace {

const char kArrive[] =
    "  call void @llvm.nvvm.barrier.cluster.arrive.aligned()\n";
const char kArriveRelaxed[] =
    "  call void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned()\n";
const char kWait[] = "  call void @llvm.nvvm.barrier.cluster.wait.aligned()\n";
const std::string kMeet = std::string(kArrive) + kWait;

/// A kernel of 32 threads a block that leaves %o, which is stored by thread of
/// the grid. The body finds %t, %rank, the other block's rank, a word of shared
/// memory of the thread's own and the same one of the other block, and an
/// mbarrier @bar.
std::string clusterKernel(const std::string &body,
                          const std::string &dims = "2,1,1") {
  return R"(
@words = internal addrspace(3) global [32 x i32] undef, align 128
@bar = internal addrspace(3) global i64 undef, align 8
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %otherRank = xor i32 %rank, 1
  %first = mul i32 %block, 32
  %i = add i32 %first, %t
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %i
  %own = getelementptr i32, ptr addrspace(3) @words, i32 %t
  %other = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(
      ptr addrspace(3) %own, i32 %otherRank)
  %isFirst = icmp eq i32 %t, 0
  %isFirstBlock = icmp eq i32 %rank, 0
)" + body +
         R"(
  store i32 %o, ptr addrspace(1) %to, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.clusterid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nclusterid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.nctarank()
declare ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3), i32)
declare void @llvm.nvvm.barrier.cluster.arrive.aligned()
declare void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned()
declare void @llvm.nvvm.barrier.cluster.wait.aligned()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.count(i32, i32)
declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare void @llvm.nvvm.mbarrier.arrive.scope.cluster.space.cluster(
    ptr addrspace(7), i32)
declare void @llvm.nvvm.mbarrier.arrive.scope.cta.space.cluster(
    ptr addrspace(7), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(
    ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cluster.space.cta(
    ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(
    ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(
    ptr addrspace(7), ptr addrspace(3), ptr addrspace(1), i32, i16, i64, i1, i1)
attributes #0 = { "nvvm.cluster_dim"=")" +
         dims + "\" }\n";
}

class ClusterTest : public KernelTest {
protected:
  /// Runs two clusters; `in` are 0, 1, 2...
  std::string runBlocks(const std::string &text, unsigned blocks = 4) {
    if (!load(text))
      return problem;
    std::iota(in, in + 32, 0);
    memory.add(in, sizeof(in));
    passWord(reinterpret_cast<uint64_t>(in));
    out.assign(32 * blocks, -1);
    pass(out);
    launch.grid = {blocks, 1, 1};
    launch.block = {32, 1, 1};
    return run();
  }
  void expectFailure(const std::string &text, const std::string &part) {
    std::string sentence = runBlocks(text);
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
  }

  alignas(16) int in[32];
  std::vector<int> out;
};

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

TEST_F(ClusterTest, BlocksKnowTheirPlace) {
  ASSERT_EQ(runBlocks(clusterKernel(
                "  %c = call i32 @llvm.nvvm.read.ptx.sreg.clusterid.x()\n"
                "  %n = call i32 @llvm.nvvm.read.ptx.sreg.nclusterid.x()\n"
                "  %m = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctarank()\n"
                "  %c1 = mul i32 %c, 1000\n"
                "  %n1 = mul i32 %n, 100\n"
                "  %m1 = mul i32 %m, 10\n"
                "  %s = add i32 %c1, %n1\n"
                "  %s1 = add i32 %s, %m1\n"
                "  %o = add i32 %s1, %rank\n")),
            "");
  for (int block = 0; block < 4; ++block)
    EXPECT_EQ(out[32 * block], block / 2 * 1000 + 220 + block % 2);
}

TEST_F(ClusterTest, GridsAreMultiplesOfClusters) {
  EXPECT_EQ(runBlocks(clusterKernel("  %o = add i32 0, 0\n"), 3),
            "kernel 'k': 3 blocks, expected a multiple of the 2 of a cluster");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(runBlocks(clusterKernel("  %o = add i32 0, 0\n", "1,2,1")),
            "clusters of 'k' are not 1 to 8 blocks along x");
}

TEST_F(ClusterTest, FailsAtABlockThatIsNotThere) {
  expectFailure(
      clusterKernel("  %p = call ptr addrspace(7) "
                    "@llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %own, i32 "
                    "2)\n  %o = ptrtoint ptr addrspace(7) %p to i32\n"),
      "mapa.shared.cluster to block 2 of a cluster of 2");
}

//===----------------------------------------------------------------------===//
// Words of another block
//===----------------------------------------------------------------------===//

/// Each thread writes its number in the grid, and reads that of its neighbour
/// in the other block.
std::string swapWords(const std::string &before, const std::string &after) {
  return clusterKernel(
      "  store i32 %i, ptr addrspace(3) %own, align 4\n" + before +
      "  %o = load i32, ptr addrspace(7) %other, align 4\n" + after);
}

TEST_F(ClusterTest, WordsOfOthersAreThereBehindABarrier) {
  EXPECT_EQ(runBlocks(swapWords(kMeet, kMeet)), "");
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(out[i], i ^ 32);
}

TEST_F(ClusterTest, GenericAddressesLeadThere) {
  EXPECT_EQ(runBlocks(clusterKernel(
                "  store i32 %i, ptr addrspace(3) %own, align 4\n" + kMeet +
                "  %g = addrspacecast ptr addrspace(7) %other to ptr\n"
                "  %a = load i32, ptr %g, align 4\n" +
                kMeet +
                "  %b = add i32 %a, 1000\n"
                "  store i32 %b, ptr %g, align 4\n" +
                kMeet + "  %o = load i32, ptr addrspace(3) %own, align 4\n")),
            "");
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(out[i], i + 1000);
}

TEST_F(ClusterTest, FailsWithoutTheFirstBarrier) {
  expectFailure(swapWords("", kMeet),
                "block (0, 0, 0), thread (0, 0, 0): reads in shared memory of "
                "block (1, 0, 0), which may not have begun: there is no "
                "barrier of the cluster in between");
}

TEST_F(ClusterTest, FailsWithoutTheLastBarrier) {
  expectFailure(swapWords(kMeet, ""),
                "its block ends while thread (31, 0, 0) of block (1, 0, 0) may "
                "reach into its shared memory: there is no barrier of the "
                "cluster in between");
}

TEST_F(ClusterTest, RelaxedArrivalsOrderNothing) {
  expectFailure(
      swapWords(std::string(kArriveRelaxed) + kWait, kMeet),
      "race: reads shared byte 124 of block (0, 0, 0), which thread (31, 0, 0) "
      "of block (0, 0, 0) writes without a barrier in between");
}

TEST_F(ClusterTest, EveryArrivalHasItsWait) {
  const std::string end = "  %o = add i32 0, 0\n";
  expectFailure(clusterKernel(kWait + end),
                "waits at the barrier of the cluster, without having arrived");
  expectFailure(clusterKernel(std::string(kArrive) + kArrive + end),
                "arrives at the barrier of the cluster again, without having "
                "waited");
  // Threads that have ended are not waited for.
  EXPECT_EQ(runBlocks(clusterKernel("  br i1 %isFirst, label %end, label %go\n"
                                    "go:\n" +
                                    kMeet + "  br label %end\nend:\n" + end)),
            "");
}

TEST_F(ClusterTest, SaysWhoWaitsInWhichBlock) {
  expectFailure(
      clusterKernel("  br i1 %isFirstBlock, label %meet, label %stay\n"
                    "stay:\n"
                    "  call void @llvm.nvvm.barrier.cta.sync.count(i32 1, i32 "
                    "32)\n  br i1 %isFirst, label %forever, label %meet\n"
                    "forever:\n"
                    "  call void @llvm.nvvm.barrier.cta.sync.count(i32 2, i32 "
                    "32)\n  br label %meet\n"
                    "meet:\n" +
                    kMeet + "  %o = add i32 0, 0\n"),
      "deadlock: threads 0 to 31 wait at the barrier of the cluster (1 of 64 "
      "threads are missing); in block (1, 0, 0), threads 0 wait at barrier 2 "
      "(1 of 32 threads are there); threads 1 to 31 wait at the barrier of the "
      "cluster");
}

//===----------------------------------------------------------------------===//
// mbarriers and copies
//===----------------------------------------------------------------------===//

/// Thread 0 of each block makes an mbarrier for one arrival.
std::string makeBarrier(const std::string &meet) {
  return "  br i1 %isFirst, label %init, label %ready\n"
         "init:\n"
         "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, "
         "i32 1)\n"
         "  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()\n"
         "  br label %ready\n"
         "ready:\n" +
         meet;
}

std::string waitForPhase(const std::string &scope) {
  return "  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope." +
         scope + ".space.cta(ptr addrspace(3) @bar, i32 0)\n";
}

/// Each block announces 128 bytes, which the first one copies to those of the
/// mask. Where nobody waits for them, the blocks meet.
std::string multicast(const std::string &mask, const std::string &meet = kMeet,
                      bool waits = true) {
  return clusterKernel(
      makeBarrier(meet) +
      "  br i1 %isFirst, label %expect, label %wait\n"
      "expect:\n"
      "  %s = call i64 "
      "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
      "addrspace(3) @bar, i32 128)\n"
      "  br i1 %isFirstBlock, label %copy, label %wait\n"
      "copy:\n"
      "  %there = addrspacecast ptr addrspace(3) @words to ptr addrspace(7)\n"
      "  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(ptr "
      "addrspace(7) %there, ptr addrspace(3) @bar, ptr addrspace(1) %in, i32 "
      "128, i16 " +
      mask +
      ", i64 0, i1 true, i1 false)\n"
      "  br label %wait\n"
      "wait:\n" +
      (waits ? waitForPhase("cta") : kMeet) +
      "  %v = load i32, ptr addrspace(3) %own, align 4\n"
      "  %o = add i32 %v, %first\n" +
      kMeet);
}

TEST_F(ClusterTest, CopiesReachAllBlocksOfAMask) {
  EXPECT_EQ(runBlocks(multicast("3")), "");
  EXPECT_EQ(out, [] {
    std::vector<int> all(128);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }());
}

TEST_F(ClusterTest, FailsAtMasksOfOtherBlocks) {
  const std::string copy = "cp.async.bulk.global.to.shared.cluster with mask ";
  expectFailure(multicast("7"), copy + "0x7, the cluster has 2 blocks");
  expectFailure(multicast("0"), copy + "0x0, the cluster has 2 blocks");
  expectFailure(multicast("1"), "in block (1, 0, 0), threads 0 to 31 wait at "
                                "the mbarrier at shared byte 128 (phase 0: 0 "
                                "of 1 arrivals missing, 128 bytes announced, 0 "
                                "under way)");
}

TEST_F(ClusterTest, CopiesNeedABarrierOfTheClusterInFront) {
  const std::string own =
      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  expectFailure(multicast("3", own),
                "cp.async.bulk.global.to.shared.cluster writes in shared "
                "memory of block (1, 0, 0), which may not have begun");
  expectFailure(multicast("3", own + kArriveRelaxed + kWait),
                "race: uses the mbarrier at shared byte 128 of block (1, 0, "
                "0), which thread (0, 0, 0) of block (1, 0, 0) initialises");
}

TEST_F(ClusterTest, CopiesAreWaitedForInEachBlock) {
  expectFailure(multicast("3", kMeet, /*waits=*/false),
                "to which an asynchronous copy of thread (0, 0, 0) of block "
                "(0, 0, 0) is under way");
  std::string text = multicast("3", kMeet, /*waits=*/false);
  const std::string load = "  %v = load i32, ptr addrspace(3) %own, align 4\n";
  text.replace(text.find(load), load.size(), "  %v = add i32 0, 0\n");
  expectFailure(text, "its block ends while a bulk copy writes its shared "
                      "memory: nobody has waited for the mbarrier");
}

/// The first block reads its words and says so to the second one, which then
/// overwrites them.
std::string handOver(const std::string &arrivalScope,
                     const std::string &waitScope,
                     const std::string &meetAtTheEnd = kMeet) {
  return clusterKernel(
      makeBarrier(kMeet) +
      "  br i1 %isFirstBlock, label %read, label %overwrite\n"
      "read:\n"
      "  store i32 %t, ptr addrspace(3) %own, align 4\n"
      "  %v = load i32, ptr addrspace(3) %own, align 4\n"
      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
      "  br i1 %isFirst, label %say, label %end\n"
      "say:\n"
      "  %there = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr "
      "addrspace(3) @bar, i32 1)\n"
      "  call void @llvm.nvvm.mbarrier.arrive.scope." +
      arrivalScope +
      ".space.cluster(ptr addrspace(7) %there, i32 1)\n"
      "  br label %end\n"
      "overwrite:\n" +
      waitForPhase(waitScope) +
      "  store i32 77, ptr addrspace(7) %other, align 4\n"
      "  br label %end\n"
      "end:\n"
      "  %o = add i32 0, 0\n" +
      meetAtTheEnd);
}

TEST_F(ClusterTest, ArrivalsReachOtherBlocks) {
  EXPECT_EQ(runBlocks(handOver("cluster", "cluster")), "");
  const std::string race =
      "race: writes shared byte 124 of block (0, 0, 0), which thread (31, 0, "
      "0) of block (0, 0, 0) writes";
  expectFailure(handOver("cta", "cluster"), race);
  expectFailure(handOver("cluster", "cta"), race);
}

TEST_F(ClusterTest, ArrivalsOfAnyScopeOrderReads) {
  // The words are there before the blocks meet.
  auto handOverWords = [](const std::string &arrival) {
    std::string text = handOver("cta", "cta");
    const std::string store =
        "  store i32 %t, ptr addrspace(3) %own, align 4\n";
    text.replace(text.find(store), store.size(), "");
    const std::string init = "  br i1 %isFirst, label %init, label %ready\n";
    text.insert(text.find(init), store);
    const std::string release = "mbarrier.arrive.scope.cta.space.cluster";
    for (size_t at = 0; (at = text.find(release, at)) != std::string::npos;
         at += arrival.size())
      text.replace(at, release.size(), arrival);
    return text;
  };
  EXPECT_EQ(runBlocks(handOverWords("mbarrier.arrive.scope.cta.space.cluster")),
            "");
  expectFailure(
      handOverWords("mbarrier.arrive.relaxed.scope.cta.space.cluster"),
      "race: writes shared byte 124 of block (0, 0, 0), which thread (31, 0, "
      "0) of block (0, 0, 0) reads");
}

TEST_F(ClusterTest, NoBlockEndsWhileOthersMayArrive) {
  expectFailure(handOver("cluster", "cluster", ""),
                "writes in shared memory of block (0, 0, 0), which has ended");
  // The second block knows of the arrival, but the first one of no store.
  std::string text = handOver("cluster", "cluster", "");
  const std::string store =
      "  store i32 77, ptr addrspace(7) %other, align 4\n";
  text.replace(text.find(store), store.size(), "");
  EXPECT_EQ(runBlocks(text), "");
  // Now nobody of the second block knows.
  const std::string wait = waitForPhase("cluster");
  text.replace(text.find(wait), wait.size(), "");
  expectFailure(text, "shared memory of block (1, 0, 0)");
}

TEST_F(ClusterTest, AssemblyHasTheSameForms) {
  const std::string meet =
      "  call void asm sideeffect \"barrier.cluster.arrive.release.aligned;"
      "\\0Abarrier.cluster.wait.acquire.aligned;\", \"~{memory}\"()\n";
  EXPECT_EQ(
      runBlocks(clusterKernel(
          makeBarrier(meet) +
          "  br i1 %isFirst, label %expect, label %wait\n"
          "expect:\n"
          "  %s = call i64 "
          "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
          "addrspace(3) @bar, i32 128)\n"
          "  br i1 %isFirstBlock, label %copy, label %wait\n"
          "copy:\n"
          "  call void asm sideeffect \"cp.async.bulk.shared::cluster.global."
          "mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1], 128, "
          "[$2], $3;\", \"r,l,r,h\"(i32 ptrtoint (ptr addrspace(3) @words to "
          "i32), ptr addrspace(1) %in, i32 ptrtoint (ptr addrspace(3) @bar to "
          "i32), i16 3)\n"
          "  br label %wait\n"
          "wait:\n"
          "  call void asm sideeffect \"{\\0A.reg .pred P1;\\0AW:\\0A"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P1, [$0], "
          "$1;\\0A@!P1 bra.uni W;\\0A}\", \"r,r,~{memory}\"(i32 ptrtoint (ptr "
          "addrspace(3) @bar to i32), i32 0)\n"
          "  %v = load i32, ptr addrspace(3) %own, align 4\n"
          "  %o = add i32 %v, %first\n" +
          meet)),
      "");
  EXPECT_EQ(out[100], 100);
}

} // namespace
