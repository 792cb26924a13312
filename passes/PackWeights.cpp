//===- PackWeights.cpp - Put the weights of linears into panels -----------===//
//
// Only the declaration changes: bytes are packed when the artifact is written,
// one tensor at a time. Panels are the same for every ISA level, so that the
// levels of an artifact share its weights.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

namespace heddle {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
struct PackWeights : heddle::impl::PackWeightsPassBase<PackWeights> {
  /// A parameter, the parts that its panels are cut from, and how they stand.
  using Key = std::tuple<Operation *, std::vector<int64_t>, WeightFormat>;

  ParameterOp packedParameter(ParameterOp parameter, ArrayRef<int64_t> parts,
                              WeightFormat format, SymbolTable &symbols) {
    ParameterOp &packed = packedParameters[{parameter, parts.vec(), format}];
    if (packed)
      return packed;
    OpBuilder builder(parameter);
    builder.setInsertionPointAfter(parameter);
    packed = cast<ParameterOp>(builder.clone(*parameter));
    packed.setSymName((parameter.getSymName() + kPackedSuffix).str());
    symbols.insert(packed);
    RankedTensorType type = parameter.getTensorType();
    PanelLayout layout(format, parts);
    packed.setType(type.clone(layout.shape(type.getDimSize(0))));
    packed.setPacked(parts);
    packed.setWidened(format == WeightFormat::WidenedIntegers);
    if (int64_t depth = type.getDimSize(0); depth % layout.group() != 0)
      packed.setDepth(depth);
    return packed;
  }

  /// Makes `operand`, a weight that x multiplies, read panels. A weight that is
  /// no parameter stays as it is.
  void pack(OpOperand &operand, Value x, ArrayRef<int64_t> parts,
            SymbolTable &symbols) {
    auto weight = operand.get().getDefiningOp<WeightOp>();
    auto type = weight ? dyn_cast<MemRefType>(weight.getType()) : nullptr;
    if (!type || isPacked(operand.get()))
      return;
    ParameterOp packed =
        packedParameter(symbols.lookup<ParameterOp>(weight.getParameter()),
                        parts, weightFormatOf(x, operand.get()), symbols);
    OpBuilder builder(weight);
    operand.set(
        WeightOp::create(builder, weight.getLoc(),
                         MemRefType::get(packed.getTensorType().getShape(),
                                         type.getElementType()),
                         packed.getSymName()));
    if (weight->use_empty())
      weight->erase();
  }

  std::map<Key, ParameterOp> packedParameters;

  void runOnOperation() override {
    packedParameters.clear();
    SymbolTable symbols(getOperation());
    getOperation().walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](LinearOp linear) {
            pack(linear.getWeightMutable(), linear.getInput(),
                 linear.getWidths(), symbols);
          })
          .Case([&](RangedLogitsOpInterface logits) {
            pack(logits.getWeightMutable(), logits.getInput(),
                 logits.getVocabulary(), symbols);
          })
          .Case([&](FfnOp ffn) {
            // An ffn reads either two packed weights or none.
            if (!ffn.getWeight1().getDefiningOp<WeightOp>() ||
                !ffn.getWeight2().getDefiningOp<WeightOp>())
              return;
            int64_t hidden = ffn.getHiddenWidth();
            int64_t out =
                cast<ShapedType>(ffn.getWeight2().getType()).getShape().back();
            pack(ffn.getWeight1Mutable(), ffn.getInput(), hidden, symbols);
            pack(ffn.getWeight2Mutable(), ffn.getInput(), out, symbols);
          });
    });
  }
};
} // namespace
