//===- FuseFfn.cpp - Keep the hidden vector of two linears in the caches --===//
//
// A pair is found from its second linear, back across at most one conversion
// and one activation. An ffn never stores hidden vectors, but reads the weights
// of both linears again for each block of rows: if they exceed
// kMostWeightBytes, two linears are faster. Pairs of bf16 whose sums an ffn
// would add in another order stay two linears, too.
//
//===----------------------------------------------------------------------===//

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

/// Bytes of weights that are read again for each block of rows, at most. With 5
/// MB of int8, 9 MB of bf16 or 19 MB of f32 a layer two linears were 5 to 19 %
/// faster, at 128 to 4,096 rows; with 0.8 and 1.5 MB it made no difference.
static constexpr int64_t kMostWeightBytes = 1 << 21;

/// Inputs of a tile of bf16. If depths are no multiple of it, linears of a
/// level with tiles end in parts of one, and an ffn there takes vectors
/// (TileLinear.cpp), whose sums have another order.
static constexpr int64_t kTileDepth = 32;

namespace {
/// What stands between two linears, if the first does not do it itself.
struct Between {
  /// A quantize or round; null if there is none.
  Operation *conversion = nullptr;
  ActivationOp activation;
  /// What the first linear computes, if it is one.
  Value hidden;

  bool hasDestination() {
    auto writes = [](Operation *op) {
      return !cast<DestinationOpInterface>(op).getDestinations().empty();
    };
    return (conversion && writes(conversion)) ||
           (activation && writes(activation));
  }
  /// Whether nothing else reads what the ops between compute.
  bool isReadOnce() {
    auto haveOneUse = [](Operation *op) {
      return llvm::all_of(op->getResults(),
                          [](Value result) { return result.hasOneUse(); });
    };
    return (!conversion || haveOneUse(conversion)) &&
           (!activation || haveOneUse(activation));
  }
  /// Of the hidden vectors; null if each has a scale, or they stay floats.
  Value multiplier(LinearOp first) {
    auto quantize = dyn_cast_or_null<QuantizeOp>(conversion);
    return quantize ? quantize.getMultiplier() : first.getMultiplier();
  }
  bool isRotated() {
    auto quantize = dyn_cast_or_null<QuantizeOp>(conversion);
    return quantize && quantize.getRotated();
  }
  void erase() {
    for (Operation *op : {conversion, activation.getOperation()})
      if (op)
        op->erase();
  }
};

struct FuseFfn : heddle::impl::FuseFfnPassBase<FuseFfn> {
  static Between findBetween(LinearOp second) {
    Between between;
    between.hidden = second.getInput();
    Operation *op = between.hidden.getDefiningOp();
    if (isa_and_nonnull<QuantizeOp, RoundOp>(op)) {
      between.conversion = op;
      between.hidden = op->getOperand(0);
    }
    between.activation = between.hidden.getDefiningOp<ActivationOp>();
    if (between.activation)
      between.hidden = between.activation.getInput();
    return between;
  }

  static Type factorType(LinearOp linear) {
    return getElementTypeOrSelf(linear.getWeight().getType());
  }
  static int64_t depthOf(LinearOp linear) {
    return cast<ShapedType>(linear.getWeight().getType()).getDimSize(0);
  }

  static int64_t weightBytes(LinearOp linear) {
    auto type = cast<ShapedType>(linear.getWeight().getType());
    return type.getNumElements() * type.getElementTypeBitWidth() / 8;
  }

  void fuse(LinearOp second) {
    Between between = findBetween(second);
    auto first = between.hidden.getDefiningOp<LinearOp>();
    if (!first || !first.getOutput() || !second.getOutput() ||
        second.getDestination() || between.hasDestination())
      return;
    // What ends in a residual or a norm is a sublayer of its own.
    if (first.getResidual() || first.getNorm())
      return;
    auto decline = [&](const Twine &reason) {
      reportDeclined(kPass, second,
                     nameOf(first) + " and " + nameOf(second) +
                         " stay two linears, since " + reason);
    };
    if (!first.getOutput().hasOneUse() || !between.isReadOnce())
      return decline("the hidden vector is read elsewhere, too");
    if (between.activation && first.getActivation())
      return decline("more than one activation stands between them");
    if (second.getActivation())
      return decline("an ffn has no activation after its second linear");
    if (factorType(first) != factorType(second))
      return decline("they multiply different types");
    if (weightFormatOf(second.getInput(), second.getWeight()) ==
        WeightFormat::ScaledIntegers)
      return decline("an ffn has no scales within a column");
    if (first.getShift() != second.getShift())
      return decline("they shift their vectors differently");
    if (!second.getResultElementType().isF32())
      return decline("an ffn writes f32");
    if (bool(first.getBias()) != bool(second.getBias()))
      return decline("only one of them has a bias");
    int64_t hiddenWidth =
        cast<ShapedType>(first.getWeight().getType()).getDimSize(1);
    if (hiddenWidth > FfnOp::kMostHiddenWidth)
      return decline("caches do not keep " + Twine(hiddenWidth) +
                     " hidden values a row");
    if (factorType(first).isBF16() &&
        (depthOf(first) % kTileDepth != 0 || depthOf(second) % kTileDepth != 0))
      return decline("a depth that ends within a tile of bf16 is summed in "
                     "another order by an ffn");
    if (weightBytes(first) + weightBytes(second) > kMostWeightBytes)
      return decline("reading their weights for each block of rows takes "
                     "longer than multiplying");

    SmallVector<Operation *> parts = {first, second};
    OpBuilder builder(second);
    FfnSpec spec;
    spec.input = first.getInput();
    spec.inputScales = first.getInputScales();
    spec.weight1 = first.getWeight();
    spec.weight1Scales = first.getWeightScales();
    spec.bias1 = first.getBias();
    spec.weight2 = second.getWeight();
    spec.weight2Scales = second.getWeightScales();
    spec.bias2 = second.getBias();
    spec.multiplier = between.multiplier(first);
    spec.isRotated = between.isRotated();
    spec.residual = second.getResidual();
    spec.gamma = second.getGamma();
    spec.beta = second.getBeta();
    spec.shift = first.getShiftAttr();
    spec.activation = between.activation ? between.activation.getKindAttr()
                                         : first.getActivationAttr();
    spec.norm = second.getNormAttr();
    spec.epsilon = second.getEpsilonAttr();
    auto ffn = FfnOp::create(builder, fuseLocations(parts), spec);
    reportFused(kPass, ffn,
                nameOf(first) + " and " + nameOf(second) +
                    " are one ffn: the " + Twine(hiddenWidth) +
                    " hidden values of a row are never stored");
    second.getOutput().replaceAllUsesWith(ffn.getOutput());
    second.erase();
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
