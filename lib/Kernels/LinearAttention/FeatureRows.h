//===- FeatureRows.h - The features of queries and keys ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_LINEARATTENTION_FEATUREROWS_H
#define HEDDLE_LIB_KERNELS_LINEARATTENTION_FEATUREROWS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"
#include "lib/Kernels/Vectors/VectorLoops.h"

namespace heddle {

/// phi of the rows of one head, as linear attention defines it: each by itself,
/// with the same bits wherever it stands.
class FeatureRows {
public:
  /// Heads of `width` elements.
  FeatureRows(RowKernel &kernel, VectorLoops &loops, FeatureMap features,
              mlir::Region &map, int64_t width)
      : kernel(kernel), loops(loops), features(features), map(map),
        width(width) {}

  /// The length of phi(x).
  int64_t size() const {
    return width + (features == FeatureMap::Taylor ? 1 : 0);
  }
  /// result[to, 0 : size] = phi(rows[from, :]); rows are of f32 or short
  /// floats.
  void store(mlir::Value rows, mlir::Value from, mlir::Value result,
             mlir::Value to);

private:
  mlir::Value inverseNorm(mlir::Value rows, mlir::Value from);
  mlir::Value feature(mlir::Value x, mlir::Value inverse);

  RowKernel &kernel;
  VectorLoops &loops;
  FeatureMap features;
  mlir::Region &map;
  int64_t width;
};

/// The first `count` elements of a row of f32 or short floats from `at` on, as
/// a vector of f32 with zeros behind them.
mlir::Value loadAsF32(VectorLoops &loops, mlir::Value memref,
                      mlir::ValueRange at, int64_t count);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEARATTENTION_FEATUREROWS_H
