//===- PassDump.h - Writes the module after every pass ----------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_PASSDUMP_H
#define HEDDLE_LIB_CODEGEN_PASSDUMP_H

#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>

namespace heddle {

/// Writes `<folder>/NN-<pass>.mlir` after each pass on a module, and before the
/// first one `00-imported.mlir`. Values are named after the checkpoint's
/// tensors, if an op carries such a location; weights are symbols and have
/// no bytes here. A file that cannot be written is an error of the module.
class PassDump : public mlir::PassInstrumentation {
public:
  /// `number` counts the files, through all pipelines that share it; it
  /// outlives the dump.
  PassDump(llvm::StringRef folder, unsigned &number)
      : folder(folder), number(number) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;

private:
  void write(llvm::StringRef name, mlir::Operation *op);

  std::string folder;
  unsigned &number;
};

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_PASSDUMP_H
