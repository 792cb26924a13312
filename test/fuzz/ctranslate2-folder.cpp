//===- ctranslate2-folder.cpp - Folders of CTranslate2 --------------------===//
//
// An input is all files of a folder, see FolderInput.h. Of those that become a
// module every parameter is decoded.
//
//===----------------------------------------------------------------------===//

#include "DecodeParameters.h"
#include "FolderInput.h"
#include "ImportContext.h"
#include "lib/Import/ImportModel.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::FolderInput folder(
      {"model.bin", "config.json", "shared_vocabulary.json",
       "shared_vocabulary.txt", "source_vocabulary.json",
       "target_vocabulary.json"});
  folder.fill({reinterpret_cast<const char *>(data), size});
  auto model = importCTranslate2Folder(folder.path(), fuzz::importContext(),
                                       ImportOptions());
  if (!model) {
    llvm::consumeError(model.takeError());
    return 0;
  }
  fuzz::decodeParameters(*model);
  return 0;
}
