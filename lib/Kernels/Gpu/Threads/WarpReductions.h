//===- WarpReductions.h - What the lanes of a warp have together *- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_THREADS_WARPREDUCTIONS_H
#define HEDDLE_LIB_KERNELS_GPU_THREADS_WARPREDUCTIONS_H

#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

/// The largest of a warp's f32; what is no number is none.
mlir::Value largestOfLanes(mlir::Value value, BlockCode &code);
/// The sum of a warp's f32.
mlir::Value sumOfLanes(mlir::Value value, BlockCode &code);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_THREADS_WARPREDUCTIONS_H
