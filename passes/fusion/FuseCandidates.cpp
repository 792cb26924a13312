//===- FuseCandidates.cpp - Read candidates where their table has them ----===//
//
// Gathered, the rows of candidates are memory of each sentence's own: megabytes
// that every step reads. Most sentences share most of them, so that the table
// itself is less to read.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FUSECANDIDATESPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-candidates";

namespace {
struct FuseCandidates : heddle::impl::FuseCandidatesPassBase<FuseCandidates> {
  /// The lookup that gives `rows`, unscaled; null if there is none.
  static EmbeddingOp gatherOf(Value rows) {
    auto embedding = rows.getDefiningOp<EmbeddingOp>();
    bool isPlain = embedding && !embedding.hasPositions() &&
                   !embedding.getScales() && !embedding.getWiden() &&
                   embedding.getScale().isExactlyValue(1.0) &&
                   !embedding.getDestination();
    return isPlain ? embedding : EmbeddingOp();
  }

  static void visit(CandidateLogitsOp op) {
    if (op.getCandidates() || op.getDestination())
      return;
    auto decline = [&](const Twine &reason) {
      reportDeclined(kPass, op,
                     "the candidates of " + nameOf(op) +
                         " are gathered once a sentence, since " + reason);
    };
    SmallVector<OpOperand *> looked = {&op.getRowsMutable(),
                                       &op.getBiasMutable()};
    for (OpOperand &scales : op.getRowScalesMutable())
      looked.push_back(&scales);
    SmallVector<EmbeddingOp> gathers;
    for (OpOperand *operand : looked)
      gathers.push_back(gatherOf(operand->get()));
    if (llvm::is_contained(gathers, nullptr))
      return decline("their rows or biases are no plain lookup in a table");
    Value ids = gathers.front().getIds();
    if (llvm::any_of(gathers, [&](EmbeddingOp gather) {
          return gather.getIds() != ids;
        }))
      return decline("rows and biases are looked up for different ids");
    OpBuilder builder(op);
    auto fused = cast<CandidateLogitsOp>(builder.clone(*op));
    fused->setLoc(fuseLocations({gathers.front(), op}));
    fused.getCandidatesMutable().assign(ids);
    for (auto [operand, gather] : llvm::zip_equal(looked, gathers))
      fused->setOperand(operand->getOperandNumber(), gather.getTable());
    op.getOutput().replaceAllUsesWith(fused.getOutput());
    op.erase();
    reportFused(kPass, fused,
                "the logits of a shortlist read " + nameOf(fused) +
                    " in place: sentences share the rows of candidates "
                    "that they have in common");
    for (EmbeddingOp gather : gathers)
      if (gather->use_empty())
        gather.erase();
  }

  void runOnOperation() override {
    SmallVector<CandidateLogitsOp> ops;
    getOperation().walk([&](CandidateLogitsOp op) { ops.push_back(op); });
    for (CandidateLogitsOp op : ops)
      visit(op);
  }
};
} // namespace
