//===- ValueCopy.cpp - One head's values, copied once ---------------------===//
//
// A task holds the copy of one head at a time, and `held` is its number. Blocks
// of the same head find the number and skip the copying. A head that does not
// fit in 256 KB is read where it stands: a larger copy would push the keys out
// of the L2 cache.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/ValueCopy.h"
#include "lib/Kernels/Vectors/VectorWidths.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

/// A part of the L2 cache, beside keys.
static constexpr int64_t kCopyBytes = 1 << 18;

ValueCopy::ValueCopy(VectorLoops &loops, int64_t width)
    : loops(loops), width(width) {
  OpBuilder &builder = loops.builder;
  auto allocate = [&](ArrayRef<int64_t> shape, Type element) -> Value {
    return memref::AllocaOp::create(
        builder, loops.loc, MemRefType::get(shape, element), ValueRange(),
        builder.getI64IntegerAttr(64));
  };
  int64_t rowBytes = width * sizeof(float);
  memory = allocate({kCopyBytes / rowBytes, width}, builder.getF32Type());
  held = allocate({1}, builder.getIndexType());
  loops.store(loops.index(-1), held, {loops.index(0)});
}

void ValueCopy::fill(Value values) {
  loops.each(loops.index(0), loops.size(values, 0), 1, [&](Value row) {
    int64_t d = 0;
    for (int64_t count : vectorWidths(width, loops.isa.lanes)) {
      Value at[] = {row, loops.index(d)};
      loops.storeVector(loops.loadVector(values, at, count), memory, at);
      d += count;
    }
  });
}

Value ValueCopy::rows(Value values, Value number, Value isWanted) {
  OpBuilder &builder = loops.builder;
  Value zero = loops.index(0), count = loops.size(values, 0);
  Value isCopied = loops.logicalAnd(
      isWanted, loops.lessOrEqual(count, loops.size(memory, 0)));
  loops.ifThen(isCopied, [&] {
    Value isThere = loops.equal(loops.load(held, {zero}), number);
    auto make = [&] {
      fill(values);
      loops.store(number, held, {zero});
    };
    loops.ifElse(isThere, [] {}, make);
  });
  OpFoldResult one = builder.getIndexAttr(1);
  Value copy = memref::SubViewOp::create(
      builder, loops.loc, memory,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(0), builder.getIndexAttr(0)},
      ArrayRef<OpFoldResult>{count, builder.getIndexAttr(width)},
      ArrayRef<OpFoldResult>{one, one});
  // One type for both: rows any distance apart.
  constexpr int64_t any = ShapedType::kDynamic;
  auto type = MemRefType::get(
      {any, width}, builder.getF32Type(),
      StridedLayoutAttr::get(builder.getContext(), any, {any, 1}));
  auto asRows = [&](Value memref) -> Value {
    return memref::CastOp::create(builder, loops.loc, type, memref);
  };
  return loops.select(isCopied, asRows(copy), asRows(values));
}
