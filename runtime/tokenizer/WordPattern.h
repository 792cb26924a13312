//===- WordPattern.h - Cuts text as GPT-2 does ------------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_WORDPATTERN_H
#define HEDDLE_RUNTIME_TOKENIZER_WORDPATTERN_H

#include <string_view>

namespace heddle {

/// Removes the first word of `text`, which is well-formed UTF-8 and not empty:
/// the first match of GPT-2's pattern
///
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// Words are never empty and together are the text.
std::string_view takeWord(std::string_view &text);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_WORDPATTERN_H
