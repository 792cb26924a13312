//===- ExecutableFile.h - Artifacts in executables --------------*- C++ -*-===//
//
// An executable of heddle-compile --emit=exe is heddle-run with a section more,
// format::kExecutableSection, which holds an artifact. GNU strip keeps it where
// it must be, at a multiple of kCodeAlignment; other tools may not.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_EXECUTABLEFILE_H
#define HEDDLE_RUNTIME_ARTIFACT_EXECUTABLEFILE_H

#include "runtime/Result.h"

#include <string_view>

namespace heddle {

/// The artifact in the bytes of a file: all of them, or the section of an
/// executable. Not yet proved to be one. Errors begin with a verb ("is an
/// executable ...").
Result<std::string_view> findArtifact(std::string_view file);

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_EXECUTABLEFILE_H
