#include "lib/Kernels/Gpu/QueryGrid.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

QueryBlock QueryRows::asked(int64_t rows, BlockCode &code) const {
  Value end = code.least(code.plus(first, rows), queryCount);
  return {code.toIndex(sentence), code.toIndex(head), code.toIndex(first),
          code.toIndex(end), code.toIndex(keyCount)};
}

bool heddle::hasQueryBlocks(AttentionOp op) {
  auto isInOrder = [](Value memref) {
    return cast<MemRefType>(memref.getType()).getLayout().isIdentity();
  };
  return !op.isStep() && op.getSimilarity().empty() &&
         op.getKeyWidth() % 16 == 0 && op.getValueWidth() % 16 == 0 &&
         isInOrder(op.getQuery()) && isInOrder(op.getKey()) &&
         isInOrder(op.getValue());
}

void heddle::createQueryGrid(
    AttentionOp op, int64_t rows, const BlockShape &shape,
    function_ref<void(BlockCode &, const QueryRows &)> body) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  auto multiply = [&](Value lhs, Value rhs) -> Value {
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  };
  Value heads =
      multiply(loops.size(op.getQuery(), 0), loops.index(op.getHeads()));
  Value queryBlocks = arith::CeilDivUIOp::create(
      builder, loc, loops.size(op.getQuery(), 1), loops.index(rows));
  createGrid(builder, loc, multiply(heads, queryBlocks), shape,
             [&](BlockCode &code, Value number) {
               // Blocks of one head run together, those that see most keys of a
               // causal mask before the others.
               Value count = code.toI32(queryBlocks);
               Value ofHead = code.dividedBy(number, count);
               Value back = code.remainder(number, count);
               Value place = code.minus(code.minus(count, code.i32(1)), back);
               body(code, {code.dividedBy(ofHead, op.getHeads()),
                           code.remainder(ofHead, op.getHeads()),
                           code.times(place, rows),
                           code.toI32(code.size(op.getQuery(), 1)),
                           code.toI32(code.size(op.getKey(), 1))});
             });
}
