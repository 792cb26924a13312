#include "test/kernels/math/VectorCode.h"

#include "lib/CodeGen/Machine/ObjectCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "runtime/code/FloatEnvironment.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <dlfcn.h>

using namespace heddle;
using namespace heddle::test;
using namespace mlir;

VectorCode::VectorCode(
    const IsaLevel &isa,
    llvm::function_ref<SmallVector<Type>(OpBuilder &)> arguments,
    llvm::function_ref<void(OpBuilder &, ValueRange)> build) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto body = func::FuncOp::create(
      builder, loc, "run", builder.getFunctionType(arguments(builder), {}));
  body->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                builder.getUnitAttr());
  builder.setInsertionPointToStart(body.addEntryBlock());
  build(builder, body.getArguments());
  func::ReturnOp::create(builder, loc);

  PassManager manager(&context);
  buildLLVMPipeline(manager);
  if (failed(manager.run(*module)))
    return;
  llvm::LLVMContext llvmContext;
  auto code = llvm::cantFail(buildLLVMModule(*module, llvmContext, isa));
  auto object = llvm::cantFail(emitObjectCode(*code, ObjectForm::Object));
  load(llvm::cantFail(linkSharedObject({object})));
}

VectorCode::~VectorCode() {
  if (library)
    dlclose(library);
}

void VectorCode::load(llvm::ArrayRef<char> object) {
  llvm::StringRef bytes(object.data(), object.size());
  auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(bytes, "run")));
  auto *elf = cast<llvm::object::ELFObjectFileBase>(file.get());
  for (const llvm::object::SymbolRef &symbol : elf->getDynamicSymbolIterators())
    if (llvm::cantFail(symbol.getFlags()) &
        llvm::object::SymbolRef::SF_Undefined)
      ADD_FAILURE() << "calls " << llvm::cantFail(symbol.getName()).str();

  llvm::SmallString<128> path;
  int descriptor;
  if (llvm::sys::fs::createTemporaryFile("heddle", "so", descriptor, path))
    return;
  llvm::FileRemover remove(path);
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << bytes;
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  function = dlsym(library, "_mlir_ciface_run");
  ASSERT_TRUE(function);
}

void VectorCode::run(llvm::function_ref<void()> call) const {
  FloatEnvironment environment;
  call();
}
