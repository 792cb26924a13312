//===- config.cpp - Configuration of a Hugging Face folder ----------------===//
//
// An input is config.json and other files, see FolderInput.h, beside the
// weights of a small BART, so that some configurations become a module.
//
//===----------------------------------------------------------------------===//

#include "FolderInput.h"
#include "ImportContext.h"
#include "lib/Import/ImportModel.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::FolderInput folder(
      {"config.json", "generation_config.json", "tokenizer_config.json"});
  static const bool linked = [] {
    std::filesystem::create_symlink(HEDDLE_GOLDENS
                                    "/bart-one-layer/model.safetensors",
                                    folder.path("model.safetensors"));
    return true;
  }();
  (void)linked;
  folder.fill({reinterpret_cast<const char *>(data), size});
  auto model =
      importHuggingFaceFolder(folder.path(), fuzz::importContext(), {});
  if (!model)
    llvm::consumeError(model.takeError());
  return 0;
}
