//===- LayerBuilder.cpp - Writes a model as its paper has it --------------===//
//
// See the header. Parameters stand in front of the functions, in the order in
// which the model first uses them.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/LayerBuilder.h"
#include "dialect/Arith.h"
#include "lib/Support/Error.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

using mlir::Type;

LayerBuilder::LayerBuilder(ModuleOp module, const WeightSource &weights,
                           MissingTensors missing)
    : builder(module.getContext()), module(module), symbols(module),
      weights(weights), missing(missing) {}

Location LayerBuilder::nameLoc(StringRef name) {
  return NameLoc::get(builder.getStringAttr(name));
}

void LayerBuilder::fail(const Twine &sentence) {
  if (failure.empty())
    failure = sentence.str();
}

Error LayerBuilder::takeError() const {
  return failure.empty() ? Error::success() : makeError(failure);
}

SmallVector<Value> LayerBuilder::beginFunction(const Function &description) {
  SmallVector<Type> types;
  for (const Argument &argument : description.arguments) {
    SmallVector<int64_t> shape(argument.dims.size(), ShapedType::kDynamic);
    if (argument.width)
      shape.push_back(argument.width);
    Type element = argument.width ? Type(builder.getF32Type())
                                  : Type(builder.getI32Type());
    types.push_back(RankedTensorType::get(shape, element));
  }
  bool isOfSources = !description.task.empty() && !description.isOfTokens;
  SmallVector<int64_t> shape(isOfSources ? 1 : 2, ShapedType::kDynamic);
  shape.push_back(description.resultWidth);
  Type result = RankedTensorType::get(shape, builder.getF32Type());

  builder.setInsertionPointToEnd(module.getBody());
  StringRef name = description.name;
  function = func::FuncOp::create(builder, nameLoc(name), name,
                                  builder.getFunctionType(types, result));
  function.setPrivate();
  function->setAttr(kFormsAttr, builder.getStrArrayAttr(description.forms));
  if (!description.task.empty())
    function->setAttr(kTaskAttr, builder.getStringAttr(description.task));
  function.setResultAttr(0, kNameAttr,
                         builder.getStringAttr(description.resultName));
  Block *body = function.addEntryBlock();
  for (auto [index, argument] : enumerate(description.arguments)) {
    function.setArgAttr(index, kNameAttr, builder.getStringAttr(argument.name));
    function.setArgAttr(index, kDimsAttr,
                        builder.getStrArrayAttr(argument.dims));
    if (argument.isTarget)
      function.setArgAttr(index, kTargetAttr, builder.getUnitAttr());
    body->getArgument(index).setLoc(nameLoc(argument.name));
  }
  builder.setInsertionPointToStart(body);
  return SmallVector<Value>(body->getArguments());
}

SmallVector<Value> LayerBuilder::beginDecode(int64_t width,
                                             int64_t vocabulary) {
  SmallVector<Argument> arguments = {
      {"ids", {"batch", "target"}, 0, /*isTarget=*/true}};
  if (width > 0) {
    arguments.push_back({"memory", {"batch", "source"}, width});
    arguments.push_back({"lengths", {"batch"}});
  }
  SmallVector<StringRef> forms = {"full", "step", "extend"};
  if (width > 0)
    forms.push_back("align");
  return beginFunction({"decode", arguments, "logits", vocabulary, forms});
}

void LayerBuilder::setAlignment(int64_t layer, int64_t heads) {
  auto number = [&](StringRef key, int64_t value) {
    return builder.getNamedAttr(key, builder.getI32IntegerAttr(value));
  };
  function->setAttr(kAlignmentAttr,
                    builder.getDictionaryAttr(
                        {number(kHeadsKey, heads), number(kLayerKey, layer)}));
}

void LayerBuilder::endFunction(Value result) {
  func::ReturnOp::create(builder, function.getLoc(), result);
}

const TensorInfo *LayerBuilder::find(StringRef name) const {
  std::optional<WeightSource::Entry> entry = weights.find(name);
  return entry ? entry->tensor : nullptr;
}

bool LayerBuilder::hasTensors(StringRef prefix) const {
  return any_of(weights.getFiles(), [&](const TensorFile &file) {
    return any_of(file.getTensors(), [&](const TensorInfo &tensor) {
      return StringRef(tensor.name).starts_with(prefix);
    });
  });
}

