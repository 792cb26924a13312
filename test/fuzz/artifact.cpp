//===- artifact.cpp - Artifacts, and what their sections say --------------===//
//
// Checksums are made to fit first, which no fuzzer would find out. Code is left
// alone: it has a fuzzer of its own, and a manifest may name libraries, which
// loading it would open.
//
//===----------------------------------------------------------------------===//

#include "AlignedCopy.h"
#include "runtime/api/ArtifactDescription.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/artifact/ExecutableFile.h"
#include "runtime/session/Model.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <numeric>

using namespace heddle;

static uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

/// Makes size and checksums of an artifact fit, as far as its table goes.
static void seal(char *data, size_t size) {
  format::Header header;
  if (size < sizeof(header))
    return;
  std::memcpy(&header, data, sizeof(header));
  header.fileSize = size;
  std::string_view bytes(data, size), sums;
  size_t entries = std::min<uint64_t>(
      header.sectionCount, (size - sizeof(header)) / sizeof(format::Section));
  auto contentOf = [&](const format::Section &entry) {
    return entry.offset <= size && entry.size <= size - entry.offset
               ? bytes.substr(entry.offset, entry.size)
               : std::string_view();
  };
  // Twice: weights have the checksum of their checksums.
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < entries; ++i) {
      char *place = data + sizeof(header) + i * sizeof(format::Section);
      format::Section entry;
      std::memcpy(&entry, place, sizeof(entry));
      std::string_view name(entry.name, strnlen(entry.name, 32));
      if (name == "weights.checksums")
        sums = contentOf(entry);
      entry.checksum = checksum(name == "weights" ? sums : contentOf(entry));
      std::memcpy(place, &entry, sizeof(entry));
    }
  header.tableChecksum =
      checksum(bytes.substr(sizeof(header), entries * sizeof(format::Section)));
  std::memcpy(data, &header, sizeof(header));
}

static void use(const Tokenizer &tokenizer, const Manifest &manifest) {
  (void)tokenizer.encode("Some text, \xC3\xA4 \xFF <mask> >>pt<< more.").ok();
  (void)tokenizer.encodeTarget("Some text.").ok();
  std::vector<int32_t> ids(
      size_t(std::min(manifest.targetVocabulary, int32_t(1000))));
  std::iota(ids.begin(), ids.end(), 0);
  (void)tokenizer.decode(ids);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::AlignedCopy copy(data, size);
  // Of an executable, the artifact in it.
  if (auto found = findArtifact(copy.view()); found.ok())
    seal(copy.data() + (found->data() - copy.view().data()), found->size());
  auto artifact = Artifact::fromMemory("input", copy.view());
  if (!artifact.ok())
    return 0;
  (void)artifact->verify().ok();
  auto manifest = readManifest(*artifact);
  if (!manifest.ok())
    return 0;
  (void)describeArtifact(*artifact, *manifest, std::nullopt);
  if (auto tokenizer = Tokenizer::make(*artifact, *manifest);
      tokenizer.ok() && *tokenizer)
    use(**tokenizer, *manifest);
  if (auto bytes = artifact->section("shortlist"))
    if (auto shortlist = Shortlist::parse(*bytes, *manifest); shortlist.ok())
      (void)shortlist->candidates({0, 1, 2, 3, 4, 5, 6, 7, 8});
  return 0;
}
