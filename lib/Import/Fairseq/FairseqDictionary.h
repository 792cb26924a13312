//===- FairseqDictionary.h - The tokens of a side ---------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQDICTIONARY_H
#define HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQDICTIONARY_H

#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace heddle {

/// `dict.LANGUAGE.txt`. A file has a token and its count in each line; four
/// special tokens stand in front of them.
struct FairseqDictionary {
  static constexpr int64_t kBos = 0, kPad = 1, kEos = 2, kUnknown = 3;

  std::string path;
  /// By id. Of equal ones texts have the last.
  std::vector<std::string> tokens;
};

llvm::Expected<FairseqDictionary>
readFairseqDictionary(const std::string &path);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQDICTIONARY_H
