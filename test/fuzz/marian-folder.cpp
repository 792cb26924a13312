//===- marian-folder.cpp - Folders of Marian's own files ------------------===//
//
// An input is the options of a decoder and other files, see FolderInput.h,
// beside the weights of a small model, so that some become a module.
//
//===----------------------------------------------------------------------===//

#include "FolderInput.h"
#include "ImportContext.h"
#include "lib/Import/ImportModel.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::FolderInput folder({"decoder.yml", "vocab.yml",
                                         "vocab.spm", "source.spm",
                                         "target.spm", "lex.bin"});
  static const bool linked = [] {
    std::filesystem::create_symlink(HEDDLE_GOLDENS
                                    "/marian-npz-recurrent/model.npz",
                                    folder.path("model.npz"));
    return true;
  }();
  (void)linked;
  folder.fill({reinterpret_cast<const char *>(data), size});
  auto model = importMarianFolder(folder.path(), fuzz::importContext());
  if (!model)
    llvm::consumeError(model.takeError());
  return 0;
}
