//===- CTranslate2Folder.h - The files of a CTranslate2 model ---*- C++ -*-===//
//
//   model.bin                    the network (lib/Weights/CTranslate2File.h)
//   config.json                  tokens and numbers, from version 6 on
//   shared_vocabulary.json       the tokens of both sides, or
//   source_vocabulary.json,      those of each,
//   target_vocabulary.json       or
//   vocabulary.json              those of a model with one side
//
// Older folders have .txt in place of .json, a token a line.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2FOLDER_H
#define HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2FOLDER_H

#include "lib/Import/CTranslate2/CTranslate2Files.h"
#include "lib/Import/HuggingFace/ConfigReader.h"
#include "lib/Weights/CTranslate2File.h"

namespace heddle {

/// The tokens of a side, by their ids.
struct CTranslate2Vocabulary {
  std::string path;
  std::vector<std::string> tokens;

  std::optional<int64_t> find(llvm::StringRef token) const;
};

struct CTranslate2Folder {
  CTranslate2Files files;
  CTranslate2File model;
  /// Without fields if the folder has no config.json.
  ConfigReader config;
  /// One and the same if the folder has one for both.
  CTranslate2Vocabulary source, target;
};

/// Whether the folder looks like a model of CTranslate2.
bool isCTranslate2Folder(llvm::StringRef folder);

llvm::Expected<CTranslate2Folder> readCTranslate2Folder(CTranslate2Files files);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2FOLDER_H
