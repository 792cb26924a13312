//===- SplitPhases.cpp - Derive prepare and step from a decoder -----------===//
//
// A decoder is imported once, as mathematics over whole sequences. One walk in
// program order marks every value that depends on the target with its axis of
// time; the marks alone decide the rest. What the marked ops need from unmarked
// ones is the border between the phases: an argument is passed through, a
// weight or mask is cloned into the step (both are symbols, not data),
// everything else is computed once a sentence by prepare. The marked ops then
// rewrite themselves for one position a row, with the states they ask for.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/DimNames.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_SPLITPHASESPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Whether `transformer.forms` of the function lists `form`.
static bool hasForm(func::FuncOp function, StringRef form) {
  auto forms = function->getAttrOfType<ArrayAttr>(kFormsAttr);
  return forms && llvm::is_contained(
                      forms, StringAttr::get(function.getContext(), form));
}

static LogicalResult checkForms(func::FuncOp function) {
  Attribute forms = function->getAttr(kFormsAttr);
  auto list = dyn_cast_or_null<ArrayAttr>(forms);
  auto isForm = [](Attribute form) {
    auto name = dyn_cast<StringAttr>(form);
    return name && (name == "full" || name == "step");
  };
  if (!forms || (list && !list.empty() && llvm::all_of(list, isForm)))
    return success();
  return function.emitError("expects '")
         << kFormsAttr << "' to list \"full\", \"step\" or both, found "
         << forms;
}

