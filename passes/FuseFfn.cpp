//===- FuseFfn.cpp - Keep the hidden vector of two linears in the caches --===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FUSEFFNPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-ffn";

namespace {
struct FuseFfn : heddle::impl::FuseFfnPassBase<FuseFfn> {
  static bool multipliesF32(LinearOp linear) {
    return getElementTypeOrSelf(linear.getWeight().getType()).isF32();
  }

  void fuse(LinearOp second) {
    // An activation stands between, unless the first linear applies it.
    auto between = second.getInput().getDefiningOp<ActivationOp>();
    Value hidden = between ? between.getInput() : second.getInput();
    auto first = hidden.getDefiningOp<LinearOp>();
    if (!first || !first.getOutput() || !second.getOutput() ||
        second.getDestination() || (between && between.getDestination()))
      return;
    // What ends in a residual or a norm is a sublayer of its own.
    if (first.getResidual() || first.getNorm())
      return;
    auto decline = [&](const Twine &reason) {
      reportDeclined(kPass, second,
                     nameOf(first) + " and " + nameOf(second) +
                         " stay two linears, since " + reason);
    };
    if (!first.getOutput().hasOneUse() || !second.getInput().hasOneUse())
      return decline("the hidden vector is read elsewhere, too");
    if (between && first.getActivation())
      return decline("more than one activation stands between them");
    if (second.getActivation())
      return decline("an ffn has no activation behind its second linear");
    if (!multipliesF32(first) || !multipliesF32(second))
      return decline("an ffn multiplies f32");
    if (bool(first.getBias()) != bool(second.getBias()))
      return decline("only one of them has a bias");
    int64_t hiddenWidth =
        cast<ShapedType>(first.getWeight().getType()).getDimSize(1);
    if (hiddenWidth > FfnOp::kMostHiddenWidth)
      return decline("caches do not keep " + Twine(hiddenWidth) +
                     " hidden values a row");

    SmallVector<Operation *> parts = {first, second};
    OpBuilder builder(second);
    auto ffn = FfnOp::create(
        builder, fuseLocations(parts), second.getOutput().getType(),
        first.getInput(), first.getWeight(), first.getBias(),
        second.getWeight(), second.getBias(), second.getResidual(),
        second.getGamma(), second.getBeta(), /*destination=*/Value(),
        between ? between.getKindAttr() : first.getActivationAttr(),
        second.getNormAttr(), second.getEpsilonAttr());
    reportFused(kPass, ffn,
                nameOf(first) + " and " + nameOf(second) +
                    " are one ffn: the " + Twine(hiddenWidth) +
                    " hidden values of a row are never stored");
    second.getOutput().replaceAllUsesWith(ffn.getOutput());
    second.erase();
    if (between)
      between.erase();
    first.erase();
  }

  void runOnOperation() override {
    SmallVector<LinearOp> linears;
    getOperation().walk([&](LinearOp linear) { linears.push_back(linear); });
    // The first of two stands before the second: it was visited already.
    for (LinearOp linear : linears)
      fuse(linear);
  }
};
} // namespace
