#include "OmittedCall.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <cstdlib>

using namespace llvm;

static StringRef textOf(const CallInst &call) {
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return assembly->getAsmString();
  const Function *callee = call.getCalledFunction();
  return callee ? callee->getName() : "";
}

/// The types of what a call returns.
static SmallVector<Type *> resultsOf(const CallInst &call) {
  if (call.getType()->isVoidTy())
    return {};
  if (auto *results = dyn_cast<StructType>(call.getType()))
    return SmallVector<Type *>(results->elements());
  return {call.getType()};
}

/// Whether the first arguments may stand for the results.
static bool handsOnArguments(const CallInst &call) {
  SmallVector<Type *> results = resultsOf(call);
  for (auto [i, type] : enumerate(results))
    if (i >= call.arg_size() || call.getArgOperand(i)->getType() != type)
      return false;
  return true;
}

static Value *argumentsAsResults(CallInst &call) {
  if (!isa<StructType>(call.getType()))
    return call.getArgOperand(0);
  IRBuilder<> builder(&call);
  Value *results = PoisonValue::get(call.getType());
  for (unsigned i = 0, n = resultsOf(call).size(); i < n; ++i)
    results = builder.CreateInsertValue(results, call.getArgOperand(i), i);
  return results;
}

bool heddle::emulator::omitCall(Module &module) {
  const char *wish = std::getenv("HEDDLE_EMULATOR_OMIT");
  auto [number, text] = StringRef(wish ? wish : "").split(':');
  unsigned left = 0;
  if (number.getAsInteger(10, left) || text.empty())
    return false;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<CallInst>(&instruction);
      if (!call || !textOf(*call).contains(text) || !handsOnArguments(*call) ||
          --left != 0)
        continue;
      if (!call->getType()->isVoidTy())
        call->replaceAllUsesWith(argumentsAsResults(*call));
      call->eraseFromParent();
      return true;
    }
  return false;
}
