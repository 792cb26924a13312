//===- ArtifactWriter.h - Writes the file heddle-run executes ---*- C++ -*-===//
//
// Puts sections into one file as runtime/artifact/ArtifactFormat.h says, by
// itself or behind a runner. Equal contents give equal bytes.
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

/// Writes an artifact at the beginning of a stream, which keeps the first error
/// of the system. Returns the tensors with weights that are NaN or infinite.
std::vector<LostWeights> writeArtifact(llvm::raw_pwrite_stream &stream,
                                       const ArtifactContents &contents);

} // namespace heddle

#endif // HEDDLE_LIB_ARTIFACT_ARTIFACTWRITER_H