/// Operands, then the values that regions capture: all that an op reads.
static SetVector<Value> valuesReadBy(Operation *op) {
  SetVector<Value> values(llvm::from_range, op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

/// A weight or a mask: cloned where it is needed instead of being stored.
static bool isSymbolic(Operation *op) {
  return isa<WeightOp, MaskOpInterface>(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

namespace {
class PhaseSplitter {
public:
  PhaseSplitter(func::FuncOp decoder) : decoder(decoder) {}

  LogicalResult split();

private:
  LogicalResult findTarget();
  LogicalResult markTime();
  LogicalResult collectBorder(Value value);
  LogicalResult buildPrepare();
  LogicalResult buildStep();
  bool isMarked(Value value) const { return timeAxis.contains(value); }
  SmallVector<std::optional<int64_t>> axesOf(Operation *op) const;
  func::FuncOp createFunction(StringRef suffix);

  func::FuncOp decoder;
  BlockArgument target;
  /// Values that depend on the target, with their axis of time.
  DenseMap<Value, int64_t> timeAxis;
  /// Arguments that the step reads as they are, values that prepare computes,
  /// and symbolic ops to clone, in the order of their first use.
  SetVector<Value> passedThrough, prepared;
  SetVector<Operation *> cloned;
  unsigned stateCount = 0;
};
} // namespace

SmallVector<std::optional<int64_t>> PhaseSplitter::axesOf(Operation *op) const {
  SmallVector<std::optional<int64_t>> axes;
  for (Value operand : op->getOperands()) {
    auto mark = timeAxis.find(operand);
    axes.push_back(mark == timeAxis.end() ? std::optional<int64_t>()
                                          : mark->second);
  }
  return axes;
}

/// Ids [batch, length], or vectors [batch, length, width] of f32.
static bool isTarget(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() < 2 || !tensor.isDynamicDim(0) ||
      !tensor.isDynamicDim(1))
    return false;
  if (tensor.getRank() == 2)
    return tensor.getElementType().isInteger(32);
  return tensor.getRank() == 3 && !tensor.isDynamicDim(2) &&
         tensor.getElementType().isF32();
}

LogicalResult PhaseSplitter::findTarget() {
  if (!decoder.getBody().hasOneBlock())
    return decoder.emitError("has a step form and expects one block, found ")
           << decoder.getBlocks().size();
  for (BlockArgument argument : decoder.getArguments())
    if (decoder.getArgAttr(argument.getArgNumber(), kTargetAttr)) {
      if (!isTarget(argument.getType()))
        return decoder.emitError("expects the argument with '")
               << kTargetAttr
               << "' to be tensor<?x?xi32>, or tensor<?x?xNxf32> of a static "
                  "width N, found "
               << argument.getType();
      target = argument;
      timeAxis[target] = 1;
      return success();
    }
  return decoder.emitError("has a step form but no argument with '")
         << kTargetAttr << "'";
}

LogicalResult PhaseSplitter::markTime() {
  for (Operation &op : decoder.front().without_terminator()) {
    SetVector<Value> read = valuesReadBy(&op);
    if (llvm::none_of(read, [&](Value value) { return isMarked(value); }))
      continue;
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op.getRegions(), captured);
    for (Value value : captured)
      if (isMarked(value))
        return op.emitOpError("cannot be evaluated position by position: one "
                              "of its regions reads a value that depends on "
                              "the target");
    if (isa<MaskOpInterface>(op))
      return op.emitOpError("cannot be evaluated position by position: it "
                            "reads a value that depends on the target, of "
                            "which a step has that of its own position alone");
    auto incremental = dyn_cast<IncrementalOpInterface>(op);
    if (!incremental)
      return op.emitOpError("cannot be evaluated position by position: it "
                            "does not implement IncrementalOpInterface");
    FailureOr<int64_t> axis = incremental.timeAxis(axesOf(&op));
    if (failed(axis))
      return failure();
    auto layer = dyn_cast<DestinationOpInterface>(op);
    if (layer && layer.hasDestinations())
      return op.emitOpError("cannot be evaluated position by position: its "
                            "result has a destination already");
    for (Value result : op.getResults())
      timeAxis[result] = *axis;
    for (Value value : read)
      if (!isMarked(value) && failed(collectBorder(value)))
        return failure();
  }
  for (Value result : decoder.front().getTerminator()->getOperands())
    if (!isMarked(result))
      return decoder.emitError(
          "has a step form but returns a value that does not depend on the "
          "target");
  return success();
}

LogicalResult PhaseSplitter::collectBorder(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    passedThrough.insert(value);
    return success();
  }
  if (!isSymbolic(op)) {
    if (!isa<RankedTensorType>(value.getType()))
      return op->emitOpError("cannot be prepared: the step reads its result, "
                             "which is no tensor but ")
             << value.getType();
    prepared.insert(value);
    return success();
  }
  // Masks are a graph: what several of them are made of is collected once.
  if (cloned.contains(op))
    return success();
  for (Value read : valuesReadBy(op))
    if (failed(collectBorder(read)))
      return failure();
  cloned.insert(op);
  return success();
}

func::FuncOp PhaseSplitter::createFunction(StringRef suffix) {
  OpBuilder builder(decoder->getContext());
  builder.setInsertionPointAfter(decoder);
  auto function = func::FuncOp::create(
      builder, decoder.getLoc(), (decoder.getSymName() + "." + suffix).str(),
      builder.getFunctionType({}, {}));
  function.setPrivate();
  function.addEntryBlock();
  return function;
}

/// Appends an argument of the given type and attributes to `function`.
static BlockArgument addArgument(func::FuncOp function, Type type,
                                 ArrayRef<NamedAttribute> attributes,
                                 Location loc) {
  unsigned index = function.getNumArguments();
  LogicalResult inserted = function.insertArgument(
      index, type, DictionaryAttr::get(function.getContext(), attributes), loc);
  assert(succeeded(inserted) && "a func.func takes arguments");
  (void)inserted;
  return function.getArgument(index);
}

static ArrayRef<NamedAttribute> attributesOf(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  DictionaryAttr attributes = function.getArgAttrDict(argument.getArgNumber());
  return attributes ? attributes.getValue() : ArrayRef<NamedAttribute>();
}

static void finishFunction(func::FuncOp function, ValueRange results,
                           ArrayRef<DictionaryAttr> resultAttributes) {
  OpBuilder builder = OpBuilder::atBlockEnd(&function.front());
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setType(
      builder.getFunctionType(function.getArgumentTypes(), results.getTypes()));
  for (auto [index, attributes] : llvm::enumerate(resultAttributes))
    function.setResultAttrs(index, attributes);
}

static std::string preparedName(size_t index) {
  return "prepared" + std::to_string(index);
}

LogicalResult PhaseSplitter::buildPrepare() {
  func::FuncOp prepare = createFunction("prepare");
  OpBuilder builder = OpBuilder::atBlockEnd(&prepare.front());
  IRMapping mapping;
  for (BlockArgument argument : decoder.getArguments())
    if (argument != target)
      mapping.map(argument,
                  addArgument(prepare, argument.getType(),
                              attributesOf(argument), argument.getLoc()));
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  for (Value value : prepared)
    if (failed(getBackwardSlice(value, &needed, options)))
      return decoder.emitError("has a value that prepare cannot compute");
  for (Operation &op : decoder.front())
    if (needed.contains(&op))
      builder.clone(op, mapping);
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> names;
  for (auto [index, value] : llvm::enumerate(prepared)) {
    results.push_back(mapping.lookup(value));
    names.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        kNameAttr, builder.getStringAttr(preparedName(index)))));
  }
  finishFunction(prepare, results, names);
  return success();
}

