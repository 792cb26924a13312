//===- PassDump.cpp - One numbered file per pass --------------------------===//
//
// Only passes on the module are written: a pass on a function sees that
// function alone. The counter belongs to the caller, since several pipelines
// write to one folder in a row. Each file is written under another name and
// renamed when it is whole, so that nobody reads half of one.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/PassDump.h"
#include "lib/CodeGen/ModuleText.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

/// Pass managers are passes too, without a name of their own.
static bool isPassOnModule(Pass *pass, Operation *op) {
  return isa<ModuleOp>(op) && !pass->getArgument().empty();
}

void PassDump::runBeforePass(Pass *pass, Operation *op) {
  if (number == 0 && isPassOnModule(pass, op))
    write("imported", op);
}

void PassDump::runAfterPass(Pass *pass, Operation *op) {
  if (isPassOnModule(pass, op))
    write(pass->getArgument(), op);
}

void PassDump::write(llvm::StringRef name, Operation *op) {
  ModuleText shown(op);
  std::string numbered = llvm::formatv("{0,0+2}-{1}.mlir", number++, name);
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, numbered);
  llvm::Error error =
      llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) -> llvm::Error {
        auto &file = static_cast<llvm::raw_fd_ostream &>(stream);
        file << shown.text;
        file.flush();
        std::error_code reason = file.error();
        file.clear_error();
        return llvm::errorCodeToError(reason);
      });
  if (error)
    emitError(op->getLoc()) << "cannot write '" << path
                            << "': " << llvm::toString(std::move(error));
}
