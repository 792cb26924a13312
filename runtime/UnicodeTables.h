//===- UnicodeTables.h - What kind of character one is ----------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_UNICODETABLES_H
#define HEDDLE_RUNTIME_UNICODETABLES_H

namespace heddle {

/// Unicode's general categories L and N, and white space.
bool isLetter(char32_t character);
bool isNumber(char32_t character);
bool isSpace(char32_t character);

} // namespace heddle

#endif // HEDDLE_RUNTIME_UNICODETABLES_H
