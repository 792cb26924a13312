//===- embedder.cpp - Modules of a sentence-transformers folder -----------===//
//
// An input is modules.json and the configurations of modules, see
// FolderInput.h, beside the weights of a small BERT and of its modules, so that
// some become a module.
//
//===----------------------------------------------------------------------===//

#include "FolderInput.h"
#include "ImportContext.h"
#include "lib/Import/ImportModel.h"

using namespace heddle;
namespace fs = std::filesystem;

/// Puts the weights and the vocabulary of a folder into another.
static bool linkFiles(const fs::path &from, const fuzz::FolderInput &to) {
  for (const fs::directory_entry &entry :
       fs::recursive_directory_iterator(from)) {
    fs::path copy = to.path(entry.path().lexically_relative(from).string());
    if (entry.is_directory())
      fs::create_directory(copy);
    else if (entry.path().extension() != ".json")
      fs::create_symlink(fs::canonical(entry.path()), copy);
  }
  return true;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::FolderInput folder(
      {"modules.json", "config_sentence_transformers.json", "config.json",
       "sentence_bert_config.json", "tokenizer.json", "tokenizer_config.json",
       "0_Transformer/config.json", "0_Transformer/sentence_bert_config.json",
       "0_Transformer/tokenizer_config.json", "1_Pooling/config.json",
       "2_Dense/config.json", "3_Dense/config.json",
       "4_LayerNorm/config.json"});
  static const bool linked =
      linkFiles(HEDDLE_GOLDENS "/embed/bert", folder) &&
      linkFiles(HEDDLE_GOLDENS "/embed/bert-modules", folder);
  (void)linked;
  folder.fill({reinterpret_cast<const char *>(data), size});
  auto model =
      importHuggingFaceFolder(folder.path(), fuzz::importContext(), {});
  if (!model)
    llvm::consumeError(model.takeError());
  return 0;
}
