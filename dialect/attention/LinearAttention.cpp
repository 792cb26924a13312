//===- LinearAttention.cpp - Attention by sums over keys ------------------===//
//
// The step form of a causal op carries the sums; over a memory a decoder reads
// sums that are made once a sentence.
//
//===----------------------------------------------------------------------===//

#include "dialect/attention/LinearAttention.h"
#include "dialect/LayerChecks.h"
#include "dialect/attention/Attention.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;

static int64_t featureWidth(FeatureMap features, int64_t width) {
  return width + (features == FeatureMap::Taylor ? 1 : 0);
}

int64_t LinearAttentionOp::getKeyWidth() {
  return width(getKey()) / getKeyValueHeads();
}
int64_t LinearAttentionOp::getValueWidth() {
  return width(getValue()) / getKeyValueHeads();
}
int64_t LinearAttentionOp::getFeatureWidth() {
  return featureWidth(getFeatures(), getKeyWidth());
}

//===----------------------------------------------------------------------===//
// Checks of all three ops
//===----------------------------------------------------------------------===//

static LogicalResult verifyHeads(Operation *op, StringRef name, Value value,
                                 int64_t heads) {
  if (width(value) % heads == 0)
    return success();
  return op->emitOpError("expects a ")
         << name << " width that " << heads << " heads divide, found "
         << value.getType();
}

static LogicalResult verifyGroups(Operation *op, int64_t heads,
                                  int64_t kvHeads) {
  if (heads % kvHeads == 0)
    return success();
  return op->emitOpError("expects kv_heads to divide heads, found ")
         << kvHeads << " and " << heads;
}

static LogicalResult verifyMap(Operation *op, FeatureMap features,
                               Region &map) {
  if ((features == FeatureMap::Region) == map.empty())
    return op->emitOpError(
        "expects a features region exactly if the features are 'region'");
  return verifyRegion(op, "features", map, Float32Type::get(op->getContext()));
}

static LogicalResult verifyOneElementType(Operation *op, ValueRange values) {
  for (Value value : values.drop_front())
    if (getElementTypeOrSelf(value) != getElementTypeOrSelf(values.front()))
      return op->emitOpError("expects operands of one element type, found ")
             << values.front().getType() << " and " << value.getType();
  return success();
}

/// As many destinations as `shapes`, of these shapes and f32, or none.
static LogicalResult verifyDestinations(Operation *op,
                                        ArrayRef<SmallVector<int64_t>> shapes) {
  OperandRange destinations =
      cast<DestinationOpInterface>(op).getDestinations();
  if (!destinations.empty() && destinations.size() != shapes.size())
    return op->emitOpError("expects ")
           << shapes.size() << " destinations, found " << destinations.size();
  for (auto [index, shape] : llvm::enumerate(shapes))
    if (failed(verifyDestination(op, shape, index)))
      return failure();
  return success();
}

static LogicalResult verifyKeysAndValues(Operation *op, Value key, Value value,
                                         int64_t rank) {
  auto keys = shapedType(key), values = shapedType(value);
  if (keys.getRank() == rank && values.getRank() == rank &&
      succeeded(verifyCompatibleShape(keys.getShape().drop_back(),
                                      values.getShape().drop_back())))
    return success();
  return op->emitOpError("expects a value for each key, of rank ")
         << rank << ", found " << keys << " and " << values;
}

//===----------------------------------------------------------------------===//
// linear_attention
//===----------------------------------------------------------------------===//

LogicalResult
LinearAttentionOp::inferReturnTypes(MLIRContext *context,
                                    std::optional<Location>, Adaptor adaptor,
                                    SmallVectorImpl<Type> &results) {
  auto query = dyn_cast<RankedTensorType>(adaptor.getQuery().getType());
  if (!query)
    return success();
  int64_t heads = adaptor.getHeads();
  int64_t kvHeads = adaptor.getKvHeads().value_or(heads);
  // Heads that do not divide the widths are the verifier's to refuse.
  int64_t valueWidth = width(adaptor.getValue()) / kvHeads;
  int64_t features =
      featureWidth(adaptor.getFeatures(), width(adaptor.getKey()) / kvHeads);
  Type f32 = Float32Type::get(context);
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = heads * valueWidth;
  results.push_back(RankedTensorType::get(shape, f32));
  if (!adaptor.getStep())
    return success();
  int64_t rows = query.getDimSize(0);
  results.push_back(
      RankedTensorType::get({rows, kvHeads, features, valueWidth}, f32));
  results.push_back(RankedTensorType::get({rows, kvHeads, features}, f32));
  return success();
}

