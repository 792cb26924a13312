//===- manifest.cpp - Manifests of artifacts ------------------------------===//
//
// One that is accepted is used as loading and --info use it.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/Manifest.h"
#include "runtime/api/DecodingMemory.h"
#include "runtime/artifact/EntryContract.h"
#include "runtime/search/SearchOptions.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto manifest = parseManifest({reinterpret_cast<const char *>(data), size});
  if (!manifest.ok() || !checkEntries(*manifest).ok())
    return 0;
  (void)settingsFor(*manifest, SearchOptions()).ok();
  (void)describeDecodingMemory(*manifest, std::nullopt);
  return 0;
}
