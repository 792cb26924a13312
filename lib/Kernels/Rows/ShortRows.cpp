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
  if (*op.getAlso() != Shortening::Quantize)
    shortFloats = shorter;
  else
    integers = {shorter,
                op.getAlsoMultiplier() ? Value()
                                       : kernel.flatten(destinations[2]),
                op.getAlsoMultiplier()};
}

void ShortRows::emit(Value row) {
  if (shortFloats)
    roundRow(kernel, floats, row, shortFloats);
  else if (integers.integers)
    quantizeRow(kernel, floats, row, integers);
}
