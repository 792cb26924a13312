//===- CharacterMap.h - What characters become ------------------*- C++ -*-===//
//
// Normalizers of the library tokenizers that look at one character at a time,
// as maps that follow each other; and their tables for the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CHARACTERS_CHARACTERMAP_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CHARACTERS_CHARACTERMAP_H

#include "lib/Import/Tokenizers/Patterns/CodePointSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <string>

namespace heddle {

class CharacterMap {
public:
  /// What characters become that do not stay.
  using Changes = std::map<char32_t, std::u32string>;

  CharacterMap() = default;
  CharacterMap(Changes changes, bool decomposesHangul)
      : changes(std::move(changes)), decomposesHangul(decomposesHangul) {}
  /// Characters of a set become what `make` says.
  CharacterMap(const CodePointSet &set,
               llvm::function_ref<std::u32string(char32_t)> make);

  bool isEmpty() const { return changes.empty() && !decomposesHangul; }
  /// This map, then another one, which leaves the letters of Hangul as they
  /// are.
  CharacterMap then(const CharacterMap &next) const;

  /// The table of format::kReplaceCharacters.
  std::string build() const;

private:
  Changes changes;
  bool decomposesHangul = false;
};

// Of tokenizers 0.22.2.

CharacterMap lowercase();
/// The parts of characters; for compatibility, those of NFKD.
CharacterMap decomposition(bool isForCompatibility);
CharacterMap stripAccents();
CharacterMap nmt();

// Parts of BertNormalizer, whose accents are stripped behind NFD.
CharacterMap bertClean();
CharacterMap bertChinese();
CharacterMap bertStripMarks();

/// What BertPreTokenizer, Punctuation and Digits cut off, the white space that
/// the first leaves out, and \w of Whitespace.
CodePointSet bertPunctuation();
CodePointSet punctuation();
CodePointSet digits();
CodePointSet bertSpaces();
CodePointSet rustWordCharacters();
/// Those of each script of UnicodeScripts; others belong to what is before
/// them.
std::vector<CodePointSet> scripts();

/// The table of format::kOrderMarks.
std::string buildMarks(bool composes);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CHARACTERS_CHARACTERMAP_H
