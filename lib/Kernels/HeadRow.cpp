#include "lib/Kernels/HeadRow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

int64_t heddle::widthOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

Type heddle::elementOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

void heddle::forEachPart(int64_t lanes, int64_t width,
                         function_ref<void(int64_t, int64_t)> body) {
  for (int64_t begin = 0; begin < width; begin += lanes)
    body(begin, std::min(lanes, width - begin));
}

Value heddle::rowOf(VectorLoops &loops, Value j, Value rows, Value origin) {
  if (!origin)
    return j;
  Value slot = loops.minus(j, origin);
  Value isNextLap = loops.lessOrEqual(loops.size(rows, 0), slot);
  return loops.choose(isNextLap, loops.minus(slot, loops.size(rows, 0)), slot);
}

void heddle::prefetchRow(VectorLoops &loops, Value rows, Value row) {
  constexpr int64_t kPage = 4096, kLine = 64;
  auto [strides, offset] =
      cast<MemRefType>(rows.getType()).getStridesAndOffset();
  int64_t bytes = elementOf(rows).getIntOrFloatBitWidth() / 8;
  if (ShapedType::isDynamic(strides[0]) || bytes * strides[0] < kPage)
    return;
  for (int64_t d = 0; d < widthOf(rows); d += kLine / bytes)
    memref::PrefetchOp::create(loops.builder, loops.loc, rows,
                               ValueRange{row, loops.index(d)},
                               /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
}
