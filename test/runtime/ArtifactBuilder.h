//===- ArtifactBuilder.h - Artifacts for tests ------------------*- C++ -*-===//
//
// Writes artifacts from the description in ArtifactFormat.h alone, so that the
// runtime's reader is tested against the format and not against our writer.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_RUNTIME_ARTIFACTBUILDER_H
#define HEDDLE_TEST_RUNTIME_ARTIFACTBUILDER_H

#include "runtime/artifact/ArtifactFormat.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::test {

/// Sections by name, in the order of the table.
class ArtifactBuilder {
public:
  ArtifactBuilder &add(const std::string &name, const std::string &bytes);
  /// Adds `weights` and their checksums.
  ArtifactBuilder &addWeights(const std::string &bytes);
  /// The bytes of the file.
  std::string build() const;

private:
  std::vector<std::pair<std::string, std::string>> sections;
};

/// Makes the table's checksum in an artifact's bytes fit its table again.
void sealTable(std::string &bytes);
/// The table entry of section `index`, to be changed in place.
format::Section &tableEntry(std::string &bytes, size_t index);

/// A file of these bytes, removed with the object.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &bytes);
  TemporaryFile(const TemporaryFile &) = delete;
  ~TemporaryFile();

  const std::string &path() const { return name; }
  /// Changes one byte.
  void put(size_t offset, char byte) const;

private:
  std::string name;
};

/// The content of a file; empty where there is none.
std::string readFile(const std::string &path);

} // namespace heddle::test

#endif // HEDDLE_TEST_RUNTIME_ARTIFACTBUILDER_H
