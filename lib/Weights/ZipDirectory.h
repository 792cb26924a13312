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
  /// What it takes there where it is deflated; `size` is any number then.
  std::optional<uint64_t> deflatedSize = std::nullopt;
};

/// Whether `bytes` begin as an archive does.
bool isZipArchive(llvm::StringRef bytes);

/// The files of the archive `bytes`, in the order of its directory, 64-bit
/// archives included. Fails where one is encrypted or compressed otherwise than
/// deflated; `path` names the archive in sentences.
llvm::Expected<std::vector<ZipEntry>> readZipDirectory(llvm::StringRef bytes,
                                                       llvm::StringRef path);

/// Fails where the entry is not stored as it is.
llvm::Error expectStored(const ZipEntry &entry, llvm::StringRef path);

/// Writes the file that an entry of the archive `bytes` is to `file`, of its
/// size. Fails where it is not what the archive says.
llvm::Error extract(const ZipEntry &entry, llvm::StringRef bytes,
                    llvm::MutableArrayRef<char> file, llvm::StringRef path);

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_ZIPDIRECTORY_H
