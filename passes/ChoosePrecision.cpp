//===- ChoosePrecision.cpp - The element types of products ----------------===//
//
// Three things decide the type of a product: how the checkpoint stores its
// weight, --dtype, and --keep for the weight's name. The factors of a product
// become integers or short floats, and so does an embedding table; what weights
// of int8w meet says --activation-dtype. Attention multiplies short floats if
// --dtype, --activation-dtype or --cache-dtype says so, never integers, since
// none of its factors is a weight; but the keys and values that a decoder keeps
// are stored as integers if --cache-dtype says so. All else stays f32. A vector
// that several products read is quantised or rounded once.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Fusion/MadeParameters.h"
#include "lib/Fusion/PrecisionRules.h"
#include "lib/Masks/AttentionSites.h"
#include "lib/Support/Error.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_CHOOSEPRECISIONPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "choose-precision";

/// What Marian adds to quantised vectors, so that they are bytes without a
/// sign.
static constexpr int64_t kMarianShift = 127;

namespace {
/// A vector in fewer bits, and what its integers are worth.
struct ShortVector {
  Value elements;
  /// Null of short floats, and if all vectors have one multiplier.
  Value scales;
};

/// How a matrix of weights is multiplied in fewer bits.
struct ShortWeight {
  Precision precision;
  ParameterOp elements;
  /// Null of short floats.
  ParameterOp scales = {};
  /// Stands for the bias; null of short floats, which have the bias as it is.
  ParameterOp bias = {};
  /// Of the vectors on the left, [1]; null of short floats, and if each
  /// vector has a scale of its own.
  ParameterOp inputMultiplier = {};
  IntegerAttr shift = {};
  /// Of integers that are those of rotated vectors.
  bool isRotated = false;
};

struct ChoosePrecision
    : heddle::impl::ChoosePrecisionPassBase<ChoosePrecision> {
  using Base::Base;

  void runOnOperation() override;

private:
  /// Which dimension of a matrix the outputs of a product are.
  enum class Outputs { Columns, Rows };

  StringRef reasonAgainst(ParameterOp weight, Value bias);
  /// In short floats.
  ParameterOp round(ParameterOp parameter, Precision precision) {
    return parameters->derive(precision == Precision::F16
                                  ? Derivation::RoundedToF16
                                  : Derivation::Rounded,
                              parameter);
  }
  ShortWeight shorten(ParameterOp weight, ParameterOp bias, Outputs outputs);
  ShortVector shorten(Value vectors, ShortWeight weight);
  Type vectorTypeOf(ShortWeight weight);
  void buildShort(ShortVector &result, Value vectors, ShortWeight weight);
  Value read(OpBuilder &builder, ParameterOp parameter) {
    return parameter ? MadeParameters::read(builder, parameter) : Value();
  }

  void visit(LinearOp op);
  void visit(FfnOp op);
  void visit(CandidateLogitsOp op);
  void visit(EmbeddingOp op);
  void visit(LayerOpInterface op);
  void keepIntegers(AttentionOp op);
  llvm::Error keepIntegersOfDecoders();
  void report(Operation *op, ShortWeight weight);
  void fail(llvm::Error error) {
    getOperation().emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }

  /// Says why a product stays f32, if there was something to choose.
  void decline(Operation *op, StringRef reason);

  std::optional<MadeParameters> parameters;
  std::optional<PrecisionRules> rules;
  bool hasChoice = false;
  DenseMap<std::pair<Value, Attribute>, ShortVector> shortened;
};
} // namespace

/// Why a product stays f32; empty if it need not.
StringRef ChoosePrecision::reasonAgainst(ParameterOp weight, Value bias) {
  if (!weight || weight.getTensorType().getRank() != 2)
    return "its weight is no parameter";
  switch (rules->precisionOf(weight)) {
  case Precision::Int8:
    return bias && !parameters->find(bias) ? "its bias is no parameter" : "";
  case Precision::Int8Weights:
  case Precision::BF16:
  case Precision::F16:
    return "";
  case Precision::F32:
    return dtype == "auto" && !isStoredQuantised(weight)
               ? "its weight is not stored as integers"
               : "its weight is to be kept in f32";
  }
}

