//===- LlvmMachine.cpp - LLVM's target machine and analyses ---------------===//
//
// LLVM registers a target once in a process, without a lock. TargetSelect.h
// declares the functions of the default target alone, hence the declarations.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/LlvmMachine.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace heddle;

static bool registerX86() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  return true;
}

static bool registerNvptx() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  return true;
}

std::unique_ptr<llvm::TargetMachine>
heddle::createTargetMachine(const LlvmMachine &machine) {
  llvm::Triple triple(machine.triple);
  if (triple.isNVPTX()) {
    [[maybe_unused]] static bool isRegistered = registerNvptx();
  } else {
    [[maybe_unused]] static bool isRegistered = registerX86();
  }
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, machine.cpu, machine.features, options, machine.relocation,
      /*CM=*/std::nullopt, machine.level));
}

ModuleAnalyses::ModuleAnalyses(llvm::TargetMachine &machine)
    : builder(&machine) {
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
}
