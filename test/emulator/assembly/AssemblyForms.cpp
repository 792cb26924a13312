//===- AssemblyForms.cpp - Instructions of inline assembly, by name -------===//
//
// Which operands an instruction of the PTX ISA has, and where its Operation
// wants them.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "test/emulator/Operations.h"

#include <array>

using namespace heddle::emulator;

namespace {

/// An instruction being made of its operands.
class Form {
public:
  Form(const std::vector<AssemblyOperand> &operands,
       AssemblyInstruction &instruction)
      : operands(operands), instruction(instruction) {}

  bool set(Handler handler, bool waits, std::array<int, 6> detail = {}) {
    instruction.operation = std::make_unique<Operation>();
    instruction.operation->handler = handler;
    instruction.operation->waits = waits;
    std::copy(detail.begin(), detail.end(), instruction.operation->detail);
    return isGood;
  }
  /// All values of an operand.
  Form &in(size_t i) {
    if (i < operands.size())
      for (const AssemblyValue &value : operands[i].values)
        instruction.inputs.push_back(value);
    else
      isGood = false;
    return *this;
  }
  Form &in(size_t i, size_t value) {
    if (i < operands.size() && value < operands[i].values.size())
      instruction.inputs.push_back(operands[i].values[value]);
    else
      isGood = false;
    return *this;
  }
  Form &constant(uint64_t value) {
    instruction.inputs.push_back({-1, value});
    return *this;
  }
  Form &inOr(size_t i, uint64_t value) {
    return i < operands.size() ? in(i) : constant(value);
  }
  Form &out(size_t i) {
    if (i < operands.size())
      for (const AssemblyValue &value : operands[i].values)
        instruction.outputs.push_back(value.reg);
    else
      isGood = false;
    return *this;
  }
  size_t size() const { return operands.size(); }
  size_t count(size_t i) const {
    return i < operands.size() ? operands[i].values.size() : 0;
  }

private:
  const std::vector<AssemblyOperand> &operands;
  AssemblyInstruction &instruction;
  bool isGood = true;
};

} // namespace