LogicalResult LinearAttentionOp::verify() {
  int64_t heads = getHeads(), kvHeads = getKeyValueHeads();
  auto query = shapedType(getQuery());
  // linear_attention_c1
  int64_t rank = getStep() ? 2 : 3;
  if (query.getRank() != rank)
    return emitOpError("expects a query of rank ")
           << rank << ", found " << query;
  if (failed(verifyKeysAndValues(*this, getKey(), getValue(), rank)))
    return failure();
  ArrayRef<int64_t> keys = shapedType(getKey()).getShape();
  bool isPaired = getCausal() || getStep();
  if (failed(verifyCompatibleShape(query.getShape().take_front(),
                                   keys.take_front())) ||
      (isPaired && failed(verifyCompatibleShape(query.getShape().drop_back(),
                                                keys.drop_back()))))
    return emitOpError("expects a query ")
           << (isPaired ? "for each key" : "of each sentence") << ", found "
           << query << " and " << getKey().getType();
  if (getLengths() && failed(verifyPerSentence(*this, getKey(), getLengths())))
    return failure();
  // linear_attention_c2
  if (getStep() && (getLengths() || getCausal()))
    return emitOpError("expects neither lengths nor 'causal' in the step form, "
                       "which has one key a row");
  if (getStep() && getDestinations().empty())
    return emitOpError("expects states after 'into' in the step form");
  // linear_attention_c3
  if (failed(verifyGroups(*this, heads, kvHeads)) ||
      failed(verifyHeads(*this, "query", getQuery(), heads)) ||
      failed(verifyHeads(*this, "key", getKey(), kvHeads)) ||
      failed(verifyHeads(*this, "value", getValue(), kvHeads)))
    return failure();
  // linear_attention_c4
  int64_t queryWidth = width(getQuery()) / heads;
  if (queryWidth != getKeyWidth())
    return emitOpError("expects queries and keys of one width, found ")
           << queryWidth << " and " << getKeyWidth() << " a head";
  // linear_attention_c6
  if (failed(verifyOneElementType(*this, {getQuery(), getKey(), getValue()})))
    return failure();
  SmallVector<SmallVector<int64_t>> shapes(
      1, SmallVector<int64_t>(query.getShape()));
  shapes.front().back() = heads * getValueWidth();
  if (getStep()) {
    int64_t rows = query.getDimSize(0), features = getFeatureWidth();
    shapes.push_back({rows, kvHeads, features, getValueWidth()});
    shapes.push_back({rows, kvHeads, features});
  }
  return verifyDestinations(*this, shapes);
}

LogicalResult LinearAttentionOp::verifyRegions() {
  // linear_attention_c5
  return verifyMap(*this, getFeatures(), getMap());
}

bool LinearAttentionOp::isStep() { return getStep(); }

/// S and z.
bool LinearAttentionOp::readsDestinations() { return getStep(); }

FailureOr<int64_t> LinearAttentionOp::timeAxis(TimeAxes axes) {
  auto axis = [&](OpOperand &operand) {
    return axes[operand.getOperandNumber()];
  };
  auto refuse = [&] {
    return emitOpError("cannot be evaluated position by position: ");
  };
  std::optional<int64_t> key = axis(getKeyMutable());
  if (axis(getQueryMutable()) != 1)
    return refuse() << "its keys depend on the target, its queries do not";
  if (key != axis(getValueMutable()) || (key && key != 1))
    return refuse() << "only one of its keys and values depends on the target";
  if (!key)
    return refuse() << "its keys do not depend on the target (is "
                       "'transformer-split-linear-attention' missing?)";
  if (!getCausal())
    return refuse() << "a query sees all later positions (is 'causal' "
                       "missing?)";
  if (getLengths())
    return refuse() << "its lengths are those of whole targets, which a step "
                       "does not know";
  return 1;
}

