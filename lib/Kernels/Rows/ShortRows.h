//===- ShortRows.h - Rows in fewer bits, beside f32 -------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_SHORTROWS_H
#define HEDDLE_LIB_KERNELS_ROWS_SHORTROWS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Rows/QuantizeKernel.h"

namespace heddle {

/// What `also` makes of the rows of an op on memrefs: a kernel that has stored
/// a row of f32 goes on with it while it is in the L1 cache.
class ShortRows {
public:
  ShortRows(RowKernel &kernel, ShortRowsOpInterface op);

  /// Builds what becomes of a row that stands in the op's first destination;
  /// nothing if `op` has no `also`.
  void emit(mlir::Value row);

private:
  RowKernel &kernel;
  /// The destinations, as [rows, width]; the second is null without `also
  /// round`.
  mlir::Value floats, shortFloats;
  /// Null without `also quantize`.
  IntegerRows integers;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_SHORTROWS_H
