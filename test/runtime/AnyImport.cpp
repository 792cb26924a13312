//===- AnyImport.cpp - Imports of code under a sanitizer ------------------===//
//
// In place of CodeImports.cpp: an instrumented kernel calls ThreadSanitizer,
// which is in the process that loads it.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/CodeImports.h"

#include <dlfcn.h>
#include <string>

void *heddle::findCodeImport(std::string_view name) {
  return dlsym(RTLD_DEFAULT, std::string(name).c_str());
}
