//===- LinearAttentionLoops.h - Reference loops -----------------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_LINEARATTENTIONLOOPS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_LINEARATTENTIONLOOPS_H

#include "dialect/Transformer.h"
#include "mlir/IR/Builders.h"

namespace heddle {

/// Build the loops of an op on memrefs, in any of its forms, in front of the
/// builder's insertion point: keys are added to the sums of their head in
/// ascending order, and a query reads them feature by feature. Full forms keep
/// the sums of one head on the stack.
void buildLinearAttentionLoops(LinearAttentionOp op, mlir::OpBuilder &builder);
void buildLinearAttentionLoops(LinearAttentionSumsOp op,
                               mlir::OpBuilder &builder);
void buildLinearAttentionLoops(LinearAttentionReadOp op,
                               mlir::OpBuilder &builder);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_LINEARATTENTIONLOOPS_H
