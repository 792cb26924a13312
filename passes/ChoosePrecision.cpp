//===- ChoosePrecision.cpp - The element types of products ----------------===//
//
// Each product is asked by itself: what its weight is stored as, and what was
// ordered, decide. What it multiplies becomes integers or bf16, and so does the
// table of an embedding; everything between stays f32. Vectors that several
// products read are quantised or rounded once.
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
/// A vector in fewer bits, and what its integers are worth.
struct ShortVector {
  Value elements;
  /// Null of bf16, and where all vectors have one multiplier.
  Value scales;
};

/// How a matrix of weights is multiplied in fewer bits.
struct ShortWeight {
  ParameterOp elements;
  /// Null of bf16.
  ParameterOp scales;
  /// Stands for the bias; null of bf16, which has the bias as it is.
  ParameterOp bias;
  /// Of the vectors on the left, [1]; null of bf16, and where each vector has a
  /// scale of its own.
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

  bool isRounded() const { return dtype == "bf16"; }
  bool isShortened(ParameterOp parameter) const;
  StringRef reasonAgainst(ParameterOp weight, Value bias);
  ShortWeight shorten(ParameterOp weight, ParameterOp bias, Outputs outputs);
  ShortVector shorten(Value vectors, ParameterOp multiplier);
  void buildShort(ShortVector &result, Value vectors, ParameterOp multiplier);
  Value read(OpBuilder &builder, ParameterOp parameter) {
    return parameter ? MadeParameters::read(builder, parameter) : Value();
  }

  void visit(LinearOp op);
  void visit(CandidateLogitsOp op);
  void visit(EmbeddingOp op);
  void report(Operation *op, const ShortWeight &weight);

  /// Says why a product stays f32, where there was something to choose.
  void decline(Operation *op, StringRef reason);

  std::optional<MadeParameters> parameters;
  bool hasChoice = false;
  DenseMap<std::pair<Value, Attribute>, ShortVector> shortened;
};
} // namespace

/// Whether the checkpoint holds integers.
static bool isStoredQuantised(ParameterOp parameter) {
  return parameter.isStored() && parameter.getSource() &&
         parameter.getSource()->getEncoding() == Encoding::IntGemm8 &&
         !parameter.getFactor();
}

bool ChoosePrecision::isShortened(ParameterOp parameter) const {
  return dtype == "int8" || isRounded() ||
         (dtype == "auto" && isStoredQuantised(parameter));
}

/// Why a product stays f32; empty where it need not.
StringRef ChoosePrecision::reasonAgainst(ParameterOp weight, Value bias) {
  if (!weight || weight.getTensorType().getRank() != 2 ||
      (bias && !isRounded() && !parameters->find(bias)))
    return "its weight is no parameter";
  return isShortened(weight) ? "" : "its weight is not stored as integers";
}

ShortWeight ChoosePrecision::shorten(ParameterOp weight, ParameterOp bias,
                                     Outputs outputs) {
  if (isRounded())
    return {parameters->derive(Derivation::Rounded, weight), ParameterOp(),
            ParameterOp(), ParameterOp(), IntegerAttr()};
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
  ShortWeight result{
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

ShortVector ChoosePrecision::shorten(Value vectors, ParameterOp multiplier) {
  // Weights of one layer often have equal multipliers.
  Attribute key = UnitAttr::get(&getContext());
  if (multiplier) {
    ParameterOp integers = multiplier.getPartOps().front();
    key = integers.getSource()->getInputMultiplier();
  }
  ShortVector &result = shortened[{vectors, key}];
  if (!result.elements)
    buildShort(result, vectors, multiplier);
  return result;
}

void ChoosePrecision::buildShort(ShortVector &result, Value vectors,
                                 ParameterOp multiplier) {
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(vectors);
  if (isRounded()) {
    result.elements = RoundOp::create(builder, vectors.getLoc(), vectors,
                                      /*destination=*/Value())
                          .getOutput();
    return;
  }
  auto op = QuantizeOp::create(builder, vectors.getLoc(), vectors,
                               read(builder, multiplier),
                               /*destinations=*/ValueRange());
  result.elements = op.getOutputs().front();
  if (!multiplier)
    result.scales = op.getOutputs().back();
}

void ChoosePrecision::report(Operation *op, const ShortWeight &weight) {
  if (isRounded())
    return reportFused(kPass, op, nameOf(op) + " multiplies bf16");
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
  ShortWeight factors =
      shorten(weight, parameters->find(op.getBias()), Outputs::Columns);
  ShortVector input = shorten(op.getInput(), factors.inputMultiplier);
  OpBuilder builder(op);
  Value elements = read(builder, factors.elements);
  Value scales = read(builder, factors.scales);
  Value bias = isRounded() ? op.getBias() : read(builder, factors.bias);
  auto product =
      LinearOp::create(builder, op.getLoc(), input.elements, input.scales,
                       elements, scales, bias, factors.shift);
  op.getOutput().replaceAllUsesWith(product.getOutput());
  op.erase();
  report(product, factors);
}

/// The table that `rows` are looked up in as they are; null where they are
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
  ShortWeight factors =
      shorten(weight, parameters->find(biasTable), Outputs::Rows);
  ShortVector input = shorten(op.getInput(), factors.inputMultiplier);
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
      !table.getTensorType().getElementType().isF32() || !isShortened(table))
    return;
  OpBuilder builder(op);
  if (isRounded()) {
    ParameterOp rounded = parameters->derive(Derivation::Rounded, table);
    op.getTableMutable().assign(read(builder, rounded));
    op.setWiden(true);
    return reportFused(kPass, op,
                       "the rows of " + nameOf(op) + " are stored as bf16");
  }
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
  shortened.clear();
  if (dtype == "f32")
    return;
  hasChoice = llvm::any_of(
      getOperation().getOps<ParameterOp>(),
      [&](ParameterOp parameter) { return isShortened(parameter); });
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
