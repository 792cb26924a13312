//===- FusionRemarks.h - What a fusion did, in a sentence -------*- C++ -*-===//
//
// Fusion passes say what they fused and what not, and why, through MLIR's
// remarks: the category is the pass, the location holds the checkpoint's names,
// the text is one sentence. Nothing is built if nobody listens. How many
// ops a pass fused is how many remarks of the first kind it made.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_FUSION_FUSIONREMARKS_H
#define HEDDLE_LIB_FUSION_FUSIONREMARKS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace heddle {

/// The names in a location, in order and once each.
llvm::SmallVector<llvm::StringRef> namesIn(mlir::Location location);

/// The first name in an op's location, the checkpoint's name of the first
/// weight that it reads, or what kind of op it is.
std::string nameOf(mlir::Operation *op);

/// What kind of op it is: `a recurrence`, `an embedding`.
std::string withArticle(mlir::Operation *op);

/// `a`, `a and b`, `a, b and c`.
std::string joinWords(llvm::ArrayRef<std::string> words);

/// The locations of ops that become one; keeps the names of all.
mlir::Location fuseLocations(llvm::ArrayRef<mlir::Operation *> ops);

/// `pass` made `op` by fusing others; a sentence without its full stop.
void reportFused(llvm::StringRef pass, mlir::Operation *op,
                 const llvm::Twine &sentence);

/// `pass` left `op` as it was; the sentence gives the reason.
void reportDeclined(llvm::StringRef pass, mlir::Operation *op,
                    const llvm::Twine &sentence);

} // namespace heddle

#endif // HEDDLE_LIB_FUSION_FUSIONREMARKS_H
