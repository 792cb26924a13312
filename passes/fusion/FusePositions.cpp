//===- FusePositions.cpp - Add positions while rows are looked up ---------===//
//
// Both kinds of positions ask the same of an embedding, and differ in what they
// give it. The fused lookup stands where the positions were added, and not
// where the embedding stood, since positions and tables may be defined in
// between.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FUSEPOSITIONSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-positions";

namespace {
struct FusePositions : heddle::impl::FusePositionsPassBase<FusePositions> {
  /// The embedding that `positions` can join, or null.
  template <typename Positions>
  static EmbeddingOp findEmbedding(Positions positions) {
    auto embedding = positions.getInput().template getDefiningOp<EmbeddingOp>();
    auto decline = [&](const Twine &reason) {
      reportDeclined(kPass, positions,
                     "the positions after " + nameOf(positions) +
                         " are added by an op of their own, since " + reason);
      return EmbeddingOp();
    };
    if (!embedding)
      return decline("they are not added to an embedding");
    if (embedding.hasPositions())
      return decline("the embedding has positions already");
    if (!embedding.getOutput() || embedding.getDestination() ||
        positions.getDestination())
      return EmbeddingOp();
    if (!embedding.getOutput().hasOneUse())
      return decline("the embedding without them is read elsewhere, too");
    return embedding;
  }

  /// The lookup where its positions are added, which may be given per row.
  static EmbeddingOp cloneWithPositions(EmbeddingOp embedding, Operation *op,
                                        Value positions) {
    OpBuilder builder(op);
    auto fused = cast<EmbeddingOp>(builder.clone(*embedding));
    fused->setLoc(fuseLocations({embedding, op}));
    if (positions)
      fused.getPositionsMutable().assign(positions);
    return fused;
  }

  static void replace(EmbeddingOp embedding, Operation *positions,
                      EmbeddingOp fused, const Twine &kind) {
    positions->getResult(0).replaceAllUsesWith(fused.getOutput());
    positions->erase();
    embedding.erase();
    reportFused(kPass, fused,
                "the rows of " + nameOf(fused) + " get their " + kind +
                    " positions while they are looked up");
  }

  void visit(SinusoidalPositionsOp op) {
    EmbeddingOp embedding = findEmbedding(op);
    if (!embedding)
      return;
    EmbeddingOp fused = cloneWithPositions(embedding, op, op.getPositions());
    fused.setTimescales(op.getTimescales());
    fused.setLayout(op.getLayout());
    replace(embedding, op, fused, "sinusoidal");
  }

  void visit(LearnedPositionsOp op) {
    EmbeddingOp embedding = findEmbedding(op);
    if (!embedding)
      return;
    EmbeddingOp fused = cloneWithPositions(embedding, op, op.getPositions());
    fused.getPositionTableMutable().assign(op.getTable());
    fused.setOffset(op.getOffset());
    replace(embedding, op, fused, "learned");
  }

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (auto sinusoidal = dyn_cast<SinusoidalPositionsOp>(op))
        visit(sinusoidal);
      else if (auto learned = dyn_cast<LearnedPositionsOp>(op))
        visit(learned);
    });
  }
};
} // namespace