/// Whether two shapes are equal once leading ones are dropped: files give a
/// vector as [n] or as [1, n].
static bool isSameShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto isOne = [](int64_t extent) { return extent == 1; };
  return a.drop_while(isOne) == b.drop_while(isOne);
}

/// Says of a tensor that is not there which one is: of the same name behind a
/// prefix, as `module.` of torch's DataParallel is, or without one.
static std::string describeNearest(StringRef name,
                                   const WeightSource &weights) {
  auto isBehind = [](StringRef tail, StringRef whole) {
    return whole.size() > tail.size() && whole.ends_with(tail) &&
           whole.drop_back(tail.size()).ends_with(".");
  };
  for (const TensorFile &file : weights.getFiles())
    for (const TensorInfo &tensor : file.getTensors())
      if (isBehind(name, tensor.name))
        return (", but '" + tensor.name + "', with '" +
                StringRef(tensor.name).drop_back(name.size()) +
                "' in front of its name")
            .str();
  for (const TensorFile &file : weights.getFiles())
    for (const TensorInfo &tensor : file.getTensors())
      if (isBehind(tensor.name, name))
        return ", but '" + tensor.name + "'";
  return "";
}

void LayerBuilder::expectEqual(ParameterOp declared,
                               const Parameter &parameter) {
  auto name = cast<NameLoc>(declared.getLoc()).getName();
  ArrayRef<int64_t> shape = declared.getTensorType().getShape();
  if (name != parameter.name)
    fail("tensors '" + name.str() + "' and '" + parameter.name +
         "' would both be the parameter '" + parameter.symbol + "'");
  else if (shape != ArrayRef(parameter.shape) ||
           declared.getTransposed() != parameter.transposed)
    fail("tensor '" + parameter.name + "' is used with shape " +
         formatShape(shape) + (declared.getTransposed() ? " transposed" : "") +
         " and with shape " + formatShape(parameter.shape) +
         (parameter.transposed ? " transposed" : ""));
  else if (std::optional<SourceAttr> source = declared.getSource();
           source && source->getEncoding() == Encoding::IntGemm8 &&
           source->getInputMultiplier() != inputMultiplierOf(parameter))
    fail("tensor '" + parameter.name + "' is used with two input multipliers");
}

FloatAttr LayerBuilder::inputMultiplierOf(const Parameter &parameter) {
  return parameter.inputMultiplier
             ? builder.getF32FloatAttr(*parameter.inputMultiplier)
             : FloatAttr();
}

void LayerBuilder::declare(const Parameter &parameter) {
  if (auto declared = symbols.lookup<ParameterOp>(parameter.symbol))
    return expectEqual(declared, parameter);
  std::optional<WeightSource::Entry> entry = weights.find(parameter.name);
  SourceAttr source;
  if (!entry) {
    // Without a failure the parameter has no source, which others give it.
    if (missing == MissingTensors::Fail)
      fail("the model has no tensor '" + parameter.name + "' (expected shape " +
           formatShape(parameter.fileShape) + ")" +
           describeNearest(parameter.name, weights));
  } else if (!entry->tensor->encoding) {
    fail("tensor '" + parameter.name + "' of '" + entry->file +
         "' has the unsupported element type '" + entry->tensor->elementType +
         "' (supported: F32, F16, BF16)");
  } else if (!isSameShape(entry->tensor->shape, parameter.fileShape)) {
    fail("tensor '" + parameter.name + "' of '" + entry->file + "' has shape " +
         formatShape(entry->tensor->shape) + " but the model needs " +
         formatShape(parameter.fileShape));
  } else {
    bool isQuantized = entry->tensor->encoding == Encoding::IntGemm8;
    source = SourceAttr::get(
        builder.getContext(), entry->file, offsetOf(parameter, *entry->tensor),
        *entry->tensor->encoding,
        isQuantized ? inputMultiplierOf(parameter) : FloatAttr(),
        entry->tensor->multipliersFrom(parameter.firstRow.value_or(0)));
    // Now, and not when it is written.
    if (Error error = weights.prepare(*entry))
      fail(toString(std::move(error)));
  }
  addParameter(parameter, source);
}

