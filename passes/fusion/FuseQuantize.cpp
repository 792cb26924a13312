//===- FuseQuantize.cpp - Write short elements where sums are -------------===//
//
// With one multiplier for all vectors a value is quantised by itself, and
// always rounded so: the linear or, of short floats, the attention that
// computes it can do so before it stores it. A scale of a vector needs all of
// it first.
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
  /// Why `linear` cannot write another type; empty if it can.
  static StringRef reasonAgainst(LinearOp linear) {
    if (linear.getSplit() || !linear.getDestinations().empty())
      return "its result has a place of its own";
    return "";
  }
  static StringRef reasonAgainst(AttentionOp attention) {
    return attention.getDestination() ? "its result has a place of its own"
                                      : "";
  }

  static bool needsWholeRows(LinearOp linear) { return bool(linear.getNorm()); }
  static bool needsWholeRows(AttentionOp) { return false; }

  static void take(LinearOp linear, QuantizeOp quantize) {
    linear.getMultiplierMutable().assign(quantize.getMultiplier());
  }
  template <typename Product> static void take(Product product, RoundOp round) {
    product.setRounds(round.getTo());
  }

  /// Lets `product` do what `op` does to its result.
  template <typename Product, typename Op>
  static void fuse(Product product, Op op, const Names &names) {
    // Whole rows, and f32 beside, are for fuse-short-rows.
    if (op->getNumResults() > 1 || !op.getInput().hasOneUse() ||
        needsWholeRows(product))
      return;
    StringRef reason = reasonAgainst(product);
    if (!reason.empty())
      return reportDeclined(kPass, product,
                            "the row of " + nameOf(product) + " is " +
                                names.done + " by an op of its own, since " +
                                reason);
    OpBuilder builder(op);
    auto fused = cast<Product>(builder.clone(*product));
    fused->setLoc(fuseLocations({product, op}));
    take(fused, op);
    Value result = op->getResult(0);
    fused->getResult(0).setType(result.getType());
    result.replaceAllUsesWith(fused->getResult(0));
    op.erase();
    product.erase();
    reportFused(kPass, fused,
                nameOf(fused) + " writes " + names.type + " itself");
  }

  static void visit(QuantizeOp op) {
    if (auto linear = op.getInput().getDefiningOp<LinearOp>())
      fuse(linear, op, {"quantised", "int8"});
  }
  static void visit(RoundOp round) {
    Names names{"rounded", nameOfShortFloat(round.getTo())};
    if (auto linear = round.getInput().getDefiningOp<LinearOp>())
      fuse(linear, round, names);
    else if (auto attention = round.getInput().getDefiningOp<AttentionOp>())
      fuse(attention, round, names);
  }

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<QuantizeOp, RoundOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto quantize = dyn_cast<QuantizeOp>(op))
        visit(quantize);
      else
        visit(cast<RoundOp>(op));
    }
  }
};
} // namespace
