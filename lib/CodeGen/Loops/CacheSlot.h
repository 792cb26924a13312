//===- CacheSlot.h - Where a cache keeps a position -------------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_CACHESLOT_H
#define HEDDLE_LIB_CODEGEN_LOOPS_CACHESLOT_H

#include "mlir/IR/Builders.h"

namespace heddle {

/// The slot of a position among `slots`, all of type index: its own for the
/// first `pinned`, which a sentence may not fill, and one of a ring behind
/// them.
mlir::Value buildCacheSlot(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value position, mlir::Value slots,
                           int64_t pinned);

/// Whether `position` is below `length` and no later one below it takes its
/// slot: an i1 of indices.
mlir::Value staysInCache(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value position, mlir::Value length,
                         mlir::Value slots, int64_t pinned);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_CACHESLOT_H
