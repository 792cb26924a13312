//===- Pattern.cpp - Patterns of tokenizer.json ---------------------------===//
//
// A text matches itself: special characters in it mean nothing.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Json/Pattern.h"
#include "lib/Import/Tokenizers/Patterns/PatternTable.h"

using namespace llvm;

namespace heddle {

Expected<std::string> readPattern(Component &component) {
  const json::Value *value = component.any("pattern");
  const json::Object *pattern = value ? value->getAsObject() : nullptr;
  std::optional<StringRef> regex = pattern ? pattern->getString("Regex")
                                           : std::nullopt,
                           text = pattern ? pattern->getString("String")
                                          : std::nullopt;
  if (pattern ? pattern->size() != 1 || (!regex && (!text || text->empty()))
              : true)
    return component.refuse("pattern", R"({"Regex": ...}, {"String": ...})");
  Expected<std::string> table =
      regex ? buildPatternTable(*regex) : buildTextTable(*text);
  if (table)
    return table;
  return make_error<UnsupportedTokenizer>(
      "'tokenizer.json' has a " + component.type().str() +
      " that is not supported: " + toString(table.takeError()));
}

std::string buildGpt2Pattern() {
  return cantFail(
      buildPatternTable("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+|"
                        " ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"));
}

} // namespace heddle
