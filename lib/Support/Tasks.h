//===- Tasks.h - What a module says it does ---------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_SUPPORT_TASKS_H
#define HEDDLE_LIB_SUPPORT_TASKS_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace heddle {

/// Tasks: the first needs a decoder, each other a function of its own.
inline constexpr llvm::StringLiteral kGenerateTask = "generate",
                                     kEmbedTask = "embed",
                                     kClassifyTask = "classify",
                                     kTagTask = "tag", kAnswerTask = "answer",
                                     kFillTask = "fill";
/// Keys of `transformer.source`; the first is one of the task `generate`, too.
/// `types` says how many types of tokens there are, `pad` which token has no
/// position if positions are counted from ids.
inline constexpr llvm::StringLiteral kVocabularyKey = "vocabulary",
                                     kPositionsKey = "positions",
                                     kTypesKey = "types", kPadKey = "pad";
/// Of the task `generate`, too: whose beginning a text is, "source" (the
/// default) or "target".
inline constexpr llvm::StringLiteral kPromptSides[] = {"source", "target"};
/// Of all others: the most tokens of a text. Of `embed`: texts that may stand
/// in front of it, by name, and the name of the one that does by default; and
/// what logits of words become, if vectors are sparse. Of `classify` and `tag`:
/// the names of labels, and of `classify` what logits become, one of the names
/// that the manifest has. Of `answer`: the token behind a question, if the
/// tokens of questions are global ones. Of `fill`: the token that is guessed.
inline constexpr llvm::StringLiteral kMaxTokensKey = "max_tokens",
                                     kPromptsKey = "prompts",
                                     kPromptKey = "prompt",
                                     kWeightsKey = "weights",
                                     kLabelsKey = "labels",
                                     kScoresKey = "scores",
                                     kSeparatorKey = "separator",
                                     kMaskKey = "mask";

/// A task of `transformer.tasks`; null if the module does not have it.
mlir::DictionaryAttr findTask(mlir::ModuleOp module, llvm::StringRef name);

/// What a model reads: the attribute `transformer.source`.
struct SourceAttributes {
  int64_t vocabulary = 0;
  std::optional<int64_t> positions = {}, types = {}, pad = {};
};
void setSource(mlir::ModuleOp module, const SourceAttributes &source);

/// Adds a task with its settings.
void setTask(mlir::ModuleOp module, llvm::StringRef name,
             mlir::DictionaryAttr settings);

/// What a model reads and writes: the attributes of a module that generates.
struct GeneratingModel {
  int64_t sourceVocabulary, targetVocabulary;
  std::optional<int64_t> sourcePositions;
  /// The settings of the task, without its vocabulary.
  mlir::DictionaryAttr settings;
  /// Of a source whose positions count from it.
  std::optional<int64_t> sourcePad = {};
};
void setTasks(mlir::ModuleOp module, const GeneratingModel &model);

} // namespace heddle

#endif // HEDDLE_LIB_SUPPORT_TASKS_H
