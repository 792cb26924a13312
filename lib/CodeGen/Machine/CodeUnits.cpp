//===- CodeUnits.cpp - Parts of a module that compile alone ---------------===//
//
// A unit begins with its roots and grows by the symbols that its ops use. At
// kernels it ends: they are roots of their own, and the linker joins what is
// declared here with what is defined there.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/CodeUnits.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;

/// Kernels have units of their own; tasks and work functions, which have a
/// linkage that says so, belong to that of their kernel.
static bool isKernel(Operation *op) {
  return op->hasAttr(kKernelAttr) && !op->hasAttr("llvm.linkage");
}

static bool isElsewhere(Operation *op, ArrayRef<Operation *> roots) {
  return isKernel(op) && !llvm::is_contained(roots, op);
}

/// `roots` and what they reach, kernels that they call included.
static SetVector<Operation *> reach(ArrayRef<Operation *> roots,
                                    SymbolTable &symbols) {
  SetVector<Operation *> reached(roots.begin(), roots.end());
  // Grows while it is walked.
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i];
    if (isElsewhere(op, roots))
      continue;
    if (auto uses = SymbolTable::getSymbolUses(op))
      for (SymbolTable::SymbolUse use : *uses)
        if (Operation *used =
                symbols.lookup(use.getSymbolRef().getRootReference()))
          reached.insert(used);
  }
  return reached;
}

static OwningOpRef<ModuleOp> copyUnit(ArrayRef<Operation *> roots,
                                      SymbolTable &symbols) {
  OwningOpRef<ModuleOp> unit =
      ModuleOp::create(UnknownLoc::get(roots.front()->getContext()));
  OpBuilder builder = OpBuilder::atBlockEnd(unit->getBody());
  for (Operation *op : reach(roots, symbols))
    builder.insert(isElsewhere(op, roots) ? op->cloneWithoutRegions()
                                          : op->clone());
  return unit;
}

std::vector<OwningOpRef<ModuleOp>> heddle::splitIntoUnits(ModuleOp module) {
  SmallVector<SmallVector<Operation *>> roots(1);
  for (auto function : module.getOps<func::FuncOp>())
    if (isKernel(function) && !function.isExternal())
      roots.push_back({function});
    else if (function.isPublic())
      roots.front().push_back(function);
  SymbolTable symbols(module);
  std::vector<OwningOpRef<ModuleOp>> units;
  for (ArrayRef<Operation *> each : roots)
    if (!each.empty())
      units.push_back(copyUnit(each, symbols));
  return units;
}
