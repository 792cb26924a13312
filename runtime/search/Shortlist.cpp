//===- Shortlist.cpp - The target ids a sentence may use ------------------===//
//
// The section is used in place: a look at every offset and id when it is
// opened (a few megabytes) makes the look-ups free of checks.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Shortlist.h"

#include "runtime/artifact/ArtifactFormat.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace heddle;

Result<Shortlist> Shortlist::parse(std::string_view bytes,
                                   const Manifest &manifest) {
  format::ShortlistHeader header;
  if (bytes.size() < sizeof(header))
    return Status::error("section 'shortlist' has ", bytes.size(),
                         " bytes but its header has ", sizeof(header));
  std::memcpy(&header, bytes.data(), sizeof(header));
  uint64_t vocabulary = static_cast<uint64_t>(manifest.targetVocabulary);
  if (header.firstCount < 1 || header.firstCount > vocabulary)
    return Status::error(
        "section 'shortlist' admits the first ", header.firstCount,
        " ids, expected from 1 to the vocabulary's ", vocabulary);
  uint64_t room = bytes.size() - sizeof(header);
  bool fits = header.sourceCount < room / sizeof(uint64_t);
  uint64_t idRoom =
      fits ? room - (header.sourceCount + 1) * sizeof(uint64_t) : 0;
  if (!fits || idRoom % sizeof(uint32_t) != 0 ||
      header.idCount != idRoom / sizeof(uint32_t))
    return Status::error("section 'shortlist' has ", bytes.size(),
                         " bytes but its header says ", header.sourceCount,
                         " lists of ", header.idCount, " ids");

  Shortlist shortlist;
  shortlist.firstCount = header.firstCount;
  shortlist.sourceCount = header.sourceCount;
  shortlist.offsets =
      reinterpret_cast<const uint64_t *>(bytes.data() + sizeof(header));
  shortlist.ids = reinterpret_cast<const uint32_t *>(shortlist.offsets +
                                                     header.sourceCount + 1);
  for (uint64_t i = 0; i < header.sourceCount; ++i)
    if (shortlist.offsets[i] > shortlist.offsets[i + 1])
      return Status::error("section 'shortlist' has a list of source id ", i,
                           " that ends at ", shortlist.offsets[i + 1],
                           " before it begins at ", shortlist.offsets[i]);
  if (shortlist.offsets[header.sourceCount] > header.idCount)
    return Status::error("section 'shortlist' has ", header.idCount,
                         " ids but its last list ends at ",
                         shortlist.offsets[header.sourceCount]);
  // A loop that does not end early becomes vector instructions.
  uint32_t largest = 0;
  for (uint64_t i = 0; i < header.idCount; ++i)
    largest = std::max(largest, shortlist.ids[i]);
  if (largest >= vocabulary)
    return Status::error("section 'shortlist' has the id ", largest,
                         " but the target vocabulary has ", vocabulary);
  return shortlist;
}

std::vector<int32_t>
Shortlist::candidates(const std::vector<int32_t> &sourceIds) const {
  std::vector<int32_t> result(firstCount);
  std::iota(result.begin(), result.end(), 0);
  for (int32_t id : sourceIds)
    if (id >= 0 && uint64_t(id) < sourceCount)
      result.insert(result.end(), ids + offsets[id], ids + offsets[id + 1]);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}
