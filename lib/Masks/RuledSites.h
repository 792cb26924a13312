//===- RuledSites.h - Which attention gets which rule -----------*- C++ -*-===//
//
// What a model and the rules of --attention say together, for the pass that
// applies them and for the command that tells what is wrong with them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_RULEDSITES_H
#define HEDDLE_LIB_MASKS_RULEDSITES_H

#include "lib/Masks/AttentionRules.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// An attention, and the rule that it gets, or null.
struct RuledSite : AttentionSite {
  const AttentionRule *rule = nullptr;
};

/// The attention of a module's functions, each with the last rule that names
/// it; they point into `rules`, which stand in `text`. The error is a
/// TextError: a rule that no attention gets, a mask that its op refuses, that
/// tells another number of heads apart, or whose keys have no positions.
llvm::Expected<llvm::SmallVector<RuledSite>>
assignRules(mlir::ModuleOp module, llvm::ArrayRef<AttentionRule> rules,
            llvm::StringRef text);

/// Whether the module has a place for each rule of `text`.
llvm::Error checkRules(mlir::ModuleOp module, llvm::StringRef text);

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_RULEDSITES_H
