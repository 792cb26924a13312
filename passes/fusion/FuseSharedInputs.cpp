//===- FuseSharedInputs.cpp - One linear for all that read one input ------===//
//
// Queries, keys and values of a self-attention, the keys and values of all
// layers over one memory, the two linears of a recurrence: their weights become
// the columns of one matrix, so that the input is read once and a narrow batch
// keeps the machine busy.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Fusion/MadeParameters.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace heddle {
#define GEN_PASS_DEF_FUSESHAREDINPUTSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-shared-inputs";

namespace {
struct FuseSharedInputs
    : heddle::impl::FuseSharedInputsPassBase<FuseSharedInputs> {
  using Group = SmallVector<LinearOp>;

  /// Why `linear` cannot be part of a larger one; empty if it can.
  static StringRef reasonAgainst(LinearOp linear, MadeParameters &parameters) {
    if (linear.getSplit() || !linear.getDestinations().empty())
      return "its result has a place of its own";
    if (!linear.isPlainOrRounded())
      return "it does more than multiply";
    for (Value operand :
         {linear.getWeight(), linear.getWeightScales(), linear.getBias()})
      if (operand && !parameters.find(operand))
        return "its weight is no parameter";
    return "";
  }

  static void fuse(ArrayRef<LinearOp> linears, MadeParameters &parameters) {
    SmallVector<ParameterOp> weights, scales, biases;
    SmallVector<int64_t> widths;
    SmallVector<std::string> names;
    SmallVector<Operation *> parts;
    bool hasBias = llvm::any_of(
        linears, [](LinearOp linear) { return bool(linear.getBias()); });
    for (LinearOp linear : linears) {
      int64_t width =
          cast<ShapedType>(linear.getWeight().getType()).getDimSize(1);
      weights.push_back(parameters.find(linear.getWeight()));
      if (linear.getWeightScales())
        scales.push_back(parameters.find(linear.getWeightScales()));
      if (hasBias)
        biases.push_back(linear.getBias() ? parameters.find(linear.getBias())
                                          : parameters.zeros(width));
      widths.push_back(width);
      names.push_back(nameOf(linear));
      parts.push_back(linear);
    }
    LinearOp first = linears.front();
    OpBuilder builder(first);
    Location loc = fuseLocations(parts);
    auto concatenate = [&](ArrayRef<ParameterOp> each) {
      return each.empty()
                 ? Value()
                 : MadeParameters::read(builder, parameters.concatenate(each));
    };
    Value weight = concatenate(weights);
    LinearSpec spec;
    spec.input = first.getInput();
    spec.inputScales = first.getInputScales();
    spec.weight = weight;
    spec.weightScales = concatenate(scales);
    spec.bias = concatenate(biases);
    spec.shift = first.getShiftAttr();
    spec.rounds = first.getRoundsAttr();
    spec.split = builder.getDenseI64ArrayAttr(widths);
    auto fused = LinearOp::create(builder, loc, spec);
    for (auto [part, result] : llvm::zip_equal(parts, fused.getOutputs())) {
      part->getResult(0).replaceAllUsesWith(result);
      part->erase();
    }
    auto type = cast<ShapedType>(weight.getType());
    reportFused(kPass, fused,
                joinWords(names) + " read the same input and are one linear [" +
                    Twine(type.getDimSize(0)) + ", " +
                    Twine(type.getDimSize(1)) + "]");
  }

  void runOnOperation() override {
    MadeParameters parameters(getOperation());
    // Linears of one block, by their input and by the type of their results, in
    // program order.
    llvm::MapVector<std::tuple<Block *, Value, Type>, Group> groups;
    getOperation().walk([&](LinearOp linear) {
      Type element = linear.getResultElementType();
      groups[{linear->getBlock(), linear.getInput(), element}].push_back(
          linear);
    });
    for (auto &[key, group] : groups) {
      if (group.size() < 2)
        continue;
      Group fusible;
      for (LinearOp linear : group) {
        StringRef reason = reasonAgainst(linear, parameters);
        if (reason.empty())
          fusible.push_back(linear);
        else
          reportDeclined(kPass, linear,
                         nameOf(linear) +
                             " does not join the others that "
                             "read its input, since " +
                             reason);
      }
      if (fusible.size() > 1)
        fuse(fusible, parameters);
    }
  }
};
} // namespace
