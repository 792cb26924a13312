//===- FirstDiagnostic.h - MLIR's first error as a sentence -----*- C++ -*-===//
//
// MLIR reports errors to handlers, many at a time and with notes; a tool tells
// its user one sentence. Later errors mostly follow from the first.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_SUPPORT_FIRSTDIAGNOSTIC_H
#define HEDDLE_LIB_SUPPORT_FIRSTDIAGNOSTIC_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// Catches what is reported in `context` while it lives.
class FirstDiagnostic {
public:
  explicit FirstDiagnostic(mlir::MLIRContext &context);

  bool isReported() const { return !sentence.empty(); }

  /// The first error, on one line, behind where it is: "model.mlir:3:5: ..." or
  /// the name of a tensor. `otherwise` is the sentence when none was reported.
  llvm::Error take(const llvm::Twine &otherwise) const;

private:
  std::string sentence;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace heddle

#endif // HEDDLE_LIB_SUPPORT_FIRSTDIAGNOSTIC_H