LogicalResult PhaseSplitter::buildStep() {
  func::FuncOp step = createFunction("step");
  OpBuilder builder = OpBuilder::atBlockEnd(&step.front());
  auto attribute = [&](StringRef key, Attribute value) {
    return builder.getNamedAttr(key, value);
  };
  auto named = [&](StringRef name, Attribute dims) {
    return SmallVector<NamedAttribute>{
        attribute(kNameAttr, builder.getStringAttr(name)),
        attribute(kDimsAttr, dims)};
  };

  // One id or vector, position and sentence a row.
  Attribute rows = builder.getStrArrayAttr({"rows"});
  auto perRow =
      RankedTensorType::get(ShapedType::kDynamic, builder.getI32Type());
  IRMapping mapping;
  auto addPerRow = [&](StringRef name, Type type) {
    return addArgument(step, type, named(name, rows),
                       NameLoc::get(builder.getStringAttr(name)));
  };
  auto targets = cast<RankedTensorType>(target.getType());
  if (targets.getElementType().isInteger()) {
    mapping.map(target, addPerRow("ids", perRow));
  } else {
    auto name =
        decoder.getArgAttrOfType<StringAttr>(target.getArgNumber(), kNameAttr);
    mapping.map(target,
                addPerRow(name ? name.getValue() : "vectors",
                          RankedTensorType::get(
                              {ShapedType::kDynamic, targets.getDimSize(2)},
                              targets.getElementType())));
  }
  Value positions = addPerRow("positions", perRow);
  Value sentences = addPerRow("sentences", perRow);

  for (Value value : passedThrough) {
    auto argument = cast<BlockArgument>(value);
    mapping.map(value, addArgument(step, value.getType(),
                                   attributesOf(argument), value.getLoc()));
  }
  for (auto [index, value] : llvm::enumerate(prepared)) {
    ArrayAttr dims = namesOfDims(value);
    if (!dims)
      return failure();
    SmallVector<NamedAttribute> attributes = named(preparedName(index), dims);
    attributes.push_back(attribute(kPreparedAttr, builder.getUnitAttr()));
    mapping.map(value,
                addArgument(step, value.getType(), attributes, value.getLoc()));
  }

  // `cloned` lists operands before users.
  for (Operation *op : cloned)
    builder.clone(*op, mapping);

  SmallVector<Value> newStates;
  for (Operation &op : decoder.front().without_terminator()) {
    if (op.getNumResults() == 0 || !isMarked(op.getResult(0)))
      continue;
    auto incremental = cast<IncrementalOpInterface>(op);
    SmallVector<std::optional<int64_t>> axes = axesOf(&op);
    SmallVector<Value> states;
    for (auto [type, maxSlots, pinned] : incremental.stateTypes(axes)) {
      SmallVector<int64_t> shape(type.getShape());
      std::string slots = nameOfSlots(maxSlots);
      SmallVector<StringRef> dims = {"rows"};
      if (llvm::is_contained(shape, ShapedType::kDynamic))
        dims.push_back(slots);
      shape.insert(shape.begin(), ShapedType::kDynamic);
      SmallVector<NamedAttribute> attributes =
          named("state" + std::to_string(stateCount++),
                builder.getStrArrayAttr(dims));
      attributes.push_back(attribute(kStateAttr, builder.getUnitAttr()));
      if (pinned > 0)
        attributes.push_back(
            attribute(kPinnedAttr, builder.getI64IntegerAttr(pinned)));
      states.push_back(
          addArgument(step, RankedTensorType::get(shape, type.getElementType()),
                      attributes, op.getLoc()));
    }
    StepContext context{mapping, axes, states, positions, sentences};
    SmallVector<Value> results = incremental.buildStep(builder, context);
    ArrayRef<Value> built = results;
    mapping.map(op.getResults(), built.take_front(op.getNumResults()));
    llvm::append_range(newStates, built.drop_front(op.getNumResults()));
  }

  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  for (auto [index, value] :
       llvm::enumerate(decoder.front().getTerminator()->getOperands())) {
    results.push_back(mapping.lookup(value));
    attributes.push_back(
        DictionaryAttr::get(step.getContext(), decoder.getResultAttrs(index)));
  }
  llvm::append_range(results, newStates);
  finishFunction(step, results, attributes);
  return success();
}

LogicalResult PhaseSplitter::split() {
  if (failed(findTarget()) || failed(markTime()) || failed(buildStep()))
    return failure();
  return prepared.empty() ? success() : buildPrepare();
}

namespace {
struct SplitPhases : heddle::impl::SplitPhasesPassBase<SplitPhases> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> decoders;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (failed(checkForms(function)))
        return signalPassFailure();
      if (hasForm(function, "step"))
        decoders.push_back(function);
    }
    for (func::FuncOp decoder : decoders) {
      PhaseSplitter splitter(decoder);
      if (failed(splitter.split()))
        return signalPassFailure();
      if (hasForm(decoder, "full"))
        decoder->setAttr(kFormsAttr,
                         Builder(&getContext()).getStrArrayAttr({"full"}));
      else
        decoder.erase();
    }
  }
};
} // namespace
