//===- SpaceMark.h - U+2581, a space in pieces ------------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_SPACEMARK_H
#define HEDDLE_RUNTIME_TOKENIZER_SPACEMARK_H

#include <cstddef>
#include <string_view>

namespace heddle {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_SPACEMARK_H
