//===- AttentionLoops.h - Reference loops of attention ----------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_ATTENTIONLOOPS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_ATTENTIONLOOPS_H

#include "dialect/Transformer.h"
#include "mlir/IR/Builders.h"

namespace heddle {

/// Builds the loops of an attention op on memrefs, in any of its forms, in
/// front of the builder's insertion point: for each query and head, over the
/// keys of the mask in ascending order, first the maximum (softmax only), then
/// the weighted sum of values. Keys outside the mask are not read. Memory
/// beyond the result are the sums of one head; the order of summation depends
/// on the row alone.
void buildAttentionLoops(AttentionOp op, mlir::OpBuilder &builder);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_ATTENTIONLOOPS_H
