//===- ZipDirectory.h - Where the files of a zip archive are ----*- C++ -*-===//
//
// torch and numpy keep their arrays in zip archives, mostly without compressing
// them, so that an array can be read where it stands.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_ZIPDIRECTORY_H
#define HEDDLE_LIB_WEIGHTS_ZIPDIRECTORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// A file of an archive. Its bytes there lie within the archive.
struct ZipEntry {
  std::string name;
  /// From the start of the archive.
  uint64_t offset, size;
  /// What it takes there if it is deflated; `size` is at most what that can
  /// inflate to.
  std::optional<uint64_t> deflatedSize = std::nullopt;
  /// CRC-32 of the file, as the directory has it.
  uint32_t checksum = 0;
};

/// Whether a checksum of 0 says that none was computed, as torch writes it on
/// request (torch.serialization.set_crc32_options).
enum class Checksums { Always, UnlessZero };

/// Whether `bytes` begin as an archive does.
bool isZipArchive(llvm::StringRef bytes);

/// The files of the archive `bytes`, in the order of its directory, 64-bit
/// archives included. Fails if one is encrypted or compressed otherwise than
/// deflated, if two share bytes, or if a file's own header has another
/// name; `path` names the archive in sentences.
llvm::Expected<std::vector<ZipEntry>> readZipDirectory(llvm::StringRef bytes,
                                                       llvm::StringRef path);

/// Fails if the entry is not stored as it is.
llvm::Error expectStored(const ZipEntry &entry, llvm::StringRef path);

/// Fails if the bytes of an entry that is stored as it is do not have its
/// checksum.
llvm::Error checkStored(const ZipEntry &entry, llvm::StringRef bytes,
                        Checksums checksums, llvm::StringRef path);

/// Writes the file that an entry of the archive `bytes` is to `file`, of its
/// size. Fails if it is not what the archive says.
llvm::Error extract(const ZipEntry &entry, llvm::StringRef bytes,
                    llvm::MutableArrayRef<char> file, Checksums checksums,
                    llvm::StringRef path);

/// The first bytes of that file, at most as many as it has; fewer if it is
/// damaged.
std::string extractStart(const ZipEntry &entry, llvm::StringRef bytes,
                         uint64_t size);

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_ZIPDIRECTORY_H
