//===- ImportModel.h - From a model's files to a module ---------*- C++ -*-===//
//
// A model is a folder of Marian's own files, one that CTranslate2's converters
// wrote, a Hugging Face folder, or a module in the transformer dialect. Import
// writes it as unfused mathematics:
//
//   @encode(ids, lengths) -> memory; a Longformer's takes global tokens, too
//   @decode(ids, memory, lengths) -> logits, over the whole target at once
//   @shortlist(ids, memory, lengths, candidates, counts) -> logits of
//   candidates
//
// and the module's attributes say what it reads and does: `transformer.family`,
// `transformer.source` and `transformer.tasks` (the manifest's keys, see
// runtime/artifact/ArtifactFormat.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_IMPORTMODEL_H
#define HEDDLE_LIB_IMPORT_IMPORTMODEL_H

#include "lib/Import/Tokenizers/Tokenizers.h"
#include "lib/Weights/WeightSource.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace heddle {

/// A module and the files that its parameters name.
struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightSource weights;
  /// The object "tokenizer" of the manifest.
  llvm::json::Object tokenizer{{"kind", "none"}};
  /// Sections that go into the artifact as they are: tokenizer and shortlist.
  std::vector<ImportedSection> sections;
  /// Tensors of a folder's files that the model leaves out. A module says
  /// itself what it reads of a file.
  std::vector<std::string> unreadTensors;
  /// Why the folder's tokenizer is not supported; empty if it is, or if
  /// there is none.
  std::string tokenizerProblem;
  /// Sentences about what the folder asks for and does not get, and, for
  /// --explain, about what it says in vain.
  std::vector<std::string> warnings, remarks;
  /// Patterns of weights that --dtype f16 leaves in f32: what they multiply may
  /// be beyond the range of f16.
  std::vector<std::string> keptInF16;
};

struct ImportOptions {
  /// The safetensors file of a module whose parameters have no source.
  std::string weights;
  /// The tokenizer of a folder of CTranslate2, tokenizer.json or a
  /// SentencePiece model, in place of the one that it has; empty for that.
  std::string tokenizer;
  /// Numbers in place of the weights that a configuration lacks.
  std::optional<uint64_t> randomSeed;
  /// How an encoder's vectors are pooled, in place of what its folder says;
  /// empty for that.
  std::vector<Pooling> pooling;
  /// How many layers of an encoder are imported, all if absent: it returns what
  /// transformers has at this place of `hidden_states`, 0 for the input of the
  /// first layer. Numbers below 0 count from the end, as in Python.
  std::optional<int64_t> layers;
};

/// Imports the model at `path`; the module is verified and lives in `context`,
/// into which the dialects it needs are loaded. Every failure is one sentence.
llvm::Expected<ImportedModel> importModel(llvm::StringRef path,
                                          mlir::MLIRContext &context,
                                          const ImportOptions &options);

/// One kind of model each; `importModel` chooses.
llvm::Expected<ImportedModel> importMarianFolder(llvm::StringRef folder,
                                                 mlir::MLIRContext &context);
llvm::Expected<ImportedModel>
importCTranslate2Folder(llvm::StringRef folder, mlir::MLIRContext &context,
                        const ImportOptions &options);
llvm::Expected<ImportedModel> importArgosModel(llvm::StringRef path,
                                               mlir::MLIRContext &context,
                                               const ImportOptions &options);
llvm::Expected<ImportedModel>
importHuggingFaceFolder(llvm::StringRef folder, mlir::MLIRContext &context,
                        const ImportOptions &options);
llvm::Expected<ImportedModel> importModule(llvm::StringRef path,
                                           mlir::MLIRContext &context,
                                           const ImportOptions &options);

/// An empty module named after the folder or file at `path`.
mlir::OwningOpRef<mlir::ModuleOp> createModule(llvm::StringRef path,
                                               llvm::StringRef family,
                                               mlir::MLIRContext &context);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_IMPORTMODEL_H
