//===- CTranslate2Files.cpp - A folder, or an archive of one --------------===//
//
// Files of an archive are inflated when they are asked for.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CTranslate2/CTranslate2Files.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

CTranslate2Files CTranslate2Files::ofFolder(StringRef folder) {
  CTranslate2Files files;
  files.path = folder.str();
  return files;
}

Expected<CTranslate2Files> CTranslate2Files::ofArchive(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  auto entries = readZipDirectory((*buffer)->getBuffer(), path);
  if (!entries)
    return entries.takeError();
  CTranslate2Files files;
  files.path = path.str();
  files.archive = std::move(*buffer);
  files.entries = std::move(*entries);
  constexpr StringLiteral model = "model/model.bin";
  for (const ZipEntry &entry : files.entries) {
    StringRef name = entry.name;
    if (!name.consume_back(model) || (!name.empty() && !name.ends_with("/")))
      continue;
    files.root = name.str();
    return files;
  }
  return makeError("'" + path + "' has no file FOLDER/" + model);
}

const ZipEntry *CTranslate2Files::find(StringRef name) const {
  for (StringRef folder : {"model/", ""}) {
    std::string whole = (root + folder + name).str();
    auto entry = llvm::find_if(
        entries, [&](const ZipEntry &each) { return each.name == whole; });
    if (entry != entries.end())
      return &*entry;
  }
  return nullptr;
}

std::string CTranslate2Files::pathOf(StringRef name) const {
  SmallString<128> result = StringRef(path);
  if (const ZipEntry *entry = isArchive() ? find(name) : nullptr)
    name = entry->name;
  sys::path::append(result, name);
  return std::string(result);
}

bool CTranslate2Files::has(StringRef name) const {
  return isArchive() ? find(name) != nullptr : sys::fs::exists(pathOf(name));
}

Expected<std::unique_ptr<MemoryBuffer>>
CTranslate2Files::read(StringRef name) const {
  std::string file = pathOf(name);
  if (!isArchive())
    return mapFile(file);
  const ZipEntry *entry = find(name);
  if (!entry)
    return makeError("'" + path + "' has no file '" + root + "model/" + name +
                     "'");
  auto bytes = WritableMemoryBuffer::getNewUninitMemBuffer(entry->size, file);
  if (!bytes)
    return makeError("'" + file + "' needs " + Twine(entry->size) +
                     " bytes of memory");
  if (Error error = extract(*entry, archive->getBuffer(), bytes->getBuffer(),
                            Checksums::Always, path))
    return std::move(error);
  return std::unique_ptr<MemoryBuffer>(std::move(bytes));
}

} // namespace heddle
