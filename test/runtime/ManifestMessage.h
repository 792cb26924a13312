//===- ManifestMessage.h - What is wrong with a manifest --------*- C++ -*-===//

#ifndef HEDDLE_TEST_RUNTIME_MANIFESTMESSAGE_H
#define HEDDLE_TEST_RUNTIME_MANIFESTMESSAGE_H

#include "runtime/artifact/EntryContract.h"
#include "runtime/artifact/Manifest.h"

#include <nlohmann/json.hpp>
#include <string>

namespace heddle::test {

/// Why a manifest, or its entries, are refused; "valid" if they are not.
inline std::string messageOfManifest(const nlohmann::json &manifest) {
  Result<Manifest> parsed = parseManifest(manifest.dump());
  if (!parsed.ok())
    return parsed.message();
  Status status = checkEntries(*parsed);
  return status.ok() ? "valid" : status.message();
}

} // namespace heddle::test

#endif // HEDDLE_TEST_RUNTIME_MANIFESTMESSAGE_H
