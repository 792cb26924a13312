//===- Shortlist.cpp - Marian's lexical shortlists ------------------------===//
//
// u64 magic, checksum, firstNum, bestNum, offset count, id count; u64 offsets,
// one more than there are source ids; u32 ids. A sentence may use the target
// ids 0 ... firstNum - 1 and ids[offsets[s]] ... ids[offsets[s + 1] - 1] of
// each of its source ids s. bestNum is what the lists were cut to, and says
// nothing more; the checksum is a hash that Marian's authors leave unspecified.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Marian/Shortlist.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "runtime/artifact/ArtifactFormat.h"

using namespace llvm;

namespace heddle {

static constexpr uint64_t kShortlistMagic = 0xF11A48D5013417F5;

Expected<std::string> convertShortlist(StringRef bytes, StringRef path,
                                       uint64_t sourceVocabulary,
                                       uint64_t targetVocabulary) {
  ByteReader reader(bytes);
  uint64_t magic, checksum, first, best, offsetCount, idCount;
  if (!reader.read(magic) || !reader.read(checksum) || !reader.read(first) ||
      !reader.read(best) || !reader.read(offsetCount) || !reader.read(idCount))
    return makeError("'" + path + "' has " + Twine(bytes.size()) +
                     " bytes, too few for a shortlist");
  if (magic != kShortlistMagic)
    return makeError("'" + path +
                     "' is not a binary shortlist: it starts with " +
                     Twine::utohexstr(magic) + " and not with " +
                     Twine::utohexstr(kShortlistMagic));
  if (offsetCount != sourceVocabulary + 1)
    return makeError("'" + path + "' has lists for " +
                     Twine(offsetCount == 0 ? 0 : offsetCount - 1) +
                     " source ids but the vocabulary has " +
                     Twine(sourceVocabulary));
  if (first > targetVocabulary)
    return makeError("'" + path + "' admits the first " + Twine(first) +
                     " target ids but the vocabulary has " +
                     Twine(targetVocabulary));
  StringRef offsets, ids;
  if (idCount > bytes.size() ||
      !reader.take(offsetCount * sizeof(uint64_t), offsets) ||
      !reader.take(idCount * sizeof(uint32_t), ids) || reader.remaining() != 0)
    return makeError("'" + path + "' announces " + Twine(offsetCount) +
                     " offsets and " + Twine(idCount) + " ids but has " +
                     Twine(bytes.size()) + " bytes");

  ByteReader offsetReader(offsets), idReader(ids);
  uint64_t previous = 0;
  for (uint64_t i = 0; i < offsetCount; ++i) {
    uint64_t offset = 0;
    offsetReader.read(offset);
    bool isLast = i + 1 == offsetCount;
    if (offset < previous || offset > idCount || (i == 0 && offset != 0) ||
        (isLast && offset != idCount))
      return makeError("'" + path + "' has the offset " + Twine(offset) +
                       " for source id " + Twine(i) + " after the offset " +
                       Twine(previous) + " and before the end at " +
                       Twine(idCount));
    previous = offset;
  }
  for (uint64_t i = 0; i < idCount; ++i) {
    uint32_t id = 0;
    idReader.read(id);
    if (id >= targetVocabulary)
      return makeError("'" + path + "' admits the target id " + Twine(id) +
                       " but the vocabulary has " + Twine(targetVocabulary));
  }

  format::ShortlistHeader header{first, sourceVocabulary, idCount};
  std::string section(reinterpret_cast<const char *>(&header), sizeof(header));
  return section + offsets.str() + ids.str();
}

} // namespace heddle
