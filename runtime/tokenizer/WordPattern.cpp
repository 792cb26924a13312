//===- WordPattern.cpp - Cuts text as GPT-2 does --------------------------===//
//
// The alternatives are tried in their order. Every character is a letter, a
// number, a space or something else, so that a word goes on while the class
// stays the same.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/WordPattern.h"

#include "runtime/tokenizer/UnicodeTables.h"
#include "runtime/tokenizer/Utf8.h"

using namespace heddle;

namespace {
enum class Class { Letter, Number, Space, Other };

/// The bytes of characters at the front of a text that are of one class, and
/// those of the last of them.
struct Run {
  size_t size = 0, last = 0;
};
} // namespace

static Class classOf(char32_t character) {
  if (isLetter(character))
    return Class::Letter;
  if (isNumber(character))
    return Class::Number;
  return isSpace(character) ? Class::Space : Class::Other;
}

static Run measureRun(std::string_view text, Class wanted) {
  Run run;
  while (!text.empty()) {
    CodePoint next = takeCodePoint(text);
    if (classOf(next.value) != wanted)
      break;
    run.last = next.bytes.size();
    run.size += run.last;
  }
  return run;
}

static Class classOfFirst(std::string_view text) {
  return classOf(takeCodePoint(text).value);
}

/// The size of an English contraction at the front, or 0.
static size_t measureContraction(std::string_view text) {
  for (std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.substr(0, ending.size()) == ending)
      return ending.size();
  return 0;
}

/// All spaces at the end of the text; before a word all but the last, which
/// the word may take, unless there is one only.
static size_t measureSpaces(std::string_view text) {
  Run run = measureRun(text, Class::Space);
  bool atEnd = run.size == text.size(), isSingle = run.size == run.last;
  return atEnd || isSingle ? run.size : run.size - run.last;
}

static size_t measureWord(std::string_view text) {
  if (size_t contraction = measureContraction(text))
    return contraction;
  size_t space = text.size() > 1 && text.front() == ' ' ? 1 : 0;
  std::string_view rest = text.substr(space);
  Class kind = classOfFirst(rest);
  if (kind == Class::Space)
    return measureSpaces(text);
  return space + measureRun(rest, kind).size;
}

std::string_view heddle::takeWord(std::string_view &text) {
  std::string_view word = text.substr(0, measureWord(text));
  text.remove_prefix(word.size());
  return word;
}
