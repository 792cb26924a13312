//===- Nesting.cpp - How deep a text in MLIR nests ------------------------===//
//
// One loop over the characters, outside of strings and comments. Brackets of
// all kinds are counted together: if they do not match, the parser stops
// before it is deeper than the count. Signs in a row nest in affine
// expressions.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Nesting.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;

namespace heddle {

/// The end of the string that begins at `at`, which a line feed ends, too.
static size_t skipString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
  return at;
}

/// Whether the '>' at `at` is part of an arrow or a comparison.
static bool isOperator(StringRef text, size_t at) {
  return (at > 0 && text[at - 1] == '-') ||
         text.substr(at + 1).starts_with("=");
}

Error checkNesting(StringRef text, StringRef path) {
  uint64_t depth = 0, signs = 0, deepest = 0;
  size_t tooDeep = text.size();
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '-')
      ++signs;
    else if (!isSpace(c))
      signs = 0;
    if (c == '"')
      at = skipString(text, at);
    else if (c == '/' && text.substr(at + 1).starts_with("/"))
      at = std::min(text.find('\n', at), text.size());
    else if (StringRef("([{<").contains(c) &&
             !(c == '<' && text.substr(at + 1).starts_with("=")))
      ++depth;
    else if (StringRef(")]}>").contains(c) && depth > 0 &&
             !(c == '>' && isOperator(text, at)))
      --depth;
    deepest = std::max(deepest, depth + signs);
    if (depth + signs > kMostNesting)
      tooDeep = std::min(tooDeep, at);
  }
  if (deepest <= kMostNesting)
    return Error::success();
  return makeError("'" + path + "' nests brackets or signs " + Twine(deepest) +
                   " deep, expected at most " + Twine(kMostNesting) +
                   ", first exceeded in line " +
                   Twine(text.take_front(tooDeep).count('\n') + 1));
}

} // namespace heddle
