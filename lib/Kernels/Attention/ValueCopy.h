//===- ValueCopy.h - The values of one head, side by side -------*- C++ -*-===//
//
// If heads stand beside each other in a row, the rows of one are kilobytes
// apart and share few sets of the first cache. An update of a block of queries
// passes over the values of a tile several times, a part of the width each: it
// finds them in a copy without gaps, which the blocks of a head share.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_VALUECOPY_H
#define HEDDLE_LIB_KERNELS_ATTENTION_VALUECOPY_H

#include "lib/Kernels/Vectors/VectorLoops.h"

namespace heddle {

/// Memory of a task for the values of one head, in f32. It starts with none.
class ValueCopy {
public:
  /// Takes the memory where `loops` builds; `loops` has to live as long.
  ValueCopy(VectorLoops &loops, int64_t width);

  /// `values`, [n, width], of the head with this number, which no other has:
  /// as a copy, made unless it is there, if `isWanted` and if there is memory
  /// for n rows. Valid until the next call.
  mlir::Value rows(mlir::Value values, mlir::Value number,
                   mlir::Value isWanted);

private:
  void fill(mlir::Value values);

  VectorLoops &loops;
  int64_t width;
  mlir::Value memory, held;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_VALUECOPY_H
