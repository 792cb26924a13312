//===- DecoderForms.cpp - The forms of a decoder, as functions ------------===//
//
// A form is a copy of the decoder's ops in their order: what does not depend on
// the target becomes an argument, and each op that does builds its own step.
//
//===----------------------------------------------------------------------===//

#include "lib/Phases/DecoderForms.h"
#include "lib/Support/DimNames.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace heddle;

void heddle::setRole(func::FuncOp function, StringRef role, StringRef decoder) {
  Builder builder(function.getContext());
  function->setAttr(kRoleAttr, builder.getStringAttr(role));
  function->setAttr(kDecoderAttr, builder.getStringAttr(decoder));
}

/// The runtime has ids.
static bool hasRoles(const DecoderMarks &marks) {
  return cast<RankedTensorType>(marks.target.getType())
      .getElementType()
      .isInteger();
}

static func::FuncOp createFunction(const DecoderMarks &marks, StringRef role) {
  func::FuncOp decoder = marks.decoder;
  OpBuilder builder(decoder->getContext());
  builder.setInsertionPointAfter(decoder);
  auto function = func::FuncOp::create(
      builder, decoder.getLoc(), (decoder.getSymName() + "." + role).str(),
      builder.getFunctionType({}, {}));
  function.setPrivate();
  function.addEntryBlock();
  if (hasRoles(marks))
    setRole(function, role, decoder.getSymName());
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

//===----------------------------------------------------------------------===//
// prepare
//===----------------------------------------------------------------------===//

LogicalResult heddle::buildPrepare(const DecoderMarks &marks) {
  func::FuncOp decoder = marks.decoder;
  func::FuncOp prepare = createFunction(marks, "prepare");
  OpBuilder builder = OpBuilder::atBlockEnd(&prepare.front());
  IRMapping mapping;
  for (BlockArgument argument : decoder.getArguments())
    if (argument != marks.target)
      mapping.map(argument,
                  addArgument(prepare, argument.getType(),
                              attributesOf(argument), argument.getLoc()));
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  for (Value value : marks.prepared)
    if (failed(getBackwardSlice(value, &needed, options)))
      return decoder.emitError("has a value that prepare cannot compute");
  for (Operation &op : decoder.front())
    if (needed.contains(&op))
      builder.clone(op, mapping);
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> names;
  for (auto [index, value] : llvm::enumerate(marks.prepared)) {
    results.push_back(mapping.lookup(value));
    names.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        kNameAttr, builder.getStringAttr(preparedName(index)))));
  }
  finishFunction(prepare, results, names);
  return success();
}

//===----------------------------------------------------------------------===//
// What step and chunk share
//===----------------------------------------------------------------------===//

namespace {
/// A function that goes on from states.
class FormBuilder {
public:
  FormBuilder(const DecoderMarks &marks, StringRef role)
      : marks(marks), function(createFunction(marks, role)),
        builder(OpBuilder::atBlockEnd(&function.front())) {}

  /// An argument of i32 with these dynamic dimensions.
  Value addNumbers(StringRef name, ArrayRef<StringRef> dims);
  Value addNamed(StringRef name, ArrayRef<StringRef> dims, Type type);
  /// Arguments and clones for what the marked ops read of unmarked ones.
  LogicalResult addBorder();
  /// Arguments for the states of an op: constant ones are led by the dimension
  /// `leading`.
  SmallVector<Value> addStates(Operation *op, StringRef leading);
  /// Maps the results of `op` to the first of `built`; the others are states.
  void setResults(Operation *op, ArrayRef<Value> built);
  /// Ends the function: `results` are what the decoder returns.
  void finish(ArrayRef<Value> results);

  const DecoderMarks &marks;
  func::FuncOp function;
  OpBuilder builder;
  IRMapping mapping;

private:
  SmallVector<NamedAttribute> named(StringRef name, Attribute dims);

  unsigned stateCount = 0;
  SmallVector<Value> newStates;
};
} // namespace

SmallVector<NamedAttribute> FormBuilder::named(StringRef name, Attribute dims) {
  return {builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
          builder.getNamedAttr(kDimsAttr, dims)};
}