int64_t LayerBuilder::offsetOf(const Parameter &parameter,
                               const TensorInfo &tensor) {
  int64_t offset = int64_t(tensor.offset);
  if (!parameter.firstRow)
    return offset;
  // One multiplier stands behind all of its rows.
  if (tensor.encoding == Encoding::IntGemm8)
    fail("tensor '" + tensor.name + "' is of type '" + tensor.elementType +
         "' and has rows of several parameters");
  uint64_t width = 1;
  for (int64_t extent : ArrayRef(parameter.fileShape).drop_front())
    width *= uint64_t(extent);
  return offset + int64_t(storedSize(*tensor.encoding,
                                     uint64_t(*parameter.firstRow) * width));
}

ParameterOp LayerBuilder::addParameter(const Parameter &parameter,
                                       SourceAttr source) {
  OpBuilder::InsertionGuard guard(builder);
  if (auto functions = module.getOps<func::FuncOp>(); !functions.empty())
    builder.setInsertionPoint(*functions.begin());
  else
    builder.setInsertionPointToEnd(module.getBody());
  auto type = RankedTensorType::get(parameter.shape, builder.getF32Type());
  auto op =
      ParameterOp::create(builder, nameLoc(parameter.name), parameter.symbol,
                          type, source, parameter.transposed);
  symbols.insert(op);
  return op;
}

Value LayerBuilder::derive(const Parameter &parameter, Derivation derivation,
                           ArrayRef<double> numbers,
                           ArrayRef<std::string> parts) {
  if (!symbols.lookup(parameter.symbol)) {
    SmallVector<Attribute> names;
    for (const std::string &part : parts)
      names.push_back(FlatSymbolRefAttr::get(builder.getContext(), part));
    ParameterOp made = addParameter(parameter, SourceAttr());
    made.setDerivation(derivation);
    if (!numbers.empty())
      made.setNumbersAttr(builder.getDenseF64ArrayAttr(numbers));
    made.setPartsAttr(builder.getArrayAttr(names));
  }
  return read(parameter);
}

Value LayerBuilder::weight(const Parameter &parameter) {
  declare(parameter);
  return read(parameter);
}

Value LayerBuilder::read(const Parameter &parameter) {
  return WeightOp::create(
      builder, nameLoc(parameter.name),
      RankedTensorType::get(parameter.shape, builder.getF32Type()),
      parameter.symbol);
}

Value LayerBuilder::scaledWeight(const Parameter &parameter, float factor) {
  declare(parameter);
  Parameter scaled;
  scaled.name = parameter.name;
  scaled.shape = parameter.shape;
  scaled.symbol = parameter.symbol + ".scaled";
  Value value = derive(scaled, Derivation::Columns, {}, parameter.symbol);
  symbols.lookup<ParameterOp>(scaled.symbol)
      .setFactorAttr(builder.getF32FloatAttr(factor));
  return value;
}

Value LayerBuilder::relativeBuckets(const Parameter &table,
                                    const Buckets &buckets) {
  declare(table);
  Parameter spread;
  spread.name = table.name;
  spread.shape = {table.shape[1], 2 * buckets.far + 1};
  spread.symbol = table.symbol + ".distances";
  SmallVector<double, 3> numbers = {double(buckets.count), double(buckets.far)};
  if (buckets.isCausal)
    numbers.push_back(1);
  return derive(spread, Derivation::RelativeBuckets, numbers, table.symbol);
}

Value LayerBuilder::relativeVectors(const RelativeTable &table) {
  auto symbolOf = [](Value weight) {
    return weight.getDefiningOp<WeightOp>().getParameter().str();
  };
  auto size = [](Value weight, int64_t axis) {
    return cast<RankedTensorType>(weight.getType()).getDimSize(axis);
  };
  auto madeOf = [&](Value weight, StringRef suffix, int64_t rows,
                    int64_t columns) {
    Parameter made;
    made.name = symbolOf(weight);
    made.shape = {rows, columns};
    made.symbol = made.name + suffix.str();
    return made;
  };
  Value rows = table.rows;
  int64_t count = size(rows, 0), columns = size(table.weight, 1);
  if (table.gamma)
    rows =
        derive(madeOf(rows, ".norms", count, size(rows, 1)),
               Derivation::RowNorms, double(table.epsilon),
               {symbolOf(rows), symbolOf(table.gamma), symbolOf(table.beta)});
  Value products = derive(
      madeOf(table.weight, ".positions", count, columns), Derivation::Product,
      {}, {symbolOf(rows), symbolOf(table.weight), symbolOf(table.bias)});
  return derive(madeOf(table.weight, ".distances", columns, 2 * table.far + 1),
                Derivation::LogBuckets,
                {double(table.buckets), double(table.most), double(table.far)},
                symbolOf(products));
}

