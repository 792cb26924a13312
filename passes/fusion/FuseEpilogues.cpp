//===- FuseEpilogues.cpp - Finish rows where they are computed ------------===//
//
// From each linear the pass walks down its only reader, as long as that is what
// a linear can do to a row while it still has it: an activation, the addition
// of a residual or the product with a gate, a norm, in this order.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-epilogues";

namespace {
/// A linear, and the ops behind it that become part of it.
class Epilogue {
public:
  explicit Epilogue(LinearOp linear) : parts({linear}), linear(linear) {}

  void collect();
  bool isEmpty() const { return parts.size() == 1; }
  /// Replaces all by one linear.
  void fuse();

private:
  /// Whether another row is added, or multiplied.
  bool hasOther() const { return add || multiply; }
  /// Takes the reader of the row in, if it can be; otherwise says why not.
  bool take(Operation *reader);
  void decline(Operation *reader, const Twine &reason);

  SmallVector<Operation *> parts;
  SmallVector<std::string> deeds;
  LinearOp linear;
  ActivationOp activation;
  AddOp add;
  MultiplyOp multiply;
  NormOp norm;
};
} // namespace

static bool isCandidate(Operation *op) {
  return isa<ActivationOp, AddOp, MultiplyOp, NormOp>(op) &&
         !cast<DestinationOpInterface>(op).hasDestinations();
}

static StringRef kindOf(Operation *op) {
  if (auto activation = dyn_cast<ActivationOp>(op))
    return stringifyActivationKind(activation.getKind());
  return isa<AddOp>(op) ? "residual" : isa<MultiplyOp>(op) ? "gate" : "norm";
}

void Epilogue::decline(Operation *reader, const Twine &reason) {
  reportDeclined(kPass, linear,
                 "the " + kindOf(reader) +
                     (isa<NormOp>(reader) ? " " + nameOf(reader) : "") +
                     " after " + nameOf(linear) +
                     " stays an op of its own, since " + reason);
}

bool Epilogue::take(Operation *reader) {
  Value row = parts.back()->getResult(0);
  if (auto op = dyn_cast<ActivationOp>(reader);
      op && !activation && !hasOther() && !norm) {
    activation = op;
    deeds.push_back(("applies " + kindOf(op)).str());
  } else if (auto op = dyn_cast<AddOp>(reader); op && !hasOther() && !norm) {
    add = op;
    deeds.push_back("adds its residual");
  } else if (auto op = dyn_cast<MultiplyOp>(reader);
             op && !hasOther() && !norm && op.getLhs() != op.getRhs()) {
    multiply = op;
    deeds.push_back("multiplies its gate");
  } else if (auto op = dyn_cast<NormOp>(reader);
             op && !norm && !op.getResidual() && op.getInput() == row) {
    norm = op;
    deeds.push_back("applies the norm " + nameOf(op));
  } else {
    decline(
        reader,
        "a linear applies an activation, a residual or a gate and a norm, in "
        "this order and each at most once");
    return false;
  }
  parts.push_back(reader);
  return true;
}

void Epilogue::collect() {
  while (true) {
    Value row = parts.back()->getResult(0);
    if (!row.hasOneUse()) {
      bool isResidual = llvm::any_of(
          row.getUsers(), [](Operation *user) { return isa<AddOp>(user); });
      for (Operation *user : row.getUsers())
        if (isCandidate(user) && !isa<AddOp>(user))
          return decline(user,
                         isResidual
                             ? "the row between them is the next residual, too"
                             : "the row between them is read elsewhere, too");
      return;
    }
    Operation *reader = *row.user_begin();
    if (!isCandidate(reader) || !take(reader))
      return;
  }
}

void Epilogue::fuse() {
  Operation *last = parts.back();
  // Everything that any of the parts reads is there by now.
  OpBuilder builder(last);
  Value residual;
  if (hasOther()) {
    Value row = parts[activation ? 1 : 0]->getResult(0);
    Operation *join = add ? add.getOperation() : multiply.getOperation();
    residual = join->getOperand(join->getOperand(0) == row ? 1 : 0);
  }
  auto fused = cast<LinearOp>(builder.clone(*linear));
  fused->setLoc(fuseLocations(parts));
  if (activation)
    fused.setActivation(activation.getKind());
  if (residual)
    fused.getResidualMutable().assign(residual);
  fused.setGates(bool(multiply));
  if (norm) {
    fused.setNorm(norm.getKind());
    fused.setEpsilon(norm.getEpsilon());
    fused.getGammaMutable().assign(norm.getGamma());
    if (norm.getBeta())
      fused.getBetaMutable().assign(norm.getBeta());
  }
  last->getResult(0).replaceAllUsesWith(fused.getOutput());
  for (Operation *part : llvm::reverse(parts))
    part->erase();
  reportFused(kPass, fused, nameOf(fused) + " " + joinWords(deeds) + " itself");
}

/// Says why an activation or a norm stays an op if there is no linear that
/// could take it in. What a norm and a sum become is up to fuse-add-norm.
static void reportWithoutLinear(Operation *op) {
  if (!isCandidate(op) || isa<AddOp, MultiplyOp>(op))
    return;
  Operation *source = op->getOperand(0).getDefiningOp();
  if (source &&
      (isa<LinearOp>(source) || (isa<AddOp>(source) && isa<NormOp>(op))))
    return;
  std::string what = isa<NormOp>(op) ? nameOf(op) : "after " + nameOf(op);
  reportDeclined(kPass, op,
                 "the " + kindOf(op) + " " + what +
                     " stays an op of its own, since its rows come from " +
                     (source ? withArticle(source) : "the caller") +
                     ", not from a linear");
}

namespace {
struct FuseEpilogues : heddle::impl::FuseEpiloguesPassBase<FuseEpilogues> {
  void runOnOperation() override {
    SmallVector<LinearOp> linears;
    getOperation().walk([&](LinearOp linear) {
      if (linear.getOutput() && linear.isPlain() && !linear.getDestination())
        linears.push_back(linear);
    });
    for (LinearOp linear : linears) {
      Epilogue epilogue(linear);
      epilogue.collect();
      if (!epilogue.isEmpty())
        epilogue.fuse();
    }
    getOperation().walk(reportWithoutLinear);
  }
};
} // namespace
