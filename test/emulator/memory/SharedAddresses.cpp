//===- SharedAddresses.cpp - Shared memory of the code at hand ------------===//
//
// Shared variables become offsets to where the block's shared memory starts.
// What is loaded from or stored to a shared address goes to the window of this
// process where shared memory is, its own or another block's of the cluster;
// casts between shared and generic addresses move by it.
//
//===----------------------------------------------------------------------===//

#include "SharedMemory.h"
#include "test/emulator/Context.h"
#include "test/emulator/RuntimeCalls.h"
#include "test/emulator/host/HostCode.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace heddle::emulator;
using namespace llvm;

namespace {
struct Place {
  GlobalVariable *variable;
  uint64_t offset;
};
} // namespace

/// Static variables one after the other, and all dynamic ones behind them.
static std::vector<Place> layOut(Module &module, HostCode &code) {
  const DataLayout &layout = module.getDataLayout();
  std::vector<Place> places;
  uint64_t bytes = 0, alignment = 16, dynamicAlignment = 16;
  auto alignmentOf = [&](const GlobalVariable &variable) {
    return variable.getPointerAlignment(layout).value();
  };
  for (GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != kShared)
      continue;
    if (variable.isDeclaration()) {
      dynamicAlignment = std::max(dynamicAlignment, alignmentOf(variable));
      continue;
    }
    alignment = std::max(alignment, alignmentOf(variable));
    bytes = alignTo(bytes, alignmentOf(variable));
    places.push_back({&variable, bytes});
    bytes += layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  }
  uint64_t dynamicOffset = alignTo(bytes, dynamicAlignment);
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == kShared && variable.isDeclaration())
      places.push_back({&variable, dynamicOffset});
  for (auto &[name, kernel] : code.kernels) {
    kernel.staticSharedBytes = bytes;
    kernel.dynamicSharedOffset = dynamicOffset;
    kernel.sharedAlignment = std::max(alignment, dynamicAlignment);
  }
  return places;
}

/// A word of the Context, read where the function begins.
static Value *readAtEntry(Function &function, size_t offset) {
  BasicBlock &entry = function.getEntryBlock();
  IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
  return builder.CreateLoad(
      builder.getInt64Ty(),
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(),
                                         function.getArg(0), offset));
}

void heddle::emulator::placeSharedVariables(Module &module, HostCode &code) {
  std::vector<Place> places = layOut(module, code);
  SmallVector<Constant *, 8> constants;
  for (const Place &place : places)
    constants.push_back(place.variable);
  convertUsersOfConstantsToInstructions(constants);
  for (auto [variable, offset] : places) {
    DenseMap<Function *, Value *> addresses;
    for (Use &use : make_early_inc_range(variable->uses())) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      if (!user)
        continue;
      Function *function = user->getFunction();
      Value *&address = addresses[function];
      if (!address) {
        auto *base = cast<Instruction>(
            readAtEntry(*function, offsetof(Context, sharedBase)));
        IRBuilder<> builder(base->getNextNode());
        address = builder.CreateIntToPtr(
            builder.CreateAdd(base, builder.getInt64(offset)),
            variable->getType());
      }
      use.set(address);
    }
    variable->removeDeadConstantUsers();
    variable->replaceAllUsesWith(PoisonValue::get(variable->getType()));
    variable->eraseFromParent();
  }
}

static bool isShared(const Type *type) {
  return type->isPointerTy() &&
         (type->getPointerAddressSpace() == kShared ||
          type->getPointerAddressSpace() == kSharedCluster);
}

void heddle::emulator::translateSharedAddresses(Function &function) {
  Value *window = nullptr, *clusterWindow = nullptr;
  Type *generic = PointerType::get(function.getContext(), 0);
  auto toProcess = [&](IRBuilder<> &builder, Value *address) {
    Value *word = builder.CreatePtrToInt(address, builder.getInt32Ty());
    Value *start = window;
    if (address->getType()->getPointerAddressSpace() == kSharedCluster)
      start = builder.CreateSelect(
          builder.CreateICmpULT(word, builder.getInt32(kSharedDistance)),
          window, clusterWindow);
    return builder.CreateIntToPtr(
        builder.CreateAdd(builder.CreateZExt(word, builder.getInt64Ty()),
                          start),
        generic);
  };
  SmallVector<Instruction *, 64> users;
  for (Instruction &instruction : instructions(function)) {
    auto *cast = dyn_cast<AddrSpaceCastInst>(&instruction);
    bool touches = isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst,
                       MemIntrinsic>(instruction);
    if ((cast && isShared(cast->getSrcTy()) != isShared(cast->getDestTy())) ||
        (touches && any_of(instruction.operands(), [](const Use &use) {
           return isShared(use->getType());
         })))
      users.push_back(&instruction);
  }
  if (users.empty())
    return;
  window = readAtEntry(function, offsetof(Context, sharedWindow));
  clusterWindow = readAtEntry(function, offsetof(Context, clusterWindow));
  for (Instruction *user : users) {
    IRBuilder<> builder(user);
    if (auto *cast = dyn_cast<AddrSpaceCastInst>(user)) {
      Value *result;
      if (isShared(cast->getSrcTy())) {
        result = toProcess(builder, cast->getOperand(0));
        if (result->getType() != cast->getType())
          result = builder.CreateAddrSpaceCast(result, cast->getType());
      } else {
        Value *word =
            builder.CreatePtrToInt(cast->getOperand(0), builder.getInt64Ty());
        bool isOfCluster =
            cast->getType()->getPointerAddressSpace() == kSharedCluster;
        result = builder.CreateIntToPtr(
            builder.CreateSub(word, isOfCluster ? clusterWindow : window),
            cast->getType());
      }
      cast->replaceAllUsesWith(result);
      cast->eraseFromParent();
      continue;
    }
    if (auto *transfer = dyn_cast<MemIntrinsic>(user)) {
      auto *copy = dyn_cast<MemTransferInst>(transfer);
      auto move = [&](Value *address) {
        return isShared(address->getType()) ? toProcess(builder, address)
                                            : address;
      };
      Value *to = move(transfer->getRawDest());
      if (copy)
        builder.CreateMemMove(to, transfer->getDestAlign(),
                              move(copy->getRawSource()),
                              copy->getSourceAlign(), transfer->getLength());
      else
        builder.CreateMemSet(to, cast<MemSetInst>(transfer)->getValue(),
                             transfer->getLength(), transfer->getDestAlign());
      transfer->eraseFromParent();
      continue;
    }
    unsigned index =
        isa<StoreInst>(user) ? StoreInst::getPointerOperandIndex() : 0;
    Value *address = user->getOperand(index);
    if (isShared(address->getType()))
      user->setOperand(index, toProcess(builder, address));
  }
}
