//===- AssemblyText.h - Assembly, function by function ----------*- C++ -*-===//

#ifndef HEDDLE_LIB_EXPLORER_ASSEMBLYTEXT_H
#define HEDDLE_LIB_EXPLORER_ASSEMBLYTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace heddle {

struct AssemblyFunction {
  std::string symbol;
  /// Labels and instructions; directives that place them are left out.
  std::string text;
  /// Lines of `text`, from 0, and those of the source that they come from: one
  /// for each instruction that comes from any.
  std::vector<std::pair<unsigned, unsigned>> sources;
};

/// The functions of x86-64 assembly as LLVM writes it for ELF.
std::vector<AssemblyFunction> splitAssembly(llvm::StringRef assembly);

} // namespace heddle

#endif // HEDDLE_LIB_EXPLORER_ASSEMBLYTEXT_H
