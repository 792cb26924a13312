//===- ZipDirectory.h - Where the files of a zip archive are ----*- C++ -*-===//
//
// torch and numpy keep their arrays in zip archives without compressing them,
// so that an array can be read where it stands.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_ZIPDIRECTORY_H
#define HEDDLE_LIB_WEIGHTS_ZIPDIRECTORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace heddle {

/// A file of an archive. Its bytes lie within the archive.
struct ZipEntry {
  std::string name;
  /// From the start of the archive.
  uint64_t offset, size;
};

/// Whether `bytes` begin as an archive does.
bool isZipArchive(llvm::StringRef bytes);

/// The files of the archive `bytes`, in the order of its directory, 64-bit
/// archives included. Fails where one is compressed or encrypted; `path` names
/// the archive in sentences.
llvm::Expected<std::vector<ZipEntry>> readZipDirectory(llvm::StringRef bytes,
                                                       llvm::StringRef path);

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_ZIPDIRECTORY_H
