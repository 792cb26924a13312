//===- ArtifactWriter.cpp - Writes the file heddle-run executes -----------===//
//
// Sections are written in one pass behind room for the header and the table,
// which are filled in at the end, when the checksums are known.
//
//===----------------------------------------------------------------------===//

#include "lib/Artifact/ArtifactWriter.h"
#include "lib/Artifact/ExecutableWriter.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace heddle {

namespace {
/// Writes sections to a stream, from where it is, and keeps their table.
class SectionWriter {
public:
  SectionWriter(raw_pwrite_stream &stream, uint32_t sectionCount)
      : stream(stream), base(stream.tell()), sectionCount(sectionCount) {
    stream.write_zeros(sizeof(format::Header) +
                       sectionCount * sizeof(format::Section));
  }

  /// Begins a section at the next multiple of its alignment.
  format::Section &begin(StringRef name) {
    stream.write_zeros(
        offsetToAlignment(stream.tell(), Align(format::alignmentOf(name))));
    format::Section section = {};
    llvm::copy(name.take_front(sizeof(section.name) - 1), section.name);
    section.offset = stream.tell() - base;
    table.push_back(section);
    return table.back();
  }

  void write(StringRef name, StringRef bytes) {
    format::Section &section = begin(name);
    section.size = bytes.size();
    section.checksum = xxh3_64bits(bytes);
    stream << bytes;
  }

  void writeWeights(ArrayRef<PlacedTensor> tensors,
                    std::vector<LostWeights> &lost) {
    size_t index = table.size();
    begin("weights").size = getSectionSize(tensors);
    std::vector<uint64_t> checksums = writeTensors(tensors, stream, lost);
    StringRef bytes(reinterpret_cast<const char *>(checksums.data()),
                    checksums.size() * sizeof(uint64_t));
    write("weights.checksums", bytes);
    table[index].checksum = xxh3_64bits(bytes);
  }

  /// Fills in the header and the table.
  void finish() {
    StringRef tableBytes(reinterpret_cast<const char *>(table.data()),
                         table.size() * sizeof(format::Section));
    format::Header header = {};
    llvm::copy(format::kMagic, header.magic);
    header.version = format::kVersion;
    header.sectionCount = sectionCount;
    header.fileSize = stream.tell() - base;
    header.tableChecksum = xxh3_64bits(tableBytes);
    stream.pwrite(reinterpret_cast<const char *>(&header), sizeof(header),
                  base);
    stream.pwrite(tableBytes.data(), tableBytes.size(), base + sizeof(header));
  }

private:
  raw_pwrite_stream &stream;
  /// Where the artifact begins: a multiple of the alignment of every section.
  uint64_t base;
  uint32_t sectionCount;
  std::vector<format::Section> table;
};
} // namespace

std::vector<LostWeights> writeArtifact(raw_pwrite_stream &stream,
                                       const ArtifactContents &contents) {
  std::vector<LostWeights> lost;
  bool isExecutable = !contents.runner.empty();
  uint64_t begin = isExecutable ? writeRunner(contents.runner, stream) : 0;
  uint32_t count = 3 + contents.code.size() + contents.imported.size();
  SectionWriter writer(stream, count);
  writer.write("manifest", contents.manifest);
  for (const ImportedSection &section : contents.code)
    writer.write(section.name, section.bytes);
  writer.writeWeights(contents.tensors, lost);
  for (const ImportedSection &section : contents.imported)
    writer.write(section.name, section.bytes);
  writer.finish();
  if (isExecutable)
    writeRunnerSections(contents.runner, begin, stream);
  stream.flush();
  return lost;
}

} // namespace heddle
