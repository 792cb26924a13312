//===- RowOperands.cpp - Ops that compute row by row ----------------------===//
//
// Which operands of an op have a row each is a matter of the op; the others are
// weights.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/RowOperands.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

SmallVector<OpOperand *> heddle::rowOperandsOf(Operation *op) {
  SmallVector<OpOperand *> operands;
  auto add = [&](MutableOperandRange range) {
    for (OpOperand &operand : range)
      operands.push_back(&operand);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<LinearOp, FfnOp>([&](auto product) {
        operands.push_back(&product.getInputMutable());
        add(product.getInputScalesMutable());
        add(product.getResidualMutable());
        add(cast<DestinationOpInterface>(op).getDestinationsMutable());
      })
      .Case([&](NormOp norm) {
        operands.push_back(&norm.getInputMutable());
        add(norm.getResidualMutable());
        add(norm.getDestinationsMutable());
      })
      .Case([&](NormalizeOp normalize) {
        operands.push_back(&normalize.getInputMutable());
        add(normalize.getDestinationMutable());
      })
      .Case<QuantizeOp, QuantizeHeadsOp>([&](auto quantize) {
        operands.push_back(&quantize.getInputMutable());
        add(quantize.getDestinationsMutable());
      })
      .Case([&](FakeQuantizeOp quantize) {
        operands.push_back(&quantize.getInputMutable());
        add(quantize.getDestinationMutable());
      })
      .Case([&](EmbeddingOp embedding) {
        // Positions count along the second dimension.
        if (embedding.hasPositions())
          return;
        operands.push_back(&embedding.getIdsMutable());
        add(embedding.getDestinationsMutable());
      })
      .Case<ActivationOp, AddOp, FillOp, MultiplyOp, RoundOp>(
          [&](Operation *elementwise) {
            for (OpOperand &operand : elementwise->getOpOperands())
              operands.push_back(&operand);
          });
  return operands;
}

int64_t heddle::leadingDimsOf(DestinationOpInterface op) {
  // Rows of a table of scalars have no width.
  if (auto embedding = dyn_cast<EmbeddingOp>(op.getOperation()))
    return cast<ShapedType>(embedding.getIds().getType()).getRank();
  return cast<ShapedType>(op.getDestinations().front().getType()).getRank() - 1;
}

Value heddle::collapseLeading(OpBuilder &builder, Location loc, Value memref,
                              int64_t leading) {
  if (leading == 1)
    return memref;
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  SmallVector<ReassociationIndices> groups = {
      llvm::to_vector(llvm::seq<int64_t>(0, leading))};
  for (int64_t axis = leading; axis < rank; ++axis)
    groups.push_back({axis});
  return memref::CollapseShapeOp::create(builder, loc, memref, groups);
}
