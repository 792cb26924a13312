//===- FuseAddNorm.cpp - Let a norm add its residual ----------------------===//
//
// Runs behind fuse-epilogues, which takes most sums into the linear in front of
// them, and finds those that are left. The norm is changed in place. A second
// walk, when all fusions are done, reports sums that no norm reads.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FUSEADDNORMPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-add-norm";

namespace {
struct FuseAddNorm : heddle::impl::FuseAddNormPassBase<FuseAddNorm> {
  void runOnOperation() override {
    getOperation().walk([&](NormOp norm) {
      auto add = norm.getInput().getDefiningOp<AddOp>();
      if (!add || norm.getResidual() || !add.getOutput() ||
          add.getDestination())
        return;
      if (!add.getOutput().hasOneUse()) {
        reportDeclined(kPass, norm,
                       "the norm " + nameOf(norm) +
                           " does not add its residual itself, since the sum "
                           "is read elsewhere, too");
        return;
      }
      // In place: the result keeps whatever reads it.
      norm->setLoc(fuseLocations({add, norm}));
      norm.getInputMutable().assign(add.getRhs());
      norm.getResidualMutable().assign(add.getLhs());
      std::string sum = nameOf(add);
      add.erase();
      reportFused(kPass, norm,
                  "the norm after " + sum + " adds the residual itself");
    });
    getOperation().walk([](AddOp add) {
      if (add.getOutput() && !add.getDestination() &&
          llvm::none_of(add.getOutput().getUsers(),
                        [](Operation *user) { return isa<NormOp>(user); }))
        reportDeclined(
            kPass, add,
            "the residual after " + nameOf(add) +
                " is added by an op of its own, since no norm follows it");
    });
  }
};
} // namespace
