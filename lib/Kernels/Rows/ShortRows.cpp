//===- ShortRows.cpp - One of two kernels behind another ------------------===//
//
// The destinations of the op are the row of f32, then its short form, then the
// scales if it is quantised without a given multiplier. The constructor
// collects them before the loop over rows, so that their views are built once.
// `emit` adds the loops of one row.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/ShortRows.h"
#include "lib/Kernels/Rows/RoundKernel.h"

using namespace mlir;
using namespace heddle;

ShortRows::ShortRows(RowKernel &kernel, ShortRowsOpInterface op)
    : kernel(kernel) {
  if (!op.getAlso())
    return;
  OperandRange destinations =
      cast<DestinationOpInterface>(op.getOperation()).getDestinations();
  floats = kernel.rowsOf(destinations[0]);
  Value shorter = kernel.rowsOf(destinations[1]);
  if (!isQuantized(op.getAlso()))
    shortFloats = shorter;
  else
    integers = {
        shorter,
        op.getAlsoMultiplier() ? Value() : kernel.flatten(destinations[2]),
        op.getAlsoMultiplier(), op.getAlso() == Shortening::QuantizeRotated};
}

void ShortRows::emit(Value row) {
  if (shortFloats)
    roundRow(kernel, floats, row, shortFloats);
  else if (integers.integers)
    quantizeRow(kernel, floats, row, integers);
}
