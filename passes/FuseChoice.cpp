//===- FuseChoice.cpp - A step that finds the largest logits itself -------===//
//
// A batch of rows by a large vocabulary is megabytes of logits, which a greedy
// decoder reads once. A step that keeps the largest of each range in their
// place neither writes nor reads them. What the runtime forbids in a step has
// to be known before: it comes as an argument.
//
// The step that returns logits stays, for whoever wants all of them.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FUSECHOICEPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-choice";

/// Enough ranges for threads to share; fewer where they would be short.
static constexpr int64_t kMostRanges = 16, kLeastRange = 1024;

static int64_t rangeOf(int64_t vocabulary) {
  int64_t range =
      std::max(kLeastRange, int64_t(llvm::divideCeil(vocabulary, kMostRanges)));
  return llvm::alignTo(std::min(range, vocabulary), kPanelColumns);
}

static bool isStep(func::FuncOp function) {
  auto role = function->getAttrOfType<StringAttr>(kRoleAttr);
  return role && role == "step" && function->hasAttr(kDecoderAttr);
}

/// The linear that makes the logits of a step; null where something else does.
static LinearOp logitsOf(func::FuncOp step) {
  Operation *terminator = step.front().getTerminator();
  auto linear = terminator->getNumOperands() == 0
                    ? LinearOp()
                    : terminator->getOperand(0).getDefiningOp<LinearOp>();
  return linear && linear.isPlain() && linear->hasOneUse() ? linear
                                                           : LinearOp();
}

/// A name and the names of dynamic dimensions, of an argument or a result.
static DictionaryAttr named(Builder &builder, StringRef name,
                            ArrayRef<StringRef> dims) {
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
       builder.getNamedAttr(kDimsAttr, builder.getStrArrayAttr(dims))});
}

/// The ids that may not come, in a row for each of the step's.
static Value addForbidden(func::FuncOp greedy) {
  Builder builder(greedy.getContext());
  unsigned index = greedy.getNumArguments();
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  LogicalResult inserted = greedy.insertArgument(
      index, RankedTensorType::get({kDynamic, kDynamic}, builder.getI32Type()),
      named(builder, "forbidden", {"rows", "forbidden"}),
      NameLoc::get(builder.getStringAttr("forbidden")));
  assert(succeeded(inserted) && "a func.func takes arguments");
  (void)inserted;
  return greedy.getArgument(index);
}

static LargestLogitsOp addLargest(LinearOp linear, Value forbidden) {
  OpBuilder builder(linear);
  int64_t vocabulary = linear.getWidths().front();
  return LargestLogitsOp::create(
      builder, linear.getLoc(), linear.getInput(), linear.getInputScales(),
      linear.getWeight(), linear.getWeightScales(), linear.getBias(), forbidden,
      /*destinations=*/ValueRange(), rangeOf(vocabulary), vocabulary,
      linear.getShiftAttr());
}

/// Returns `results` in place of the first one.
static void replaceFirstResult(func::FuncOp function, ValueRange results) {
  Operation *terminator = function.front().getTerminator();
  SmallVector<Value> returned(results);
  llvm::append_range(returned, terminator->getOperands().drop_front());
  terminator->setOperands(returned);
  Builder builder(function.getContext());
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           terminator->getOperandTypes()));
}

namespace {
struct FuseChoice : heddle::impl::FuseChoicePassBase<FuseChoice> {
  static void visit(func::FuncOp step) {
    if (!logitsOf(step))
      return;
    OpBuilder builder(step);
    builder.setInsertionPointAfter(step);
    auto greedy = cast<func::FuncOp>(builder.clone(*step));
    auto decoder = step->getAttrOfType<StringAttr>(kDecoderAttr);
    greedy.setSymName((decoder.getValue() + ".greedy").str());
    greedy->setAttr(kRoleAttr, builder.getStringAttr("greedy"));
    // States follow, which have no attributes of results.
    greedy.removeResAttrsAttr();
    LinearOp linear = logitsOf(greedy);
    LargestLogitsOp largest = addLargest(linear, addForbidden(greedy));
    replaceFirstResult(greedy, largest.getResults());
    linear.erase();
    greedy.setResultAttrs(0, named(builder, "values", {"rows"}));
    greedy.setResultAttrs(1, named(builder, "largest", {"rows"}));
    reportFused(kPass, logitsOf(step),
                "of the " + Twine(largest.getVocabulary()) + " logits of " +
                    nameOf(logitsOf(step)) +
                    " a greedy step keeps the largest of each range of " +
                    Twine(largest.getRange()));
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> steps;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isStep(function))
        steps.push_back(function);
    for (func::FuncOp step : steps)
      visit(step);
  }
};
} // namespace
