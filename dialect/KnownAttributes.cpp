//===- KnownAttributes.cpp - Attributes that somebody reads ---------------===//
//
// One table of the discardable attributes: where each may stand, and what it
// holds.
//
//===----------------------------------------------------------------------===//

#include "dialect/KnownAttributes.h"
#include "dialect/NearestName.h"
#include "dialect/Transformer.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace heddle;

namespace {
/// Where an attribute may stand; they combine.
enum Place { Module = 1, Function = 2, Argument = 4, Result = 8, Loop = 16 };

/// What an attribute holds.
enum class Holds { Unit, Number, Text, Texts, Symbol, Dictionary };

struct KnownAttribute {
  StringLiteral name;
  int places;
  Holds holds;
};
} // namespace

/// The table of the dialect's description. What functions and arguments share
/// is told apart by the second column.
static constexpr KnownAttribute kKnownAttributes[] = {
    {kFamilyAttr, Module, Holds::Text},
    {kSourceAttr, Module, Holds::Dictionary},
    {kTasksAttr, Module, Holds::Dictionary},
    {kKernelsAttr, Module, Holds::Texts},
    {kKernelTypesAttr, Module, Holds::Texts},
    {kLayersAttr, Module, Holds::Texts},
    {kTaskAttr, Function, Holds::Text},
    {kFormsAttr, Function, Holds::Texts},
    {kRoleAttr, Function, Holds::Text},
    {kDecoderAttr, Function, Holds::Text},
    {kAlignmentAttr, Function, Holds::Dictionary},
    {kHeadsAttr, Function, Holds::Dictionary},
    {kDimsAttr, Function | Argument | Result, Holds::Texts},
    {kArenaAttr, Function, Holds::Symbol},
    {kArenaAttr, Argument, Holds::Unit},
    {kEntryAttr, Function, Holds::Dictionary},
    {kKernelAttr, Function, Holds::Unit},
    {kWorkAttr, Function, Holds::Symbol},
    {kLaunchAttr, Function | Loop, Holds::Dictionary},
    {kNameAttr, Argument | Result, Holds::Text},
    {kTargetAttr, Argument, Holds::Unit},
    {kPreparedAttr, Argument, Holds::Unit},
    {kStateAttr, Argument, Holds::Unit},
    {kPinnedAttr, Argument, Holds::Number},
    {kOutputAttr, Argument, Holds::Unit},
};

/// What `attribute` should be, or nothing when it is.
static StringRef findMismatch(Holds holds, Attribute attribute) {
  switch (holds) {
  case Holds::Unit:
    return isa<UnitAttr>(attribute) ? "" : "no value";
  case Holds::Number:
    return isa<IntegerAttr>(attribute) ? "" : "a number";
  case Holds::Text:
    return isa<StringAttr>(attribute) ? "" : "a string";
  case Holds::Texts: {
    auto array = dyn_cast<ArrayAttr>(attribute);
    return array && llvm::all_of(array, llvm::IsaPred<StringAttr>)
               ? ""
               : "a list of strings";
  }
  case Holds::Symbol:
    return isa<FlatSymbolRefAttr>(attribute) ? "" : "a symbol";
  case Holds::Dictionary:
    return isa<DictionaryAttr>(attribute) ? "" : "a dictionary";
  }
  llvm_unreachable("all kinds are covered");
}

/// Says that nobody knows `name`, and which name may be meant.
static void describeUnknown(InFlightDiagnostic &error, StringRef name,
                            ArrayRef<StringRef> known) {
  error << "the unknown attribute '" << name << "'"
        << suggestNearest(name, known);
}

LogicalResult heddle::verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    if (attribute.getName().getValue().contains('.'))
      continue;
    SmallVector<StringRef> known =
        llvm::map_to_vector(op->getName().getAttributeNames(),
                            [](StringAttr name) { return name.getValue(); });
    InFlightDiagnostic error = op->emitOpError("has ");
    describeUnknown(error, attribute.getName(), known);
    return error;
  }
  return success();
}

/// Whether a dialect that is at hand defines the prefix of a name.
static bool hasKnownPrefix(StringRef name, MLIRContext *context) {
  auto [prefix, rest] = name.split('.');
  return !rest.empty() &&
         (context->getLoadedDialect(prefix) ||
          llvm::is_contained(context->getAvailableDialects(), prefix));
}

LogicalResult heddle::verifyAttributePrefixes(ModuleOp module) {
  auto verify = [&](Operation *op, DictionaryAttr attributes) -> LogicalResult {
    for (NamedAttribute attribute :
         attributes ? attributes.getValue() : ArrayRef<NamedAttribute>()) {
      StringRef name = attribute.getName();
      if (hasKnownPrefix(name, op->getContext()))
        continue;
      InFlightDiagnostic error = op->emitError("has ");
      describeUnknown(error, name,
                      llvm::map_to_vector(kKnownAttributes,
                                          [](const KnownAttribute &known) {
                                            return StringRef(known.name);
                                          }));
      return error;
    }
    return success();
  };
  WalkResult result = module.walk([&](Operation *op) {
    if (failed(verify(op, op->getDiscardableAttrDictionary())))
      return WalkResult::interrupt();
    auto function = dyn_cast<FunctionOpInterface>(op);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
      if (failed(verify(op, function.getArgAttrDict(i))))
        return WalkResult::interrupt();
    for (unsigned i = 0; function && i < function.getNumResults(); ++i)
      if (failed(verify(op, function.getResultAttrDict(i))))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Verifies an attribute of `op`, or of argument or result `index` of it.
static LogicalResult verifyAt(Operation *op, Place place, unsigned index,
                              NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto report = [&] {
    InFlightDiagnostic error = op->emitError();
    if (place == Argument || place == Result)
      error << (place == Argument ? "argument #" : "result #") << index << " ";
    error << "has ";
    return error;
  };
  SmallVector<StringRef> known;
  for (const KnownAttribute &each : kKnownAttributes) {
    if (!(each.places & place))
      continue;
    known.push_back(each.name);
    if (each.name != name)
      continue;
    StringRef expected = findMismatch(each.holds, attribute.getValue());
    if (expected.empty())
      return success();
    return report() << "'" << name << "' with the value "
                    << attribute.getValue() << ", expected " << expected;
  }
  InFlightDiagnostic error = report();
  describeUnknown(error, name, known);
  return error;
}

LogicalResult
TransformerDialect::verifyOperationAttribute(Operation *op,
                                             NamedAttribute attribute) {
  if (isa<ModuleOp>(op))
    return verifyAt(op, Module, 0, attribute);
  if (isa<FunctionOpInterface>(op))
    return verifyAt(op, Function, 0, attribute);
  if (isa<LoopLikeOpInterface>(op))
    return verifyAt(op, Loop, 0, attribute);
  return op->emitOpError("has the attribute '")
         << attribute.getName().getValue()
         << "', expected it on a module, a function or a loop";
}

LogicalResult TransformerDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return verifyAt(op, Argument, index, attribute);
}

LogicalResult TransformerDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return verifyAt(op, Result, index, attribute);
}
