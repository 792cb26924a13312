//===- ExecutableWriter.h - A runner around an artifact ---------*- C++ -*-===//
//
// An executable is heddle-run with one section more, the artifact. The section
// is in no segment, so that the system maps nothing of it before the runtime
// does; a header describes it, so that tools which rewrite executables know it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_ARTIFACT_EXECUTABLEWRITER_H
#define HEDDLE_LIB_ARTIFACT_EXECUTABLEWRITER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>

namespace heddle {

/// Writes `runner`, an executable for x86-64 with section headers, which is to
/// run the artifact behind it. Returns where that begins.
uint64_t writeRunner(llvm::StringRef runner, llvm::raw_pwrite_stream &stream);

/// Describes the artifact that was written from `begin` to where the stream is.
void writeRunnerSections(llvm::StringRef runner, uint64_t begin,
                         llvm::raw_pwrite_stream &stream);

} // namespace heddle

#endif // HEDDLE_LIB_ARTIFACT_EXECUTABLEWRITER_H
