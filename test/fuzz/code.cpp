//===- code.cpp - Shared objects that artifacts hold ----------------------===//
//
// They are loaded, which runs none of their code.
//
//===----------------------------------------------------------------------===//

#include "AlignedCopy.h"
#include "runtime/code/CodeLoader.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::AlignedCopy copy(data, size);
  CodeSource source;
  source.bytes = copy.view();
  auto code = LoadedCode::load(source);
  if (code.ok())
    for (const char *name : {"encode", "step", "sum", "heddle.scratch", ""})
      (void)code->find(name);
  return 0;
}
