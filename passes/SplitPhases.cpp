//===- SplitPhases.cpp - Derive prepare, step and extend from a decoder ---===//
//
// A decoder is imported once, as mathematics over whole sequences. Marks say
// what depends on the target (lib/Phases/DecoderMarks.h); the marked ops then
// rewrite themselves for one position a row, or for the first positions of a
// sentence, with the states they ask for. A decoder extends unless it has
// states other than KV caches; such a one has chunks.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Phases/DecoderForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_SPLITPHASESPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static_assert(kExtendRows == HEDDLE_EXTEND_ROWS,
              "the runtime calls with so many rows");

/// Whether `transformer.forms` of the function lists `form`.
static bool hasForm(func::FuncOp function, StringRef form) {
  auto forms = function->getAttrOfType<ArrayAttr>(kFormsAttr);
  return forms && llvm::is_contained(
                      forms, StringAttr::get(function.getContext(), form));
}

static LogicalResult checkForms(func::FuncOp function) {
  Attribute forms = function->getAttr(kFormsAttr);
  auto list = dyn_cast_or_null<ArrayAttr>(forms);
  auto isForm = [](Attribute form) {
    auto name = dyn_cast<StringAttr>(form);
    return name &&
           llvm::is_contained({"full", "step", "extend", "chunk", "align"},
                              name.getValue());
  };
  if (forms && (!list || list.empty() || !llvm::all_of(list, isForm)))
    return function.emitError("expects '")
           << kFormsAttr
           << "' to list \"full\", \"step\" or both, and \"extend\", "
              "\"chunk\" or \"align\" beside \"step\", found "
           << forms;
  if (hasForm(function, "align") && !hasForm(function, "step"))
    return function.emitError("has the form 'align' but no step form, whose "
                              "translations it aligns");
  for (StringRef form : {"extend", "chunk"})
    if (hasForm(function, form) && !hasForm(function, "step"))
      return function.emitError("has the form '")
             << form
             << "' but no step form, which would continue from its states";
  if (function->hasAttr(kTaskAttr) && !hasForm(function, "full"))
    return function.emitError("computes a task and expects '")
           << kFormsAttr << "' to list \"full\"";
  return success();
}

/// The argument with `transformer.target`, or null.
static Value targetOf(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), kTargetAttr))
      return argument;
  return {};
}

/// A function with forms is a whole decoder, over ids, or without a target what
/// computes a task, or the encoder.
static void setRoleOfFull(func::FuncOp function) {
  Value target = targetOf(function);
  if (Attribute task = function->getAttr(kTaskAttr))
    function->setAttr(kRoleAttr, task);
  else if (!target)
    function->setAttr(kRoleAttr,
                      StringAttr::get(function.getContext(), "encode"));
  else if (getElementTypeOrSelf(target.getType()).isInteger())
    setRole(function, "full", function.getSymName());
}

/// A decoder that has to take the tokens of a prefix one by one.
static void reportNoChunk(func::FuncOp decoder) {
  Operation *last = decoder.front().getTerminator();
  if (last->getNumOperands() > 0 && last->getOperand(0).getDefiningOp())
    last = last->getOperand(0).getDefiningOp();
  reportDeclined("split-phases", last,
                 "@" + decoder.getSymName() +
                     " decodes prefixes step by step, since its results come "
                     "from values without rows of f32 that a chunk could take");
}

/// The forms that compute several positions of a sentence at once.
static LogicalResult buildPrefill(const DecoderMarks &marks) {
  func::FuncOp decoder = marks.decoder;
  bool mayChunk = hasForm(decoder, "chunk") ||
                  (hasForm(decoder, "extend") && !marks.extends);
  if ((mayChunk || hasForm(decoder, "extend")) && !hasChunk(marks)) {
    reportNoChunk(decoder);
    return success();
  }
  if (mayChunk && failed(buildChunk(marks)))
    return failure();
  return success(!marks.extends || succeeded(buildExtend(marks)));
}

/// The last one built stands first: prepare, step, beam, extend, chunk, align.
static LogicalResult split(func::FuncOp decoder) {
  FailureOr<DecoderMarks> marks = markDecoder(decoder);
  if (failed(marks))
    return failure();
  marks->extends = hasForm(decoder, "extend") && canExtend(*marks);
  if (hasForm(decoder, "align")) {
    FailureOr<bool> aligns = buildAlign(*marks);
    if (failed(aligns))
      return failure();
    if (!*aligns)
      reportDeclined("split-phases", decoder,
                     "@" + decoder.getSymName() +
                         " gives no alignments, since its attention to a "
                         "memory is no softmax of products with keys of source "
                         "tokens");
  }
  if (failed(buildPrefill(*marks)))
    return failure();
  if (marks->hasCaches() && failed(buildStep(*marks, /*throughHistory=*/true)))
    return failure();
  if (failed(buildStep(*marks, /*throughHistory=*/false)))
    return failure();
  return marks->prepared.empty() ? success() : buildPrepare(*marks);
}

namespace {
struct SplitPhases : heddle::impl::SplitPhasesPassBase<SplitPhases> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (failed(checkForms(function)))
        return signalPassFailure();
      if (hasForm(function, "step") && failed(split(function)))
        return signalPassFailure();
      if (hasForm(function, "full")) {
        setRoleOfFull(function);
        function->setAttr(kFormsAttr,
                          Builder(&getContext()).getStrArrayAttr({"full"}));
      } else if (hasForm(function, "step")) {
        function.erase();
      }
    }
  }
};
} // namespace
