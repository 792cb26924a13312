//===- checkpoint.cpp - Checkpoints of trainers ---------------------------===//
//
// An input is all files of a folder, see FolderInput.h. Of those that become a
// module every parameter is decoded.
//
//===----------------------------------------------------------------------===//

#include "DecodeParameters.h"
#include "FolderInput.h"
#include "ImportContext.h"
#include "lib/Import/ImportCheckpoint.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::FolderInput folder({"model.pt", "dict.de.txt",
                                         "dict.en.txt", "bpecodes",
                                         "sentencepiece.bpe.model"});
  folder.fill({reinterpret_cast<const char *>(data), size});
  auto model =
      importCheckpoint(folder.path(), fuzz::importContext(), ImportOptions());
  if (model)
    fuzz::decodeParameters(*model);
  else
    llvm::consumeError(model.takeError());
  return 0;
}