ShortWeight ChoosePrecision::shorten(ParameterOp weight, ParameterOp bias,
                                     Outputs outputs) {
  Precision precision = rules->precisionOf(weight);
  if (shortFloatOf(precision, &getContext()))
    return {precision, round(weight, precision)};
  bool byColumns = outputs == Outputs::Columns;
  if (precision == Precision::Int8Weights)
    return {precision, parameters->derive(Derivation::BlockIntegers, weight),
            parameters->derive(Derivation::BlockScales, weight), bias};
  if (!hasOneMultiplier(weight)) {
    // Integers of the file stay as they are.
    bool isRotated = rotated && byColumns && !isStoredQuantised(weight);
    if (isRotated)
      weight = parameters->derive(Derivation::Rotated, weight);
    return {Precision::Int8,
            parameters->derive(byColumns ? Derivation::ColumnIntegers
                                         : Derivation::RowIntegers,
                               weight),
            parameters->derive(byColumns ? Derivation::ColumnScales
                                         : Derivation::RowScales,
                               weight),
            bias,
            /*inputMultiplier=*/{},
            /*shift=*/{},
            isRotated};
  }
  int64_t length = weight.getTensorType().getDimSize(byColumns ? 1 : 0);
  ParameterOp integers = parameters->integers(weight);
  ShortWeight result{
      Precision::Int8, integers,
      parameters->derive(Derivation::ProductScales, integers, length), bias};
  if (!weight.getSource()->getInputMultiplier())
    return result;
  result.inputMultiplier =
      parameters->derive(Derivation::InputMultiplier, integers);
  if (!bias)
    bias = parameters->zeros(length);
  result.bias = parameters->derive(byColumns ? Derivation::ColumnShiftedBias
                                             : Derivation::RowShiftedBias,
                                   {bias, integers});
  result.shift = Builder(&getContext()).getI64IntegerAttr(kMarianShift);
  return result;
}

/// The short float that vectors become before they meet a weight; null if they
/// become integers or stay f32.
Type ChoosePrecision::vectorTypeOf(ShortWeight weight) {
  if (weight.precision == Precision::Int8Weights && activations == "bf16")
    return BFloat16Type::get(&getContext());
  return shortFloatOf(weight.precision, &getContext());
}

ShortVector ChoosePrecision::shorten(Value vectors, ShortWeight weight) {
  Type type = vectorTypeOf(weight);
  if (weight.precision == Precision::Int8Weights && !type)
    return {vectors, Value()};
  Attribute key = UnitAttr::get(&getContext());
  if (type)
    key = TypeAttr::get(type);
  if (weight.isRotated)
    key = StringAttr::get(&getContext(), "rotated");
  // Weights of one layer often have equal multipliers.
  if (weight.inputMultiplier) {
    ParameterOp integers = weight.inputMultiplier.getPartOps().front();
    key = integers.getSource()->getInputMultiplier();
  }
  ShortVector &result = shortened[{vectors, key}];
  if (!result.elements)
    buildShort(result, vectors, weight);
  return result;
}

void ChoosePrecision::buildShort(ShortVector &result, Value vectors,
                                 ShortWeight weight) {
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(vectors);
  if (Type type = vectorTypeOf(weight)) {
    result.elements = RoundOp::create(builder, vectors.getLoc(), vectors,
                                      /*destination=*/Value(), type)
                          .getOutput();
    return;
  }
  auto op = QuantizeOp::create(builder, vectors.getLoc(), vectors,
                               read(builder, weight.inputMultiplier),
                               /*destinations=*/ValueRange(), weight.isRotated);
  result.elements = op.getOutputs().front();
  if (!weight.inputMultiplier)
    result.scales = op.getOutputs().back();
}

void ChoosePrecision::report(Operation *op, ShortWeight weight) {
  if (Type type = shortFloatOf(weight.precision, &getContext()))
    return reportFused(kPass, op,
                       nameOf(op) + " multiplies " + nameOfShortFloat(type));
  if (weight.precision == Precision::Int8Weights)
    return reportFused(kPass, op,
                       nameOf(op) + " multiplies " +
                           (vectorTypeOf(weight) ? "bf16" : "f32") +
                           " by int8, each 32 inputs of an output with a scale "
                           "of their own");
  std::string how = weight.inputMultiplier
                        ? "with the integers and multipliers of its file"
                        : "each vector and each output with a scale of its own";
  if (weight.isRotated)
    how += ", vectors rotated";
  reportFused(kPass, op, nameOf(op) + " multiplies int8, " + how);
}

void ChoosePrecision::decline(Operation *op, StringRef reason) {
  if (hasChoice)
    reportDeclined(kPass, op, nameOf(op) + " multiplies f32, since " + reason);
}

