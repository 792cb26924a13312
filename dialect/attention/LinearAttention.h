//===- LinearAttention.h - Assembly of linear attention ---------*- C++ -*-===//
//
//   features ::= (`features` (`elu` | `relu` | `taylor` | region))?
//
// Called by the code that is generated from the assembly format.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_ATTENTION_LINEARATTENTION_H
#define HEDDLE_DIALECT_ATTENTION_LINEARATTENTION_H

#include "dialect/Transformer.h"

namespace heddle {

mlir::ParseResult parseFeatures(mlir::OpAsmParser &parser, FeatureMapAttr &kind,
                                mlir::Region &map);
void printFeatures(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   FeatureMapAttr kind, mlir::Region &map);

} // namespace heddle

#endif // HEDDLE_DIALECT_ATTENTION_LINEARATTENTION_H