Value FormBuilder::addNamed(StringRef name, ArrayRef<StringRef> dims,
                            Type type) {
  return addArgument(function, type, named(name, builder.getStrArrayAttr(dims)),
                     NameLoc::get(builder.getStringAttr(name)));
}

Value FormBuilder::addNumbers(StringRef name, ArrayRef<StringRef> dims) {
  SmallVector<int64_t> shape(dims.size(), ShapedType::kDynamic);
  return addNamed(name, dims,
                  RankedTensorType::get(shape, builder.getI32Type()));
}

LogicalResult FormBuilder::addBorder() {
  for (Value value : marks.passedThrough) {
    auto argument = cast<BlockArgument>(value);
    mapping.map(value, addArgument(function, value.getType(),
                                   attributesOf(argument), value.getLoc()));
  }
  for (auto [index, value] : llvm::enumerate(marks.prepared)) {
    ArrayAttr dims = namesOfDims(value);
    if (!dims)
      return failure();
    SmallVector<NamedAttribute> attributes = named(preparedName(index), dims);
    attributes.push_back(
        builder.getNamedAttr(kPreparedAttr, builder.getUnitAttr()));
    mapping.map(value, addArgument(function, value.getType(), attributes,
                                   value.getLoc()));
  }
  for (Operation *op : marks.cloned)
    builder.clone(*op, mapping);
  return success();
}

SmallVector<Value> FormBuilder::addStates(Operation *op, StringRef leading) {
  SmallVector<Value> states;
  for (const StateType &state : marks.statesOf(op)) {
    SmallVector<int64_t> shape(state.type.getShape());
    std::string slots = nameOfSlots(state.maxSlots);
    SmallVector<StringRef> dims = {leading};
    if (isCache(state))
      dims = {"caches", slots};
    shape.insert(shape.begin(), ShapedType::kDynamic);
    SmallVector<NamedAttribute> attributes = named(
        "state" + std::to_string(stateCount++), builder.getStrArrayAttr(dims));
    attributes.push_back(
        builder.getNamedAttr(kStateAttr, builder.getUnitAttr()));
    if (state.pinned > 0)
      attributes.push_back(builder.getNamedAttr(
          kPinnedAttr, builder.getI64IntegerAttr(state.pinned)));
    states.push_back(addArgument(
        function, RankedTensorType::get(shape, state.type.getElementType()),
        attributes, op->getLoc()));
  }
  return states;
}

void FormBuilder::setResults(Operation *op, ArrayRef<Value> built) {
  mapping.map(op->getResults(), built.take_front(op->getNumResults()));
  llvm::append_range(newStates, built.drop_front(op->getNumResults()));
}

void FormBuilder::finish(ArrayRef<Value> results) {
  func::FuncOp decoder = marks.decoder;
  SmallVector<DictionaryAttr> attributes;
  for (size_t index = 0; index < results.size(); ++index)
    attributes.push_back(DictionaryAttr::get(function.getContext(),
                                             decoder.getResultAttrs(index)));
  SmallVector<Value> all(results);
  llvm::append_range(all, newStates);
  finishFunction(function, all, attributes);
}

//===----------------------------------------------------------------------===//
// step
//===----------------------------------------------------------------------===//

/// One id or vector a row.
static void addRowsOfTarget(FormBuilder &form, StringRef rows) {
  BlockArgument target = form.marks.target;
  auto type = cast<RankedTensorType>(target.getType());
  if (type.getElementType().isInteger()) {
    form.mapping.map(target, form.addNumbers("ids", {rows}));
    return;
  }
  func::FuncOp decoder = form.marks.decoder;
  auto name =
      decoder.getArgAttrOfType<StringAttr>(target.getArgNumber(), kNameAttr);
  form.mapping.map(target, form.addNamed(name ? name.getValue() : "vectors",
                                         {rows}, dropAxis(type, 1)));
}

/// Arguments that say of each of `rows` where it stands.
static StepContext addPlaces(FormBuilder &form, StringRef rows) {
  StepContext context{form.mapping};
  addRowsOfTarget(form, rows);
  context.positions = form.addNumbers("positions", {rows});
  context.sentences = form.addNumbers("sentences", {rows});
  if (form.marks.hasCaches())
    context.caches = form.addNumbers("caches", {rows});
  return context;
}

