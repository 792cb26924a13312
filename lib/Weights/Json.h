//===- Json.h - JSON from files nobody vouches for --------------*- C++ -*-===//
//
// LLVM's parser recurses once a bracket and lets the last of two equal keys
// win. A file must neither overflow the stack nor mean two things, so a linear
// scan refuses deep nesting and repeated keys before the parser sees the text.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_JSON_H
#define HEDDLE_LIB_WEIGHTS_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace heddle {

/// Deepest nesting of arrays and objects that is accepted.
inline constexpr unsigned kMaxJsonDepth = 64;

/// Parses `text`, which must be an object; `file` names it in errors.
llvm::Expected<llvm::json::Object> parseJsonObject(llvm::StringRef text,
                                                   llvm::StringRef file);

/// The same of a list.
llvm::Expected<llvm::json::Array> parseJsonArray(llvm::StringRef text,
                                                 llvm::StringRef file);

/// The keys of an object, which llvm::json does not keep in order, in the order
/// of the text that parseJsonObject has read: of the outermost object, or of
/// the object that it has in `field`.
std::vector<std::string> listJsonKeys(llvm::StringRef text,
                                      llvm::StringRef field = "");

/// The JSON text of a value on one line, as an error shows it: cut behind 60
/// characters.
std::string formatJson(const llvm::json::Value &value);

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_JSON_H
