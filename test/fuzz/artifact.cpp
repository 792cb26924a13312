//===- artifact.cpp - Artifacts, and what their header says ---------------===//

#include "ScratchFolder.h"
#include "runtime/Model.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::ScratchFolder folder;
  auto artifact = Artifact::open(
      folder.write("input", {reinterpret_cast<const char *>(data), size}));
  if (!artifact.ok())
    return 0;
  (void)artifact->verify().ok();
  (void)readManifest(*artifact).ok();
  return 0;
}
