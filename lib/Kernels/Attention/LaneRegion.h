//===- LaneRegion.h - A scalar region on all lanes at once ------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_LANEREGION_H
#define HEDDLE_LIB_KERNELS_ATTENTION_LANEREGION_H

#include "lib/Kernels/Vectors/VectorLoops.h"
#include "mlir/IR/IRMapping.h"

namespace heddle {

/// The results of an elementwise op, or of a lookup of a number, for numbers in
/// place of its operands: each a scalar that all lanes share or a vector of
/// `width`. So are the results: scalars if all operands are. `element` is
/// the last index of a lookup of a vector, which gives that element.
llvm::SmallVector<mlir::Value>
evaluateInLanes(VectorLoops &loops, mlir::Operation *op,
                llvm::ArrayRef<mlir::Value> operands, int64_t width,
                mlir::Value element = mlir::Value());

/// Inlines a region of one block of elementwise ops and lookups, with vectors
/// of `width` if its arguments are vectors and scalars if they are not.
/// Arguments are bound as they become known, so that what depends on the first
/// ones stands where they are bound and not in the loop of the others. A copy
/// goes on from where the original stands.
///
/// Lanes outside of the mask are evaluated, too: ops are total functions, as
/// `attention` says, and lookups are limited to their table.
class LaneRegion {
public:
  LaneRegion(mlir::Region &region, int64_t width)
      : region(&region), width(width) {}

  void bind(VectorLoops &loops, unsigned argument, mlir::Value value);
  /// What the region yields, as a vector; all arguments it needs are bound.
  mlir::Value result(VectorLoops &loops) const;

private:
  bool isKnown(mlir::Value value) const;
  mlir::Value lookup(mlir::Value value) const;

  mlir::Region *region;
  int64_t width;
  mlir::IRMapping known;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_LANEREGION_H
