//===- NoPolly.cpp - A plugin that is not there ---------------------------===//
//
// Debian's archives of LLVM ask for Polly, which is in another package. Nothing
// here runs a pass of it.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "", [](llvm::PassBuilder &) {}};
}
