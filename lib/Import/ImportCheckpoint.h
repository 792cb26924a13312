//===- ImportCheckpoint.h - Checkpoints of PyTorch's trainers ---*- C++ -*-===//
//
// A file of torch.save with the options and the weights of a translator, given
// as itself or by its folder, in which vocabularies and tokenizers may stand.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_IMPORTCHECKPOINT_H
#define HEDDLE_LIB_IMPORT_IMPORTCHECKPOINT_H

#include "lib/Import/ImportModel.h"
#include "lib/Weights/TorchCheckpoint.h"

namespace heddle {

/// Whether a file is a checkpoint, or a folder has one, by names.
bool isCheckpoint(llvm::StringRef path);

/// Imports the checkpoint at `path`. Of several in a folder
/// `checkpoint_best.pt` or `model.pt` counts.
llvm::Expected<ImportedModel> importCheckpoint(llvm::StringRef path,
                                               mlir::MLIRContext &context,
                                               const ImportOptions &options);

/// One trainer each; `importCheckpoint` chooses. `folder` is that of the file.
llvm::Expected<ImportedModel> importFairseq(TorchCheckpoint &checkpoint,
                                            llvm::StringRef folder,
                                            mlir::MLIRContext &context,
                                            const ImportOptions &options);
llvm::Expected<ImportedModel> importOpenNMT(TorchCheckpoint &checkpoint,
                                            llvm::StringRef folder,
                                            mlir::MLIRContext &context,
                                            const ImportOptions &options);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_IMPORTCHECKPOINT_H
