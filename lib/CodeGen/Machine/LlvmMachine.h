//===- LlvmMachine.h - LLVM's target machine, and code of it ----*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_LLVMMACHINE_H
#define HEDDLE_LIB_CODEGEN_MACHINE_LLVMMACHINE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <optional>

namespace heddle {

/// A target machine in LLVM's words.
struct LlvmMachine {
  llvm::StringRef triple, cpu;
  /// "+avx2,+fma".
  llvm::StringRef features;
  std::optional<llvm::Reloc::Model> relocation;
  llvm::CodeGenOptLevel level;
};

/// Creates a target machine of X86 or NVPTX, or null if this build of LLVM
/// lacks the target. Thread-safe.
///
/// Sums keep the order they are written in, so that the bits of a row depend on
/// the row alone: nothing is reassociated, and only what is written as a fused
/// multiply-add is one (vector.fma arrives as llvm.fmuladd, which
/// FPOpFusion::Strict would take apart).
std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const LlvmMachine &machine);

/// Translates a module of the LLVM dialect for a machine; null if it does not
/// translate. The context has the translations of other dialects.
std::unique_ptr<llvm::Module>
translateModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                const llvm::TargetMachine &machine);

/// Writes the machine's code of a module, or returns false if this build of
/// LLVM cannot.
bool emitModule(llvm::Module &module, llvm::TargetMachine &machine,
                llvm::CodeGenFileType form, llvm::raw_pwrite_stream &stream);

/// The analyses that passes of a module ask for.
struct ModuleAnalyses {
  explicit ModuleAnalyses(llvm::TargetMachine &machine);
  ModuleAnalyses(const ModuleAnalyses &) = delete;

  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
};

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_LLVMMACHINE_H
