//===- TileRanking.cpp - Logits of a row, largest first -------------------===//
//
// redux.sync compares integers. So a logit becomes an unsigned key in the same
// order: a negative number flips all bits, any other number its sign bit.
// Adding 0 first makes one key of both zeros. The maximum of the keys over the
// lanes finds the largest logit; the minimum of the ids of lanes that have it
// decides between equal ones. A key of 0 means that the logit may not be
// chosen.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/TileRanking.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

SmallVector<Value> TileRanking::keys() {
  Value lowest = code.f32(kLowestLogit), none = code.i32(0);
  SmallVector<Value> keys;
  for (auto [number, logit] : llvm::enumerate(tile.logits)) {
    Value bits = code.bitcastToI32(code.add(logit, code.f32(0)));
    Value sign =
        arith::ShRSIOp::create(code.builder, code.loc, bits, code.i32(31));
    Value flipped = code.bitOr(sign, code.i32(int64_t(1) << 31));
    Value key = code.bitXor(bits, flipped);
    Value isAllowed = code.logicalAnd(code.greater(logit, lowest),
                                      code.logicalNot(isForbidden(number)));
    keys.push_back(code.select(isAllowed, key, none));
  }
  return keys;
}

TileRanking::First TileRanking::first(ValueRange keys) {
  Value key = keys[0], number = code.i32(0), logit = tile.logits[0];
  for (int64_t other = 1; other < int64_t(keys.size()); ++other) {
    Value isAbove = code.uless(key, keys[other]);
    key = code.select(isAbove, keys[other], key);
    number = code.select(isAbove, code.i32(other), number);
    logit = code.select(isAbove, tile.logits[other], logit);
  }
  First first;
  Value most = code.reduceMax(key), id = idOf(number);
  first.exists = code.notEqual(most, code.i32(0));
  Value isMost = code.equal(key, most);
  first.id = code.reduceMin(code.select(isMost, id, code.i32(-1)));
  first.isOwn = code.logicalAnd(isMost, code.equal(id, first.id));
  first.writes = code.select(first.exists, first.isOwn,
                             code.equal(code.lane(), code.i32(0)));
  first.number = number;
  first.logit = logit;
  return first;
}

SmallVector<Value> TileRanking::without(const First &first, ValueRange keys) {
  Value taken = code.select(first.isOwn, first.number, code.i32(-1));
  SmallVector<Value> left;
  for (auto [number, key] : llvm::enumerate(keys))
    left.push_back(
        code.select(code.equal(taken, code.i32(number)), code.i32(0), key));
  return left;
}
