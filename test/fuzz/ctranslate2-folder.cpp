//===- ctranslate2-folder.cpp - Folders of CTranslate2 --------------------===//
//
// An input is all files of a folder, see FolderInput.h. Of those that become a
// module every parameter is decoded.
//
//===----------------------------------------------------------------------===//

#include "FolderInput.h"
#include "ImportContext.h"
#include "lib/Import/ImportModel.h"

using namespace heddle;

/// Decodes the first rows of a parameter.
static void decode(ParameterOp parameter, const WeightSource &weights) {
  auto tensor = weights.open(parameter);
  if (!tensor)
    return llvm::consumeError(tensor.takeError());
  constexpr uint64_t most = 1 << 20;
  if (tensor->getColumns() > most)
    return;
  std::vector<float> row(tensor->getColumns());
  for (uint64_t r = 0; r < std::min<uint64_t>(tensor->getRows(), 4); ++r)
    tensor->decodeRows(r, 1, row);
}

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
  for (auto parameter : model->module->getOps<ParameterOp>())
    decode(parameter, model->weights);
  return 0;
}
