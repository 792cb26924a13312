//===- HostArithmetic.cpp - Where this machine computes otherwise ---------===//
//
// A GPU's conversions saturate, and its division by zero gives some number.
// Here the first would give another number, and the second would end the
// process.
//
//===----------------------------------------------------------------------===//

#include "HostCode.h"
#include "test/emulator/RuntimeCalls.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace heddle::emulator;
using namespace llvm;

static void saturate(CastInst &cast) {
  IRBuilder<> builder(&cast);
  Value *value = builder.CreateIntrinsic(
      isa<FPToSIInst>(cast) ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
      {cast.getType(), cast.getSrcTy()}, {cast.getOperand(0)});
  cast.replaceAllUsesWith(value);
  cast.eraseFromParent();
}

/// Whether no operands make the machine trap.
static bool isHarmless(const BinaryOperator &division) {
  auto *divisor = dyn_cast<ConstantInt>(division.getOperand(1));
  return !division.getType()->isIntegerTy() ||
         (divisor && !divisor->isZero() && !divisor->isMinusOne());
}

static void checkDivision(BinaryOperator &division) {
  IRBuilder<> builder(&division);
  Value *dividend = division.getOperand(0), *divisor = division.getOperand(1);
  Type *type = division.getType();
  Value *fails = builder.CreateICmpEQ(divisor, ConstantInt::get(type, 0));
  if (division.getOpcode() == Instruction::SDiv ||
      division.getOpcode() == Instruction::SRem) {
    auto smallest = APInt::getSignedMinValue(type->getIntegerBitWidth());
    fails = builder.CreateOr(
        fails,
        builder.CreateAnd(
            builder.CreateICmpEQ(divisor, ConstantInt::get(type, -1, true)),
            builder.CreateICmpEQ(dividend, ConstantInt::get(type, smallest))));
  }
  MDNode *unlikely =
      MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
  Instruction *then = SplitBlockAndInsertIfThen(fails, &division,
                                                /*Unreachable=*/true, unlikely);
  IRBuilder<> failing(then);
  Type *pointer = failing.getPtrTy();
  auto *ofFailure = FunctionType::get(failing.getVoidTy(), {pointer}, false);
  failing.CreateCall(
      division.getModule()->getOrInsertFunction(kFailAtDivision, ofFailure),
      {division.getFunction()->getArg(0)});
}

void heddle::emulator::replaceArithmetic(Function &function) {
  SmallVector<CastInst *, 8> casts;
  SmallVector<BinaryOperator *, 8> divisions;
  for (Instruction &instruction : instructions(function)) {
    if (isa<FPToSIInst, FPToUIInst>(instruction))
      casts.push_back(cast<CastInst>(&instruction));
    auto *binary = dyn_cast<BinaryOperator>(&instruction);
    if (binary && binary->isIntDivRem() && !isHarmless(*binary))
      divisions.push_back(binary);
  }
  for (CastInst *cast : casts)
    saturate(*cast);
  for (BinaryOperator *division : divisions)
    checkDivision(*division);
}
