#include "lib/CodeGen/PassDump.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

void PassDump::runAfterPass(Pass *pass, Operation *op) {
  if (!isa<ModuleOp>(op) || pass->getArgument().empty())
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  // A constant reads best under its value, whatever op asked for it first.
  OwningOpRef<Operation *> shown(op->clone());
  shown->walk([](Operation *each) {
    if (each->hasTrait<OpTrait::ConstantLike>())
      each->setLoc(UnknownLoc::get(each->getContext()));
  });
  shown->print(stream, OpPrintingFlags().printNameLocAsPrefix());
  stream << '\n';
  if (text == previous)
    return;
  previous = std::move(text);

  std::string name;
  llvm::raw_string_ostream(name) << llvm::format_decimal(number, 2) << '-'
                                 << pass->getArgument() << ".mlir";
  llvm::replace(name, ' ', '0');
  ++number;
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code error;
  llvm::raw_fd_ostream file(path, error, llvm::sys::fs::OF_Text);
  if (!error) {
    file << previous;
    file.flush();
    error = file.error();
    file.clear_error();
  }
  if (error)
    emitError(op->getLoc())
        << "cannot write '" << path << "': " << error.message();
}
