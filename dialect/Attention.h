//===- Attention.h - Regions of attention, and its normalizer ---*- C++ -*-===//
//
//   normalizer ::= (`normalizer` (`softmax` | `sum` | `none` | region))?
//
// Parsed and printed for the code that is generated from the assembly format;
// regions are checked for attention and for what tilers make of it, and their
// work is counted.
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

/// Verifies a region of `op`, which may be empty: attention's C5, C9 and C10.
/// `name` is similarity, score or normalizer; `expected` are the types of its
/// arguments.
llvm::LogicalResult verifyRegion(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Region &region,
                                 llvm::ArrayRef<mlir::Type> expected);

/// Operations that the similarity of one pair takes: two an element of the
/// scaled product; of a region one an element that is computed or added, and
/// `function` where the op is one of math.
int64_t similarityOperations(AttentionOp op, int64_t function = 1);

} // namespace heddle

#endif // HEDDLE_DIALECT_ATTENTION_H
