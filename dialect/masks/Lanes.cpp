//===- Lanes.cpp - One predicate for a pair and for a vector of pairs -----===//
//
// Each operation of two values broadcasts the scalar one if the other is a
// vector, so that the code of a mask never asks which it has. A load takes
// vectors apart: each lane has an index of its own. Constants fold as they are
// written, which leaves little code for a mask with fixed parameters.
//
// The indices of lookups are clamped to their table, since a region may compute
// any index. If neither of two reaches contains the other, their intersection
// may keep keys that it could drop, but it never drops a key that both see.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace heddle;

/// The number of lanes of the first vector; none of scalars.
static std::optional<int64_t> lanesOf(ValueRange values) {
  for (Value value : values)
    if (auto type = dyn_cast<VectorType>(value.getType()))
      return type.getNumElements();
  return std::nullopt;
}

/// body(scalars of a lane) for each lane, side by side.
static Value laneByLane(OpBuilder &builder, Location loc, ValueRange values,
                        function_ref<Value(ValueRange)> body) {
  std::optional<int64_t> lanes = lanesOf(values);
  if (!lanes)
    return body(values);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < *lanes; ++lane) {
    SmallVector<Value> scalars;
    for (Value value : values)
      scalars.push_back(
          isa<VectorType>(value.getType())
              ? builder.createOrFold<vector::ExtractOp>(loc, value, lane)
              : value);
    elements.push_back(body(scalars));
  }
  return builder.createOrFold<vector::FromElementsOp>(
      loc, VectorType::get(*lanes, elements.front().getType()), elements);
}

Value Lanes::load(Value table, ValueRange at) {
  return laneByLane(builder, loc, at, [&](ValueRange scalars) -> Value {
    SmallVector<Value> indices;
    for (Value scalar : scalars)
      indices.push_back(builder.createOrFold<arith::IndexCastOp>(
          loc, builder.getIndexType(), scalar));
    if (isa<MemRefType>(table.getType()))
      return memref::LoadOp::create(builder, loc, table, indices);
    return builder.createOrFold<tensor::ExtractOp>(loc, table, indices);
  });
}

Value Lanes::size(Value table, int64_t axis) {
  Value size = isa<MemRefType>(table.getType())
                   ? builder.createOrFold<memref::DimOp>(loc, table, axis)
                   : builder.createOrFold<tensor::DimOp>(loc, table, axis);
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(),
                                                  size);
}

static Value reduce(OpBuilder &builder, Location loc, Value value,
                    vector::CombiningKind kind) {
  if (!isa<VectorType>(value.getType()))
    return value;
  return builder.createOrFold<vector::ReductionOp>(loc, kind, value);
}
Value Lanes::reduceMin(Value value) {
  return reduce(builder, loc, value, vector::CombiningKind::MINSI);
}
Value Lanes::reduceMax(Value value) {
  return reduce(builder, loc, value, vector::CombiningKind::MAXSI);
}

Value Lanes::anyOf(Value begin, Value end, Value like,
                   function_ref<Value(Value)> body) {
  Value none = broadcastLike(i1(false), like);
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, i32(1), none,
      [&](OpBuilder &, Location, Value n, ValueRange found) {
        scf::YieldOp::create(builder, loc, logicalOr(found.front(), body(n)));
      });
  return loop.getResult(0);
}

/// An element of a table; indices outside of it are limited to it.
static Value lookUp(Lanes &lanes, LookupOp op, ValueRange at) {
  SmallVector<Value> limited;
  for (auto [axis, index] : llvm::enumerate(at)) {
    Value last = lanes.sub(lanes.size(op.getTable(), axis), lanes.i32(1));
    limited.push_back(lanes.max(lanes.i32(0), lanes.min(index, last)));
  }
  return lanes.load(op.getTable(), limited);
}

Value Lanes::inlineRegion(Region &region, ValueRange arguments) {
  IRMapping known;
  known.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookupOrDefault(operand));
    if (auto lookup = dyn_cast<LookupOp>(op)) {
      known.map(lookup.getResult(),
                lookUp(*this, lookup, ArrayRef(operands).drop_front()));
      continue;
    }
    std::optional<int64_t> lanes = lanesOf(operands);
    for (Value &operand : operands)
      for (Value other : operands)
        operand = broadcastLike(operand, other);
    OperationState state(loc, op.getName());
    state.addOperands(operands);
    state.addAttributes(op.getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op.getPropertiesAsAttribute();
    for (Type type : op.getResultTypes())
      state.addTypes(lanes ? Type(VectorType::get(*lanes, type)) : type);
    known.map(op.getResults(), builder.create(state)->getResults());
  }
  return known.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

Value Lanes::table(ArrayRef<int64_t> values, Value at) {
  if (llvm::all_equal(values))
    return i32(values.front());
  // A chain of selects: heads are few, and a kernel per head folds it away.
  Value result = i32(values.back());
  for (int64_t index = values.size() - 2; index >= 0; --index) {
    Value here = equal(at, i32(index));
    result = select(here, i32(values[index]), result);
  }
  return result;
}

KeyRange heddle::wholeRange(OpBuilder &builder, Location loc,
                            const QueryBlock &block) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return {zero, block.keyCount, zero, zero};
}

/// The smaller bound; none is without bound.
static std::optional<int64_t> tighter(std::optional<int64_t> lhs,
                                      std::optional<int64_t> rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return std::min(*lhs, *rhs);
}

/// Whether `reach` is without keys that `other` has, as far as that is known.
static bool isTighter(const Reach &reach, const Reach &other) {
  return tighter(reach.lookback, other.lookback) == reach.lookback &&
         reach.pinned <= other.pinned;
}

Reach heddle::intersect(const Reach &lhs, const Reach &rhs) {
  std::optional<int64_t> lookahead = tighter(lhs.lookahead, rhs.lookahead);
  for (const Reach *reach : {&lhs, &rhs})
    if (isTighter(*reach, reach == &lhs ? rhs : lhs))
      return {reach->lookback, lookahead, reach->pinned};
  return {tighter(lhs.lookback, rhs.lookback), lookahead,
          std::max(lhs.pinned, rhs.pinned)};
}
