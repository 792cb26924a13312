//===- ImportContext.h - A context for many imports -------------*- C++ -*-===//

#ifndef HEDDLE_TEST_FUZZ_IMPORTCONTEXT_H
#define HEDDLE_TEST_FUZZ_IMPORTCONTEXT_H

#include "mlir/IR/MLIRContext.h"
#include <memory>

namespace heddle::fuzz {

/// Loading dialects takes longer than most imports: a context serves some
/// hundred of them, until what they left in it is given back.
inline mlir::MLIRContext &importContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (uses++ % 500 == 0)
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

} // namespace heddle::fuzz

#endif // HEDDLE_TEST_FUZZ_IMPORTCONTEXT_H
