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
    Value bits = code.bitsOf(code.add(logit, code.f32(0)));
    Value sign =
        arith::ShRSIOp::create(code.builder, code.loc, bits, code.i32(31));
    Value flipped = code.either(sign, code.i32(int64_t(1) << 31));
    Value key = arith::XOrIOp::create(code.builder, code.loc, bits, flipped);
    Value isAllowed =
        code.both(code.isAbove(logit, lowest), code.isNot(isForbidden(number)));
    keys.push_back(code.choose(isAllowed, key, none));
  }
  return keys;
}

TileRanking::First TileRanking::first(ValueRange keys) {
  Value key = keys[0], number = code.i32(0), logit = tile.logits[0];
  for (int64_t other = 1; other < int64_t(keys.size()); ++other) {
    Value isAbove = code.isLess(key, keys[other]);
    key = code.choose(isAbove, keys[other], key);
    number = code.choose(isAbove, code.i32(other), number);
    logit = code.choose(isAbove, tile.logits[other], logit);
  }
  First first;
  Value most = code.mostOfLanes(key), id = idOf(number);
  first.exists = code.isDifferent(most, code.i32(0));
  Value isMost = code.isSame(key, most);
  first.id = code.leastOfLanes(code.choose(isMost, id, code.i32(-1)));
  first.isOwn = code.both(isMost, code.isSame(id, first.id));
  first.writes = code.choose(first.exists, first.isOwn,
                             code.isSame(code.lane(), code.i32(0)));
  first.number = number;
  first.logit = logit;
  return first;
}

SmallVector<Value> TileRanking::without(const First &first, ValueRange keys) {
  Value taken = code.choose(first.isOwn, first.number, code.i32(-1));
  SmallVector<Value> left;
  for (auto [number, key] : llvm::enumerate(keys))
    left.push_back(
        code.choose(code.isSame(taken, code.i32(number)), code.i32(0), key));
  return left;
}
