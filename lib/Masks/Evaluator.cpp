//===- Evaluator.cpp - What the code of masks computes --------------------===//
//
// Values are known by block: a block that is entered again, as the body of a
// loop is, starts without those that it computed the last time.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/Evaluator.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

void Evaluator::bind(Value value, Attribute constant) {
  known[value.getParentBlock()][value] = constant;
}

void Evaluator::enter(Block &block, ArrayRef<Attribute> arguments) {
  auto &values = known[&block];
  values.clear();
  for (auto [argument, constant] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = constant;
}

Attribute Evaluator::evaluate(Value value) {
  unknown = Value();
  return find(value);
}

Attribute Evaluator::find(Value value) {
  if (Attribute constant = known[value.getParentBlock()].lookup(value))
    return constant;
  Operation *op = value.getDefiningOp();
  Constants results;
  if (!op || !run(op, results)) {
    // If an operand is unknown it is the answer.
    if (!unknown)
      unknown = value;
    return Attribute();
  }
  for (auto [result, constant] : llvm::zip_equal(op->getResults(), results))
    bind(result, constant);
  return results[cast<OpResult>(value).getResultNumber()];
}

bool Evaluator::findAll(ValueRange values, Constants &constants) {
  for (Value value : values) {
    constants.push_back(find(value));
    if (!constants.back())
      return false;
  }
  return true;
}

bool Evaluator::run(Operation *op, Constants &results) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](scf::ForOp loop) { return runFor(loop, results); })
      .Case([&](scf::WhileOp loop) { return runWhile(loop, results); })
      .Case([&](scf::IfOp choice) { return runIf(choice, results); })
      .Case([&](memref::LoadOp op) {
        return load(op.getMemRef(), op.getIndices(), results);
      })
      .Case([&](tensor::ExtractOp op) {
        return load(op.getTensor(), op.getIndices(), results);
      })
      .Case<memref::DimOp, tensor::DimOp>(
          [&](auto op) { return size(op.getSource(), op.getIndex(), results); })
      .Case([&](vector::ReductionOp op) { return reduce(op, results); })
      .Default([&](Operation *) { return fold(op, results); });
}

/// `results` are the operands of the block's terminator.
bool Evaluator::runBlock(Block &block, ArrayRef<Attribute> arguments,
                         Constants &results) {
  enter(block, arguments);
  return findAll(block.getTerminator()->getOperands(), results);
}

static int64_t numberOf(Attribute constant) {
  return cast<IntegerAttr>(constant).getInt();
}

bool Evaluator::runFor(scf::ForOp op, Constants &results) {
  Constants bounds;
  if (!findAll({op.getLowerBound(), op.getUpperBound(), op.getStep()},
               bounds) ||
      !findAll(op.getInitArgs(), results))
    return false;
  int64_t end = numberOf(bounds[1]), step = numberOf(bounds[2]);
  for (int64_t at = numberOf(bounds[0]); at < end; at += step) {
    Constants arguments = {
        IntegerAttr::get(op.getInductionVar().getType(), at)};
    llvm::append_range(arguments, results);
    results.clear();
    if (!runBlock(*op.getBody(), arguments, results))
      return false;
  }
  return true;
}

bool Evaluator::runWhile(scf::WhileOp op, Constants &results) {
  Constants arguments;
  if (!findAll(op.getInits(), arguments))
    return false;
  while (true) {
    Constants condition;
    if (!runBlock(*op.getBeforeBody(), arguments, condition))
      return false;
    results.assign(std::next(condition.begin()), condition.end());
    if (numberOf(condition.front()) == 0)
      return true;
    arguments.clear();
    if (!runBlock(*op.getAfterBody(), results, arguments))
      return false;
  }
}

bool Evaluator::runIf(scf::IfOp op, Constants &results) {
  Attribute condition = find(op.getCondition());
  if (!condition)
    return false;
  Region &taken = numberOf(condition) ? op.getThenRegion() : op.getElseRegion();
  return taken.empty() || runBlock(taken.front(), {}, results);
}

bool Evaluator::load(Value table, ValueRange indices, Constants &results) {
  auto elements = dyn_cast_or_null<ElementsAttr>(find(table));
  Constants places;
  if (!elements || !findAll(indices, places))
    return false;
  SmallVector<uint64_t> at = llvm::map_to_vector(
      places, [](Attribute place) { return uint64_t(numberOf(place)); });
  if (!elements.isValidIndex(at))
    return false;
  results.push_back(elements.getValues<Attribute>()[at]);
  return true;
}

/// The size of a dimension, even if the type does not know it.
bool Evaluator::size(Value table, Value axis, Constants &results) {
  auto elements = dyn_cast_or_null<ElementsAttr>(find(table));
  Attribute place = find(axis);
  if (!elements || !place)
    return false;
  results.push_back(IntegerAttr::get(
      axis.getType(), elements.getShapedType().getDimSize(numberOf(place))));
  return true;
}

/// The least or the largest of integers.
bool Evaluator::reduce(vector::ReductionOp op, Constants &results) {
  auto lanes = dyn_cast_or_null<DenseIntElementsAttr>(find(op.getVector()));
  bool isLeast = op.getKind() == vector::CombiningKind::MINSI;
  if (!lanes || op.getAcc() ||
      (!isLeast && op.getKind() != vector::CombiningKind::MAXSI))
    return false;
  APInt best = *lanes.begin();
  for (const APInt &lane : lanes)
    if (isLeast ? lane.slt(best) : lane.sgt(best))
      best = lane;
  results.push_back(IntegerAttr::get(op.getType(), best));
  return true;
}

bool Evaluator::fold(Operation *op, Constants &results) {
  Constants operands;
  SmallVector<OpFoldResult> folded;
  if (!findAll(op->getOperands(), operands) ||
      failed(op->fold(operands, folded)) ||
      folded.size() != op->getNumResults())
    return false;
  for (OpFoldResult result : folded) {
    auto value = dyn_cast<Value>(result);
    results.push_back(value ? find(value) : cast<Attribute>(result));
    if (!results.back())
      return false;
  }
  return true;
}
