//===- FuseShortRows.cpp - Write short rows where rows are finished -------===//
//
// A scale needs all of a vector, and so does a norm: if one op finishes
// whole rows of f32, it quantises or rounds them while they are in the caches,
// and the residual stream still has its f32.
//
// Others would not gain. Attention finishes a head of a row at a time, in tasks
// that do not wait for each other. A linear without a norm is cut into tasks by
// columns, too, and would read its weights again for each block of whole rows.
// An activation or a sum that no linear took in stands in front of a norm, as
// in a recurrence, and no product reads it.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heddle {
#define GEN_PASS_DEF_FUSESHORTROWSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-short-rows";

/// Why the op that computes a value cannot write it in fewer bits, too; empty
/// if it can.
static std::string reasonAgainst(Operation *source) {
  auto rows = dyn_cast<ShortRowsOpInterface>(source);
  if (isa<AttentionOp>(source))
    return "an attention finishes it head by head";
  if (!rows)
    return "it comes from " + withArticle(source);
  if (rows.getAlso())
    return "it is written in another way already";
  if (auto linear = dyn_cast<LinearOp>(source); linear && !linear.getNorm())
    return "without a norm each task has only a part of its columns";
  if (cast<DestinationOpInterface>(source).hasDestinations())
    return "its result has a place of its own";
  return "";
}

/// The multiplier has to be there where `op` is.
static void moveBefore(Operation *op, Value multiplier) {
  Operation *read = multiplier.getDefiningOp<WeightOp>();
  if (read && read->getBlock() == op->getBlock() && !read->isBeforeInBlock(op))
    read->moveBefore(op);
}

/// `source` with the results of `conversion` behind its own.
static Operation *fuse(Operation *source, Operation *conversion,
                       Shortening also, Value multiplier) {
  if (multiplier)
    moveBefore(source, multiplier);
  OperationState state(fuseLocations({source, conversion}), source->getName());
  state.addOperands(source->getOperands());
  state.addTypes(source->getResultTypes());
  state.addTypes(conversion->getResultTypes());
  state.addAttributes(source->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = source->getPropertiesAsAttribute();
  Operation *fused = OpBuilder(source).create(state);
  llvm::TypeSwitch<Operation *>(fused)
      .Case<LinearOp, FfnOp, NormOp, EmbeddingOp>([&](auto rows) {
        rows.setAlso(also);
        if (multiplier)
          rows.getAlsoMultiplierMutable().assign(multiplier);
      });
  unsigned count = source->getNumResults();
  source->replaceAllUsesWith(fused->getResults().take_front(count));
  conversion->replaceAllUsesWith(fused->getResults().drop_front(count));
  conversion->erase();
  source->erase();
  return fused;
}

namespace {
struct FuseShortRows : heddle::impl::FuseShortRowsPassBase<FuseShortRows> {
  static void visit(Operation *conversion) {
    Operation *source = conversion->getOperand(0).getDefiningOp();
    if (!source || cast<DestinationOpInterface>(conversion).hasDestinations())
      return;
    auto quantize = dyn_cast<QuantizeOp>(conversion);
    auto round = dyn_cast<RoundOp>(conversion);
    std::string reason = reasonAgainst(source);
    if (!reason.empty())
      return reportDeclined(kPass, source,
                            "the row of " + nameOf(source) + " is " +
                                (quantize ? "quantised" : "rounded") +
                                " by an op of its own, since " + reason);
    StringRef type = round ? nameOfShortFloat(round.getTo()) : "int8";
    Operation *fused =
        fuse(source, conversion,
             round                   ? roundingTo(round.getTo())
             : quantize.getRotated() ? Shortening::QuantizeRotated
                                     : Shortening::Quantize,
             quantize ? quantize.getMultiplier() : Value());
    reportFused(kPass, fused,
                nameOf(fused) + " writes " + type +
                    ", too, when its row is finished");
  }

  void runOnOperation() override {
    SmallVector<Operation *> conversions;
    getOperation().walk([&](Operation *op) {
      if (isa<QuantizeOp, RoundOp>(op))
        conversions.push_back(op);
    });
    llvm::for_each(conversions, visit);
  }
};
} // namespace
