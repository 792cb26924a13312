//===- ChoosePrecision.cpp - The element types of products ----------------===//
//
// Each product is asked by itself: what its weight is stored as, and what was
// ordered, decide. What it multiplies becomes integers, and so does the table
// of an embedding; everything between stays f32. Vectors that several products
// read are quantised once.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Fusion/MadeParameters.h"
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
/// A vector as integers, and what they are worth.
struct Quantized {
  Value integers;
  /// Null where all vectors have one multiplier.
  Value scales;
};

/// How a matrix of weights is multiplied as integers.
struct IntegerWeight {
  ParameterOp integers, scales;
  /// Stands for the bias.
  ParameterOp bias;
  /// Of the vectors on the left, [1]; null where each has a scale of its own.
  ParameterOp inputMultiplier;
  IntegerAttr shift;
};

struct ChoosePrecision
    : heddle::impl::ChoosePrecisionPassBase<ChoosePrecision> {
  using Base::Base;

  void runOnOperation() override;

private:
  /// Which dimension of a matrix the outputs of a product are.
  enum class Outputs { Columns, Rows };

  bool isQuantised(ParameterOp parameter) const;
  StringRef reasonAgainst(ParameterOp weight, Value bias);
  IntegerWeight quantizeWeight(ParameterOp weight, ParameterOp bias,
                               Outputs outputs);
  Quantized quantize(Value vectors, ParameterOp multiplier);
  Value read(OpBuilder &builder, ParameterOp parameter) {
    return parameter ? MadeParameters::read(builder, parameter) : Value();
  }

  void visit(LinearOp op);
  void visit(CandidateLogitsOp op);
  void visit(EmbeddingOp op);
  void report(Operation *op, const IntegerWeight &weight);

  /// Says why a product stays f32, where there was something to choose.
  void decline(Operation *op, StringRef reason);

  std::optional<MadeParameters> parameters;
  bool hasChoice = false;
  DenseMap<std::pair<Value, Attribute>, Quantized> quantized;
};
} // namespace

/// Whether the checkpoint holds integers.
static bool isStoredQuantised(ParameterOp parameter) {
  return parameter.isStored() && parameter.getSource() &&
         parameter.getSource()->getEncoding() == Encoding::IntGemm8 &&
         !parameter.getFactor();
}

bool ChoosePrecision::isQuantised(ParameterOp parameter) const {
  return dtype == "int8" || (dtype == "auto" && isStoredQuantised(parameter));
}

/// Why a product stays f32; empty where it need not.
StringRef ChoosePrecision::reasonAgainst(ParameterOp weight, Value bias) {
  if (!weight || weight.getTensorType().getRank() != 2 ||
      (bias && !parameters->find(bias)))
    return "its weight is no parameter";
  return isQuantised(weight) ? "" : "its weight is not stored as integers";
}

