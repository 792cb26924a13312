#include "lib/CodeGen/PassDump.h"
#include "dialect/Transformer.h"
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

/// Names are for tensors, their buffers and masks; the scalars of a loop read
/// better under numbers, constants under their value.
static void dropNamesOfScalars(Operation *op) {
  Location unknown = UnknownLoc::get(op->getContext());
  if (op->getNumResults() != 0 &&
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType, MaskType>))
    op->setLoc(unknown);
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (!isa<ShapedType>(argument.getType()))
        argument.setLoc(unknown);
}

void PassDump::write(llvm::StringRef name, Operation *op) {
  OwningOpRef<Operation *> shown(op->clone());
  shown->walk([](Operation *each) { dropNamesOfScalars(each); });
  std::string numbered = llvm::formatv("{0,0+2}-{1}.mlir", number++, name);
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, numbered);
  std::error_code error;
  llvm::raw_fd_ostream file(path, error, llvm::sys::fs::OF_Text);
  if (!error) {
    shown->print(file, OpPrintingFlags().printNameLocAsPrefix());
    file << '\n';
    file.flush();
    error = file.error();
    file.clear_error();
  }
  if (error)
    emitError(op->getLoc())
        << "cannot write '" << path << "': " << error.message();
}
