//===- Program.cpp - A module becomes code --------------------------------===//
//
// Modules are read and looked over when they are loaded, and compiled when the
// first kernel is asked for. Code is for x86-64-v3 where this machine has it,
// and for no better level: results are the same everywhere.
//
//===----------------------------------------------------------------------===//

#include "Emulator.h"
#include "OmittedCall.h"
#include "RuntimeCalls.h"
#include "test/emulator/host/CompiledObjects.h"
#include "test/emulator/host/HostLibrary.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <cstdlib>

using namespace heddle::emulator;
using namespace llvm;

struct Program::Source {
  std::unique_ptr<LLVMContext> context = std::make_unique<LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

Program::~Program() = default;

bool heddle::emulator::checksAreOn() {
  const char *value = std::getenv("HEDDLE_EMULATOR_CHECKS");
  return !value || std::string_view(value) != "none";
}

std::unique_ptr<Program> Program::load(std::string_view image,
                                       std::string &problem) {
  std::unique_ptr<Program> program(new Program);
  program->source = std::make_unique<Source>();
  LLVMContext &context = *program->source->context;
  context.setDiagnosticHandlerCallBack([](const DiagnosticInfo *, void *) {});
  SMDiagnostic diagnostic;
  std::unique_ptr<MemoryBuffer> buffer =
      MemoryBuffer::getMemBufferCopy(StringRef(image.data(), image.size()));
  std::unique_ptr<llvm::Module> module = parseIR(*buffer, diagnostic, context);
  if (!module) {
    problem = "not a module of LLVM: " + diagnostic.getMessage().str();
    return nullptr;
  }
  if (!module->getTargetTriple().isNVPTX()) {
    problem = "a module for '" + module->getTargetTriple().str() +
              "', expected nvptx64";
    return nullptr;
  }
  program->omitsCall = omitCall(*module);
  if (!describeKernels(*module, program->code, problem))
    return nullptr;
  program->source->module = std::move(module);
  return program;
}

/// Most of what kernels do is done by the emulator, and most of their time is
/// that of compiling them; but products of fused multiply-adds are long, and
/// run many times.
static bool isArithmetic(llvm::Module &module) {
  size_t all = 0, fused = 0;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      ++all;
      fused += call && call->getIntrinsicID() == Intrinsic::fma;
    }
  return fused > all / 4;
}

static Expected<std::unique_ptr<orc::LLJIT>>
makeJit(CodeGenOptLevel effort, std::unique_ptr<CompiledObjects> &objects) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  orc::JITTargetMachineBuilder target(Triple("x86_64-unknown-linux-gnu"));
  StringMap<bool> features = sys::getHostCPUFeatures();
  bool hasLevel3 = true;
  for (StringRef feature : {"avx2", "bmi2", "f16c", "fma", "movbe"})
    hasLevel3 &= features.lookup(feature);
  std::string cpu = hasLevel3 ? "x86-64-v3" : "x86-64";
  target.setCPU(cpu);
  target.setCodeGenOptLevel(effort);
  target.setRelocationModel(Reloc::PIC_);
  objects = std::make_unique<CompiledObjects>(cpu + " " +
                                              std::to_string(int(effort)));
  using Compiler = std::unique_ptr<orc::IRCompileLayer::IRCompiler>;
  auto makeCompiler =
      [&](orc::JITTargetMachineBuilder target) -> Expected<Compiler> {
    auto machine = target.createTargetMachine();
    if (!machine)
      return machine.takeError();
    return std::make_unique<orc::TMOwningSimpleCompiler>(std::move(*machine),
                                                         objects.get());
  };
  return orc::LLJITBuilder()
      .setJITTargetMachineBuilder(std::move(target))
      .setCompileFunctionCreator(makeCompiler)
      .setLinkProcessSymbolsByDefault(false)
      .setPlatformSetUp(orc::setUpInactivePlatform)
      .create();
}

/// Addresses of fields and ranges are computed more than once.
static void tidy(llvm::Module &module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graphs;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass());
  passes.addPass(SimplifyCFGPass());
  ModulePassManager all;
  all.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

/// What code has symbols for in this process.
std::unique_ptr<orc::MaterializationUnit> Program::operationSymbols() const {
  orc::SymbolMap symbols;
  auto add = [&](std::string name, auto *address) {
    symbols[jit->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                           JITSymbolFlags::Exported};
  };
  for (size_t number = 0; number < code.operations.size(); ++number) {
    add(operationName(number), code.operations[number].get());
    add(handlerName(number), code.operations[number]->handler);
  }
  add(kCheckAccess, checkAccess);
  add(kFailAtDivision, failAtDivision);
  return orc::absoluteSymbols(std::move(symbols));
}

bool Program::compile(std::string &problem) {
  auto failed = [&](Error error) {
    problem = "cannot compile the module: " + toString(std::move(error));
    return false;
  };
  llvm::Module &module = *source->module;
  auto made = makeJit(isArithmetic(module) ? CodeGenOptLevel::Default
                                           : CodeGenOptLevel::None,
                      objects);
  if (!made)
    return failed(made.takeError());
  jit = std::move(*made);
  if (Error error = jit->getMainJITDylib().define(hostLibrary(*jit)))
    return failed(std::move(error));

  std::vector<std::string> names;
  for (GlobalVariable &variable : module.globals()) {
    unsigned space = variable.getAddressSpace();
    if (space == 3 || variable.isDeclaration())
      continue;
    if (!variable.hasName())
      variable.setName("variable");
    variable.setLinkage(GlobalValue::ExternalLinkage);
    variable.setComdat(nullptr);
    names.push_back(variable.getName().str());
    variables[names.back()].size =
        module.getDataLayout()
            .getTypeAllocSize(variable.getValueType())
            .getFixedValue();
  }
  HostCodeOptions options;
  options.checksAccesses = checksAreOn();
  makeHostCode(module, jit->getDataLayout(), options, code);
  std::string broken;
  raw_string_ostream stream(broken);
  if (verifyModule(module, &stream)) {
    problem = "the module is broken after it was rewritten: " + broken;
    return false;
  }
  if (Error error = jit->getMainJITDylib().define(operationSymbols()))
    return failed(std::move(error));
  tidy(module);
  if (std::getenv("HEDDLE_EMULATOR_PRINT"))
    module.print(errs(), nullptr);
  if (Error error = jit->addIRModule(orc::ThreadSafeModule(
          std::move(source->module), std::move(source->context))))
    return failed(std::move(error));

  for (const std::string &name : names) {
    auto address = jit->lookup(name);
    if (!address)
      return failed(address.takeError());
    variables[name].first = address->getValue();
    variableMap.add(address->getValue(), variables[name].size);
  }
  for (auto &[name, info] : code.kernels) {
    auto address = jit->lookup(name + ".entry");
    if (!address)
      return failed(address.takeError());
    Kernel &kernel = kernels[name];
    kernel.info = info;
    kernel.entry = address->toPtr<decltype(kernel.entry)>();
    kernel.numAccesses = code.numAccesses;
    kernel.variables = &variableMap;
  }
  return true;
}

const Kernel *Program::kernel(const std::string &name, std::string &problem) {
  problem.clear();
  if (!code.kernels.count(name))
    return nullptr;
  if (!jit && !compile(problem))
    return nullptr;
  auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}

MemoryRange Program::variable(const std::string &name, std::string &problem) {
  problem.clear();
  if (!jit && !compile(problem))
    return {};
  auto found = variables.find(name);
  return found == variables.end() ? MemoryRange() : found->second;
}
