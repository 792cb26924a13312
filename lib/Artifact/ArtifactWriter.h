//===- ArtifactWriter.h - Writes the file heddle-run executes ---*- C++ -*-===//
//
// Puts sections into one file as runtime/artifact/ArtifactFormat.h says, by
// itself or behind a runner. The file is written beside its destination and
// renamed when it is whole; a failure or a signal leaves nothing behind. Equal
// contents give equal bytes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_ARTIFACT_ARTIFACTWRITER_H
#define HEDDLE_LIB_ARTIFACT_ARTIFACTWRITER_H

#include "lib/Artifact/PlacedTensors.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// What an artifact holds.
struct ArtifactContents {
  std::string manifest;
  /// Sections `code.<isa>`.
  std::vector<ImportedSection> code;
  llvm::ArrayRef<PlacedTensor> tensors;
  /// Tokenizer and shortlist.
  llvm::ArrayRef<ImportedSection> imported;
  /// The executable that runs the artifact; empty for an artifact alone.
  llvm::StringRef runner = {};
};

/// Writes an artifact to `path`, replacing a file that is there. With a runner
/// the file may be executed by whom the process's umask admits. Returns the
/// tensors with weights that are NaN or infinite.
llvm::Expected<std::vector<LostWeights>>
writeArtifact(llvm::StringRef path, const ArtifactContents &contents);

} // namespace heddle

#endif // HEDDLE_LIB_ARTIFACT_ARTIFACTWRITER_H
