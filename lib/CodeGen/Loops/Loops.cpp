//===- Loops.cpp - One op or one loop per helper --------------------------===//
//
// Nests are parallel loops, since their iterations are independent. A fold is a
// sequential loop in ascending order: the order of a sum, and with it its bits,
// follow from the formula alone. Sums and products stay apart here; kernels
// fuse them.
//
// The sigmoid is 1 / (1 + e^-x): where e^-x overflows to infinity, the result
// is 0, as it should be.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

Value Loops::size(Value memref, int64_t axis) {
  return builder.createOrFold<memref::DimOp>(loc, memref, axis);
}
Value Loops::lastSize(Value memref) {
  return size(memref, cast<MemRefType>(memref.getType()).getRank() - 1);
}

Value Loops::load(Value memref, ValueRange at) {
  return memref::LoadOp::create(builder, loc, memref, at);
}
void Loops::store(Value value, Value memref, ValueRange at) {
  memref::StoreOp::create(builder, loc, value, memref, at);
}

void Loops::loop(Value begin, Value end, function_ref<void(Value)> body) {
  scf::ForOp::create(builder, loc, begin, end, index(1), ValueRange(),
                     [&](OpBuilder &, Location, Value i, ValueRange) {
                       body(i);
                       scf::YieldOp::create(builder, loc);
                     });
}
void Loops::loop(Value end, function_ref<void(Value)> body) {
  loop(index(0), end, body);
}

void Loops::parallel(ValueRange ends, function_ref<void(ValueRange)> body) {
  SmallVector<Value> begins(ends.size(), index(0)),
      steps(ends.size(), index(1));
  scf::ParallelOp::create(
      builder, loc, begins, ends, steps,
      [&](OpBuilder &, Location, ValueRange at) { body(at); });
}

void Loops::nest(Value memref, int64_t rank,
                 function_ref<void(ValueRange)> body) {
  SmallVector<Value> ends;
  for (int64_t axis = 0; axis < rank; ++axis)
    ends.push_back(size(memref, axis));
  parallel(ends, body);
}

Value Loops::fold(Value begin, Value end, Value initial,
                  function_ref<Value(Value, Value)> body) {
  return scf::ForOp::create(
             builder, loc, begin, end, index(1), initial,
             [&](OpBuilder &, Location, Value i, ValueRange carried) {
               scf::YieldOp::create(builder, loc, body(i, carried.front()));
             })
      .getResult(0);
}

void Loops::ifThen(Value condition, function_ref<void()> then) {
  scf::IfOp::create(builder, loc, condition, [&](OpBuilder &, Location) {
    then();
    scf::YieldOp::create(builder, loc);
  });
}

void Loops::ifElse(Value condition, function_ref<void()> then,
                   function_ref<void()> otherwise) {
  scf::IfOp::create(
      builder, loc, condition,
      [&](OpBuilder &, Location) {
        then();
        scf::YieldOp::create(builder, loc);
      },
      [&](OpBuilder &, Location) {
        otherwise();
        scf::YieldOp::create(builder, loc);
      });
}

void Loops::choose(Value number, int64_t count,
                   function_ref<void(int64_t)> body) {
  // 0 is the default.
  auto cases = llvm::to_vector(llvm::seq<int64_t>(1, count));
  auto choice = scf::IndexSwitchOp::create(builder, loc, TypeRange(), number,
                                           cases, cases.size());
  for (int64_t each = 0; each < count; ++each) {
    Region &region = each == 0 ? choice.getDefaultRegion()
                               : choice.getCaseRegions()[each - 1];
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    body(each);
    scf::YieldOp::create(builder, loc);
  }
}

Value Loops::ifYield(Value condition, function_ref<Value()> then,
                     Value otherwise) {
  return scf::IfOp::create(
             builder, loc, condition,
             [&](OpBuilder &, Location) {
               scf::YieldOp::create(builder, loc, then());
             },
             [&](OpBuilder &, Location) {
               scf::YieldOp::create(builder, loc, otherwise);
             })
      .getResult(0);
}

/// Where the task begins: in its loops the stack would grow, and of a parallel
/// loop that has one task only the body is left.
Value Loops::scratch(MemRefType type) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *task = builder.getInsertionBlock()->getParentOp();
  while (task && !llvm::isa<scf::ForallOp>(task))
    task = task->getParentOp();
  if (task)
    builder.setInsertionPointToStart(cast<scf::ForallOp>(task).getBody());
  return memref::AllocaOp::create(builder, loc, type,
                                  builder.getI64IntegerAttr(64));
}

Value Loops::exp(Value value) {
  return math::ExpOp::create(builder, loc, value);
}
Value Loops::sigmoid(Value value) {
  Value negated = arith::NegFOp::create(builder, loc, value);
  return div(f32(1), add(f32(1), exp(negated)));
}

SmallVector<Value> heddle::append(ValueRange coordinates, Value last) {
  SmallVector<Value> result(coordinates);
  result.push_back(last);
  return result;
}
