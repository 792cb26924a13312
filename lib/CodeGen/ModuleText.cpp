//===- ModuleText.cpp - A copy without the locations of scalars -----------===//
//
// The printer names every value after its location, the scalars of a loop, too.
// So the module is cloned, and scalars lose their locations in the clone: they
// are numbered, and constants are called by their value. The printer also
// reports the line of each op, which links the text to ops.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/ModuleText.h"
#include "dialect/Transformer.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

/// Names are for tensors, their buffers and masks; the scalars of a loop read
/// better under numbers, constants under their value.
static void dropNamesOfScalars(Operation *op) {
  Location unknown = UnknownLoc::get(op->getContext());
  if (op->getNumResults() != 0 &&
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType, MaskType>))
    op->setLoc(unknown);
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (!isa<ShapedType>(argument.getType()))
        argument.setLoc(unknown);
}

ModuleText::ModuleText(Operation *op) : module(op->clone()) {
  module->walk([](Operation *each) { dropNamesOfScalars(each); });
  AsmState::LocationMap places;
  AsmState state(*module, OpPrintingFlags().printNameLocAsPrefix(), &places);
  llvm::raw_string_ostream stream(text);
  module->print(stream, state);
  stream << '\n';
  for (auto [each, place] : places)
    lines[each] = place.first - 1;
}
