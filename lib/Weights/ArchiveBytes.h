//===- ArchiveBytes.h - Bytes of a zip's files, when asked for --*- C++ -*-===//
//
// An archive may hold far more than a model reads: the states of an optimizer,
// arrays of another program. So a file of it is inflated, and compared with its
// CRC-32, when its first tensor is asked for; what nobody reads costs nothing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_ARCHIVEBYTES_H
#define HEDDLE_LIB_WEIGHTS_ARCHIVEBYTES_H

#include "lib/Weights/ZipDirectory.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <mutex>

namespace heddle {

/// The files of an archive as ranges of a table's bytes (TensorFile). Safe to
/// use from several threads.
class ArchiveBytes {
public:
  /// Files that are read where they stand in `archive`, whose bytes must
  /// outlive this object.
  ArchiveBytes(llvm::StringRef archive, std::vector<ZipEntry> entries,
               Checksums checksums, llvm::StringRef path);

  /// Files that are extracted one behind the other into `target`, which has
  /// room for all of them and must outlive this object.
  ArchiveBytes(std::unique_ptr<llvm::MemoryBuffer> archive,
               std::vector<ZipEntry> entries, Checksums checksums,
               llvm::MutableArrayRef<char> target);

  /// Makes the bytes of the file that holds the byte at `offset` readable.
  /// Fails if the archive is damaged there.
  llvm::Error prepare(uint64_t offset);

private:
  struct File {
    /// In the table's bytes.
    uint64_t begin;
    ZipEntry entry;
    bool isReady = false;
  };

  std::unique_ptr<llvm::MemoryBuffer> owned;
  llvm::StringRef archive;
  std::string path;
  Checksums checksums;
  /// Empty if files are read in place.
  llvm::MutableArrayRef<char> target;
  /// By where they begin.
  std::vector<File> files;
  std::mutex mutex;
};

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_ARCHIVEBYTES_H
