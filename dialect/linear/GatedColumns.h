//===- GatedColumns.h - A gate among the columns of a weight ----*- C++ -*-===//
//
// A `linear` that is `gated` has the two products of a gated linear unit
// (arXiv:2002.05202) in one weight: of each 16 columns the first eight meet the
// activation, and the others multiply them. Eight are a vector of the shortest
// registers, so that each ISA level finds both in the tile that it has.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_LINEAR_GATEDCOLUMNS_H
#define HEDDLE_DIALECT_LINEAR_GATEDCOLUMNS_H

#include "dialect/Transformer.h"

namespace heddle {

/// Columns of each of the two that stand together.
inline constexpr int64_t kGatedColumns = 8;

/// Whether W has the columns of a gate, too: that of a linear, or of its tiles.
template <typename Op> bool isGatedByColumns(Op op) {
  return op.getGates() && !op.getResidual();
}

/// The columns of W that each result takes: its own width, or twice as many.
llvm::SmallVector<int64_t> weightColumnsOf(LinearOp op);

} // namespace heddle

#endif // HEDDLE_DIALECT_LINEAR_GATEDCOLUMNS_H
