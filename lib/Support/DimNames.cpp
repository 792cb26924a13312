//===- DimNames.cpp - From a dimension to the argument that has it --------===//
//
// An op that reifies its shapes says which dimension of which operand a
// dimension of its result equals. Following these answers ends at an argument,
// which has the names. The question builds ops; unused ones are erased
// afterwards, so that it leaves no trace in the module.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/DimNames.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace heddle;

std::string heddle::nameOfSlots(std::optional<int64_t> maxSlots) {
  return maxSlots ? "capacity<=" + std::to_string(*maxSlots) : "capacity";
}

std::optional<int64_t> heddle::maxSlotsOf(StringAttr name) {
  StringRef text = name ? name.getValue() : "";
  int64_t maxSlots;
  if (!text.consume_front("capacity<=") || text.getAsInteger(10, maxSlots))
    return std::nullopt;
  return maxSlots;
}

StringAttr heddle::nameOfArgumentDim(BlockArgument argument, int64_t axis) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function)
    return {};
  auto names =
      function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDimsAttr);
  auto type = cast<ShapedType>(argument.getType());
  size_t index =
      type.getNumDynamicDims() -
      llvm::count_if(type.getShape().drop_front(axis), ShapedType::isDynamic);
  if (!names || index >= names.size())
    return {};
  return dyn_cast<StringAttr>(names[index]);
}

StringAttr heddle::nameOfSize(Value size) {
  auto dim = size.getDefiningOp<memref::DimOp>();
  auto argument = dim ? dyn_cast<BlockArgument>(dim.getSource()) : nullptr;
  return argument && dim.getConstantIndex()
             ? nameOfArgumentDim(argument, *dim.getConstantIndex())
             : StringAttr();
}

/// The value and dimension that `op` says its result's dimension equals.
static std::pair<Value, int64_t> traceDim(Operation *op, unsigned result,
                                          int64_t axis) {
  OpBuilder builder(op);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(builder, op, shapes)))
    return {};
  auto size = dyn_cast<Value>(shapes[result][axis]);
  auto dim = size ? size.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  std::pair<Value, int64_t> source;
  if (dim && dim.getConstantIndex())
    source = {dim.getSource(), *dim.getConstantIndex()};
  for (const SmallVector<OpFoldResult> &shape : shapes)
    for (OpFoldResult each : shape)
      if (auto value = dyn_cast<Value>(each))
        if (auto asked = value.getDefiningOp<tensor::DimOp>();
            asked && asked->use_empty()) {
          Operation *index = asked.getIndex().getDefiningOp();
          asked.erase();
          if (index && index->use_empty())
            index->erase();
        }
  return source;
}

StringAttr heddle::nameOfDim(Value value, int64_t axis) {
  Value source = value;
  int64_t sourceAxis = axis;
  while (source) {
    if (auto argument = dyn_cast<BlockArgument>(source)) {
      if (StringAttr name = nameOfArgumentDim(argument, sourceAxis))
        return name;
      break;
    }
    auto result = cast<OpResult>(source);
    std::tie(source, sourceAxis) =
        traceDim(result.getOwner(), result.getResultNumber(), sourceAxis);
  }
  emitError(value.getLoc())
      << "cannot name dimension " << axis << " of a value of type "
      << value.getType() << ": it does not come from an argument with '"
      << kDimsAttr << "'";
  return {};
}

ArrayAttr heddle::namesOfDims(Value value) {
  SmallVector<Attribute> names;
  auto type = cast<ShapedType>(value.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    StringAttr name = nameOfDim(value, axis);
    if (!name)
      return {};
    names.push_back(name);
  }
  return ArrayAttr::get(value.getContext(), names);
}