SmallVector<StateType> LinearAttentionOp::stateTypes(TimeAxes) {
  Type f32 = Float32Type::get(getContext());
  int64_t heads = getKeyValueHeads(), features = getFeatureWidth();
  return {{RankedTensorType::get({heads, features, getValueWidth()}, f32)},
          {RankedTensorType::get({heads, features}, f32)}};
}

void LinearAttentionOp::build(OpBuilder &builder, OperationState &state,
                              const LinearAttentionSpec &spec) {
  build(builder, state, spec.query, spec.key, spec.value, spec.lengths,
        spec.destinations, spec.heads, spec.kvHeads, spec.isCausal, spec.isStep,
        spec.features);
}

SmallVector<Value> LinearAttentionOp::buildStep(OpBuilder &builder,
                                                StepContext &step) {
  Value query = step.lookup(getQuery());
  Value result = tensor::EmptyOp::create(
      builder, getLoc(),
      {tensor::getMixedSize(builder, getLoc(), query, 0),
       builder.getIndexAttr(getHeads() * getValueWidth())},
      builder.getF32Type());
  LinearAttentionSpec spec;
  spec.query = query;
  spec.key = step.lookup(getKey());
  spec.value = step.lookup(getValue());
  spec.destinations = {result, step.states[0], step.states[1]};
  spec.heads = getHeads();
  spec.kvHeads = getKvHeadsAttr();
  spec.isStep = true;
  spec.features = getFeatures();
  auto op = LinearAttentionOp::create(builder, getLoc(), spec);
  getMap().cloneInto(&op.getMap(), step.mapping);
  return SmallVector<Value>(op.getOutputs());
}

SmallVector<Value> LinearAttentionOp::buildChunk(OpBuilder &builder,
                                                 ChunkContext &chunk) {
  SmallVector<Value> results = cloneForChunk(*this, builder, chunk);
  auto attention = results.front().getDefiningOp<LinearAttentionOp>();
  auto sums = LinearAttentionSumsOp::create(
      builder, getLoc(), attention.getKey(), attention.getValue(),
      chunk.lengths, chunk.states,
      builder.getI64IntegerAttr(getKeyValueHeads()), getFeaturesAttr());
  // The clone of the attention has arguments of its own.
  IRMapping captured = chunk.mapping;
  for (BlockArgument argument : getMap().getArguments())
    captured.erase(argument);
  getMap().cloneInto(&sums.getMap(), captured);
  llvm::append_range(results, sums.getOutputs());
  return results;
}

//===----------------------------------------------------------------------===//
// linear_attention.sums
//===----------------------------------------------------------------------===//

LogicalResult LinearAttentionSumsOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location>, Adaptor adaptor,
    SmallVectorImpl<Type> &results) {
  auto key = dyn_cast<RankedTensorType>(adaptor.getKey().getType());
  if (!key)
    return success();
  int64_t heads = adaptor.getHeads(), batch = key.getDimSize(0);
  int64_t features =
      featureWidth(adaptor.getFeatures(), key.getShape().back() / heads);
  Type f32 = Float32Type::get(context);
  results.push_back(RankedTensorType::get(
      {batch, heads, features, width(adaptor.getValue()) / heads}, f32));
  results.push_back(RankedTensorType::get({batch, heads, features}, f32));
  return success();
}

LogicalResult LinearAttentionSumsOp::verify() {
  int64_t heads = getHeads();
  // linear_attention_sums_c1
  if (failed(verifyKeysAndValues(*this, getKey(), getValue(), /*rank=*/3)) ||
      (getLengths() &&
       failed(verifyPerSentence(*this, getKey(), getLengths()))))
    return failure();
  // linear_attention_sums_c2
  if (failed(verifyHeads(*this, "key", getKey(), heads)) ||
      failed(verifyHeads(*this, "value", getValue(), heads)))
    return failure();
  // linear_attention_sums_c4
  if (failed(verifyOneElementType(*this, {getKey(), getValue()})))
    return failure();
  int64_t batch = shapedType(getKey()).getDimSize(0);
  int64_t features = featureWidth(getFeatures(), width(getKey()) / heads);
  return verifyDestinations(
      *this, {{batch, heads, features, width(getValue()) / heads},
              {batch, heads, features}});
}

