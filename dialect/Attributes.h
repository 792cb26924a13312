//===- Attributes.h - Enums and attributes of the dialect -------*- C++ -*-===//
//
// What the .td files beside this header generate for attributes: ops, and the
// structs that ops are built of, come after them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_ATTRIBUTES_H
#define HEDDLE_DIALECT_ATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "dialect/Enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Attributes.h.inc"

#endif // HEDDLE_DIALECT_ATTRIBUTES_H
