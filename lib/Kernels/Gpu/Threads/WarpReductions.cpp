//===- WarpReductions.cpp - What the lanes of a warp have together --------===//
//
// A butterfly of five exchanges gives the result to all 32 lanes. The order
// depends on the lanes alone, so a sum has the same bits whatever other rows a
// grid has.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Threads/WarpReductions.h"

using namespace mlir;
using namespace heddle;

Value heddle::largestOfLanes(Value value, BlockCode &code) {
  return code.combineLanes(value, [&](ValueRange mine, ValueRange other) {
    return SmallVector<Value>{code.maxNumber(mine[0], other[0])};
  })[0];
}

Value heddle::sumOfLanes(Value value, BlockCode &code) {
  return code.combineLanes(value, [&](ValueRange mine, ValueRange other) {
    return SmallVector<Value>{code.add(mine[0], other[0])};
  })[0];
}
