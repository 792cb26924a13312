//===- CTranslate2Files.h - A folder, or an archive of one ------*- C++ -*-===//
//
// The files of a model by their names. An `.argosmodel`, as argos-translate
// distributes models, is a zip archive with one folder: `metadata.json` and a
// tokenizer stand in it, and `model/` is the folder of CTranslate2.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2FILES_H
#define HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2FILES_H

#include "lib/Weights/ZipDirectory.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace heddle {

class CTranslate2Files {
public:
  static CTranslate2Files ofFolder(llvm::StringRef folder);
  static llvm::Expected<CTranslate2Files> ofArchive(llvm::StringRef path);

  bool isArchive() const { return archive != nullptr; }
  llvm::StringRef getPath() const { return path; }
  bool has(llvm::StringRef name) const;
  /// Where a file is or would be, for sentences; that of the folder if there
  /// is one.
  std::string pathOf(llvm::StringRef name) const;
  /// The bytes of a file, which outlive this object; their identifier is its
  /// path.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  read(llvm::StringRef name) const;

private:
  const ZipEntry *find(llvm::StringRef name) const;

  std::string path;
  /// Of an archive: its bytes, its files, and the folder that all stand in.
  std::shared_ptr<llvm::MemoryBuffer> archive;
  std::vector<ZipEntry> entries;
  std::string root;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2FILES_H
