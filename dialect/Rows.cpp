//===- Rows.cpp - Some rows as a buffer of their own ----------------------===//

#include "dialect/Transformer.h"

using namespace mlir;
using namespace heddle;

Value RowsOp::getViewSource() { return getSource(); }

LogicalResult RowsOp::verify() {
  // rows_c1
  MemRefType type = getSource().getType();
  if (!type.getLayout().isIdentity() || !type.isDynamicDim(0) ||
      type.getNumDynamicDims() != 1)
    return emitOpError("expects a dense buffer with only the first dimension "
                       "dynamic, found ")
           << type;
  return success();
}
