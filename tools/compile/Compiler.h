//===- Compiler.h - What heddle-compile does --------------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_COMPILE_COMPILER_H
#define HEDDLE_TOOLS_COMPILE_COMPILER_H

#include <vector>

namespace heddle {

/// Does what heddle-compile does with the arguments behind its name. Returns
/// the exit status: 0, or 1 behind one sentence on standard error, or 2 if the
/// command line is wrong in itself. A program that has LLVM and MLIR inside
/// (`isStandalone`) refuses what loads libraries. One call at a time.
int runCompiler(const std::vector<const char *> &arguments,
                bool isStandalone = false);

} // namespace heddle

#endif // HEDDLE_TOOLS_COMPILE_COMPILER_H
