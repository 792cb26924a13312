//===- ObjectCode.cpp - LLVM IR, object files, and one shared object ------===//
//
// Each function carries its CPU and features as attributes, so that emitting
// needs no ISA level: it reads them from the module. Object files are compiled
// apart and linked once. lld reads files only, so that the objects go through
// one temporary archive, which is removed even if a signal ends the process.
// Code refers to its own symbols (-Bsymbolic) and is bound at load (-z now): no
// call is resolved while a model runs.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/ObjectCode.h"
#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/LlvmMachine.h"
#include "lib/CodeGen/Machine/SimplifyCode.h"
#include "lib/Support/Error.h"
#include "lld/Common/Driver.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace heddle;

static constexpr llvm::StringLiteral kTriple = "x86_64-unknown-linux-gnu";

static std::unique_ptr<llvm::TargetMachine>
createHostMachine(llvm::StringRef cpu, llvm::StringRef features) {
  return createTargetMachine({kTriple, cpu, features, llvm::Reloc::PIC_,
                              llvm::CodeGenOptLevel::Default});
}

/// As LLVM takes them: "+avx2,+fma".
static std::string featuresOf(const IsaLevel &isa) {
  std::string features;
  for (llvm::StringRef feature : llvm::split(isa.features, ','))
    features += (features.empty() ? "+" : ",+") + feature.str();
  return features;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
heddle::buildLLVMModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                        const IsaLevel &isa) {
  std::string features = featuresOf(isa);
  std::unique_ptr<llvm::TargetMachine> machine =
      createHostMachine(isa.cpu, features);
  if (!machine)
    return makeError("this build of LLVM has no x86-64 target");
  for (auto parameter :
       llvm::make_early_inc_range(module.getOps<ParameterOp>()))
    parameter.erase();
  // What is linked together calls kernels, nobody else does.
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>())
    if (function->hasAttr(kKernelAttr) &&
        function.getLinkage() == mlir::LLVM::Linkage::External)
      function.setVisibility_(mlir::LLVM::Visibility::Hidden);
  std::unique_ptr<llvm::Module> translated =
      translateModule(module, context, *machine);
  if (!translated)
    return makeError("the module does not translate to LLVM IR");
  for (llvm::Function &function : *translated)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", isa.cpu);
      function.addFnAttr("target-features", features);
    }
  simplifyCode(*translated, *machine);
  return translated;
}

llvm::Expected<ObjectBytes> heddle::emitObjectCode(llvm::Module &module,
                                                   ObjectForm form) {
  llvm::StringRef cpu, features;
  for (llvm::Function &function : module)
    if (!function.isDeclaration()) {
      cpu = function.getFnAttribute("target-cpu").getValueAsString();
      features = function.getFnAttribute("target-features").getValueAsString();
    }
  std::unique_ptr<llvm::TargetMachine> machine =
      createHostMachine(cpu, features);
  ObjectBytes code;
  llvm::raw_svector_ostream stream(code);
  if (!machine || !emitModule(module, *machine,
                              form == ObjectForm::Assembly
                                  ? llvm::CodeGenFileType::AssemblyFile
                                  : llvm::CodeGenFileType::ObjectFile,
                              stream))
    return makeError("this build of LLVM cannot emit x86-64 code");
  return code;
}

/// An archive: one file for lld to read, however many objects there are.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
packObjects(llvm::ArrayRef<ObjectBytes> objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const ObjectBytes &object : objects)
    members.emplace_back(llvm::MemoryBufferRef(
        llvm::StringRef(object.data(), object.size()), "unit.o"));
  return llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab,
                                    llvm::object::Archive::K_GNU,
                                    /*Deterministic=*/true, /*Thin=*/false);
}

namespace {
/// Removes a file at its end, or when a signal ends the process.
class TemporaryFile {
public:
  explicit TemporaryFile(llvm::StringRef path) : path(path) {
    llvm::sys::RemoveFileOnSignal(path);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }

private:
  llvm::StringRef path;
};
} // namespace

llvm::Expected<ObjectBytes>
heddle::linkSharedObject(llvm::ArrayRef<ObjectBytes> objects) {
  auto archive = packObjects(objects);
  if (!archive)
    return archive.takeError();
  llvm::SmallString<128> input, output;
  int descriptor;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("heddle", "a", descriptor, input))
    return makeError("cannot create a temporary archive: " + error.message());
  TemporaryFile removeInput(input);
  {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << (*archive)->getBuffer();
    stream.flush();
    if (stream.has_error()) {
      std::error_code error = stream.error();
      stream.clear_error();
      return makeError("cannot write the temporary archive '" + input +
                       "': " + error.message());
    }
  }
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("heddle", "so", output))
    return makeError("cannot create a temporary shared object: " +
                     error.message());
  TemporaryFile removeOutput(output);

  const char *arguments[] = {"ld.lld",          "-shared",     "-Bsymbolic",
                             "--build-id=none", "-z",          "now",
                             "--whole-archive", input.c_str(), "-o",
                             output.c_str()};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return makeError("cannot link the compiled code: " + messages);
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> linked =
      llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false);
  if (!linked)
    return makeError("cannot read the shared object '" + output +
                     "': " + linked.getError().message());
  llvm::StringRef bytes = (*linked)->getBuffer();
  return ObjectBytes(bytes.begin(), bytes.end());
}
