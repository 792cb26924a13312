//===- OpenNMTVocabulary.h - The tokens of a checkpoint ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_OPENNMT_OPENNMTVOCABULARY_H
#define HEDDLE_LIB_IMPORT_OPENNMT_OPENNMTVOCABULARY_H

#include "lib/Weights/Pickle.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// `vocab` of a checkpoint. Release 3 has lists of tokens; before, objects of
/// torchtext had them among much else.
struct OpenNMTVocabularies {
  std::vector<std::string> source, target;
  /// Whether a release before 3 wrote it.
  bool isOlder = false;
  /// What starts a target.
  std::string start = "<s>";
};

/// The id of a token; none if there is no such token.
std::optional<int64_t> findToken(llvm::ArrayRef<std::string> tokens,
                                 llvm::StringRef token);

llvm::Expected<OpenNMTVocabularies>
readOpenNMTVocabularies(const PickleValue &root, llvm::StringRef path);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_OPENNMT_OPENNMTVOCABULARY_H