Value LayerBuilder::rotaryFrequencies(const Rotary &rotary) {
  Parameter frequencies;
  frequencies.name = "rotary_frequencies";
  frequencies.shape = {rotary.count};
  SmallVector<double> numbers = {rotary.base};
  append_range(numbers, rotary.scaling);
  frequencies.symbol = frequencies.name + "_" + std::to_string(rotary.count);
  for (double number : numbers) {
    SmallString<24> digits("_");
    APFloat(number).toString(digits);
    frequencies.symbol += digits;
  }
  return derive(frequencies, Derivation::RotaryFrequencies, numbers, {});
}

Value LayerBuilder::sinusoidTable(int64_t rows, int64_t width, int64_t pad) {
  Parameter table;
  table.name = table.symbol = "sinusoids";
  for (int64_t number : {rows, width, pad})
    table.symbol += "_" + std::to_string(number);
  table.shape = {rows, width};
  return derive(table, Derivation::Sinusoids, double(pad), {});
}

Value LayerBuilder::embedding(Value ids, Value table, float scale) {
  return EmbeddingOp::create(builder, table.getLoc(), ids, table,
                             /*destination=*/Value(),
                             builder.getF32FloatAttr(scale))
      .getOutput();
}

Value LayerBuilder::sinusoidalPositions(Value input, int64_t timescales) {
  return SinusoidalPositionsOp::create(builder, input.getLoc(), input,
                                       /*positions=*/Value(),
                                       /*destination=*/Value(), timescales)
      .getOutput();
}

Value LayerBuilder::learnedPositions(Value input, Value table, int64_t offset) {
  return LearnedPositionsOp::create(builder, table.getLoc(), input, table,
                                    /*positions=*/Value(),
                                    /*destination=*/Value(), offset)
      .getOutput();
}

Value LayerBuilder::rotaryPositions(Value input, Value frequencies,
                                    int64_t heads) {
  return RotaryPositionsOp::create(builder, input.getLoc(), input, frequencies,
                                   /*positions=*/Value(),
                                   /*destination=*/Value(), heads,
                                   /*scale=*/APFloat(1.0f))
      .getOutput();
}

Value LayerBuilder::linear(Value input, Value weight, Value bias) {
  return LinearOp::create(builder, weight.getLoc(), input, weight, bias)
      .getOutput();
}

SmallVector<Value> LayerBuilder::split(Value input, Value weight, Value bias,
                                       ArrayRef<int64_t> widths) {
  LinearSpec spec;
  spec.input = input;
  spec.weight = weight;
  spec.bias = bias;
  spec.split = builder.getDenseI64ArrayAttr(widths);
  auto linear = LinearOp::create(builder, weight.getLoc(), spec);
  return SmallVector<Value>(linear.getOutputs());
}

Value LayerBuilder::activation(ActivationKind kind, Value input) {
  return ActivationOp::create(builder, input.getLoc(), kind, input,
                              /*destination=*/Value())
      .getOutput();
}

Value LayerBuilder::norm(const Norm &norm, Value input) {
  return NormOp::create(builder, norm.gamma.getLoc(), norm.kind, input,
                        norm.gamma, norm.beta, /*destination=*/Value(),
                        APFloat(norm.epsilon))
      .getOutput();
}

Value LayerBuilder::normalize(Value input, float epsilon) {
  return NormalizeOp::create(builder, input.getLoc(), input,
                             /*destination=*/Value(),
                             builder.getF32FloatAttr(epsilon))
      .getOutput();
}

Value LayerBuilder::pool(ArrayRef<Pooling> modes, Value input, Value lengths,
                         Value first) {
  SmallVector<Attribute> attributes;
  for (Pooling mode : modes)
    attributes.push_back(PoolingAttr::get(builder.getContext(), mode));
  return PoolOp::create(builder, input.getLoc(), input, lengths, first,
                        /*starts=*/Value(), /*rows=*/Value(),
                        /*destination=*/Value(),
                        builder.getArrayAttr(attributes))
      .getOutput();
}

