//===- Rows.cpp - Some rows as a buffer of their own ----------------------===//
//
// The result has the type of a whole buffer, which does not say where its rows
// begin: that type is true only of dense buffers whose number of rows alone is
// dynamic. Passes follow a buffer through this op as through any view.
//
//===----------------------------------------------------------------------===//

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
