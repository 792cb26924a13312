//===- Artifact.h - The sections of an artifact file ------------*- C++ -*-===//
//
// Opens a file in the layout of ArtifactFormat.h and proves, before anything
// else reads it, that every section lies inside the file and that what is
// read at every load is what the compiler wrote. Weights are only checked on
// request: they are the one section whose size makes that slow. With them goes
// what nobody reads, the zeros between sections.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_H
#define HEDDLE_RUNTIME_ARTIFACT_H

#include "runtime/MappedFile.h"
#include "runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// A mapped artifact. Immutable; any number of threads may read it.
class Artifact {
public:
  struct Section {
    std::string name;
    std::string_view bytes;
  };

  /// Maps `path` and checks header, section table and the checksum of every
  /// section except `weights`. Errors name the file.
  static Result<Artifact> open(const std::string &path);

  /// The bytes of a section, where the file has it. They live as long as the
  /// artifact and start at a multiple of format::kSectionAlignment.
  std::optional<std::string_view> section(std::string_view name) const;

  /// In the order of the table.
  const std::vector<Section> &sections() const { return table; }

  /// Checks what opening leaves out, which reads the whole file: the weights,
  /// chunk by chunk, and that nothing stands between sections.
  Status verify() const;

  const std::string &path() const { return name; }
  uint64_t size() const { return file.bytes().size(); }

private:
  Artifact(std::string name, MappedFile file)
      : name(std::move(name)), file(std::move(file)) {}

  /// The one way an error of this file begins.
  template <typename... Parts> Status error(const Parts &...parts) const {
    return Status::error("'", name, "' ", parts...);
  }
  Status readTable();
  std::vector<const Section *> byOffset() const;
  /// Where a section begins in the file.
  uint64_t offsetOf(const Section &section) const {
    return uint64_t(section.bytes.data() - file.bytes().data());
  }
  Status checkNoOverlap() const;
  Status verifyPadding() const;

  std::string name;
  MappedFile file;
  std::vector<Section> table;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_H