Value LayerBuilder::add(Value lhs, Value rhs) {
  return AddOp::create(builder, rhs.getLoc(), lhs, rhs,
                       /*destination=*/Value())
      .getOutput();
}

Value LayerBuilder::multiply(Value lhs, Value rhs) {
  return MultiplyOp::create(builder, rhs.getLoc(), lhs, rhs,
                            /*destination=*/Value())
      .getOutput();
}

Value LayerBuilder::recurrence(Value forget, Value value) {
  return RecurrenceOp::create(builder, value.getLoc(), forget, value,
                              /*destination=*/Value())
      .getOutput();
}

Value LayerBuilder::takeRows(Value input, Value tokens) {
  return TakeRowsOp::create(builder, input.getLoc(), input, tokens,
                            /*starts=*/Value(), /*lengths=*/Value(),
                            /*destination=*/Value())
      .getOutput();
}

Value LayerBuilder::putRows(Value rows, Value tokens, Value input) {
  return PutRowsOp::create(builder, rows.getLoc(), rows, tokens,
                           /*starts=*/Value(), /*lengths=*/Value(),
                           /*destination=*/input)
      .getOutput();
}

Value LayerBuilder::candidateLogits(Value input, Value rows, Value bias,
                                    Value counts) {
  return CandidateLogitsOp::create(builder, rows.getLoc(), input, rows, bias,
                                   counts)
      .getOutput();
}

Value LayerBuilder::attention(StringRef name, const Attention &attention) {
  int64_t width =
      cast<RankedTensorType>(attention.query.getType()).getDimSize(2) /
      attention.heads;
  AttentionSpec spec;
  spec.query = attention.query;
  spec.key = attention.key;
  spec.value = attention.value;
  spec.mask = attention.mask;
  spec.relativeKeys = attention.relativeKeys;
  spec.relativeQueries = attention.relativeQueries;
  spec.heads = attention.heads;
  if (attention.kvHeads != 0)
    spec.kvHeads = builder.getI64IntegerAttr(attention.kvHeads);
  spec.scale = builder.getF32FloatAttr(
      attention.scale.value_or(1.0 / std::sqrt(double(width))));
  auto op = AttentionOp::create(builder, nameLoc(name), spec);
  if (attention.cap || attention.biases)
    addScoreRegion(op, attention);
  return op.getOutput();
}

void LayerBuilder::addScoreRegion(AttentionOp op, const Attention &attention) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = op.getLoc();
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Block *block =
      builder.createBlock(&op.getScore(), {}, {f32, i32, i32, i32, i32},
                          SmallVector<Location>(5, loc));
  Value score = block->getArgument(0), head = block->getArgument(2),
        query = block->getArgument(3), key = block->getArgument(4);
  Arith arith(builder, loc);
  if (attention.cap) {
    Value cap = arith.f32(*attention.cap);
    Value part = math::TanhOp::create(builder, loc, arith.div(score, cap));
    score = arith.mul(part, cap);
  }
  if (Value biases = attention.biases) {
    int64_t far = cast<ShapedType>(biases.getType()).getDimSize(1) / 2;
    Value place = arith.add(arith.sub(key, query), arith.i32(far));
    Value bias =
        LookupOp::create(builder, loc, f32, biases, ValueRange{head, place});
    score = arith.add(score, bias);
  }
  YieldOp::create(builder, loc, score);
}

Value LayerBuilder::causalMask() {
  return MaskCausalOp::create(builder, function.getLoc());
}

Value LayerBuilder::paddingMask(Value lengths) {
  return MaskPaddingOp::create(builder, lengths.getLoc(), lengths);
}

Value LayerBuilder::windowMask(int64_t left, int64_t right) {
  return MaskWindowOp::create(builder, function.getLoc(), left, right);
}

Value LayerBuilder::globalColumns(Value tokens) {
  return MaskGlobalOp::create(builder, tokens.getLoc(), /*count=*/IntegerAttr(),
                              tokens, /*columns=*/builder.getUnitAttr());
}

Value LayerBuilder::both(Value lhs, Value rhs) {
  return MaskAndOp::create(builder, lhs.getLoc(), lhs, rhs);
}

Value LayerBuilder::either(Value lhs, Value rhs) {
  return MaskOrOp::create(builder, lhs.getLoc(), lhs, rhs);
}

} // namespace heddle
