//===- RankedList.h - A short descending list -------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_RANKEDLIST_H
#define HEDDLE_LIB_CODEGEN_LOOPS_RANKEDLIST_H

#include "lib/CodeGen/Loops/Loops.h"

namespace heddle {

/// The last dimension of values (f32) and of ids (i32), both of one shape:
/// values descend, what was inserted first stands first if they are equal.
struct RankedList {
  mlir::Value values, ids;

  /// Makes it a list of nothing: -inf and -1 at the coordinates `at`.
  void clear(mlir::ValueRange at, Loops &loops) const;
  /// The value that one has to be above to become part of it.
  mlir::Value bound(mlir::ValueRange at, Loops &loops) const;
  /// Inserts a value; what falls out behind the end is gone. NaN is never
  /// inserted, nor -inf.
  void insert(mlir::Value value, mlir::Value id, mlir::ValueRange at,
              Loops &loops) const;
};

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_RANKEDLIST_H
