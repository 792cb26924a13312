//===- RowMover.h - Rows of states move on a GPU ----------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ROWMOVER_H
#define HEDDLE_LIB_KERNELS_GPU_ROWMOVER_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// Adds the kernel that KernelAbi.h calls HEDDLE_MOVE_ROWS, as number `number`.
void buildRowMover(mlir::ModuleOp module, int64_t number);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ROWMOVER_H
