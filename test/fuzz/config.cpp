//===- config.cpp - config.json of a Hugging Face folder ------------------===//
//
// Beside the weights of a small BART, so that some configurations become a
// module.
//
//===----------------------------------------------------------------------===//

#include "ImportContext.h"
#include "ScratchFolder.h"
#include "lib/Import/ImportModel.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::ScratchFolder folder;
  static const bool linked = [] {
    std::filesystem::create_symlink(HEDDLE_GOLDENS
                                    "/bart-one-layer/model.safetensors",
                                    folder.path("model.safetensors"));
    return true;
  }();
  (void)linked;
  folder.write("config.json", {reinterpret_cast<const char *>(data), size});
  auto model =
      importHuggingFaceFolder(folder.path(), fuzz::importContext(), {});
  if (!model)
    llvm::consumeError(model.takeError());
  return 0;
}
