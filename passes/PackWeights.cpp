//===- PackWeights.cpp - Put the weights of linears into panels -----------===//
//
// Only the declaration changes: bytes are packed when the artifact is written,
// one tensor at a time. Panels are the same for every ISA level, so that the
// levels of an artifact share its weights. Scales within a column move into the
// panels.
//
//===----------------------------------------------------------------------===//

#include "dialect/linear/GatedColumns.h"
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
  /// A parameter and the parts that its panels are cut from.
  using Key = std::pair<Operation *, std::vector<int64_t>>;

  /// `scales` are those within columns, null if it has none.
  ParameterOp packedParameter(ParameterOp parameter, ParameterOp scales,
                              ArrayRef<int64_t> parts, SymbolTable &symbols) {
    ParameterOp &packed = packedParameters[{parameter, parts.vec()}];
    if (packed)
      return packed;
    ParameterOp last =
        scales && parameter->isBeforeInBlock(scales) ? scales : parameter;
    OpBuilder builder(last);
    builder.setInsertionPointAfter(last);
    packed = cast<ParameterOp>(builder.clone(*parameter));
    if (scales) {
      packed.setDerivation(Derivation::WithScales);
      packed.removeNumbersAttr();
      packed.setPartsAttr(builder.getArrayAttr(
          {FlatSymbolRefAttr::get(parameter.getSymNameAttr()),
           FlatSymbolRefAttr::get(scales.getSymNameAttr())}));
    }
    packed.setSymName((parameter.getSymName() + kPackedSuffix).str());
    symbols.insert(packed);
    RankedTensorType type = parameter.getTensorType();
    PanelLayout layout(packed.getWeightFormat(), parts);
    int64_t depth = type.getDimSize(0);
    SmallVector<int64_t> shape = layout.shape(depth);
    packed.setType(type.clone(shape));
    packed.setPacked(parts);
    if (layout.depthOf(shape) != depth)
      packed.setDepth(depth);
    return packed;
  }

  static WeightOp readOf(OperandRange operand) {
    return operand.empty() ? WeightOp()
                           : operand.front().getDefiningOp<WeightOp>();
  }

  /// Makes `operand`, a weight that x multiplies, read panels, which hold
  /// scales within columns. A weight that is no parameter stays as it is.
  void packScaled(OpOperand &operand, Value x, MutableOperandRange scales,
                  ArrayRef<int64_t> parts, SymbolTable &symbols) {
    if (weightFormatOf(x, operand.get()) != WeightFormat::ScaledIntegers)
      return pack(operand, parts, symbols);
    WeightOp read = readOf(OperandRange(scales));
    if (!read || !operand.get().getDefiningOp<WeightOp>())
      return;
    pack(operand, parts, symbols,
         symbols.lookup<ParameterOp>(read.getParameter()));
    scales.clear();
    if (read->use_empty())
      read->erase();
  }

  /// Makes `operand`, the weight of a linear, read panels.
  void pack(OpOperand &operand, ArrayRef<int64_t> parts, SymbolTable &symbols,
            ParameterOp scales = {}) {
    auto weight = operand.get().getDefiningOp<WeightOp>();
    auto type = weight ? dyn_cast<MemRefType>(weight.getType()) : nullptr;
    if (!type || isPacked(operand.get()))
      return;
    ParameterOp packed =
        packedParameter(symbols.lookup<ParameterOp>(weight.getParameter()),
                        scales, parts, symbols);
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
            packScaled(linear.getWeightMutable(), linear.getInput(),
                       linear.getWeightScalesMutable(), weightColumnsOf(linear),
                       symbols);
          })
          .Case<LargestLogitsOp, BestLogitsOp>([&](auto logits) {
            packScaled(logits.getWeightMutable(), logits.getInput(),
                       logits.getWeightScalesMutable(), logits.getVocabulary(),
                       symbols);
          })
          .Case([&](FfnOp ffn) {
            // An ffn reads either two packed weights or none.
            if (!ffn.getWeight1().getDefiningOp<WeightOp>() ||
                !ffn.getWeight2().getDefiningOp<WeightOp>())
              return;
            int64_t hidden = ffn.getHiddenWidth();
            int64_t out =
                cast<ShapedType>(ffn.getWeight2().getType()).getShape().back();
            pack(ffn.getWeight1Mutable(), hidden, symbols);
            pack(ffn.getWeight2Mutable(), out, symbols);
          });
    });
  }
};
} // namespace
