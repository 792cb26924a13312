//===- KeyLists.cpp - Keys that lists give one by one ---------------------===//
//
// Reads as many elements of a list at a time as a vector has lanes, and
// compresses the keys that the mask admits into the output. The rest of the
// output's last vector repeats the last key, so that kernels may read whole
// vectors.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/KeyLists.h"
#include "lib/Kernels/Vectors/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

/// The query of an op on lists; the key means nothing.
template <typename Op> static MaskPoint queryOf(VectorLoops &loops, Op op) {
  return {loops.toI32(op.getBatch()), loops.toI32(op.getHead()),
          loops.toI32(op.getQuery()), Value()};
}

void heddle::emitListSize(ListSizeOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  Lanes lanes(builder, op.getLoc());
  Value size = op.getKeys().getDefiningOp<KeyListOpInterface>().listSize(
      lanes, queryOf(loops, op));
  op.getSize().replaceAllUsesWith(loops.toIndex(size));
}

/// How many lanes of a mask are set.
static Value countLanes(VectorLoops &loops, Value mask) {
  OpBuilder &builder = loops.builder;
  int64_t width = cast<VectorType>(mask.getType()).getNumElements();
  auto word = VectorType::get(1, builder.getIntegerType(width));
  Value bits = vector::ExtractOp::create(
      builder, loops.loc,
      vector::BitCastOp::create(builder, loops.loc, word, mask), 0);
  Value count = math::CtPopOp::create(builder, loops.loc, bits);
  return arith::IndexCastUIOp::create(builder, loops.loc,
                                      builder.getIndexType(), count);
}

void heddle::emitListedKeys(ListedKeysOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  int64_t width = isa.lanes;
  auto source = op.getKeys().getDefiningOp<KeyListOpInterface>();
  MaskPoint point = queryOf(loops, op);
  Value first = loops.toI32(op.getKeyBegin()),
        end = loops.toI32(op.getKeyEnd());
  Value lastPlace = loops.toI32(loops.add(op.getEnd(), -1));
  Value count =
      loops
          .carry(op.getBegin(), op.getEnd(), width, loops.index(0),
                 [&](Value at, ValueRange carried) {
                   Lanes lanes(builder, op.getLoc());
                   Value places =
                       lanes.add(loops.iota(0, width), loops.toI32(at));
                   // Lanes behind the last place repeat it, and do not count.
                   Value exists = lanes.lessOrEqual(places, lastPlace);
                   Value keys = source.listedKey(lanes, point,
                                                 lanes.min(places, lastPlace));
                   Value counts = lanes.logicalAnd(
                       lanes.logicalAnd(exists, lanes.lessOrEqual(first, keys)),
                       lanes.less(keys, end));
                   counts = lanes.logicalAnd(
                       counts, lanes.contains(op.getWhere(), {point.b, point.h,
                                                              point.i, keys}));
                   // The builder without an alignment takes the last two in the
                   // other order.
                   vector::CompressStoreOp::create(
                       builder, op.getLoc(), op.getList(), carried.front(),
                       counts, keys, /*alignment=*/IntegerAttr());
                   return SmallVector<Value>{
                       loops.add(carried.front(), countLanes(loops, counts))};
                 })
          .front();
  // Without keys nothing reads what stands here.
  Value last = loops.max(loops.add(count, -1), loops.index(0));
  Value repeated = loops.broadcast(loops.load(op.getList(), last), width);
  for (int64_t vector = 0; vector < 2; ++vector)
    loops.storeVector(repeated, op.getList(), loops.add(count, vector * width));
  op.getCount().replaceAllUsesWith(count);
}
