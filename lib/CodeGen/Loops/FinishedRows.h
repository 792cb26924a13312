//===- FinishedRows.h - What a product leaves to whole rows -----*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_FINISHEDROWS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_FINISHEDROWS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/Loops.h"

namespace heddle {

/// For a linear or an ffn: the norm behind the rows in the first of its
/// destinations, in place, and what `also` makes of them, as ops. None if it
/// has neither.
template <typename Op>
void finishRows(Op op, llvm::ArrayRef<mlir::Value> destinations, Loops &loops) {
  mlir::OpBuilder &builder = loops.builder;
  mlir::Value rows = destinations.front();
  if (op.getNorm()) {
    auto norm =
        NormOp::create(builder, loops.loc, *op.getNorm(), rows, op.getGamma(),
                       op.getBeta(), rows, *op.getEpsilon());
    norm.setAlso(op.getAlso());
    if (op.getAlsoMultiplier())
      norm.getAlsoMultiplierMutable().assign(op.getAlsoMultiplier());
    norm.getDestinationsMutable().assign(destinations);
  } else if (mlir::Type rounded =
                 roundedType(builder.getContext(), op.getAlso())) {
    RoundOp::create(builder, loops.loc, mlir::TypeRange(), rows,
                    destinations[1], rounded);
  } else if (isQuantized(op.getAlso())) {
    QuantizeOp::create(builder, loops.loc, mlir::TypeRange(), rows,
                       op.getAlsoMultiplier(), destinations.drop_front(),
                       op.getAlso() == Shortening::QuantizeRotated);
  }
}

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_FINISHEDROWS_H