LogicalResult LinearAttentionSumsOp::verifyRegions() {
  // linear_attention_sums_c3
  return verifyMap(*this, getFeatures(), getMap());
}

FailureOr<int64_t> LinearAttentionSumsOp::timeAxis(TimeAxes) {
  return emitOpError("cannot be evaluated position by position: it sums over "
                     "all positions of the target (is 'causal' missing?)");
}

//===----------------------------------------------------------------------===//
// linear_attention.read
//===----------------------------------------------------------------------===//

LogicalResult LinearAttentionReadOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location>, Adaptor adaptor,
    SmallVectorImpl<Type> &results) {
  auto query = dyn_cast<RankedTensorType>(adaptor.getQuery().getType());
  if (!query)
    return success();
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = adaptor.getHeads() * width(adaptor.getSums());
  results.push_back(RankedTensorType::get(shape, Float32Type::get(context)));
  return success();
}

LogicalResult LinearAttentionReadOp::verify() {
  int64_t heads = getHeads();
  auto query = shapedType(getQuery()), sums = shapedType(getSums()),
       totals = shapedType(getTotals());
  // linear_attention_read_c1
  int64_t rank = getSentences() ? 2 : 3;
  if (query.getRank() != rank)
    return emitOpError("expects a query of rank ")
           << rank << (rank == 2 ? " with" : " without") << " 'of', found "
           << query;
  // linear_attention_read_c3
  auto isStatic = [](int64_t size) { return !ShapedType::isDynamic(size); };
  if (sums.getRank() != 4 || totals.getRank() != 3 ||
      !llvm::all_of(sums.getShape().drop_front(), isStatic) ||
      !llvm::all_of(totals.getShape().drop_front(), isStatic) ||
      failed(verifyCompatibleShape(sums.getShape().drop_back(),
                                   totals.getShape())))
    return emitOpError("expects sums [batch, heads, features, width] and "
                       "[batch, heads, features], found ")
           << sums << " and " << totals;
  // linear_attention_read_c2
  if (failed(verifyGroups(*this, heads, sums.getDimSize(1))) ||
      failed(verifyHeads(*this, "query", getQuery(), heads)))
    return failure();
  if (int64_t expected = featureWidth(getFeatures(), width(getQuery()) / heads);
      sums.getDimSize(2) != expected)
    return emitOpError("expects sums of ")
           << expected << " features, found " << sums;
  // linear_attention_read_c5
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = heads * width(getSums());
  return verifyDestinations(*this, {shape});
}

LogicalResult LinearAttentionReadOp::verifyRegions() {
  // linear_attention_read_c4
  return verifyMap(*this, getFeatures(), getMap());
}

FailureOr<int64_t> LinearAttentionReadOp::timeAxis(TimeAxes axes) {
  return timeAxisOf(*this, axes, getQueryMutable().getOperandNumber(),
                    /*contracted=*/1);
}

SmallVector<Value> LinearAttentionReadOp::buildStep(OpBuilder &builder,
                                                    StepContext &step) {
  SmallVector<Value> results = cloneForStep(*this, builder, step);
  results.front()
      .getDefiningOp<LinearAttentionReadOp>()
      .getSentencesMutable()
      .assign(step.sentences);
  return results;
}

//===----------------------------------------------------------------------===//
// The features of the assembly format
//===----------------------------------------------------------------------===//

ParseResult heddle::parseFeatures(OpAsmParser &parser, FeatureMapAttr &kind,
                                  Region &map) {
  kind = FeatureMapAttr::get(parser.getContext(), FeatureMap::Elu);
  return parseKindOrRegion(
      parser, kind, map,
      {"features", "elu, relu, taylor or a region", "what the features are"});
}

void heddle::printFeatures(OpAsmPrinter &printer, Operation *,
                           FeatureMapAttr kind, Region &map) {
  if (kind.getValue() == FeatureMap::Elu)
    return;
  printer << " features ";
  if (kind.getValue() == FeatureMap::Region)
    printer.printRegion(map);
  else
    printer << stringifyFeatureMap(kind.getValue());
}

SmallVector<OpOperand *> LinearAttentionOp::getComputedFactors() {
  return {&getQueryMutable(), &getKeyMutable(), &getValueMutable()};
}
