//===- CompileProgress.h - How far compiling is -----------------*- C++ -*-===//
//
// One line on standard error, if that is a terminal: nothing in a pipe.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_COMPILE_COMPILEPROGRESS_H
#define HEDDLE_TOOLS_COMPILE_COMPILEPROGRESS_H

#include "llvm/ADT/Twine.h"

namespace heddle {

/// Writes over the line; nothing erases it, which whoever prints anything else
/// does before. One thread at a time. From the first call on a signal erases
/// it, too, before it does what it did.
void showProgress(const llvm::Twine &line);

} // namespace heddle

#endif // HEDDLE_TOOLS_COMPILE_COMPILEPROGRESS_H
