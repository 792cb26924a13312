//===- UnreadTensors.h - What a model leaves in its files -------*- C++ -*-===//
//
// A checkpoint may hold more than the model that its configuration describes:
// layers that the configuration cuts off, the head of another task. Nobody
// should have to guess that they were left out.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_UNREADTENSORS_H
#define HEDDLE_LIB_IMPORT_UNREADTENSORS_H

#include "lib/Weights/WeightSource.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// The names of the tensors that no parameter of the module has for its source,
/// in the order of the files, but for those of which `isUsual` is true: such as
/// checkpoints of this kind have beside the model. A second name of the same
/// bytes is read as well as the first.
std::vector<std::string>
listUnreadTensors(mlir::ModuleOp module, const WeightSource &weights,
                  llvm::function_ref<bool(llvm::StringRef)> isUsual);

/// A part of networks that is not here, by a part of its tensors' names.
struct TensorFeature {
  llvm::StringLiteral part, words;
};

/// Fails if the module leaves a tensor of the checkpoint `path` unread: the
/// sentence names it and the feature that it is of.
llvm::Error
refuseUnreadTensors(mlir::ModuleOp module, const WeightSource &weights,
                    llvm::function_ref<bool(llvm::StringRef)> isUsual,
                    llvm::StringRef path,
                    llvm::ArrayRef<TensorFeature> features);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_UNREADTENSORS_H
