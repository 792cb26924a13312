//===- CodeImports.h - What compiled code may call --------------*- C++ -*-===//
//
// Generated code calls nothing but what fills and copies memory; the reference
// lowering and regions of a model call functions of libm. All that LLVM and
// MLIR make calls of is here, and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CODE_CODEIMPORTS_H
#define HEDDLE_RUNTIME_CODE_CODEIMPORTS_H

#include <string_view>

namespace heddle {

/// The function of that name; null if compiled code may not call it.
void *findCodeImport(std::string_view name);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CODE_CODEIMPORTS_H
