//===- RelativeVectors.cpp - Vectors of relative positions ----------------===//
//
// A tile whose distances all have a column loads vectors of neighbouring
// columns. Others gather, with columns limited to those of the table: the same
// elements, so that bits do not tell which one it was.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/RelativeVectors.h"

using namespace mlir;
using namespace heddle;

SmallVector<Value>
RelativeVectors::ofTile(Value key, function_ref<SmallVector<Value>()> sum) {
  int64_t lanes = loops.isa.lanes;
  Value table =
      op.getRelativeKeys() ? op.getRelativeKeys() : op.getRelativeQueries();
  int64_t columns = cast<MemRefType>(table.getType()).getDimSize(1);
  first = loops.sub(loops.add(op.getFirst(), columns / 2), key);
  Value hasAll = loops.logicalAnd(
      loops.lessOrEqual(loops.index(tile - 1), first),
      loops.lessOrEqual(first, loops.index(columns - vectors * lanes)));
  auto limit = [&] {
    Value firsts = loops.broadcast(loops.toI32(first), lanes);
    for (int64_t k = 0; k < tile; ++k)
      for (int64_t v = 0; v < vectors; ++v) {
        Value column = loops.add(firsts, loops.iota(v * lanes - k, lanes));
        column = loops.max(column, loops.constant(0, column));
        limited.push_back(
            loops.min(column, loops.constant(double(columns - 1), column)));
      }
    return sum();
  };
  limited.clear();
  return loops.ifYield(hasAll, sum, limit);
}

Value RelativeVectors::load(Value table, Value d, int64_t key,
                            int64_t vector) const {
  int64_t lanes = loops.isa.lanes;
  if (limited.empty())
    return loops.loadVector(table, {d, loops.add(first, vector * lanes - key)},
                            lanes);
  return loops.gather(table, {d, loops.index(0)},
                      limited[size_t(key * vectors + vector)]);
}