/// The steps of all ops.
static void addSteps(FormBuilder &form, StepContext context) {
  for (Operation *op : form.marks.markedOps()) {
    SmallVector<std::optional<int64_t>> axes = form.marks.axesOf(op);
    SmallVector<StateType> types = form.marks.statesOf(op);
    SmallVector<Value> states = form.addStates(op, "rows");
    context.axes = axes;
    context.states = states;
    context.stateTypes = types;
    form.setResults(
        op, cast<IncrementalOpInterface>(op).buildStep(form.builder, context));
  }
}

LogicalResult heddle::buildStep(const DecoderMarks &marks,
                                bool throughHistory) {
  FormBuilder form(marks, throughHistory ? "beam" : "step");
  StepContext context = addPlaces(form, "rows");
  if (throughHistory)
    context.history =
        form.addNumbers("history", {"rows", nameOfSlots(std::nullopt)});
  if (failed(form.addBorder()))
    return failure();
  addSteps(form, context);
  func::FuncOp decoder = marks.decoder;
  SmallVector<Value> results;
  for (Value value : decoder.front().getTerminator()->getOperands())
    results.push_back(form.mapping.lookup(value));
  form.finish(results);
  return success();
}

//===----------------------------------------------------------------------===//
// What chunk and extend share
//===----------------------------------------------------------------------===//

namespace {
/// Takes the wanted positions of a chunk's results, or rows of extend's. Few
/// are wanted, and the layer that makes logits is the largest: rows are taken
/// in front of it.
class RowTaker {
public:
  /// `sentences` are those of wanted rows, or null in a chunk, of which each
  /// sentence has a list.
  RowTaker(FormBuilder &form, Value wanted, Value sentences = {})
      : form(form), wanted(wanted), sentences(sentences) {}

  /// Ends the form with the wanted rows of what the decoder returns, which the
  /// layers that make it compute anew.
  LogicalResult finish();

private:
  FailureOr<Value> takeResult(Value full);
  FailureOr<Value> take(Value full);
  FailureOr<Value> recompute(Operation *op, Value full);

  FormBuilder &form;
  Value wanted, sentences;
  /// From values of the decoder to their wanted rows.
  IRMapping taken;
};
} // namespace

/// Whether each position of the results is made of the same one of the operands
/// that depend on the target, whatever position that is.
static bool actsOnRows(Operation *op) {
  return isa_and_nonnull<ActivationOp, AddOp, CandidateLogitsOp, FakeQuantizeOp,
                         FfnOp, LinearOp, MultiplyOp, NormOp, NormalizeOp,
                         QuantizeOp, RoundOp>(op);
}

/// Whether `take_rows` takes them: others have shorter elements or no width.
static bool areTaken(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() == 3 && type.getElementType().isF32() &&
         !type.isDynamicDim(2);
}

/// Whether the wanted rows of a value can be had in front of the layer that
/// makes it.
static bool areTakenBefore(Value full, const DecoderMarks &marks) {
  Operation *op = full.getDefiningOp();
  return actsOnRows(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return !marks.isMarked(operand) || areTaken(operand) ||
                  areTakenBefore(operand, marks);
         });
}

bool heddle::hasChunk(const DecoderMarks &marks) {
  func::FuncOp decoder = marks.decoder;
  return llvm::all_of(
      decoder.front().getTerminator()->getOperands(), [&](Value result) {
        return areTaken(result) || areTakenBefore(result, marks);
      });
}

FailureOr<Value> RowTaker::recompute(Operation *op, Value full) {
  IRMapping mapping(form.mapping);
  for (Value operand : op->getOperands()) {
    if (!form.marks.isMarked(operand))
      continue;
    FailureOr<Value> rows = take(operand);
    if (failed(rows))
      return failure();
    mapping.map(operand, *rows);
  }
  SmallVector<std::optional<int64_t>> axes = form.marks.axesOf(op);
  StepContext context{mapping};
  context.axes = axes;
  context.sentences = sentences;
  taken.map(
      op->getResults(),
      sentences
          ? cast<IncrementalOpInterface>(op).buildStep(form.builder, context)
          : SmallVector<Value>(form.builder.clone(*op, mapping)->getResults()));
  return taken.lookup(full);
}

