//===- FuseChoice.cpp - A step that finds the largest logits itself -------===//
//
// Logits of a batch over a large vocabulary are megabytes, which a search reads
// once. A step that keeps the largest logit of each range of ids (greedy), or
// the best few and the sum of exponentials (beams), never writes the logits to
// memory. Ids that the runtime forbids in a step must be known in advance: they
// are an argument of the step.
//
// The steps that return all logits stay, for callers that want them.
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

/// Enough ranges for threads to share; fewer if they would be short.
static constexpr int64_t kMostRanges = 16, kLeastRange = 1024;

static int64_t rangeOf(int64_t vocabulary) {
  int64_t range =
      std::max(kLeastRange, int64_t(llvm::divideCeil(vocabulary, kMostRanges)));
  return llvm::alignTo(std::min(range, vocabulary), kPanelColumns);
}

static bool hasRole(func::FuncOp function, StringRef wanted) {
  auto role = function->getAttrOfType<StringAttr>(kRoleAttr);
  return role && role == wanted && function->hasAttr(kDecoderAttr);
}

/// The linear that makes the logits of a step; null if something else does.
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

static Value addArgument(func::FuncOp function, Type type,
                         DictionaryAttr attributes) {
  unsigned index = function.getNumArguments();
  auto name = cast<StringAttr>(attributes.get(kNameAttr));
  LogicalResult inserted =
      function.insertArgument(index, type, attributes, NameLoc::get(name));
  assert(succeeded(inserted) && "a func.func takes arguments");
  (void)inserted;
  return function.getArgument(index);
}

/// The ids that may not come, in a row for each of the step's.
static Value addForbidden(func::FuncOp function) {
  Builder builder(function.getContext());
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  return addArgument(
      function,
      RankedTensorType::get({kDynamic, kDynamic}, builder.getI32Type()),
      named(builder, "forbidden", {"rows", "forbidden"}));
}

/// Memory of the caller for what a row keeps of `ranges` ranges: a number of
/// each, or if `isList` the best ones.
static Value addOutput(func::FuncOp function, StringRef name, Type element,
                       int64_t ranges, bool isList) {
  Builder builder(function.getContext());
  SmallVector<int64_t> shape = {ShapedType::kDynamic, ranges};
  SmallVector<StringRef> dims = {"rows"};
  if (isList) {
    shape.push_back(ShapedType::kDynamic);
    dims.push_back("best");
  }
  NamedAttrList attributes(named(builder, name, dims));
  attributes.set(kOutputAttr, builder.getUnitAttr());
  return addArgument(function, RankedTensorType::get(shape, element),
                     attributes.getDictionary(builder.getContext()));
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

/// A copy of `step` behind it with another role, which `build` gives results in
/// place of the linear that makes its logits.
static func::FuncOp
addForm(func::FuncOp step, StringRef role,
        function_ref<Operation *(OpBuilder &, LinearOp)> build) {
  OpBuilder builder(step);
  builder.setInsertionPointAfter(step);
  auto form = cast<func::FuncOp>(builder.clone(*step));
  auto decoder = step->getAttrOfType<StringAttr>(kDecoderAttr);
  form.setSymName((decoder.getValue() + "." + role).str());
  form->setAttr(kRoleAttr, builder.getStringAttr(role));
  // States follow, which have no attributes of results.
  form.removeResAttrsAttr();
  LinearOp linear = logitsOf(form);
  builder.setInsertionPoint(linear);
  replaceFirstResult(form, build(builder, linear)->getResults());
  linear.erase();
  return form;
}

static void addGreedy(func::FuncOp step) {
  func::FuncOp greedy =
      addForm(step, "greedy", [](OpBuilder &builder, LinearOp linear) {
        auto form = linear->getParentOfType<func::FuncOp>();
        int64_t vocabulary = linear.getWidths().front();
        return LargestLogitsOp::create(
            builder, linear.getLoc(), linear, addForbidden(form),
            /*destinations=*/ValueRange(), rangeOf(vocabulary));
      });
  Builder builder(step.getContext());
  greedy.setResultAttrs(0, named(builder, "values", {"rows"}));
  greedy.setResultAttrs(1, named(builder, "largest", {"rows"}));
}

static void addBest(func::FuncOp step) {
  addForm(step, "best", [](OpBuilder &builder, LinearOp linear) {
    auto form = linear->getParentOfType<func::FuncOp>();
    int64_t vocabulary = linear.getWidths().front();
    int64_t range = rangeOf(vocabulary);
    int64_t ranges = llvm::divideCeil(vocabulary, range);
    Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
    Value forbidden = addForbidden(form);
    SmallVector<Value> outputs = {
        addOutput(form, "maxima", f32, ranges, /*isList=*/false),
        addOutput(form, "sums", f32, ranges, /*isList=*/false),
        addOutput(form, "values", f32, ranges, /*isList=*/true),
        addOutput(form, "best", i32, ranges, /*isList=*/true)};
    return BestLogitsOp::create(builder, linear.getLoc(), linear, forbidden,
                                outputs, range);
  });
}

namespace {
struct FuseChoice : heddle::impl::FuseChoicePassBase<FuseChoice> {
  /// `beam` may be null.
  static void visit(func::FuncOp step, func::FuncOp beam) {
    LinearOp linear = logitsOf(step);
    if (!linear)
      return;
    int64_t vocabulary = linear.getWidths().front();
    addBest(beam ? beam : step);
    addGreedy(step);
    reportFused(kPass, linear,
                nameOf(linear) + " gives " + Twine(vocabulary) +
                    " logits: a greedy step keeps the largest of each "
                    "range of " +
                    Twine(rangeOf(vocabulary)) + ", and beams the best ones");
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    auto beamOf = [&](func::FuncOp step) {
      for (func::FuncOp function : functions)
        if (hasRole(function, "beam") &&
            function->getAttr(kDecoderAttr) == step->getAttr(kDecoderAttr))
          return function;
      return func::FuncOp();
    };
    for (func::FuncOp function : functions)
      if (hasRole(function, "step"))
        visit(function, beamOf(function));
  }
};
} // namespace
