//===- DeviceCode.cpp - From the LLVM dialect to PTX ----------------------===//
//
// Kernels are marked in LLVM's words, translated to LLVM IR, optimised as -O3
// and printed as PTX; an emulated architecture keeps them as bitcode.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/DeviceCode.h"
#include "dialect/Transformer.h"
#include "lib/CodeGen/DeviceKernel.h"
#include "lib/CodeGen/Machine/LlvmMachine.h"
#include "lib/Support/Error.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace heddle;

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// What all threads of a warp have to meet at stays where it is; neither MLIR's
/// inline assembly nor LLVM's intrinsics of products say so.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        llvm::Function *callee = call->getCalledFunction();
        if (call->isInlineAsm() ||
            (callee && callee->getName().starts_with("llvm.nvvm.mma")))
          call->addFnAttr(llvm::Attribute::Convergent);
      }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  ModuleAnalyses analyses(machine);
  analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, analyses.modules);
}

/// Says in LLVM's words what is a kernel; its parameter is not copied, as
/// nobody writes it.
static void markKernels(mlir::ModuleOp module) {
  mlir::Builder builder(module.getContext());
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    auto launch = function->getAttrOfType<mlir::DictionaryAttr>(kLaunchAttr);
    if (!launch)
      continue;
    function->removeAttr(kLaunchAttr);
    function->setAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName(),
                      builder.getUnitAttr());
    BlockShape block = shapeOf(launch).block;
    function->setAttr(mlir::NVVM::NVVMDialect::getMaxntidAttrName(),
                      builder.getDenseI32ArrayAttr(
                          {static_cast<int32_t>(block.threads), 1, 1}));
    function.setArgAttr(0, mlir::NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
    // At least one block: ptxas spills registers so that more fit, else.
    function->setAttr(mlir::NVVM::NVVMDialect::getMinctasmAttrName(),
                      builder.getI32IntegerAttr(block.blocks));
    // The grid of a launch is a multiple of it: nothing else is to be said
    // there.
    if (block.cluster > 1)
      function->setAttr(mlir::NVVM::NVVMDialect::getClusterDimAttrName(),
                        builder.getDenseI32ArrayAttr(
                            {static_cast<int32_t>(block.cluster), 1, 1}));
  }
}

/// What an emitter says of a loop, branches say as an attribute of their own
/// kind by now, which translation does not read.
static void markLoops(mlir::ModuleOp module) {
  module.walk([](mlir::LLVM::BrOp branch) {
    if (auto annotation = branch->getAttrOfType<mlir::LLVM::LoopAnnotationAttr>(
            kLoopAnnotationAttr))
      branch.setLoopAnnotationAttr(annotation);
  });
}

llvm::Expected<std::string>
heddle::emitDeviceCode(mlir::ModuleOp module,
                       const GpuArchitecture &architecture, DeviceForm form) {
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(
      {kTriple, architecture.name, architecture.ptxVersion,
       /*relocation=*/std::nullopt, llvm::CodeGenOptLevel::Aggressive});
  if (!machine)
    return makeError("this build of LLVM has no target for NVIDIA's GPUs");
  mlir::registerNVVMDialectTranslation(*module.getContext());
  markKernels(module);
  markLoops(module);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModule(module, context, *machine);
  if (!code)
    return makeError("the kernel does not translate to LLVM IR");
  // As on the CPU, denormals are zeros.
  for (llvm::Function &function : *code)
    if (!function.isDeclaration())
      function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
  markConvergent(*code);
  optimize(*code, *machine);

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  if (form == DeviceForm::IR) {
    stream << *code;
    return std::string(text);
  }
  if (architecture.isEmulated) {
    llvm::WriteBitcodeToFile(*code, stream);
    uint64_t size = text.size();
    std::string header = "HEDDLEBC";
    header.append(reinterpret_cast<const char *>(&size), sizeof size);
    return header + std::string(text);
  }
  if (!emitModule(*code, *machine, llvm::CodeGenFileType::AssemblyFile, stream))
    return makeError("this build of LLVM cannot write PTX");
  return std::string(text);
}