static bool kindOf(std::string_view type, NumberKind &kind) {
  static const std::map<std::string_view, NumberKind> kinds = {{"f16", kF16},
                                                               {"bf16", kBf16},
                                                               {"tf32", kTf32},
                                                               {"s8", kS8},
                                                               {"u8", kU8}};
  auto found = kinds.find(type);
  if (found == kinds.end())
    return false;
  kind = found->second;
  return true;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// wgmma.mma_async.sync.aligned.mMnNkK.D.A.B d, a, b, adds, scale-a, scale-b
/// [, transpose-a], transpose-b.
static bool makeWarpgroupProduct(const Parts &parts, Form &form) {
  MatrixShape shape = readMatrixShape(parts[4]);
  NumberKind a, b;
  // .satfinite stands between the shape and the types, or behind them.
  if (parts.has("satfinite") || !kindOf(parts[6], a) || !kindOf(parts[7], b))
    return false;
  bool isInteger = a == kS8 || a == kU8;
  int size = a == kTf32 ? 4 : isInteger ? 1 : 2;
  if (shape.m != 64 || shape.k != 32 / size || shape.n % 8 || shape.n > 256 ||
      parts[5] != (isInteger ? "s32" : "f32") ||
      form.count(0) != size_t(shape.n / 2))
    return false;
  bool hasFragments = form.count(1) == 4;
  form.out(0).in(0).in(1).in(2).in(3).inOr(4, 1).inOr(5, 1);
  // Transpositions are of 16-bit elements; A in registers has none.
  if (hasFragments)
    form.constant(0).inOr(6, 0);
  else
    form.inOr(6, 0).inOr(7, 0);
  return form.set(multiplyWarpgroup, true, {shape.n, a, b, hasFragments});
}

static bool makeMatrix(const Parts &parts, Form &form) {
  if (parts.startsWith("wgmma.mma_async"))
    return makeWarpgroupProduct(parts, form);
  if (parts.startsWith("wgmma.fence"))
    return form.set(fenceProducts, true);
  if (parts.startsWith("wgmma.commit_group"))
    return form.set(commitProducts, true);
  if (parts.startsWith("ldmatrix") && parts[3] == "m8n8") {
    form.out(0).in(1);
    return form.set(loadMatrix, true, {parts[4][1] - '0', parts.has("trans")});
  }
  if (parts.startsWith("stmatrix") && parts[3] == "m8n8") {
    form.in(0).in(1);
    return form.set(storeMatrix, true, {parts[4][1] - '0', parts.has("trans")});
  }
  if (!parts.startsWith("mma.sync.aligned"))
    return false;
  // mma.sync.aligned.mMnNkK.row.col[.satfinite].D.A.B.C d, a, b, c
  MatrixShape shape = readMatrixShape(parts[3]);
  size_t first = parts.has("satfinite") ? 7 : 6;
  NumberKind a, b;
  if (shape.m != 16 || shape.n != 8 || !kindOf(parts[first + 1], a) ||
      !kindOf(parts[first + 2], b))
    return false;
  auto width = [](std::string_view type) { return type == "f16" ? 16 : 32; };
  form.out(0).in(1).in(2).in(3);
  return form.set(multiplyMatrices, true,
                  {shape.k, a, b, width(parts[first + 3]),
                   parts.has("satfinite"), width(parts[first])});
}

//===----------------------------------------------------------------------===//
// Copies and mbarriers
//===----------------------------------------------------------------------===//

static bool makeCopy(const Parts &parts, Form &form) {
  if (parts.startsWith("cp.async.commit_group"))
    return form.set(commitCopies, true);
  if (parts.startsWith("cp.async.wait_group"))
    return form.in(0).set(waitForCopies, true);
  if (parts.startsWith("cp.async.wait_all"))
    return form.set(waitForAllCopies, true);
  if (parts.startsWith("cp.async.mbarrier.arrive"))
    return form.in(0).set(arriveAfterCopies, true, {parts.has("noinc")});
  if (parts.startsWith("cp.async.bulk.commit_group"))
    return form.set(commitBulkStores, true);
  if (parts.startsWith("cp.async.bulk.wait_group"))
    return form.in(0).set(waitForBulkStores, true);
  bool isMulticast = parts.has("multicast::cluster");
  bool isLoad = parts.has("mbarrier::complete_tx::bytes");
  if (parts.startsWith("cp.async.bulk.tensor")) {
    int rank = parts[4][0] - '0';
    if (parts.has("tile::gather4") || parts.has("im2col"))
      return false;
    if (isLoad) {
      form.in(0).in(2).in(1);
      if (isMulticast)
        form.in(3);
      return form.set(copyTensorToShared, true,
                      {rank, isMulticast ? kHasMask : kNoMulticast});
    }
    // The map and the coordinates are one operand.
    return form.in(1).in(0).set(copyTensorToGlobal, true, {rank});
  }
  if (!parts.startsWith("cp.async.bulk"))
    return false;
  if (!isLoad)
    return form.in(0).in(1).in(2).set(copyBulkToGlobal, true);
  form.in(0).in(3).in(1).in(2);
  if (isMulticast)
    form.in(4);
  return form.set(copyBulkToShared, true,
                  {isMulticast ? kHasMask : kNoMulticast});
}

/// BarrierForm of an instruction: its scope stands by itself, between dots.
static int barrierFormOf(const Parts &parts) {
  return (parts.has("shared::cluster") ? kIsOfCluster : 0) |
         (parts.has("cluster") ? kHasClusterScope : 0) |
         (parts.has("relaxed") ? kIsRelaxed : 0);
}

static bool makeBarrier(const Parts &parts, Form &form) {
  std::string_view name = parts.whole();
  if (parts[0] == "mbarrier") {
    if (parts[1] == "init")
      return form.in(0).in(1).set(initBarrier, true);
    if (parts[1] == "inval")
      return form.in(0).set(invalidateBarrier, true);
    if (parts[1] == "expect_tx")
      return form.in(0).in(1).set(arriveAtBarrier, true,
                                  {2, 1, barrierFormOf(parts)});
    if (parts[1] == "try_wait" || parts[1] == "test_wait")
      return form.out(0).in(1).in(2).set(
          waitAtBarrier, true,
          {parts.has("parity"), parts[1] == "test_wait", barrierFormOf(parts)});
    return false;
  }
  if (name == "bar.warp.sync")
    return form.in(0).set(synchronizeWarp, true);
  if (parts.startsWith("barrier.cluster.arrive"))
    return form.set(arriveAtCluster, true, {parts.has("relaxed")});
  if (parts.startsWith("barrier.cluster.wait"))
    return form.set(waitForCluster, true);
  if (parts[0] != "bar" && parts[0] != "barrier")
    return false;
  bool isArrival = parts.has("arrive");
  if ((!parts.has("sync") && !isArrival) || parts.has("cluster"))
    return false;
  form.in(0);
  if (form.size() > 1)
    form.in(1);
  return form.set(synchronizeBlock, true,
                  {isArrival ? kBarrierArrive : kBarrierSync, form.size() > 1});
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

static bool makeWarp(const Parts &parts, Form &form) {
  static const std::map<std::string_view, int> shuffles = {
      {"up", 0}, {"down", 1}, {"bfly", 2}, {"idx", 3}};
  static const std::map<std::string_view, int> reductions = {
      {"add", kReduceAdd}, {"and", kReduceAnd}, {"or", kReduceOr},
      {"xor", kReduceXor}, {"min", kReduceMin}, {"max", kReduceMax}};
  if (parts.startsWith("shfl.sync") && shuffles.count(parts[2]))
    return form.out(0).in(4).in(1).in(2).in(3).set(shuffle, true,
                                                   {shuffles.at(parts[2])});
  if (parts.startsWith("elect.sync"))
    return form.out(0).in(1).set(elect, true);
  if (parts.startsWith("redux.sync") && reductions.count(parts[2])) {
    int kind = reductions.at(parts[2]);
    if (parts.back() == "u32" && kind >= kReduceMin)
      kind += kReduceUnsignedMin - kReduceMin;
    return form.out(0).in(1).in(2).set(reduce, true, {kind});
  }
  if (parts.startsWith("vote.sync")) {
    static const std::map<std::string_view, int> votes = {
        {"all", kVoteAll},
        {"any", kVoteAny},
        {"uni", kVoteUniform},
        {"ballot", kVoteBallot}};
    auto vote_ = votes.find(parts[2]);
    return vote_ != votes.end() &&
           form.out(0).in(2).in(1).set(vote, true, {vote_->second});
  }
  return false;
}

static bool isAdvice(const Parts &parts) {
  return parts[0] == "prefetch" || parts[0] == "prefetchu" ||
         parts[0] == "membar" || parts[0] == "setmaxnreg" ||
         parts[0] == "griddepcontrol" || parts[0] == "nanosleep" ||
         parts[0] == "fence" || parts.startsWith("cp.async.bulk.prefetch");
}

bool heddle::emulator::makeInstruction(
    std::string_view name, const std::vector<AssemblyOperand> &operands,
    int numResults, AssemblyInstruction &instruction) {
  Parts parts(name);
  Form form(operands, instruction);
  // What waits for products puts sums into all of the call's results.
  if (parts.startsWith("wgmma.wait_group")) {
    form.in(0);
    for (int i = 0; i < numResults; ++i) {
      instruction.inputs.push_back({i, 0});
      instruction.outputs.push_back(i);
    }
    return form.set(waitForProducts, true, {numResults});
  }
  if (parts.startsWith("fence.proxy.async"))
    return form.set(fenceAsyncProxy, false);
  if (parts.startsWith("fence.mbarrier_init"))
    return form.set(fenceBarrierInit, false);
  if (isAdvice(parts))
    return form.set(doNothing, false);
  if (parts[0] == "wgmma" || parts[0] == "mma" || parts[0] == "ldmatrix" ||
      parts[0] == "stmatrix")
    return makeMatrix(parts, form);
  if (parts[0] == "mbarrier" && parts[1] == "arrive") {
    // [state,] [address] [, count or bytes]: the address is in brackets.
    size_t address = operands.size() && operands[0].isAddress ? 0 : 1;
    if (address)
      form.out(0);
    form.in(address);
    bool hasOperand = operands.size() > address + 1;
    form.inOr(address + 1, 1);
    return form.set(arriveAtBarrier, true,
                    {parts.has("expect_tx") ? 2
                     : hasOperand           ? 1
                                            : 0,
                     0, barrierFormOf(parts)});
  }
  if (parts.startsWith("cp.async") && parts.has("shared") &&
      parts[2] != "bulk" && parts[2] != "mbarrier") {
    // cp.async.CACHE.shared.global [to], [from], size [, bytes to read]
    if (operands.size() < 3 || operands[2].values.size() != 1 ||
        operands[2].values[0].reg >= 0)
      return false;
    int size = static_cast<int>(operands[2].values[0].constant);
    bool hasBytes = operands.size() > 3;
    form.in(0).in(1);
    if (hasBytes)
      form.in(3);
    return form.set(copyAsync, true, {size, hasBytes});
  }
  if (parts.startsWith("cp.async"))
    return makeCopy(parts, form);
  if (parts[0] == "mapa")
    return form.out(0).in(1).in(2).set(mapToBlock, false,
                                       {!parts.has("shared::cluster")});
  if (parts[0] == "mbarrier" || parts[0] == "bar" || parts[0] == "barrier")
    return makeBarrier(parts, form);
  if (makeWarp(parts, form))
    return true;
  instruction.operation = makeArithmetic(name);
  if (!instruction.operation || operands.empty())
    return false;
  form.out(0);
  for (size_t i = 1; i < operands.size(); ++i)
    form.in(i);
  return true;
}
