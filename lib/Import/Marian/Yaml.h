//===- Yaml.h - The flat YAML of Marian -------------------------*- C++ -*-===//
//
// Marian writes its options as one mapping from names to scalars or lists of
// scalars. Anything deeper, anchors and tags included, is refused: the parser
// is recursive and its input is a stranger's file.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_MARIAN_YAML_H
#define HEDDLE_LIB_IMPORT_MARIAN_YAML_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace heddle {

/// A scalar (one value) or a list, as text.
struct YamlValue {
  bool isList = false;
  std::vector<std::string> values;

  /// How an error shows it: `6` or `[32000, 32000]`.
  std::string format() const;
};

using YamlMapping = std::map<std::string, YamlValue>;

/// Parses one flat mapping; `file` names it in errors.
llvm::Expected<YamlMapping> parseYaml(llvm::StringRef text,
                                      llvm::StringRef file);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_MARIAN_YAML_H
