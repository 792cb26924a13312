//===- Artifact.cpp - The sections of an artifact file --------------------===//
//
// The order of the checks is the order in which a reader can trust what it
// reads: magic, version, size, the table as bytes, each entry of the table,
// each section's bytes. Nothing is read through an offset that has not been
// compared with the size of the file.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/Artifact.h"

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/artifact/ExecutableFile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

using namespace heddle;

static uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

/// The name of a table entry: printable, terminated, empty if malformed.
static std::string_view sectionName(const format::Section &section) {
  std::string_view name(section.name,
                        strnlen(section.name, sizeof(section.name)));
  bool printable = std::all_of(name.begin(), name.end(),
                               [](char c) { return c > ' ' && c < 127; });
  return name.size() < sizeof(section.name) && printable ? name
                                                         : std::string_view();
}

Result<Artifact> Artifact::open(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  Artifact artifact(path, std::move(*file));
  if (Status status = artifact.setBytes(artifact.mapped->bytes()); !status.ok())
    return status;
  if (Status status = artifact.readTable(); !status.ok())
    return status;
  return artifact;
}

Result<Artifact> Artifact::fromMemory(std::string name,
                                      std::string_view bytes) {
  Artifact artifact(std::move(name), std::nullopt);
  if (bytes.empty())
    return artifact.error("is empty, expected an artifact");
  if (reinterpret_cast<uintptr_t>(bytes.data()) % format::kTensorAlignment != 0)
    return artifact.error("begins at an address that is no multiple of ",
                          format::kTensorAlignment);
  if (Status status = artifact.setBytes(bytes); !status.ok())
    return status;
  if (Status status = artifact.readTable(); !status.ok())
    return status;
  return artifact;
}

Status Artifact::setBytes(std::string_view all) {
  Result<std::string_view> found = findArtifact(all);
  if (!found.ok())
    return error(found.message());
  bytes = *found;
  return Status::success();
}

Status Artifact::readTable() {
  if (bytes.substr(0, sizeof(format::kMagic)) !=
      std::string_view(format::kMagic, sizeof(format::kMagic)))
    return error("is not an artifact of heddle-compile (its first bytes are "
                 "not the format's magic)");
  format::Header header;
  if (bytes.size() < sizeof(header))
    return error("ends at byte ", bytes.size(), " but the header has ",
                 sizeof(header), " bytes");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.version != format::kVersion)
    return error("has format version ", header.version,
                 " but this runtime reads version ", format::kVersion,
                 header.version > format::kVersion
                     ? ": it needs a newer runtime"
                     : ": its model must be compiled again");
  if (header.fileSize != bytes.size())
    return error("has ", bytes.size(), " bytes but its header says ",
                 header.fileSize, ": it is truncated or altered");
  if (std::any_of(std::begin(header.reserved), std::end(header.reserved),
                  [](uint64_t word) { return word != 0; }))
    return error("is altered: the reserved bytes of its header are not zero");

  std::string_view entries = bytes.substr(sizeof(header));
  if (header.sectionCount > entries.size() / sizeof(format::Section))
    return error("has ", bytes.size(), " bytes but its section table has ",
                 header.sectionCount, " entries of ", sizeof(format::Section),
                 " bytes");
  uint64_t tableSize = uint64_t(header.sectionCount) * sizeof(format::Section);
  if (checksum(entries.substr(0, tableSize)) != header.tableChecksum)
    return error("is altered: the checksum of its section table differs");

  std::vector<uint64_t> checksums;
  for (uint32_t i = 0; i < header.sectionCount; ++i) {
    format::Section entry;
    std::memcpy(&entry, entries.data() + i * sizeof(entry), sizeof(entry));
    std::string_view entryName = sectionName(entry);
    if (entryName.empty())
      return error("has no valid name for section ", i);
    if (section(entryName))
      return error("has two sections '", entryName, "'");
    if (uint64_t step = format::alignmentOf(entryName);
        entry.offset % step != 0)
      return error("has section '", entryName, "' at byte ", entry.offset,
                   ", expected a multiple of ", step);
    uint64_t end;
    if (__builtin_add_overflow(entry.offset, entry.size, &end) ||
        end > bytes.size())
      return error("has ", bytes.size(), " bytes but section '", entryName,
                   "' has ", entry.size, " from byte ", entry.offset);
    if (entry.offset < sizeof(header) + tableSize)
      return error("has section '", entryName, "' at byte ", entry.offset,
                   " but the section table ends at byte ",
                   sizeof(header) + tableSize);
    table.push_back(
        {std::string(entryName), bytes.substr(entry.offset, entry.size)});
    checksums.push_back(entry.checksum);
  }
  if (Status status = checkNoOverlap(); !status.ok())
    return status;

  for (size_t i = 0; i < table.size(); ++i) {
    std::string_view checked = table[i].bytes;
    if (table[i].name == "weights")
      checked = section("weights.checksums").value_or("");
    if (checksum(checked) != checksums[i])
      return error("is altered: the checksum of section '", table[i].name,
                   "' differs");
  }
  return Status::success();
}

