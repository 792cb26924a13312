//===- UnicodeTables.h - What kind of character one is ----------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_UNICODETABLES_H
#define HEDDLE_RUNTIME_TOKENIZER_UNICODETABLES_H

namespace heddle {

/// Unicode's general categories L, Ll, Lu and Lt, M, N, Nd, S, Pf, white space,
/// Sentence_Terminal, and the general categories Pi and Pe.
bool isLetter(char32_t character);
bool isLowercase(char32_t character);
bool isUppercase(char32_t character);
bool isMark(char32_t character);
bool isNumber(char32_t character);
bool isDigit(char32_t character);
bool isSymbol(char32_t character);
bool isFinalQuote(char32_t character);
bool isSpace(char32_t character);
bool isSentenceEnd(char32_t character);
bool isInitialQuote(char32_t character);
bool isClosing(char32_t character);

/// The small letter of a character, if that is one character, or else itself.
char32_t toLowercase(char32_t character);

// What follows is what the library tokenizers 0.22.2 knows, whose parts are of
// several versions of Unicode.

/// \w of the regular expressions of Rust.
bool isWordCharacter(char32_t character);

/// What a character does in a cluster: Unicode's Grapheme_Cluster_Break.
enum class ClusterRole {
  Other,
  /// CR and LF among them.
  Control,
  /// ZWJ among them.
  Extend,
  SpacingMark,
  Prepend,
  HangulLead,
  HangulVowel,
  HangulTail,
  /// Syllables without a tail, and those with one.
  HangulOpen,
  HangulClosed,
  /// A regional indicator: two of them are a flag.
  Flag
};
ClusterRole clusterRoleOf(char32_t character);

/// Whether two characters of this kind beside each other are always two
/// clusters, except "\r\n": their roles are Other, Control or that of a
/// syllable. Nearly all characters are of this kind.
bool standsAlone(char32_t character);

/// Unicode's Extended_Pictographic, and Indic_Conjunct_Break Linker and
/// Consonant.
bool isPictograph(char32_t character);
bool isConjunctLinker(char32_t character);
bool isConjunctConsonant(char32_t character);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_UNICODETABLES_H
