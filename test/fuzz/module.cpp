//===- module.cpp - Modules as text ---------------------------------------===//

#include "ImportContext.h"
#include "ScratchFolder.h"
#include "lib/Import/ImportModel.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::ScratchFolder folder;
  std::string path =
      folder.write("input.mlir", {reinterpret_cast<const char *>(data), size});
  auto model = importModule(path, fuzz::importContext(), {});
  if (!model)
    llvm::consumeError(model.takeError());
  return 0;
}
