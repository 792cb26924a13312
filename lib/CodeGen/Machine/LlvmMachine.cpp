//===- LlvmMachine.cpp - LLVM's target machine, and code of it ------------===//
//
// LLVM registers a target once in a process, without a lock. TargetSelect.h
// declares the functions of the default target alone, hence the declarations.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/LlvmMachine.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
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

std::unique_ptr<llvm::Module>
heddle::translateModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                        const llvm::TargetMachine &machine) {
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(module, context);
  if (!code)
    return nullptr;
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());
  return code;
}

bool heddle::emitModule(llvm::Module &module, llvm::TargetMachine &machine,
                        llvm::CodeGenFileType form,
                        llvm::raw_pwrite_stream &stream) {
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, /*DwoOut=*/nullptr, form))
    return false;
  passes.run(module);
  return true;
}

ModuleAnalyses::ModuleAnalyses(llvm::TargetMachine &machine)
    : builder(&machine) {
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
}
