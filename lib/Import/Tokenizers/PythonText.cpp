//===- PythonText.cpp - Text files as Python opens them -------------------===//
//
// transformers opens vocabularies and merges with universal newlines.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/PythonText.h"

using namespace llvm;

namespace heddle {

std::string readPythonText(StringRef bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bool isReturn = bytes[i] == '\r';
    text += isReturn ? '\n' : bytes[i];
    if (isReturn && i + 1 < bytes.size() && bytes[i + 1] == '\n')
      ++i;
  }
  return text;
}

} // namespace heddle
