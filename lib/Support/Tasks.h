//===- Tasks.h - What a module says it does ---------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_SUPPORT_TASKS_H
#define HEDDLE_LIB_SUPPORT_TASKS_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace heddle {

/// The one task that needs a decoder.
inline constexpr llvm::StringLiteral kGenerateTask = "generate";
/// Keys of `transformer.source`; the first is one of tasks, too.
inline constexpr llvm::StringLiteral kVocabularyKey = "vocabulary",
                                     kPositionsKey = "positions";

/// A task of `transformer.tasks`; null if the module does not have it.
mlir::DictionaryAttr findTask(mlir::ModuleOp module, llvm::StringRef name);

/// What a model reads and writes: the attributes of a module that generates.
struct GeneratingModel {
  int64_t sourceVocabulary, targetVocabulary;
  std::optional<int64_t> sourcePositions;
  /// The settings of the task, without its vocabulary.
  mlir::DictionaryAttr settings;
};
void setTasks(mlir::ModuleOp module, const GeneratingModel &model);

} // namespace heddle

#endif // HEDDLE_LIB_SUPPORT_TASKS_H