void ChoosePrecision::visit(LinearOp op) {
  ParameterOp weight = parameters->find(op.getWeight());
  if (StringRef reason = reasonAgainst(weight, op.getBias()); !reason.empty())
    return decline(op, reason);
  ShortWeight factors =
      shorten(weight, parameters->find(op.getBias()), Outputs::Columns);
  ShortVector input = shorten(op.getInput(), factors);
  OpBuilder builder(op);
  op.getInputMutable().assign(input.elements);
  if (input.scales)
    op.getInputScalesMutable().assign(input.scales);
  op.getWeightMutable().assign(read(builder, factors.elements));
  if (factors.scales)
    op.getWeightScalesMutable().assign(read(builder, factors.scales));
  if (factors.bias)
    op.getBiasMutable().assign(read(builder, factors.bias));
  if (factors.shift)
    op.setShiftAttr(factors.shift);
  report(op, factors);
}

/// A pass fuses products later, in the types that they have then.
void ChoosePrecision::visit(FfnOp op) {
  if (cast<ShapedType>(op.getWeight1().getType()).getElementType().isF32())
    decline(op, "its module has fused two products");
}

/// The table that `rows` are looked up in as they are; null if they are
/// not.
static EmbeddingOp plainLookup(Value rows) {
  auto lookup = rows.getDefiningOp<EmbeddingOp>();
  bool isPlain = lookup && !lookup.hasPositions() && !lookup.getScales() &&
                 !lookup.getWiden() && lookup.getScale().isExactlyValue(1.0);
  return isPlain ? lookup : EmbeddingOp();
}

void ChoosePrecision::visit(CandidateLogitsOp op) {
  EmbeddingOp rows = plainLookup(op.getRows()),
              bias = plainLookup(op.getBias());
  ParameterOp weight = rows ? parameters->find(rows.getTable()) : ParameterOp();
  Value biasTable = bias ? bias.getTable() : op.getBias();
  if (StringRef reason = reasonAgainst(weight, biasTable); !reason.empty())
    return decline(op, reason);
  if (rules->precisionOf(weight) == Precision::Int8Weights)
    return decline(op, "rows that candidates pick are multiplied as they are");
  ShortWeight factors =
      shorten(weight, parameters->find(biasTable), Outputs::Rows);
  ShortVector input = shorten(op.getInput(), factors);
  OpBuilder builder(op);
  auto lookUp = [&](ParameterOp table) {
    return EmbeddingOp::create(builder, op.getLoc(), rows.getIds(),
                               read(builder, table), /*destination=*/Value(),
                               builder.getF32FloatAttr(1))
        .getOutput();
  };
  op.getInputMutable().assign(input.elements);
  if (input.scales)
    op.getInputScalesMutable().assign(input.scales);
  op.getRowsMutable().assign(lookUp(factors.elements));
  if (factors.scales)
    op.getRowScalesMutable().assign(lookUp(factors.scales));
  if (factors.bias)
    op.getBiasMutable().assign(lookUp(factors.bias));
  if (factors.shift)
    op.setShift(factors.shift.getInt());
  for (EmbeddingOp lookup : {rows, bias})
    if (lookup && lookup->use_empty())
      lookup.erase();
  report(op, factors);
}

void ChoosePrecision::visit(EmbeddingOp op) {
  ParameterOp table = parameters->find(op.getTable());
  if (!table || table.getTensorType().getRank() != 2 ||
      !table.getTensorType().getElementType().isF32())
    return;
  Precision precision = rules->precisionOf(table);
  if (precision == Precision::F32)
    return;
  OpBuilder builder(op);
  if (Type type = shortFloatOf(precision, &getContext())) {
    op.getTableMutable().assign(read(builder, round(table, precision)));
    op.setWiden(true);
    return reportFused(kPass, op,
                       "the rows of " + nameOf(op) + " are stored as " +
                           nameOfShortFloat(type));
  }
  bool isStored = hasOneMultiplier(table);
  ParameterOp integers =
      isStored ? parameters->integers(table)
               : parameters->derive(Derivation::RowIntegers, table);
  ParameterOp scales =
      isStored ? parameters->derive(Derivation::Multiplier, integers)
               : parameters->derive(Derivation::RowScales, table);
  op.getTableMutable().assign(read(builder, integers));
  op.getScalesMutable().assign(read(builder, scales));
  op.setDivides(isStored);
  reportFused(kPass, op,
              "the rows of " + nameOf(op) + " are stored as int8, " +
                  (isStored ? "as in its file" : "each with a scale"));
}

