//===- MaskAssembly.h - Assembly of what heads may differ in ----*- C++ -*-===//
//
//   per-head ::= integer | `[` integer (`,` integer)* `]`
//
// One value for all heads, or one for each. Called by the code that is
// generated from assembly formats.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_MASKS_MASKASSEMBLY_H
#define HEDDLE_DIALECT_MASKS_MASKASSEMBLY_H

#include "mlir/IR/OpImplementation.h"

namespace heddle {

mlir::ParseResult parsePerHead(mlir::OpAsmParser &parser,
                               mlir::DenseI64ArrayAttr &values);
void printPerHead(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::DenseI64ArrayAttr values);

} // namespace heddle

#endif // HEDDLE_DIALECT_MASKS_MASKASSEMBLY_H