FailureOr<Value> RowTaker::take(Value full) {
  if (Value rows = taken.lookupOrNull(full))
    return rows;
  if (!areTaken(full)) {
    if (actsOnRows(full.getDefiningOp()))
      return recompute(full.getDefiningOp(), full);
    emitError(full.getLoc())
        << "has no rows to take in a chunk: expected f32 vectors of a static "
           "width, or a layer that acts on each vector alone, found "
        << full.getType();
    return failure();
  }
  Value rows = TakeRowsOp::create(form.builder, full.getLoc(),
                                  form.mapping.lookup(full), wanted,
                                  /*starts=*/Value(), /*lengths=*/Value(),
                                  /*destination=*/Value())
                   .getOutput();
  taken.map(full, rows);
  return rows;
}

FailureOr<Value> RowTaker::takeResult(Value full) {
  Operation *op = full.getDefiningOp();
  if (!areTakenBefore(full, form.marks) || taken.contains(full))
    return take(full);
  return recompute(op, full);
}

LogicalResult RowTaker::finish() {
  func::FuncOp decoder = form.marks.decoder;
  SmallVector<Value> results;
  for (Value value : decoder.front().getTerminator()->getOperands()) {
    FailureOr<Value> result = takeResult(value);
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  form.finish(results);
  // What was computed of all rows, and is of the wanted ones now.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(form.function.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// chunk
//===----------------------------------------------------------------------===//

LogicalResult heddle::buildChunk(const DecoderMarks &marks) {
  FormBuilder form(marks, "chunk");
  BlockArgument target = marks.target;
  SmallVector<NamedAttribute> attributes(attributesOf(target));
  llvm::erase_if(attributes, [](NamedAttribute attribute) {
    return attribute.getName() == kTargetAttr;
  });
  form.mapping.map(target, addArgument(form.function, target.getType(),
                                       attributes, target.getLoc()));
  StringAttr named = nameOfArgumentDim(target, 0);
  StringRef batch = named ? named.getValue() : "batch";
  Value lengths = form.addNumbers("target_lengths", {batch});
  Value wanted = form.addNumbers("wanted", {batch, "wanted"});
  Value caches;
  if (marks.hasCaches())
    caches = form.addNumbers("caches", {batch});
  if (failed(form.addBorder()))
    return failure();
  for (Operation *op : marks.markedOps()) {
    SmallVector<std::optional<int64_t>> axes = marks.axesOf(op);
    SmallVector<StateType> types = marks.statesOf(op);
    SmallVector<Value> states = form.addStates(op, batch);
    ChunkContext context{form.mapping, axes, states, types, lengths, caches};
    form.setResults(
        op, cast<IncrementalOpInterface>(op).buildChunk(form.builder, context));
  }
  return RowTaker(form, wanted).finish();
}

//===----------------------------------------------------------------------===//
// extend
//===----------------------------------------------------------------------===//

bool heddle::canExtend(const DecoderMarks &marks) {
  return hasChunk(marks) && llvm::all_of(marks.markedOps(), [&](Operation *op) {
           return llvm::all_of(marks.statesOf(op), isCache);
         });
}

LogicalResult heddle::buildExtend(const DecoderMarks &marks) {
  FormBuilder form(marks, "extend");
  StepContext context = addPlaces(form, kTokensDim);
  context.prefill = form.addNumbers("prefill", {"blocks"});
  Value wanted = form.addNumbers("wanted", {"wanted"});
  Value sentences = form.addNumbers("wanted_sentences", {"wanted"});
  if (failed(form.addBorder()))
    return failure();
  addSteps(form, context);
  if (failed(RowTaker(form, wanted, sentences).finish()))
    return failure();
  // Logits of candidates alone ask whose row it is.
  if (sentences.use_empty())
    return form.function.eraseArgument(
        cast<BlockArgument>(sentences).getArgNumber());
  return success();
}
