//===- VectorWidths.h - Cutting an extent into vectors ----------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_VECTORS_VECTORWIDTHS_H
#define HEDDLE_LIB_KERNELS_VECTORS_VECTORWIDTHS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace heddle {

/// Widths of vectors that cover `extent` elements: whole vectors of `lanes`,
/// then smaller powers of two (other widths are taken apart into scalars by
/// LLVM).
llvm::SmallVector<int64_t> vectorWidths(int64_t extent, int64_t lanes);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_VECTORS_VECTORWIDTHS_H
