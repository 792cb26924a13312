//===- FakeQuantize.cpp - Round what products multiply, go on in f32 ------===//
//
// The rules of choose-precision say whose weights get fewer bits. What is
// switched off has the same ops and parameters of the same types and places.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/MadeParameters.h"
#include "lib/Fusion/PrecisionRules.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FAKEQUANTIZEPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
struct FakeQuantize : heddle::impl::FakeQuantizePassBase<FakeQuantize> {
  using Base::Base;

  void runOnOperation() override;

private:
  void visit(LinearOp op);
  void visit(EmbeddingOp op);
  ParameterOp fakeWeight(ParameterOp weight, Precision precision,
                         Derivation ofIntegers);
  Value fakeInput(LinearOp op, ParameterOp weight, Precision precision);
  /// Whether vectors that a linear multiplies are rotated, and its weight is.
  bool rotates(ParameterOp weight, Precision precision) {
    return rotated && precision == Precision::Int8 &&
           !isStoredQuantised(weight);
  }

  std::optional<MadeParameters> parameters;
  std::optional<PrecisionRules> rules;
};
} // namespace

/// A matrix that choose-precision may shorten.
static bool isMatrix(ParameterOp parameter) {
  return parameter && parameter.getTensorType().getRank() == 2 &&
         parameter.getTensorType().getElementType().isF32();
}

/// The same values, in the type of `precision`; integers of a file are those
/// already.
ParameterOp FakeQuantize::fakeWeight(ParameterOp weight, Precision precision,
                                     Derivation ofIntegers) {
  if (rotates(weight, precision) && ofIntegers == Derivation::AsColumnI8)
    weight = parameters->derive(Derivation::Rotated, weight);
  else if (precision == Precision::Int8 && isStoredQuantised(weight))
    return parameters->concatenate(weight);
  if (!on)
    return parameters->concatenate(weight);
  Derivation derivation = precision == Precision::BF16  ? Derivation::AsBF16
                          : precision == Precision::F16 ? Derivation::AsF16
                                                        : ofIntegers;
  return parameters->derive(derivation, weight);
}

Value FakeQuantize::fakeInput(LinearOp op, ParameterOp weight,
                              Precision precision) {
  OpBuilder builder(op);
  ParameterOp isOn =
      on ? parameters->derive(Derivation::One, weight)
         : parameters->derive(Derivation::One, weight, /*length=*/0,
                              /*factor=*/0.0f);
  Type type = shortFloatOf(precision, &getContext());
  Value multiplier;
  if (!type && isStoredQuantised(weight) &&
      weight.getSource()->getInputMultiplier())
    multiplier = MadeParameters::read(
        builder, parameters->derive(Derivation::InputMultiplier,
                                    parameters->integers(weight)));
  return FakeQuantizeOp::create(builder, op.getLoc(), op.getInput(), multiplier,
                                MadeParameters::read(builder, isOn),
                                /*destination=*/Value(),
                                type ? type : Type(builder.getI8Type()),
                                rotates(weight, precision))
      .getOutput();
}

void FakeQuantize::visit(LinearOp op) {
  ParameterOp weight = parameters->find(op.getWeight());
  if (!isMatrix(weight))
    return;
  Precision precision = rules->precisionOf(weight);
  bool hasBias = !op.getBias() || parameters->find(op.getBias());
  if (precision == Precision::F32 || (precision == Precision::Int8 && !hasBias))
    return;
  OpBuilder builder(op);
  if (precision == Precision::Int8Weights && activations == "bf16")
    op.getInputMutable().assign(fakeInput(op, weight, Precision::BF16));
  else if (precision != Precision::Int8Weights)
    op.getInputMutable().assign(fakeInput(op, weight, precision));
  op.getWeightMutable().assign(MadeParameters::read(
      builder, fakeWeight(weight, precision,
                          precision == Precision::Int8Weights
                              ? Derivation::AsBlockI8
                              : Derivation::AsColumnI8)));
}

void FakeQuantize::visit(EmbeddingOp op) {
  ParameterOp table = parameters->find(op.getTable());
  if (!isMatrix(table))
    return;
  Precision precision = rules->precisionOf(table);
  if (precision == Precision::F32)
    return;
  OpBuilder builder(op);
  op.getTableMutable().assign(MadeParameters::read(
      builder, fakeWeight(table, precision, Derivation::AsRowI8)));
}

void FakeQuantize::runOnOperation() {
  parameters.emplace(getOperation());
  llvm::Expected<PrecisionRules> parsed = PrecisionRules::parse(dtype, keep);
  if (!parsed) {
    getOperation().emitError(llvm::toString(parsed.takeError()));
    return signalPassFailure();
  }
  rules.emplace(std::move(*parsed));
  SmallVector<Operation *> ops;
  getOperation().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto linear = dyn_cast<LinearOp>(op))
      visit(linear);
    else if (auto embedding = dyn_cast<EmbeddingOp>(op))
      visit(embedding);
  }
  getOperation().walk([](WeightOp weight) {
    if (weight->use_empty())
      weight.erase();
  });
}
