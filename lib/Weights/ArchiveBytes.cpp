//===- ArchiveBytes.cpp - Bytes of a zip's files, when asked for ----------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/ArchiveBytes.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

ArchiveBytes::ArchiveBytes(StringRef archive, std::vector<ZipEntry> entries,
                           Checksums checksums, StringRef path)
    : archive(archive), path(path), checksums(checksums) {
  for (ZipEntry &entry : entries)
    files.push_back({entry.offset, std::move(entry)});
  llvm::sort(files,
             [](const File &a, const File &b) { return a.begin < b.begin; });
}

ArchiveBytes::ArchiveBytes(std::unique_ptr<MemoryBuffer> buffer,
                           std::vector<ZipEntry> entries, Checksums checksums,
                           MutableArrayRef<char> target)
    : owned(std::move(buffer)), archive(owned->getBuffer()),
      path(owned->getBufferIdentifier()), checksums(checksums), target(target) {
  uint64_t begin = 0;
  for (ZipEntry &entry : entries) {
    uint64_t size = entry.size;
    files.push_back({begin, std::move(entry)});
    begin += size;
  }
}

Error ArchiveBytes::prepare(uint64_t offset) {
  auto after = partition_point(
      files, [&](const File &file) { return file.begin <= offset; });
  // Ahead of all files is what no tensor has.
  if (after == files.begin())
    return Error::success();
  File &file = *std::prev(after);
  std::lock_guard<std::mutex> lock(mutex);
  if (file.isReady)
    return Error::success();
  Error error =
      target.empty()
          ? checkStored(file.entry, archive, checksums, path)
          : extract(file.entry, archive,
                    target.slice(file.begin, file.entry.size), checksums, path);
  file.isReady = !error;
  return error;
}

} // namespace heddle
