//===- MergesFile.h - Reads merges.txt --------------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_MERGESFILE_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_MERGESFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace heddle {

/// Which lines of `merges.txt` a class of transformers reads.
enum class MergeLines {
  /// All but the first; what stands behind the last newline is not read.
  BehindFirst,
  /// All; the first is left out if it begins with "#version:".
  BehindVersion,
  /// All but the first, of a file without spaces at its ends, and at most
  /// 48,894: what CLIP was trained with.
  OfClip
};

/// The merges as tokenizer.json has them; of equal ones the first counts.
llvm::Expected<llvm::json::Array> readMergesFile(const std::string &path,
                                                 MergeLines lines);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_MERGESFILE_H
