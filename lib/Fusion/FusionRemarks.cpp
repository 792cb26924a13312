//===- FusionRemarks.cpp - Names of ops for people ------------------------===//
//
// An op is called by the first name in its location, which an importer took
// from the checkpoint. Modules written by hand have no such names: there the
// first weight among the operands names the op. A derived weight is followed to
// the first stored one that it is made of. The kind of the op is the last
// resort. A fused op has the locations of all its parts, and with them all
// their names.
//
//===----------------------------------------------------------------------===//

#include "lib/Fusion/FusionRemarks.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;

SmallVector<StringRef> heddle::namesIn(Location location) {
  llvm::SetVector<StringRef> names;
  location->walk([&](Location each) {
    if (auto name = dyn_cast<NameLoc>(each))
      names.insert(name.getName());
    return WalkResult::advance();
  });
  return names.takeVector();
}

/// What a checkpoint calls a weight: the first that it is made of.
static std::string storedNameOf(WeightOp weight) {
  FlatSymbolRefAttr name = weight.getParameterAttr();
  auto find = [&] {
    return SymbolTable::lookupNearestSymbolFrom<ParameterOp>(weight, name);
  };
  auto isMade = [](ParameterOp parameter) {
    return parameter && parameter.getParts() && !parameter.getParts()->empty();
  };
  for (auto made = find(); isMade(made); made = find())
    name = cast<FlatSymbolRefAttr>(made.getPartsAttr()[0]);
  return name.getValue().str();
}

std::string heddle::nameOf(Operation *op) {
  if (SmallVector<StringRef> names = namesIn(op->getLoc()); !names.empty())
    return names.front().str();
  for (Value operand : op->getOperands())
    if (auto weight = operand.getDefiningOp<WeightOp>())
      return storedNameOf(weight);
  return op->getName().stripDialect().str();
}

std::string heddle::withArticle(Operation *op) {
  StringRef kind = op->getName().stripDialect();
  bool isVowel = StringRef("aeiou").contains(kind.front());
  return (Twine(isVowel ? "an " : "a ") + kind).str();
}

std::string heddle::joinWords(ArrayRef<std::string> words) {
  std::string text = words.front();
  for (const std::string &word : words.drop_front())
    text += (&word == &words.back() ? " and " : ", ") + word;
  return text;
}

Location heddle::fuseLocations(ArrayRef<Operation *> ops) {
  SmallVector<Location> locations;
  for (Operation *op : ops)
    locations.push_back(op->getLoc());
  return FusedLoc::get(ops.front()->getContext(), locations);
}

static remark::RemarkOpts options(StringRef name, StringRef pass,
                                  Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return remark::RemarkOpts::name(name).category(pass).function(
      function ? function.getSymName() : StringRef());
}

void heddle::reportFused(StringRef pass, Operation *op,
                         const llvm::Twine &sentence) {
  if (auto remark = remark::passed(op->getLoc(), options("fused", pass, op)))
    remark << StringRef(sentence.str());
}

void heddle::reportDeclined(StringRef pass, Operation *op,
                            const llvm::Twine &sentence) {
  if (auto remark = remark::missed(op->getLoc(), options("declined", pass, op)))
    remark << StringRef(sentence.str());
}
