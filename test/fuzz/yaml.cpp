//===- yaml.cpp - Marian's options ----------------------------------------===//

#include "lib/Import/Marian/Yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::consumeError(heddle::parseYaml(text, "input").takeError());
  return 0;
}
