//===- CopyGrid.h - Rows that are copied, on a GPU --------------*- C++ -*-===//
//
// Of any element type, in pieces of 16 bytes: what a list, a length or a
// position says where a row comes from or goes to, each of its threads reads.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ROWS_COPYGRID_H
#define HEDDLE_LIB_KERNELS_GPU_ROWS_COPYGRID_H

#include "dialect/Transformer.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace heddle {

/// Builds the grid of an op in front of it. Fails, building nothing, for
/// memrefs that are not dense.
mlir::LogicalResult emitGrid(CacheAppendOp op);
mlir::LogicalResult emitGrid(CacheFillOp op);
mlir::LogicalResult emitGrid(LastRowsOp op);
mlir::LogicalResult emitGrid(PutRowsOp op);
mlir::LogicalResult emitGrid(TakeRowsOp op);
mlir::LogicalResult emitGrid(mlir::memref::CopyOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ROWS_COPYGRID_H