std::vector<const Artifact::Section *> Artifact::byOffset() const {
  std::vector<const Section *> sections;
  for (const Section &section : table)
    sections.push_back(&section);
  std::sort(sections.begin(), sections.end(),
            [&](const Section *a, const Section *b) {
              return std::make_pair(offsetOf(*a), a->bytes.size()) <
                     std::make_pair(offsetOf(*b), b->bytes.size());
            });
  return sections;
}

Status Artifact::checkNoOverlap() const {
  const Section *previous = nullptr;
  for (const Section *section : byOffset()) {
    uint64_t end = previous ? offsetOf(*previous) + previous->bytes.size() : 0;
    if (offsetOf(*section) < end)
      return error("has section '", section->name, "' at byte ",
                   offsetOf(*section), " but section '", previous->name,
                   "' ends at byte ", end);
    previous = section;
  }
  return Status::success();
}

std::optional<std::string_view>
Artifact::section(std::string_view wanted) const {
  for (const Section &section : table)
    if (section.name == wanted)
      return section.bytes;
  return std::nullopt;
}

/// Padding is zero: of a file that was altered, every byte tells.
Status Artifact::verifyPadding() const {
  uint64_t end =
      sizeof(format::Header) + table.size() * sizeof(format::Section);
  auto check = [&](uint64_t next) {
    std::string_view padding = bytes.substr(end, next - end);
    size_t found = padding.find_first_not_of('\0');
    return found == padding.npos ? Status::success()
                                 : error("is altered: byte ", end + found,
                                         ", between its sections, is not zero");
  };
  for (const Section *section : byOffset()) {
    if (Status status = check(offsetOf(*section)); !status.ok())
      return status;
    end = offsetOf(*section) + section->bytes.size();
  }
  return check(bytes.size());
}

Status Artifact::verify() const {
  if (Status status = verifyPadding(); !status.ok())
    return status;
  std::string_view weights = section("weights").value_or("");
  std::string_view sums = section("weights.checksums").value_or("");
  uint64_t chunks = weights.size() / format::kWeightsChunk +
                    (weights.size() % format::kWeightsChunk != 0);
  if (sums.size() != chunks * sizeof(uint64_t))
    return error("has ", sums.size(), " bytes of weight checksums but its ",
                 weights.size(), " bytes of weights have ", chunks,
                 " chunks of 8-byte checksums");
  for (uint64_t i = 0; i < chunks; ++i) {
    uint64_t expected;
    std::memcpy(&expected, sums.data() + i * sizeof(expected),
                sizeof(expected));
    uint64_t offset = i * format::kWeightsChunk;
    if (checksum(weights.substr(offset, format::kWeightsChunk)) != expected)
      return error("is altered: the checksum of the weights from byte ", offset,
                   " of their section differs");
  }
  return Status::success();
}
