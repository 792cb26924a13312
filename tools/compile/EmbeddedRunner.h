//===- EmbeddedRunner.h - heddle-run within heddle-compile ------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_COMPILE_EMBEDDEDRUNNER_H
#define HEDDLE_TOOLS_COMPILE_EMBEDDEDRUNNER_H

#include "llvm/ADT/StringRef.h"

namespace heddle {

/// The heddle-run of the same build, stripped, as --emit=exe writes it.
llvm::StringRef getEmbeddedRunner();

} // namespace heddle

#endif // HEDDLE_TOOLS_COMPILE_EMBEDDEDRUNNER_H
