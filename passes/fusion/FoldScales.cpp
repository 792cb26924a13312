//===- FoldScales.cpp - Multiply weights in place of activations ----------===//
//
// A factor moves into a table if everyone who reads it wants its rows to be
// multiplied by the same one. The whole module is asked before anything is
// changed.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Fusion/MadeParameters.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace heddle {
#define GEN_PASS_DEF_FOLDSCALESPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fold-scales";

static std::string format(float value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

namespace {
struct FoldScales : heddle::impl::FoldScalesPassBase<FoldScales> {
  /// What an op wants a weight that it reads to be multiplied by; 1 if it
  /// wants the weight as it is.
  static float factorFor(OpOperand &use) {
    auto embedding = dyn_cast<EmbeddingOp>(use.getOwner());
    return embedding && &use == &embedding.getTableMutable()
               ? embedding.getScale().convertToFloat()
               : 1.0f;
  }

  /// The factor that all readers of a parameter agree on; none if they do
  /// not.
  std::optional<float> agreedFactor(ParameterOp parameter) {
    std::optional<float> factor;
    for (OpOperand *use : readers[parameter.getSymNameAttr()]) {
      float wanted = factorFor(*use);
      if (factor && *factor != wanted)
        return std::nullopt;
      factor = wanted;
    }
    return factor;
  }

  /// `@f reads`, `@f and @g read`: who wants another factor than this one.
  std::string othersThan(float factor, ParameterOp parameter) {
    llvm::SetVector<StringRef> names;
    for (OpOperand *use : readers[parameter.getSymNameAttr()])
      if (factorFor(*use) != factor)
        names.insert(
            use->getOwner()->getParentOfType<func::FuncOp>().getName());
    SmallVector<std::string> functions;
    for (StringRef name : names)
      functions.push_back(("@" + name).str());
    return joinWords(functions) + (functions.size() == 1 ? " reads" : " read");
  }

  void visit(EmbeddingOp op, MadeParameters &parameters) {
    float factor = op.getScale().convertToFloat();
    if (factor == 1.0f)
      return;
    ParameterOp table = parameters.find(op.getTable());
    auto decline = [&](const Twine &reason) {
      reportDeclined(kPass, op,
                     "the rows of " + nameOf(op) + " are multiplied by " +
                         format(factor) + " as they are looked up, since " +
                         reason);
    };
    if (!table)
      return decline("the table is no parameter");
    if (op.getScales())
      return decline("the table holds integers");
    if (op.getWiden())
      return decline("the table holds " +
                     nameOfShortFloat(table.getTensorType().getElementType()));
    if (!agreed.lookup(table.getSymNameAttr()))
      return decline(othersThan(factor, table) +
                     " the table without that scale and it would be stored "
                     "twice");
    OpBuilder builder(op);
    op.getTableMutable().set(
        MadeParameters::read(builder, parameters.scale(table, factor)));
    op.setScale(APFloat(1.0f));
    reportFused(kPass, op,
                "the scale " + format(factor) + " of the rows of " +
                    nameOf(op) + " is part of the table");
  }

  /// Uses of the weight ops of each parameter, and whether all of them want it
  /// to be multiplied by one factor.
  llvm::MapVector<StringAttr, SmallVector<OpOperand *>> readers;
  DenseMap<StringAttr, bool> agreed;

  void runOnOperation() override {
    readers.clear();
    agreed.clear();
    MadeParameters parameters(getOperation());
    getOperation().walk([&](WeightOp weight) {
      for (OpOperand &use : weight.getValue().getUses())
        readers[weight.getParameterAttr().getAttr()].push_back(&use);
    });
    for (auto parameter : getOperation().getOps<ParameterOp>())
      if (std::optional<float> factor = agreedFactor(parameter))
        agreed[parameter.getSymNameAttr()] = *factor != 1.0f;
    getOperation().walk([&](EmbeddingOp op) { visit(op, parameters); });
  }
};
} // namespace
