//===- MovedElements.h - Where moved elements come from ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_MOVEDELEMENTS_H
#define HEDDLE_LIB_KERNELS_ATTENTION_MOVEDELEMENTS_H

#include "mlir/IR/Value.h"
#include <cstdint>
#include <utility>

namespace heddle {

/// A vector and the place of an element in it, in row-major order; or a number
/// and 0.
using ElementSource = std::pair<mlir::Value, int64_t>;

/// Whether `op`, which may be null, is one of those of vector that a similarity
/// region may hold to move elements, with one result.
bool movesElements(mlir::Operation *op);

/// What stands at place `at` of the result of such an op, or is the result.
ElementSource sourceOf(mlir::Operation *move, int64_t at);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_MOVEDELEMENTS_H
