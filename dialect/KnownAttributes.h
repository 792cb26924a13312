//===- KnownAttributes.h - Attributes that somebody reads -------*- C++ -*-===//
//
// An attribute that nobody reads is a mistake in writing, which would change
// results in silence. So the ops of the dialect have no attributes but their
// own, and those of other dialects; and `transformer.*` on modules, functions,
// arguments and results are the ones that the dialect's description lists.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_KNOWNATTRIBUTES_H
#define HEDDLE_DIALECT_KNOWNATTRIBUTES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"

namespace heddle {

/// An error for an attribute of `op` that is neither declared for it nor
/// carries the prefix of a dialect.
llvm::LogicalResult verifyKnownAttributes(mlir::Operation *op);

/// An error for an attribute anywhere in `module` that belongs to no op and no
/// dialect: its prefix is misspelt, or missing.
llvm::LogicalResult verifyAttributePrefixes(mlir::ModuleOp module);

/// The trait of ops that verifies it.
template <typename Op>
struct HasKnownAttributes : mlir::OpTrait::TraitBase<Op, HasKnownAttributes> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyKnownAttributes(op);
  }
};

} // namespace heddle

#endif // HEDDLE_DIALECT_KNOWNATTRIBUTES_H
