//===- CheckedAccesses.cpp - A check before each access to memory ---------===//
//
// Global memory: an access knows the range that its last one was in, which is
// compared without a call; anything else is asked of the MemoryMap. Shared
// memory: always a call, which keeps who has touched what. A variable of the
// thread's own is compared with its size. Of a generic address the call decides
// what it is.
//
//===----------------------------------------------------------------------===//

#include "test/emulator/Context.h"
#include "test/emulator/RuntimeCalls.h"
#include "test/emulator/host/HostCode.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace heddle::emulator;
using namespace llvm;

namespace {

/// Bytes that an instruction touches.
struct Access {
  Instruction *instruction;
  Value *address;
  /// Zero where `bytes` is known at run time only.
  uint64_t size;
  Value *bytes;
  uint64_t alignment;
  unsigned flags;
};

class AccessChecker {
public:
  AccessChecker(Function &function, size_t &numAccesses)
      : function(function), module(*function.getParent()),
        layout(module.getDataLayout()), numAccesses(numAccesses) {}

  void run();

private:
  void find(Instruction &instruction);
  void check(const Access &access);
  void checkVariable(IRBuilder<> &builder, const Access &access,
                     AllocaInst &variable);
  void callOnBranch(Value *condition, const Access &access, Value *range);
  void callCheck(IRBuilder<> &builder, const Access &access, Value *range);
  Value *word(IRBuilder<> &builder, Value *pointer) {
    return builder.CreatePtrToInt(pointer, builder.getInt64Ty());
  }

  Function &function;
  Module &module;
  const DataLayout &layout;
  size_t &numAccesses;
  std::vector<Access> accesses;
};

} // namespace

void AccessChecker::find(Instruction &instruction) {
  auto add = [&](Value *address, Type *type, Align alignment, unsigned flags) {
    uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
    accesses.push_back(
        {&instruction, address, size, nullptr, alignment.value(), flags});
  };
  auto addBytes = [&](Value *address, Value *bytes, unsigned flags) {
    accesses.push_back({&instruction, address, 0, bytes, 1, flags});
  };
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    add(load->getPointerOperand(), load->getType(), load->getAlign(), kReads);
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    add(store->getPointerOperand(), store->getValueOperand()->getType(),
        store->getAlign(), kWrites);
  } else if (auto *atomic = dyn_cast<AtomicRMWInst>(&instruction)) {
    add(atomic->getPointerOperand(), atomic->getType(), atomic->getAlign(),
        kReads | kWrites | kIsAtomic);
  } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    add(exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
        exchange->getAlign(), kReads | kWrites | kIsAtomic);
  } else if (auto *fill = dyn_cast<MemSetInst>(&instruction)) {
    addBytes(fill->getDest(), fill->getLength(), kWrites);
  } else if (auto *copy = dyn_cast<MemTransferInst>(&instruction)) {
    addBytes(copy->getSource(), copy->getLength(), kReads);
    addBytes(copy->getDest(), copy->getLength(), kWrites);
  }
}

void AccessChecker::callCheck(IRBuilder<> &builder, const Access &access,
                              Value *range) {
  Type *i64 = builder.getInt64Ty();
  Type *pointer = builder.getPtrTy();
  auto *type = FunctionType::get(
      builder.getVoidTy(),
      {pointer, i64, i64, builder.getInt32Ty(), builder.getInt32Ty(), pointer},
      false);
  unsigned space = access.address->getType()->getPointerAddressSpace();
  Value *bytes = access.bytes ? builder.CreateZExtOrTrunc(access.bytes, i64)
                              : builder.getInt64(access.size);
  builder.CreateCall(
      function.getParent()->getOrInsertFunction(kCheckAccess, type),
      {function.getArg(0), word(builder, access.address), bytes,
       builder.getInt32(access.alignment),
       builder.getInt32(access.flags | space << kSpaceShift),
       range ? range : ConstantPointerNull::get(builder.getPtrTy())});
}

void AccessChecker::callOnBranch(Value *condition, const Access &access,
                                 Value *range) {
  MDNode *unlikely =
      MDBuilder(module.getContext()).createUnlikelyBranchWeights();
  Instruction *then =
      SplitBlockAndInsertIfThen(condition, access.instruction,
                                /*Unreachable=*/false, unlikely);
  IRBuilder<> builder(then);
  callCheck(builder, access, range);
}

/// A variable whose size is known: compared in place.
void AccessChecker::checkVariable(IRBuilder<> &builder, const Access &access,
                                  AllocaInst &variable) {
  std::optional<TypeSize> size = variable.getAllocationSize(layout);
  uint64_t bytes = size ? size->getFixedValue() : 0;
  if (access.address->stripInBoundsConstantOffsets() == &variable) {
    APInt offset(64, 0);
    access.address->stripAndAccumulateConstantOffsets(
        layout, offset,
        /*AllowNonInbounds=*/true);
    if (access.size && offset.ule(bytes) &&
        access.size <= bytes - offset.getZExtValue())
      return;
  }
  if (!access.size || access.size > bytes) {
    callCheck(builder, access, nullptr);
    return;
  }
  Value *offset = builder.CreateSub(word(builder, access.address),
                                    word(builder, &variable));
  callOnBranch(
      builder.CreateICmpUGT(offset, builder.getInt64(bytes - access.size)),
      {access.instruction, access.address, access.size, nullptr,
       access.alignment, access.flags | kIsBeyondVariable},
      nullptr);
}

void AccessChecker::check(const Access &access) {
  IRBuilder<> builder(access.instruction);
  const Value *object = getUnderlyingObject(access.address);
  if (auto *variable = dyn_cast<AllocaInst>(object)) {
    checkVariable(builder, access, const_cast<AllocaInst &>(*variable));
    return;
  }
  if (object == function.getArg(0))
    return;
  // Tables of the code's own.
  if (isa<GlobalVariable>(object) && access.size &&
      cast<GlobalVariable>(object)->isConstant() &&
      cast<GlobalVariable>(object)->hasPrivateLinkage())
    return;
  unsigned space = access.address->getType()->getPointerAddressSpace();
  bool isShared = space == kShared || space == kSharedCluster;
  if (isShared || !access.size) {
    callCheck(builder, access, nullptr);
    return;
  }
  // What a thread reads again and again stays in the processor's cache.
  Type *i64 = builder.getInt64Ty();
  Value *ranges = builder.CreateLoad(
      builder.getPtrTy(), builder.CreateConstInBoundsGEP1_64(
                              builder.getInt8Ty(), function.getArg(0),
                              offsetof(Context, knownRanges)));
  Value *range = builder.CreateConstInBoundsGEP1_64(
      builder.getInt8Ty(), ranges, numAccesses++ * sizeof(KnownRange));
  Value *first = builder.CreateLoad(i64, range);
  Value *last = builder.CreateLoad(
      i64, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), range,
                                              offsetof(KnownRange, last)));
  Value *address = word(builder, access.address);
  Value *fails = builder.CreateICmpUGT(builder.CreateSub(address, first), last);
  if (access.alignment > 1)
    fails = builder.CreateOr(
        fails,
        builder.CreateICmpNE(builder.CreateAnd(address, access.alignment - 1),
                             builder.getInt64(0)));
  callOnBranch(fails, access, range);
}

void AccessChecker::run() {
  for (Instruction &instruction : instructions(function))
    find(instruction);
  for (const Access &access : accesses)
    check(access);
}

void heddle::emulator::checkAccesses(Function &function, size_t &numAccesses) {
  AccessChecker(function, numAccesses).run();
}