IntegerWeight ChoosePrecision::quantizeWeight(ParameterOp weight,
                                              ParameterOp bias,
                                              Outputs outputs) {
  bool byColumns = outputs == Outputs::Columns;
  if (!isStoredQuantised(weight))
    return {parameters->derive(byColumns ? Derivation::ColumnIntegers
                                         : Derivation::RowIntegers,
                               weight),
            parameters->derive(byColumns ? Derivation::ColumnScales
                                         : Derivation::RowScales,
                               weight),
            bias, ParameterOp(), IntegerAttr()};
  int64_t length = weight.getTensorType().getDimSize(byColumns ? 1 : 0);
  ParameterOp integers = parameters->integers(weight);
  IntegerWeight result{
      integers, parameters->derive(Derivation::ProductScales, integers, length),
      bias, ParameterOp(), IntegerAttr()};
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

Quantized ChoosePrecision::quantize(Value vectors, ParameterOp multiplier) {
  // Weights of one layer often have equal multipliers.
  Attribute key = UnitAttr::get(&getContext());
  if (multiplier) {
    ParameterOp integers = multiplier.getPartOps().front();
    key = integers.getSource()->getInputMultiplier();
  }
  Quantized &result = quantized[{vectors, key}];
  if (result.integers)
    return result;
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(vectors);
  auto op = QuantizeOp::create(builder, vectors.getLoc(), vectors,
                               read(builder, multiplier),
                               /*destinations=*/ValueRange());
  result.integers = op.getOutputs().front();
  if (!multiplier)
    result.scales = op.getOutputs().back();
  return result;
}

void ChoosePrecision::report(Operation *op, const IntegerWeight &weight) {
  std::string how = weight.inputMultiplier
                        ? "with the integers and multipliers of its file"
                        : "each vector and each output with a scale of its own";
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
  IntegerWeight factors =
      quantizeWeight(weight, parameters->find(op.getBias()), Outputs::Columns);
  Quantized input = quantize(op.getInput(), factors.inputMultiplier);
  OpBuilder builder(op);
  auto product = LinearOp::create(builder, op.getLoc(), input.integers,
                                  input.scales, read(builder, factors.integers),
                                  read(builder, factors.scales),
                                  read(builder, factors.bias), factors.shift);
  op.getOutput().replaceAllUsesWith(product.getOutput());
  op.erase();
  report(product, factors);
}

/// The table that `rows` are looked up in as they are; null where they are
/// not.
static EmbeddingOp plainLookup(Value rows) {
  auto lookup = rows.getDefiningOp<EmbeddingOp>();
  bool isPlain = lookup && !lookup.hasPositions() && !lookup.getScales() &&
                 lookup.getScale().isExactlyValue(1.0);
  return isPlain ? lookup : EmbeddingOp();
}

void ChoosePrecision::visit(CandidateLogitsOp op) {
  EmbeddingOp rows = plainLookup(op.getRows()),
              bias = plainLookup(op.getBias());
  ParameterOp weight = rows ? parameters->find(rows.getTable()) : ParameterOp();
  Value biasTable = bias ? bias.getTable() : op.getBias();
  if (StringRef reason = reasonAgainst(weight, biasTable); !reason.empty())
    return decline(op, reason);
  IntegerWeight factors =
      quantizeWeight(weight, parameters->find(biasTable), Outputs::Rows);
  Quantized input = quantize(op.getInput(), factors.inputMultiplier);
  OpBuilder builder(op);
  auto lookUp = [&](ParameterOp table) {
    return EmbeddingOp::create(builder, op.getLoc(), rows.getIds(),
                               read(builder, table), /*destination=*/Value(),
                               builder.getF32FloatAttr(1))
        .getOutput();
  };
  op.getInputMutable().assign(input.integers);
  if (input.scales)
    op.getInputScalesMutable().assign(input.scales);
  op.getRowsMutable().assign(lookUp(factors.integers));
  op.getRowScalesMutable().assign(lookUp(factors.scales));
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
      !table.getTensorType().getElementType().isF32() || !isQuantised(table))
    return;
  OpBuilder builder(op);
  bool isStored = isStoredQuantised(table);
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

void ChoosePrecision::runOnOperation() {
  parameters.emplace(getOperation());
  quantized.clear();
  if (dtype == "f32")
    return;
  hasChoice = llvm::any_of(
      getOperation().getOps<ParameterOp>(),
      [&](ParameterOp parameter) { return isQuantised(parameter); });
  auto visitAll = [&](auto type) {
    SmallVector<decltype(type)> ops;
    getOperation().walk([&](decltype(type) op) { ops.push_back(op); });
    for (decltype(type) op : ops)
      visit(op);
  };
  // Candidates first: their rows are looked up, too.
  visitAll(CandidateLogitsOp());
  visitAll(LinearOp());
  visitAll(EmbeddingOp());
  getOperation().walk([](WeightOp weight) {
    if (weight->use_empty())
      weight.erase();
  });
}
