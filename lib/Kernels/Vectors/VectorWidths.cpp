//===- VectorWidths.cpp - The binary digits of a remainder ----------------===//
//
// Lanes are a power of two, so that the remainder is a sum of different smaller
// powers: its binary digits. Each is a vector without a mask, the largest one
// first.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Vectors/VectorWidths.h"

using namespace heddle;

llvm::SmallVector<int64_t> heddle::vectorWidths(int64_t extent, int64_t lanes) {
  llvm::SmallVector<int64_t> widths(extent / lanes, lanes);
  for (int64_t width = lanes / 2, left = extent % lanes; left > 0; width /= 2)
    if (left >= width) {
      widths.push_back(width);
      left -= width;
    }
  return widths;
}
