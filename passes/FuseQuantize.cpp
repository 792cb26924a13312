//===- FuseQuantize.cpp - Write integers where a product has its sums -----===//
//
// With one multiplier for all vectors a value is quantised by itself: the
// linear that computes it can do so before it stores it. A scale of a vector
// needs all of it first.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FUSEQUANTIZEPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-quantize";

namespace {
struct FuseQuantize : heddle::impl::FuseQuantizePassBase<FuseQuantize> {
  /// Why `linear` cannot quantise its result; empty where it can.
  static StringRef reasonAgainst(LinearOp linear, QuantizeOp quantize) {
    if (!quantize.getMultiplier())
      return "each vector has a scale of its own";
    if (!quantize.getInput().hasOneUse())
      return "the row is read elsewhere, too";
    if (linear.getNorm())
      return "it ends in a norm";
    if (linear.getSplit() || !linear.getDestinations().empty())
      return "its result has a place of its own";
    return "";
  }

  static void visit(QuantizeOp quantize) {
    auto linear = quantize.getInput().getDefiningOp<LinearOp>();
    if (!linear)
      return;
    if (StringRef reason = reasonAgainst(linear, quantize); !reason.empty())
      return reportDeclined(kPass, linear,
                            "the row of " + nameOf(linear) +
                                " is quantised by an op of its own, since " +
                                reason);
    OpBuilder builder(quantize);
    auto fused = cast<LinearOp>(builder.clone(*linear));
    fused->setLoc(fuseLocations({linear, quantize}));
    fused.getMultiplierMutable().assign(quantize.getMultiplier());
    fused.getOutputs().front().setType(quantize.getOutputs().front().getType());
    quantize.getOutputs().front().replaceAllUsesWith(fused.getOutput());
    quantize.erase();
    linear.erase();
    reportFused(kPass, fused, nameOf(fused) + " writes int8 itself");
  }

  void runOnOperation() override {
    SmallVector<QuantizeOp> ops;
    getOperation().walk([&](QuantizeOp op) { ops.push_back(op); });
    for (QuantizeOp op : ops)
      visit(op);
  }
};
} // namespace
