//===- RunInfo.h - What an artifact holds, for people -----------*- C++ -*-===//
//
// The text of heddle-run --info.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUNINFO_H
#define HEDDLE_TOOLS_RUNINFO_H

#include "runtime/Artifact.h"
#include "runtime/Manifest.h"

#include <string>

namespace heddle {

/// Needs no code of the artifact: it works for those of other machines too.
std::string describeArtifact(const Artifact &artifact,
                             const Manifest &manifest);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUNINFO_H
