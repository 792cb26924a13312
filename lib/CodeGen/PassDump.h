//===- PassDump.h - Writes the module after every pass ----------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_PASSDUMP_H
#define HEDDLE_LIB_CODEGEN_PASSDUMP_H

#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>

namespace heddle {

/// Writes `<folder>/NN-<pass>.mlir` after each pass on a module, NN counting
/// from `firstNumber`. Values are named after the checkpoint's tensors, where
/// an op carries such a location; weights are symbols and have no bytes here. A
/// pass that changes nothing writes no file. A file that cannot be written is
/// an error of the module.
class PassDump : public mlir::PassInstrumentation {
public:
  explicit PassDump(llvm::StringRef folder, unsigned firstNumber = 0)
      : folder(folder), number(firstNumber) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;

private:
  std::string folder;
  unsigned number;
  /// The text written last.
  std::string previous;
};

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_PASSDUMP_H
