//===- LanguageCodes.h - Codes of ISO 639 -----------------------*- C++ -*-===//
//
// Models name languages by codes of two letters (ISO 639-1) or of three (ISO
// 639-3), and people know one of them. A code may also be that of a
// macrolanguage, whose members have codes of their own: "sw" is Swahili, and
// "swh" the language that NLLB has.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_LANGUAGECODES_H
#define HEDDLE_RUNTIME_LINES_LANGUAGECODES_H

#include <string_view>

namespace heddle {

/// Whether two different codes name one language: "en" and "eng".
bool areOneLanguage(std::string_view code, std::string_view other);

/// Whether `code` names a macrolanguage that has the language `member`, of
/// those that translators name.
bool hasMember(std::string_view code, std::string_view member);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_LANGUAGECODES_H
