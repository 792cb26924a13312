//===- LayerBuilder.cpp - Writes a model as its paper has it --------------===//
//
// Functions and layers; LayerParameters.cpp has the parameters.
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

SmallVector<Value> LayerBuilder::beginEncode(int64_t width) {
  return beginFunction({"encode",
                        {{"ids", {"batch", "source"}}, {"lengths", {"batch"}}},
                        "memory",
                        width});
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
  if (attention.cap || attention.biases || attention.slopes)
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
  if (Value slopes = attention.slopes) {
    Value distance = math::AbsIOp::create(builder, loc, arith.sub(query, key));
    Value steps = arith::SIToFPOp::create(builder, loc, f32, distance);
    Value slope = LookupOp::create(builder, loc, f32, slopes, ValueRange{head});
    score = arith.sub(score, arith.mul(slope, steps));
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