/// Lets a decoder keep keys and values as integers. Queries stay f32: what
/// multiplies integers with scales is made of f32.
void ChoosePrecision::keepIntegers(AttentionOp op) {
  int64_t heads = op.getKeyValueHeads();
  Builder attributes(&getContext());
  auto quantize = [&](Value rows) -> ShortVector & {
    ShortVector &result = shortened[{rows, attributes.getIndexAttr(heads)}];
    if (result.elements)
      return result;
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(rows);
    auto integers = QuantizeHeadsOp::create(
        builder, rows.getLoc(), rows, /*destinations=*/ValueRange(), heads);
    result = {integers.getOutputs().front(), integers.getOutputs().back()};
    return result;
  };
  ShortVector key = quantize(op.getKey()), value = quantize(op.getValue());
  op.getKeyMutable().assign(key.elements);
  op.getKeyScalesMutable().assign(key.scales);
  op.getValueMutable().assign(value.elements);
  op.getValueScalesMutable().assign(value.scales);
  reportFused(kPass, op,
              nameOf(op) + " keeps keys and values as int8, each head of a "
                           "position with a scale of its own");
}

llvm::Error ChoosePrecision::keepIntegersOfDecoders() {
  bool isAny = false;
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (const AttentionSite &site : findAttention(function)) {
      AttentionOp op = site.op;
      if (site.kind != AttentionKind::DecoderSelf || op.isRelative() ||
          !op.getFactorType().isF32() || op.hasRaggedKeys())
        continue;
      keepIntegers(op);
      isAny = true;
    }
  if (isAny)
    return llvm::Error::success();
  return makeError("there are no keys and values to keep as int8: expected a "
                   "decoder with self-attention");
}

/// Of computed factors.
void ChoosePrecision::visit(LayerOpInterface op) {
  SmallVector<OpOperand *> factors = op.getComputedFactors();
  if (!llvm::all_of(factors,
                    [](OpOperand *factor) {
                      return getElementTypeOrSelf(factor->get()).isF32();
                    }) ||
      factors.empty())
    return;
  bool isAsked = !attention.empty() && attention != "int8";
  std::optional<Precision> ordered =
      parsePrecision(isAsked ? attention : dtype);
  if (!isAsked && ordered == Precision::Int8Weights && activations == "bf16")
    ordered = Precision::BF16;
  Type type = ordered ? shortFloatOf(*ordered, &getContext()) : Type();
  if (!type)
    return decline(op, isAsked ? "that was asked for"
                               : "none of its factors is a weight");
  ShortWeight none{*ordered, ParameterOp()};
  for (OpOperand *factor : factors)
    factor->set(shorten(factor->get(), none).elements);
  reportFused(kPass, op, nameOf(op) + " multiplies " + nameOfShortFloat(type));
}

void ChoosePrecision::runOnOperation() {
  parameters.emplace(getOperation());
  shortened.clear();
  llvm::Expected<PrecisionRules> parsed = PrecisionRules::parse(dtype, keep);
  if (!parsed)
    return fail(parsed.takeError());
  rules.emplace(std::move(*parsed));
  if (!attention.empty() &&
      !llvm::is_contained({"f32", "bf16", "f16", "int8"}, attention))
    return fail(makeError("attention is '" + attention +
                          "', expected f32, bf16, f16 or int8"));
  if (activations != "f32" && activations != "bf16")
    return fail(makeError("activations is '" + activations +
                          "', expected f32 or bf16"));
  if (dtype == "f32" && attention.empty())
    return;
  hasChoice =
      dtype != "auto" ||
      llvm::any_of(getOperation().getOps<ParameterOp>(), isStoredQuantised);
  auto visitAll = [&](auto type) {
    SmallVector<decltype(type)> ops;
    getOperation().walk([&](decltype(type) op) { ops.push_back(op); });
    for (decltype(type) op : ops)
      visit(op);
  };
  if (dtype != "f32") {
    // Candidates first: their rows are looked up, too.
    visitAll(CandidateLogitsOp());
    visitAll(LinearOp());
    visitAll(FfnOp());
    visitAll(EmbeddingOp());
  }
  if (attention == "int8")
    if (llvm::Error error = keepIntegersOfDecoders())
      return fail(std::move(error));
  visitAll(LayerOpInterface());
  if (llvm::Error error = rules->checkMatched())
    return fail(std::move(error));
  getOperation().walk([](WeightOp weight) {
    if (weight->use_empty())
      weight.erase();
  });
}
