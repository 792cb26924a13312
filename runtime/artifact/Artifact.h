//===- Artifact.h - The sections of an artifact file ------------*- C++ -*-===//
//
// Opens a file in the layout of ArtifactFormat.h and proves, before anything
// else reads it, that every section lies inside the file and that what is
// read at every load is what the compiler wrote. Weights are only checked on
// request: they are the one section whose size makes that slow. With them goes
// what nobody reads, the zeros between sections.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_ARTIFACT_H
#define HEDDLE_RUNTIME_ARTIFACT_ARTIFACT_H

#include "runtime/Result.h"
#include "runtime/artifact/MappedFile.h"

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

  /// Maps `path`, an artifact or an executable that carries one, and checks
  /// header, section table and the checksum of every section except `weights`.
  /// Errors name the file.
  static Result<Artifact> open(const std::string &path);

  /// The same of bytes in memory, which the caller keeps as they are while the
  /// artifact lives: nothing but code is copied. They begin at a multiple of
  /// format::kTensorAlignment. `name` stands for the file in sentences.
  static Result<Artifact> fromMemory(std::string name, std::string_view bytes);

  /// The bytes of a section, if the file has it. They live as long as the
  /// artifact and start at a multiple of format::alignmentOf(name) from its
  /// beginning, which in a file is a page.
  std::optional<std::string_view> section(std::string_view name) const;

  /// In the order of the table.
  const std::vector<Section> &sections() const { return table; }

  /// Checks what opening leaves out, which reads the whole file: the weights,
  /// chunk by chunk, and that nothing stands between sections.
  Status verify() const;

  const std::string &path() const { return name; }
  /// Of the artifact, not of an executable that carries it.
  uint64_t size() const { return bytes.size(); }
  /// All of them, which live as long as the artifact.
  std::string_view allBytes() const { return bytes; }

  /// The open file, to map parts of it in another way; -1 if the artifact
  /// lies in memory.
  int file() const { return mapped ? mapped->descriptor() : -1; }
  /// Where bytes of a section begin in that file.
  uint64_t fileOffset(std::string_view part) const {
    return mapped ? uint64_t(part.data() - mapped->bytes().data()) : 0;
  }

private:
  Artifact(std::string name, std::optional<MappedFile> mapped)
      : name(std::move(name)), mapped(std::move(mapped)) {}

  /// The one way an error of this file begins.
  template <typename... Parts> Status error(const Parts &...parts) const {
    return Status::error("'", name, "' ", parts...);
  }
  /// Finds the artifact in the bytes of a file.
  Status setBytes(std::string_view all);
  Status readTable();
  std::vector<const Section *> byOffset() const;
  /// Where a section begins in the artifact.
  uint64_t offsetOf(const Section &section) const {
    return uint64_t(section.bytes.data() - bytes.data());
  }
  Status checkNoOverlap() const;
  Status verifyPadding() const;

  std::string name;
  std::optional<MappedFile> mapped;
  std::string_view bytes;
  std::vector<Section> table;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_ARTIFACT_H
