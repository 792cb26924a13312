//===- SimplifyCode.cpp - What emitters leave to LLVM ---------------------===//
//
// Emitters choose vectors, tiles and the order of sums. What they leave is
// little, and LLVM's default pipeline would take three times as long to find
// nothing else. Vectorising is for the loops of scalars that the reference
// lowering writes; unrolling for loops over a row, whose functions are short:
// the tiles of long ones are unrolled as they are written.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/SimplifyCode.h"
#include "lib/CodeGen/Machine/LlvmMachine.h"
#include "llvm/IR/InstIterator.h"

#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

using namespace heddle;

/// Values are found again and moved out of loops, addresses folded, and loops
/// counted such that code generation needs one register less for them.
static llvm::FunctionPassManager buildSimplification() {
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::GVNPass());
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  return passes;
}

static llvm::FunctionPassManager buildVectorization() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(llvm::InstCombinePass());
  return passes;
}

/// Loops with a constant number of steps.
static llvm::FunctionPassManager buildUnrolling() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions()
                                          .setPeeling(false)
                                          .setRuntime(false)
                                          .setUpperBound(false)));
  return passes;
}

static llvm::FunctionPassManager buildCleanup() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstCombinePass());
  // The rows of a tile have one base again, which leaves registers to the sums.
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  // Of addresses that are moved out of a loop some are the same.
  passes.addPass(llvm::EarlyCSEPass());
  return passes;
}

static bool hasVectors(llvm::Function &function) {
  return llvm::any_of(llvm::instructions(function),
                      [](const llvm::Instruction &instruction) {
                        return instruction.getType()->isVectorTy();
                      });
}

/// Instructions; tasks of linear and attention have thousands.
static constexpr unsigned kShortFunction = 1000;

void heddle::simplifyCode(llvm::Module &module, llvm::TargetMachine &machine) {
  ModuleAnalyses analyses(machine);
  llvm::FunctionAnalysisManager &functions = analyses.functions;
  llvm::FunctionPassManager simplification = buildSimplification();
  llvm::FunctionPassManager vectorization = buildVectorization();
  llvm::FunctionPassManager unrolling = buildUnrolling();
  llvm::FunctionPassManager cleanup = buildCleanup();
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    auto run = [&](llvm::FunctionPassManager &passes) {
      functions.invalidate(function, passes.run(function, functions));
    };
    run(simplification);
    if (!hasVectors(function))
      run(vectorization);
    if (function.getInstructionCount() < kShortFunction)
      run(unrolling);
    run(cleanup);
    functions.clear(function, function.getName());
  }
}
