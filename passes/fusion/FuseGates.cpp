//===- FuseGates.cpp - One linear for a gated ffn's first two -------------===//
//
// The two linears of a gated linear unit read one input, and one of them is
// read by the other only: as the gate of its rows. With the columns of both in
// one weight (GatedColumns.h) a tile has the two products side by side, and the
// gate's rows, f32 and as wide as the hidden vector, are never stored. Each
// product has the bits that it has alone.
//
//===----------------------------------------------------------------------===//

#include "dialect/linear/GatedColumns.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Fusion/MadeParameters.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FUSEGATESPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-gates";

/// Why two weights, scales or biases have no columns side by side; empty if
/// they have.
static StringRef reasonAgainstColumns(Value first, Value second,
                                      MadeParameters &parameters) {
  if (!first && !second)
    return "";
  if (!first || !second || first.getType() != second.getType())
    return "the weights differ in type";
  return parameters.find(first) && parameters.find(second)
             ? ""
             : "a weight is no parameter";
}

/// Why a linear does not compute its gate, too; empty if it can.
static StringRef reasonAgainst(LinearOp linear, MadeParameters &parameters) {
  auto gate = linear.getResidual().getDefiningOp<LinearOp>();
  if (!gate || !gate.isPlain() || !gate.getDestinations().empty())
    return "what gates it is not a plain linear";
  if (!gate->hasOneUse())
    return "its gate is read elsewhere, too";
  if (gate.getInput() != linear.getInput() ||
      gate.getInputScales() != linear.getInputScales() ||
      gate.getShiftAttr() != linear.getShiftAttr())
    return "its gate reads another input";
  if (linear.getNorm() || linear.getAlso() || !linear.getDestinations().empty())
    return "it does more than write its rows";
  if (linear.getWidths().front() % (kPanelColumns / 2) != 0)
    return "its columns fill no panels together with the gate's";
  for (auto [first, second] :
       {std::pair(linear.getWeight(), gate.getWeight()),
        std::pair(linear.getWeightScales(), gate.getWeightScales())})
    if (StringRef reason = reasonAgainstColumns(first, second, parameters);
        !reason.empty())
      return reason;
  for (Value bias : {linear.getBias(), gate.getBias()})
    if (bias && !parameters.find(bias))
      return "a bias is no parameter";
  return "";
}

static void fuse(LinearOp linear, MadeParameters &parameters) {
  auto gate = linear.getResidual().getDefiningOp<LinearOp>();
  OpBuilder builder(linear);
  auto byTurns = [&](ParameterOp first, ParameterOp second) {
    return MadeParameters::read(
        builder, parameters.concatenate({first, second}, kGatedColumns));
  };
  auto together = [&](Value first, Value second) {
    return byTurns(parameters.find(first), parameters.find(second));
  };
  auto biasOf = [&](LinearOp op) {
    return op.getBias() ? parameters.find(op.getBias())
                        : parameters.zeros(linear.getWidths().front());
  };
  Value weight = together(linear.getWeight(), gate.getWeight()), scales, bias;
  if (linear.getWeightScales())
    scales = together(linear.getWeightScales(), gate.getWeightScales());
  if (linear.getBias() || gate.getBias())
    bias = byTurns(biasOf(linear), biasOf(gate));
  auto fused = cast<LinearOp>(builder.clone(*linear));
  fused->setLoc(fuseLocations({linear, gate}));
  fused.getWeightMutable().assign(weight);
  if (scales)
    fused.getWeightScalesMutable().assign(scales);
  if (bias)
    fused.getBiasMutable().assign(bias);
  fused.getResidualMutable().clear();
  std::string sentence =
      nameOf(linear) + " computes its gate " + nameOf(gate) + " itself";
  linear.getOutput().replaceAllUsesWith(fused.getOutput());
  linear->erase();
  gate->erase();
  reportFused(kPass, fused, sentence);
}

namespace {
struct FuseGates : heddle::impl::FuseGatesPassBase<FuseGates> {
  void runOnOperation() override {
    MadeParameters parameters(getOperation());
    SmallVector<LinearOp> linears;
    getOperation().walk([&](LinearOp linear) {
      if (linear.getGates() && linear.getResidual())
        linears.push_back(linear);
    });
    for (LinearOp linear : linears) {
      StringRef reason = reasonAgainst(linear, parameters);
      if (reason.empty())
        fuse(linear, parameters);
      else
        reportDeclined(kPass, linear,
                       nameOf(linear) + " reads its gate from memory, since " +
                           reason);
    }
  }
};
} // namespace
