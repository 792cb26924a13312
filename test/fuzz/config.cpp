//===- config.cpp - config.json of a Hugging Face folder ------------------===//
//
// Beside the weights of a small BART, so that some configurations become a
// module.
//
//===----------------------------------------------------------------------===//

#include "ScratchFolder.h"
#include "lib/Import/ImportModel.h"
#include "mlir/IR/MLIRContext.h"

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
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto model = importHuggingFaceFolder(folder.path(), context, {});
  if (!model)
    llvm::consumeError(model.takeError());
  return 0;
}
