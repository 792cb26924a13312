//===- Operations.cpp - Intrinsics by name --------------------------------===//
//
// Names as IntrinsicsNVVM.td of LLVM 22 spells them, without `llvm.nvvm.`,
// taken apart at their dots. What a handler has to know stands in
// Operation::detail.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "RuntimeCalls.h"
#include "test/emulator/assembly/Parts.h"

#include <map>

using namespace heddle::emulator;

void heddle::emulator::doNothing(Context &, const Operation &, const uint64_t *,
                                 uint64_t *) {}

void heddle::emulator::endAtTrap(Context &context, const Operation &,
                                 const uint64_t *, uint64_t *) {
  fail(context, kIllegalInstruction, "a trap, or an assertion that failed");
}

namespace {
using Details = std::array<int, 6>;
} // namespace

static std::unique_ptr<Operation> make(std::string_view name, Handler handler,
                                       bool waits, Details detail = {}) {
  auto operation = std::make_unique<Operation>();
  operation->handler = handler;
  operation->name = name;
  operation->waits = waits;
  std::copy(detail.begin(), detail.end(), operation->detail);
  return operation;
}

//===----------------------------------------------------------------------===//
// Warps and barriers
//===----------------------------------------------------------------------===//

static std::unique_ptr<Operation> makeWarpIntrinsic(const Parts &parts) {
  std::string_view name = parts.whole();
  static const std::map<std::string_view, int> shuffles = {
      {"up", 0}, {"down", 1}, {"bfly", 2}, {"idx", 3}};
  static const std::map<std::string_view, int> votes = {
      {"all", kVoteAll},
      {"any", kVoteAny},
      {"uni", kVoteUniform},
      {"ballot", kVoteBallot}};
  static const std::map<std::string_view, int> reductions = {
      {"add", kReduceAdd},
      {"and", kReduceAnd},
      {"or", kReduceOr},
      {"xor", kReduceXor},
      {"min", kReduceMin},
      {"max", kReduceMax},
      {"umin", kReduceUnsignedMin},
      {"umax", kReduceUnsignedMax}};
  if (name == "activemask")
    return make(name, activeMask, true);
  if (name == "elect.sync")
    return make(name, elect, true);
  if (name == "bar.warp.sync")
    return make(name, synchronizeWarp, true);
  if (parts.startsWith("shfl.sync") && shuffles.count(parts[2]))
    return make(name, shuffle, true, {shuffles.at(parts[2])});
  if (parts[0] == "vote" && parts[2] == "sync" && votes.count(parts[1]))
    return make(name, vote, true, {votes.at(parts[1])});
  if (parts[0] == "match" && parts[2] == "sync")
    return make(name, match, true, {parts[1] == "all"});
  if (parts.startsWith("redux.sync") && parts.size() == 3 &&
      reductions.count(parts[2]))
    return make(name, reduce, true, {reductions.at(parts[2])});
  if (parts.startsWith("barrier.cluster.arrive"))
    return make(name, arriveAtCluster, true, {parts.has("relaxed")});
  if (parts.startsWith("barrier.cluster.wait"))
    return make(name, waitForCluster, true);
  if (parts.startsWith("mapa"))
    return make(name, mapToBlock, false, {!parts.has("cluster")});
  if (parts.startsWith("barrier.cta")) {
    static const std::map<std::string_view, int> kinds = {
        {"sync", kBarrierSync},
        {"arrive", kBarrierArrive},
        {"popc", kBarrierPopulation},
        {"and", kBarrierAnd},
        {"or", kBarrierOr}};
    auto kind = kinds.find(parts[2] == "red" ? parts[3] : parts[2]);
    if (kind != kinds.end())
      return make(name, synchronizeBlock, true,
                  {kind->second, parts.has("count")});
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

static std::unique_ptr<Operation> makeMatrixIntrinsic(const Parts &parts) {
  std::string_view name = parts.whole();
  bool isStore = parts[0] == "stmatrix";
  if ((parts[0] == "ldmatrix" || isStore) && parts[3] == "m8n8" &&
      parts.has("b16"))
    return make(name, isStore ? storeMatrix : loadMatrix, true,
                {parts[4][1] - '0', parts.has("trans")});
  if (parts[0] != "mma" || parts[2] != "row" || parts[3] != "col")
    return nullptr;
  // mma.m16n8kK.row.col[.satfinite].TYPES
  MatrixShape shape = readMatrixShape(parts[1]);
  if (shape.m != 16 || shape.n != 8)
    return nullptr;
  bool saturates = parts.has("satfinite");
  std::string_view a = parts[saturates ? 5 : 4];
  std::string_view b =
      parts.size() > (saturates ? 6u : 5u) ? parts[saturates ? 6 : 5] : a;
  auto made = [&](NumberKind kindA, NumberKind kindB, int from, int to) {
    return make(name, multiplyMatrices, true,
                {shape.k, kindA, kindB, from, saturates, to});
  };
  auto width = [](std::string_view type) { return type == "f16" ? 16 : 32; };
  if (a == "bf16" && (shape.k == 16 || shape.k == 8))
    return made(kBf16, kBf16, 32, 32);
  if (a == "tf32" && (shape.k == 8 || shape.k == 4))
    return made(kTf32, kTf32, 32, 32);
  // Types of D and C: the factors are f16.
  if ((a == "f16" || a == "f32") && (shape.k == 16 || shape.k == 8))
    return made(kF16, kF16, width(b), width(a));
  if ((a == "s8" || a == "u8") && (shape.k == 32 || shape.k == 16))
    return made(a == "s8" ? kS8 : kU8, b == "s8" ? kS8 : kU8, 32, 32);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies and mbarriers
//===----------------------------------------------------------------------===//

static std::unique_ptr<Operation> makeCopyIntrinsic(const Parts &parts) {
  std::string_view name = parts.whole();
  if (name == "cp.async.commit.group")
    return make(name, commitCopies, true);
  if (name == "cp.async.wait.group")
    return make(name, waitForCopies, true);
  if (name == "cp.async.wait.all")
    return make(name, waitForAllCopies, true);
  if (name == "cp.async.bulk.commit.group")
    return make(name, commitBulkStores, true);
  if (name == "cp.async.bulk.wait.group" ||
      name == "cp.async.bulk.wait.group.read")
    return make(name, waitForBulkStores, true);
  if (parts.startsWith("cp.async.mbarrier.arrive"))
    return make(name, arriveAfterCopies, true, {parts.has("noinc")});
  if (parts.startsWith("cp.async.bulk.global.to.shared"))
    return make(name, copyBulkToShared, true,
                {parts.has("cluster") ? kMayHaveMask : kNoMulticast});
  if (name == "cp.async.bulk.shared.cta.to.global")
    return make(name, copyBulkToGlobal, true);
  bool isTile =
      parts.has("tile") && !parts.has("gather4") && !parts.has("scatter4");
  if (parts.startsWith("cp.async.bulk.tensor.g2s") && isTile)
    return make(name, copyTensorToShared, true,
                {parts.back()[0] - '0',
                 parts.has("cta") ? kNoMulticast : kMayHaveMask});
  if (parts.startsWith("cp.async.bulk.tensor.s2g") && isTile)
    return make(name, copyTensorToGlobal, true, {parts.back()[0] - '0'});
  // cp.async.CACHE.shared.global.SIZE[.s]
  if (parts.startsWith("cp.async") && parts.has("global") && parts.size() >= 6)
    return make(name, copyAsync, true,
                {parts[5] == "16" ? 16 : parts[5][0] - '0', parts.has("s")});
  return nullptr;
}

static std::unique_ptr<Operation> makeBarrierIntrinsic(const Parts &parts) {
  std::string_view name = parts.whole();
  if (parts[0] != "mbarrier")
    return nullptr;
  if (parts[1] == "init")
    return make(name, initBarrier, true);
  if (parts[1] == "inval")
    return make(name, invalidateBarrier, true);
  if (parts.has("drop"))
    return nullptr;
  // ...[.relaxed].scope.SCOPE.space.SPACE
  bool isScoped = parts.has("scope");
  int form =
      (parts.back() == "cluster" ? kIsOfCluster : 0) |
      (name.find("scope.cluster") != std::string_view::npos ? kHasClusterScope
                                                            : 0) |
      (parts.has("relaxed") ? kIsRelaxed : 0);
  if (parts[1] == "expect")
    return make(name, arriveAtBarrier, true, {2, 1, form});
  if (parts[1] == "arrive")
    return make(name, arriveAtBarrier, true,
                {parts.has("expect")                   ? 2
                 : isScoped || parts.has("noComplete") ? 1
                                                       : 0,
                 0, form});
  if (parts[1] == "test" || parts[1] == "try")
    return parts.has("tl")
               ? nullptr
               : make(name, waitAtBarrier, true,
                      {parts.has("parity"), parts[1] == "test", form});
  return nullptr;
}

std::unique_ptr<Operation>
heddle::emulator::makeIntrinsic(std::string_view name) {
  Parts parts(name);
  // The last part may say which address space an overloaded pointer has.
  if (parts.size() > 1 && parts.back().size() == 2 && parts.back()[0] == 'p' &&
      parts.back()[1] >= '0' && parts.back()[1] <= '9')
    parts.dropBack();
  for (auto *makeOne : {makeWarpIntrinsic, makeMatrixIntrinsic,
                        makeCopyIntrinsic, makeBarrierIntrinsic})
    if (std::unique_ptr<Operation> operation = makeOne(parts)) {
      operation->name = name;
      return operation;
    }
  if (name == "trap")
    return make(name, endAtTrap, false);
  if (name == "wgmma.fence.sync.aligned")
    return make(name, fenceProducts, true);
  if (name == "wgmma.commit_group.sync.aligned")
    return make(name, commitProducts, true);
  if (name == "wgmma.wait_group.sync.aligned")
    return make(name, waitForProducts, true);
  if (parts.startsWith("fence.proxy.async"))
    return make(name, fenceAsyncProxy, false);
  if (parts.startsWith("fence.mbarrier_init"))
    return make(name, fenceBarrierInit, false);
  if (parts[0] == "fence")
    return make(name, doNothing, false);
  return nullptr;
}
