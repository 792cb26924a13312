//===- LaneRegion.cpp - Scalars while they can, then vectors --------------===//
//
// An op is evaluated as soon as its operands are known. It stays scalar if all
// of them are, and otherwise its scalars are broadcast. exp, exp2, tanh and erf
// are code of VectorMath, since LLVM would call a library once per lane. A
// lookup is one scalar load if all lanes share its indices, and otherwise a
// gather at row-major offsets. Its indices are clamped, because lanes outside
// of the mask are evaluated, too.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/LaneRegion.h"
#include "dialect/Transformer.h"
#include "lib/Kernels/Math/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

bool LaneRegion::isKnown(Value value) const {
  return known.contains(value) || !region->isAncestor(value.getParentRegion());
}
Value LaneRegion::lookup(Value value) const {
  return known.lookupOrDefault(value);
}

/// An element of a table for each lane, or one for all where the indices are.
/// `element` is the last index, inside of the table, or null.
static Value loadFromTable(VectorLoops &loops, LookupOp op, ValueRange at,
                           int64_t width, Value element) {
  OpBuilder &builder = loops.builder;
  Lanes lanes(builder, loops.loc);
  Value table = op.getTable();
  bool isScalar = llvm::none_of(
      at, [](Value index) { return isa<VectorType>(index.getType()); });
  SmallVector<Value> limited;
  for (auto [axis, index] : llvm::enumerate(at)) {
    Value last = loops.toI32(loops.add(loops.size(table, axis), -1));
    Value zero = lanes.i32(0);
    if (isa<VectorType>(index.getType())) {
      last = loops.broadcast(last, width);
      zero = loops.broadcast(zero, width);
    }
    limited.push_back(loops.max(zero, loops.min(index, last)));
  }
  if (isScalar) {
    SmallVector<Value> indices;
    for (Value index : limited)
      indices.push_back(loops.toIndex(index));
    if (element)
      indices.push_back(element);
    return loops.load(table, indices);
  }
  // Row-major: the offset of each lane in one number.
  Value offset = lanes.i32(0);
  for (auto [axis, index] : llvm::enumerate(limited))
    offset = lanes.add(lanes.mul(offset, loops.toI32(loops.size(table, axis))),
                       index);
  if (element)
    offset =
        lanes.add(lanes.mul(offset, loops.toI32(loops.size(table, at.size()))),
                  loops.toI32(element));
  SmallVector<Value> origin(at.size() + (element ? 1 : 0), loops.index(0));
  return loops.gather(table, origin, offset);
}

/// The functions that have vector code of their own; null for others.
static Value elementaryFunction(VectorLoops &loops, Operation *op, Value x) {
  VectorMath math(loops.builder, loops.loc, loops.isa);
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return math.exp(x); })
      .Case([&](math::Exp2Op) { return math.exp2(x); })
      .Case([&](math::TanhOp) { return math.tanh(x); })
      .Case([&](math::ErfOp) { return math.erf(x); })
      .Default([](Operation *) { return Value(); });
}

SmallVector<Value> heddle::evaluateInLanes(VectorLoops &loops, Operation *op,
                                           ArrayRef<Value> operands,
                                           int64_t width, Value element) {
  if (auto table = dyn_cast<LookupOp>(op))
    return {loadFromTable(loops, table, operands.drop_front(), width, element)};
  bool isScalar = llvm::none_of(operands, [](Value operand) {
    return isa<VectorType>(operand.getType());
  });
  SmallVector<Value> numbers(operands);
  if (!isScalar)
    for (Value &number : numbers)
      if (!isa<VectorType>(number.getType()))
        number = loops.broadcast(number, width);
  if (isa<vector::FMAOp>(op))
    return {loops.fma(numbers[0], numbers[1], numbers[2])};
  auto elementType = [](Value result) {
    return getElementTypeOrSelf(result.getType());
  };
  if (op->getNumOperands() == 1 && elementType(op->getResult(0)).isF32())
    if (Value result = elementaryFunction(loops, op, numbers.front()))
      return {result};
  OperationState state(loops.loc, op->getName());
  state.addOperands(numbers);
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (Value result : op->getResults()) {
    Type type = elementType(result);
    state.addTypes(isScalar ? type : Type(VectorType::get(width, type)));
  }
  return SmallVector<Value>(loops.builder.create(state)->getResults());
}

void LaneRegion::bind(VectorLoops &loops, unsigned argument, Value value) {
  known.map(region->getArgument(argument), value);
  for (Operation &op : region->front().without_terminator())
    if (!known.contains(op.getResult(0)) &&
        llvm::all_of(op.getOperands(),
                     [&](Value operand) { return isKnown(operand); })) {
      SmallVector<Value> operands;
      for (Value operand : op.getOperands())
        operands.push_back(lookup(operand));
      known.map(op.getResults(), evaluateInLanes(loops, &op, operands, width));
    }
}

Value LaneRegion::result(VectorLoops &loops) const {
  Value yielded = lookup(region->front().getTerminator()->getOperand(0));
  return isa<VectorType>(yielded.getType()) ? yielded
                                            : loops.broadcast(yielded, width);
}
