//===- Attention.h - Assembly of attention's normalizer ---------*- C++ -*-===//
//
//   normalizer ::= (`normalizer` (`softmax` | `sum` | `none` | region))?
//
// Called by the code that is generated from the assembly format.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_ATTENTION_H
#define HEDDLE_DIALECT_ATTENTION_H

#include "dialect/Transformer.h"

namespace heddle {

mlir::ParseResult parseNormalizer(mlir::OpAsmParser &parser,
                                  NormalizerAttr &kind, mlir::Region &region);
void printNormalizer(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     NormalizerAttr kind, mlir::Region &region);

} // namespace heddle

#endif // HEDDLE_DIALECT_ATTENTION_H
