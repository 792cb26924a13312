#include "lib/Kernels/ShortRows.h"
#include "lib/Kernels/RoundKernel.h"

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
  if (*op.getAlso() == Shortening::Round)
    bf16 = shorter;
  else
    integers = {shorter,
                op.getAlsoMultiplier() ? Value()
                                       : kernel.flatten(destinations[2]),
                op.getAlsoMultiplier()};
}

void ShortRows::emit(Value row) {
  if (bf16)
    roundRow(kernel, floats, row, bf16);
  else if (integers.integers)
    quantizeRow(kernel, floats, row, integers);
}
