//===- ArtifactDescription.h - What a file holds, for people ----*- C++ -*-===//
//
// The text of heddle_describe.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_ARTIFACTDESCRIPTION_H
#define HEDDLE_RUNTIME_API_ARTIFACTDESCRIPTION_H

#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Manifest.h"

#include <string>

namespace heddle {

/// Needs no code of the artifact: it works for those of other machines too.
/// `positions` is how many a sentence has if memory is told, see
/// DecodingMemory.h.
std::string describeArtifact(const Artifact &artifact, const Manifest &manifest,
                             std::optional<int64_t> positions);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_ARTIFACTDESCRIPTION_H
