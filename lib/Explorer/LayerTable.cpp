//===- LayerTable.cpp - What each layer has and does ----------------------===//
//
// WorkOpInterface writes code that counts an op's work from the sizes of its
// operands. It is run here, on sizes that follow from the names of dimensions,
// as profiles run it on those of a sentence. Buffers are constants of zeros
// whose shape alone is read; lengths and positions have values.
//
//===----------------------------------------------------------------------===//

#include "lib/Explorer/LayerTable.h"
#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Masks/Evaluator.h"
#include "lib/Support/DimNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

/// How large a dimension is. There is one sentence, and one row of it decodes.
static int64_t sizeOf(StringRef name, int64_t length) {
  if (name == "batch" || name == "rows" || name == "caches" || name == "best" ||
      name == "globals" || name == "forbidden")
    return 1;
  if (name == "blocks")
    return llvm::divideCeil(length, kQueryBlock);
  int64_t most;
  if (name.consume_front("capacity<=") && !name.getAsInteger(10, most))
    return std::min(length, most);
  return length;
}

/// Zeros, or what an argument of a sentence holds.
static Attribute contentsOf(Type element, int64_t number) {
  return isa<FloatType>(element) ? Attribute(FloatAttr::get(element, 0))
                                 : IntegerAttr::get(element, number);
}

static Attribute makeBuffer(MemRefType type, ArrayRef<int64_t> shape,
                            int64_t number) {
  return DenseElementsAttr::get(
      RankedTensorType::get(shape, type.getElementType()),
      contentsOf(type.getElementType(), number));
}

/// Those of all tokens.
static Attribute countUp(MLIRContext *context, int64_t length) {
  auto type = RankedTensorType::get(length, IntegerType::get(context, 32));
  auto numbers = llvm::seq<int32_t>(0, int32_t(length));
  SmallVector<int32_t> positions(numbers.begin(), numbers.end());
  return DenseElementsAttr::get(type, ArrayRef(positions));
}

static void bindArguments(func::FuncOp function, int64_t length,
                          Evaluator &evaluator) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.getElementType().isIntOrFloat())
      continue;
    SmallVector<int64_t> shape(type.getShape());
    bool isNamed = true;
    for (auto [axis, size] : llvm::enumerate(shape)) {
      if (!ShapedType::isDynamic(size))
        continue;
      StringAttr name = nameOfArgumentDim(argument, axis);
      isNamed &= bool(name);
      size = name ? sizeOf(name, length) : 0;
    }
    auto called = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                        kNameAttr);
    StringRef name = called ? called.getValue() : "";
    int64_t number = name == "lengths"     ? length
                     : name == "positions" ? length - 1
                                           : 0;
    if (isNamed && name == "positions" &&
        nameOfArgumentDim(argument, 0).getValue() == kTokensDim)
      evaluator.bind(argument, countUp(type.getContext(), length));
    else if (isNamed)
      evaluator.bind(argument, makeBuffer(type, shape, number));
  }
}

/// Views have the sizes that they are given, as buffers do.
static std::optional<OperandRange> sizesOf(Operation *op) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return alloc.getDynamicSizes();
  if (auto alloca = dyn_cast<memref::AllocaOp>(op))
    return alloca.getDynamicSizes();
  if (auto view = dyn_cast<memref::ViewOp>(op))
    return view.getSizes();
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
    return cast.getSizes();
  if (isa<WeightOp>(op))
    return op->getOperands();
  return std::nullopt;
}

static void bindBuffer(Operation *op, Evaluator &evaluator) {
  if (op->getNumResults() != 1)
    return;
  auto type = dyn_cast<MemRefType>(op->getResult(0).getType());
  std::optional<OperandRange> sizes = sizesOf(op);
  if (!type || !sizes ||
      sizes->size() != static_cast<size_t>(type.getNumDynamicDims()))
    return;
  SmallVector<int64_t> shape(type.getShape());
  size_t next = 0;
  for (int64_t &size : shape) {
    if (!ShapedType::isDynamic(size))
      continue;
    auto known =
        dyn_cast_or_null<IntegerAttr>(evaluator.evaluate((*sizes)[next++]));
    if (!known)
      return;
    size = known.getInt();
  }
  evaluator.bind(op->getResult(0), makeBuffer(type, shape, 0));
}

/// "batch x source x 256".
static std::string describeShape(Value memref) {
  std::string text;
  auto type = cast<MemRefType>(memref.getType());
  size_t dynamic = 0;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    if (!text.empty())
      text += " x ";
    if (!ShapedType::isDynamic(size)) {
      text += std::to_string(size);
      continue;
    }
    StringAttr name;
    size_t at = dynamic++;
    if (auto argument = dyn_cast<BlockArgument>(memref))
      name = nameOfArgumentDim(argument, axis);
    else if (auto sizes = sizesOf(memref.getDefiningOp());
             sizes && at < sizes->size())
      name = nameOfSize((*sizes)[at]);
    text += name ? name.getValue() : StringRef("?");
  }
  return text;
}

static void describeWeights(Operation *op, LayerRow &row) {
  int64_t most = 0;
  llvm::SmallPtrSet<Operation *, 4> known;
  for (Value operand : op->getOperands()) {
    auto weight = operand.getDefiningOp<WeightOp>();
    if (!weight)
      continue;
    auto parameter = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
        weight, weight.getParameterAttr());
    if (!parameter || !known.insert(parameter).second)
      continue;
    auto type = cast<ShapedType>(parameter.getTensorType());
    int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    row.parameters += type.getNumElements();
    row.weightBytes += bytes;
    if (bytes <= most)
      continue;
    most = bytes;
    row.weightType.clear();
    llvm::raw_string_ostream(row.weightType) << type.getElementType();
  }
}

static LayerRow describe(WorkOpInterface op, func::FuncOp function) {
  LayerRow row;
  row.function = function.getSymName().str();
  row.kind = op->getName().stripDialect().str();
  for (StringRef name : namesIn(op->getLoc()))
    row.names.push_back(name.str());
  if (auto layer = dyn_cast<DestinationOpInterface>(op.getOperation()))
    if (layer.hasDestinations())
      row.shape = describeShape(layer.getDestinations().front());
  describeWeights(op, row);
  return row;
}

std::vector<LayerRow> heddle::measureLayers(ModuleOp module) {
  std::vector<LayerRow> rows;
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<WorkOpInterface> layers;
    function.walk([&](WorkOpInterface op) { layers.push_back(op); });
    SmallVector<std::pair<Value, Value>> counts;
    size_t first = rows.size();
    for (WorkOpInterface op : layers) {
      rows.push_back(describe(op, function));
      OpBuilder builder(op);
      counts.push_back({op.buildFlops(builder), op.buildBytes(builder)});
    }
    for (int64_t length : kCountedLengths) {
      Evaluator evaluator;
      bindArguments(function, length, evaluator);
      for (Operation &op : function.getOps())
        bindBuffer(&op, evaluator);
      auto evaluate = [&](Value value) -> std::optional<int64_t> {
        auto number = dyn_cast_or_null<IntegerAttr>(evaluator.evaluate(value));
        return number ? std::optional(number.getInt()) : std::nullopt;
      };
      for (auto [index, count] : llvm::enumerate(counts))
        rows[first + index].work.push_back(
            {evaluate(count.first), evaluate(count.second)});
    }
  }
  return rows;
}
