#include "dialect/LayerChecks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

LogicalResult LinearTileOp::verify() {
  // linear.tile_c1
  int64_t columns = getColumns();
  if (columns % (columns > kPanelColumns ? kPanelColumns : 8) != 0)
    return emitOpError("expects columns that are a multiple of 8, and of ")
           << kPanelColumns << " where they are more, found " << columns;
  // linear.tile_c2
  auto weight = cast<MemRefType>(getWeight().getType());
  int64_t out = width(getDestination());
  if (!weight.hasStaticShape() || width(getInput()) != depth(getWeight()) ||
      width(getWeight()) != kPanelColumns ||
      weight.getDimSize(0) != int64_t(llvm::divideCeil(out, kPanelColumns)) ||
      (getBias() && width(getBias()) != out) ||
      (getResidual() && width(getResidual()) != out))
    return emitOpError("expects x [rows, in], panels of [in, out], a bias "
                       "[out], a residual and y [rows, out]");
  return success();
}

void LinearTileOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (&operand == &getDestinationMutable())
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}
