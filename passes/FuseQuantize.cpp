//===- FuseQuantize.cpp - Write short elements where sums are -------------===//
//
// With one multiplier for all vectors a value is quantised by itself, and
// always rounded to bf16 so: the linear that computes it can do so before it
// stores it. A scale of a vector needs all of it first.
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
/// Of what is done to a row, and of what it becomes: for people.
struct Names {
  StringRef done, type;
};

struct FuseQuantize : heddle::impl::FuseQuantizePassBase<FuseQuantize> {
  /// Why `linear` cannot do what `op` does to its result; empty where it can.
  template <typename Op>
  static StringRef reasonAgainst(LinearOp linear, Op op) {
    if (op->getNumResults() > 1)
      return "each vector has a scale of its own";
    if (!op.getInput().hasOneUse())
      return "the row is read elsewhere, too";
    if (linear.getNorm())
      return "it ends in a norm";
    if (linear.getSplit() || !linear.getDestinations().empty())
      return "its result has a place of its own";
    return "";
  }

  static void take(LinearOp linear, QuantizeOp quantize) {
    linear.getMultiplierMutable().assign(quantize.getMultiplier());
  }
  static void take(LinearOp linear, RoundOp) { linear.setRounds(true); }

  template <typename Op> static void visit(Op op, const Names &names) {
    auto linear = op.getInput().template getDefiningOp<LinearOp>();
    if (!linear)
      return;
    if (StringRef reason = reasonAgainst(linear, op); !reason.empty())
      return reportDeclined(kPass, linear,
                            "the row of " + nameOf(linear) + " is " +
                                names.done + " by an op of its own, since " +
                                reason);
    OpBuilder builder(op);
    auto fused = cast<LinearOp>(builder.clone(*linear));
    fused->setLoc(fuseLocations({linear, op}));
    take(fused, op);
    Value result = op->getResult(0);
    fused.getOutput().setType(result.getType());
    result.replaceAllUsesWith(fused.getOutput());
    op.erase();
    linear.erase();
    reportFused(kPass, fused,
                nameOf(fused) + " writes " + names.type + " itself");
  }

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<QuantizeOp, RoundOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto quantize = dyn_cast<QuantizeOp>(op))
        visit(quantize, {"quantised", "int8"});
      else
        visit(cast<RoundOp>(op), {"rounded", "bf16"});
    }
  }
};
} // namespace
