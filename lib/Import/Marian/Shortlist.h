//===- Shortlist.h - Marian's lexical shortlists ----------------*- C++ -*-===//
//
// A lexical shortlist says which target ids a source id may be translated to;
// only these compete in a sentence. `lex*.bin` holds it as Marian's
// binary shortlist; the artifact holds it as runtime/artifact/ArtifactFormat.h
// says.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_MARIAN_SHORTLIST_H
#define HEDDLE_LIB_IMPORT_MARIAN_SHORTLIST_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// Converts the bytes of a binary shortlist to those of the artifact's section.
/// Every source id has a list and every target id is one of the vocabulary, or
/// it fails; `path` names the file in the sentence.
llvm::Expected<std::string> convertShortlist(llvm::StringRef bytes,
                                             llvm::StringRef path,
                                             uint64_t sourceVocabulary,
                                             uint64_t targetVocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_MARIAN_SHORTLIST_H
