//===- module.cpp - Modules as text ---------------------------------------===//

#include "ScratchFolder.h"
#include "lib/Import/ImportModel.h"
#include "mlir/IR/MLIRContext.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::ScratchFolder folder;
  std::string path =
      folder.write("input.mlir", {reinterpret_cast<const char *>(data), size});
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto model = importModule(path, context, {});
  if (!model)
    llvm::consumeError(model.takeError());
  return 0;
}
