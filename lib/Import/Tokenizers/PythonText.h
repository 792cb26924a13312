//===- PythonText.h - Text files as Python opens them -----------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PYTHONTEXT_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PYTHONTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle {

/// The text of a file with a newline for each end of a line: "\r\n", and "\r"
/// alone, too.
std::string readPythonText(llvm::StringRef bytes);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PYTHONTEXT_H
